"""Keep a provider's limits of requests and tokens per minute and per day, before it refuses calls.

The limit of a minute is a bucket that fills steadily and holds only a few seconds' worth, so calls
are spread evenly and bursts do not meet a storm of refusals. The limit of a day is a count that
restarts at midnight UTC. Tokens are reserved by an estimate and settled by the real usage.

:class:`Buckets` is plain arithmetic that threads may share; :class:`BucketQueue` is the waiting
line in front of it.
"""

import asyncio
import math
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from labelhub.core.phrases import Phrase

MINUTE, DAY = 60.0, 86_400.0
#: How many seconds' worth a bucket holds. Some providers count requests by the second, not tokens.
REQUEST_BURST, TOKEN_BURST = 0.1, 3.0
#: A limit with a longer reset is not a limit per minute, seconds.
LONGEST_RESET = 90.0
#: The longest wait, seconds: beyond it the run pauses and frees its worker.
LONGEST_WAIT = 300.0

Clock = Callable[[], float]


#: The limits, as people read them.
TODAY = Phrase("today's limit")
REQUESTS = Phrase("requests per minute")
TOKENS = Phrase("tokens per minute")


class UsedUp(Exception):
    """A limit has no room for longer than ``LONGEST_WAIT``; ``resume_after`` in seconds."""

    def __init__(self, what: str, resume_after: float) -> None:
        super().__init__(f"{what}: room again in {resume_after:.0f} s")
        self.what, self.resume_after = what, resume_after


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests and tokens per minute (``rpm``, ``tpm``) and per day; None: unknown."""

    rpm: int | None = None
    tpm: int | None = None
    rpd: int | None = None
    tpd: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedLimit:
    """One limit in the headers of an answer: its size, the rest, seconds until its reset."""

    limit: int
    remaining: int | None = None
    reset: float | None = None


@dataclass(slots=True)
class Reservation:
    """Room reserved for one request. To settle it a second time does nothing."""

    tokens: int
    settled: bool = False


class Bucket:
    """An amount per minute, given out evenly; a ``level`` below zero was taken in advance."""

    def __init__(self, limit: int, *, burst: float, now: float) -> None:
        self._burst, self._filled_at = burst, now
        self.limit = max(1, limit)
        self.level = self.size

    @property
    def size(self) -> float:
        """The most that the bucket holds, at least 1."""
        return max(1.0, self.limit / MINUTE * self._burst)

    def resize(self, limit: int, now: float) -> None:
        """Change the limit from ``now`` on."""
        self._fill(now)
        self.limit = max(1, limit)
        self.level = min(self.level, self.size)

    def wait(self, amount: float, now: float) -> float:
        """Seconds until ``amount`` may be taken; a larger amount than the bucket needs it full."""
        self._fill(now)
        missing = min(amount, self.size) - self.level
        # Rounding must not leave a wait too short for any clock.
        return missing * MINUTE / self.limit if missing > 1e-6 else 0.0

    def take(self, amount: float) -> None:
        """Take ``amount``, even below zero; a negative amount is given back."""
        self.level -= amount

    def _fill(self, now: float) -> None:
        gained = max(0.0, now - self._filled_at) * self.limit / MINUTE
        self._filled_at = now
        if self.level < self.size:  # amounts given back may exceed the size
            self.level = min(self.size, self.level + gained)


class DayCount:
    """Requests and tokens since midnight UTC, compared with the limits of a day."""

    def __init__(self, wall: Clock) -> None:
        self._wall = wall
        self._ends = _next_midnight(wall())
        self.requests = self.tokens = 0
        self._unsaved = [0, 0]

    def add(self, requests: int, tokens: int) -> None:
        """Count usage; negative numbers take it back."""
        self.requests += requests
        self.tokens += tokens
        self._unsaved[0] += requests
        self._unsaved[1] += tokens

    def wait(self, limits: Limits) -> float:
        """Seconds until there is room for one request; 0 if there is room now."""
        now = self._wall()
        if now >= self._ends:
            self._ends, self.requests, self.tokens = _next_midnight(now), 0, 0
        full = limits.rpd is not None and self.requests >= limits.rpd
        full = full or (limits.tpd is not None and self.tokens >= limits.tpd)
        return self._ends - now if full else 0.0

    def resume_from(self, requests: int, tokens: int) -> None:
        """Continue from the stored counts."""
        self.requests, self.tokens = requests + self._unsaved[0], tokens + self._unsaved[1]

    def take_unsaved(self) -> tuple[int, int]:
        """Requests and tokens counted since the last call of this method."""
        requests, tokens = self._unsaved
        self._unsaved = [0, 0]
        return requests, tokens


class Buckets:
    """All limits of one provider and key; threads may share them.

    Args:
        limits: the configured limits; headers never override them.
        clock: seconds from any origin, monotonic.
        wall: Unix time, for the end of the day.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._configured = Limits()
        self._requests: Bucket | None = None
        self._tokens: Bucket | None = None
        self._told_daily: dict[str, int] = {}
        self.day = DayCount(wall)
        self.configure(limits or Limits())

    def configure(self, limits: Limits) -> None:
        """Apply changed configured limits; learnt limits stay where none is configured."""
        with self._lock:
            before, self._configured = self._configured, limits
            if limits.rpm != before.rpm:
                self._requests = self._new(limits.rpm, REQUEST_BURST)
            if limits.tpm != before.tpm:
                self._tokens = self._new(limits.tpm, TOKEN_BURST)

    @property
    def known(self) -> Limits:
        """The present limits, configured or learnt."""
        rpm, tpm = (bucket.limit if bucket else None for bucket in (self._requests, self._tokens))
        daily = self._told_daily
        return Limits(
            rpm,
            tpm,
            self._configured.rpd or daily.get("requests"),
            self._configured.tpd or daily.get("tokens"),
        )

    @property
    def bounded(self) -> bool:
        """Whether there is anything to wait for."""
        daily = self._configured.rpd or self._configured.tpd
        return bool(self._requests or self._tokens or daily)

    def take(self, tokens: int) -> float:
        """Take one request of ``tokens`` and return 0, else the seconds until the next try.

        Raises:
            UsedUp: the wait would be longer than ``LONGEST_WAIT``.
        """
        with self._lock:
            now = self._clock()
            waits = {
                TODAY: self.day.wait(self._configured),
                REQUESTS: self._requests.wait(1, now) if self._requests else 0.0,
                TOKENS: self._tokens.wait(tokens, now) if self._tokens else 0.0,
            }
            what = max(waits, key=lambda name: waits[name])
            if waits[what] > LONGEST_WAIT:
                raise UsedUp(what, waits[what])
            if not waits[what]:
                self._book(1, tokens)
            return waits[what]

    def count(self) -> Reservation:
        """Count one request that no limit holds up."""
        with self._lock:
            self._book(1, 0)
        return Reservation(0)

    def settle(self, held: Reservation, used: int | None) -> None:
        """Correct the reservation ``held``: ``used`` tokens, or None if nothing was sent."""
        if held.settled:
            return
        held.settled = True
        with self._lock:
            self._book(-1 if used is None else 0, (used or 0) - held.tokens)

    def begin_day(self, requests: int, tokens: int) -> None:
        """Continue from the counts that all processes have stored for this day."""
        with self._lock:
            self.day.resume_from(requests, tokens)

    def take_unsaved(self) -> tuple[int, int]:
        """Requests and tokens counted since the last call of this method, to be stored."""
        with self._lock:
            return self.day.take_unsaved()

    def follow(
        self, *, requests: ReportedLimit | None = None, tokens: ReportedLimit | None = None
    ) -> None:
        """Adopt the limits in the headers of an answer, if none is configured."""
        with self._lock:
            if requests and self._configured.rpm is None:
                self._requests = self._followed(self._requests, requests, "requests", REQUEST_BURST)
            if tokens and self._configured.tpm is None:
                self._tokens = self._followed(self._tokens, tokens, "tokens", TOKEN_BURST)

    def _new(self, limit: int | None, burst: float) -> Bucket | None:
        return Bucket(limit, burst=burst, now=self._clock()) if limit else None

    def _followed(
        self, bucket: Bucket | None, reported: ReportedLimit, what: str, burst: float
    ) -> Bucket | None:
        """The bucket as ``reported``; limits of a day are remembered but left to the provider."""
        if (reported.reset or 0) > LONGEST_RESET or self._told_daily.get(what) == reported.limit:
            self._told_daily[what] = reported.limit
            return None
        bucket = bucket or Bucket(reported.limit, burst=burst, now=self._clock())
        if bucket.limit != reported.limit:
            bucket.resize(reported.limit, self._clock())
        if reported.remaining is not None:
            # Others may use the same limit.
            bucket.level = min(bucket.level, float(reported.remaining))
        return bucket

    def _book(self, requests: int, tokens: int) -> None:
        self.day.add(requests, tokens)
        if self._requests:
            self._requests.take(requests)
        if self._tokens:
            self._tokens.take(tokens)


def _next_midnight(now: float) -> float:
    return (math.floor(now / DAY) + 1) * DAY


#: The longest sleep before a look at amounts that other threads gave back, seconds.
LONGEST_SLEEP = 5.0


class BucketQueue:
    """The waiting line of one event loop in front of ``buckets``: first come, first served."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets = buckets
        self._line = asyncio.Lock()
        self._changed = asyncio.Event()
        self.waiting = 0
        self.held_up = False

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Reservation]:
        """Reserve room for one request of ``tokens``; the line waits while the body runs.

        If the body fails, the room is given back.

        Raises:
            UsedUp: a limit has no room for minutes.
        """
        self.waiting += 1
        try:
            async with self._line:
                await self._take(tokens)
                held = Reservation(tokens)
                try:
                    yield held
                except BaseException:
                    self.settle(held, None)
                    raise
        finally:
            self.waiting -= 1

    def settle(self, held: Reservation, used: int | None) -> None:
        """As :meth:`Buckets.settle`; wakes those who wait."""
        self.buckets.settle(held, used)
        self._changed.set()

    def follow(
        self, *, requests: ReportedLimit | None = None, tokens: ReportedLimit | None = None
    ) -> None:
        """As :meth:`Buckets.follow`; wakes those who wait."""
        self.buckets.follow(requests=requests, tokens=tokens)
        self._changed.set()

    async def _take(self, tokens: int) -> None:
        try:
            while seconds := self.buckets.take(tokens):
                self.held_up = True
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(seconds, LONGEST_SLEEP)):
                        await self._changed.wait()
        finally:
            self.held_up = False
