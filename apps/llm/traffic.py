"""The limits of a provider and key, shared by all lines of a process.

A gateway lives as long as a slice of a run. Without shared limits, each slice would learn them
again, and two concurrent runs would use one limit twice. A line starts with the number of
concurrent calls of the line before it.
"""

import hashlib
import logging
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field

from asgiref.sync import sync_to_async

from apps.llm import services
from apps.llm.call_metrics import Use, forget_use, keep_use, take_use
from apps.llm.capabilities import Capability
from apps.llm.failures import TOO_SLOW, Failure, read_rate_headers
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Limited
from apps.llm.thinking import Thoughts
from labelhub.core.llm.buckets import BucketQueue, Buckets, Limits, Reservation
from labelhub.core.llm.limiter import LimitChange, Limiter, Slot, TimeOuts

START = 8
PROVIDER_RATE = "provider rate"
RATE_LIMIT = "rate limit"
CONCURRENCY_SETTING = "concurrency setting"
ADAPTIVE_LIMIT = "adaptive limit"
TIME_OUTS = "time-outs"
#: An endpoint is silent after so many time-outs in a row, each of a single call after a rest.
MOST_RESTS = 4


@dataclass(frozen=True, slots=True)
class LineState:
    """The state of a line to a provider.

    ``limit`` is the current maximum of concurrent calls, ``rpm`` and ``tpm`` are the known limits
    (None: none), ``refused_share`` is the share of refusals among the last 50 answers.
    ``limited_by`` is ``provider rate``, ``rate limit`` (the last answer was HTTP 429),
    ``concurrency setting``, ``adaptive limit``, ``time-outs`` or empty; ``unanswered`` calls timed
    out since the last answer.
    """

    limit: int
    in_flight: int
    waiting: int
    rpm: int | None = None
    tpm: int | None = None
    changes: tuple[LimitChange, ...] = ()
    breaker_open: bool = False
    refused_share: float = 0.0
    limited_by: str = ""
    unanswered: int = 0


@dataclass(slots=True)
class _Known:
    """The shared limits of one provider and key."""

    buckets: Buckets = field(default_factory=Buckets)
    limit: int = START
    found: bool = False
    time_outs: TimeOuts = field(default_factory=TimeOuts)
    limited: Limited = field(default_factory=Limited)
    thoughts: dict[int, Thoughts] = field(default_factory=dict)
    forms: dict[str, set[str]] = field(default_factory=dict)


_known: dict[tuple[int | None, str, str], _Known] = {}
_lock = threading.Lock()


def forget_traffic() -> None:
    """Forget all limits and unsaved use, as in a new process."""
    with _lock:
        _known.clear()
    forget_use()


@dataclass(slots=True)
class Passage:
    """One request's slot, its reserved tokens, and the seconds that its answer may take."""

    slot: Slot
    held: Reservation
    longest: float
    used: int = 0

    def heed(self, failure: Failure, seconds: float) -> None:
        """Report a failure after ``seconds`` to the limiter, unless the request itself was wrong.
        A "gateway time-out" that a proxy sends at once does not count as a time-out: fewer
        concurrent calls would not help."""
        immediate = failure.status in TOO_SLOW and seconds < self.longest / 2
        if failure.status == 429:
            self.slot.refused = True
        elif failure.timed_out and not immediate:
            self.slot.timed_out = True
        elif immediate or not 400 <= failure.status < 500:
            self.slot.troubled = True


class Traffic:
    """The limits in front of one line. Belongs to one event loop."""

    def __init__(self, provider: Provider, key: str) -> None:
        endpoint = (provider.pk, provider.base_url, hashlib.sha256(key.encode()).hexdigest())
        with _lock:
            self._known = _known.setdefault(endpoint, _Known())
        self.thoughts = self._known.thoughts
        self.forms = self._known.forms
        self.limited = self._known.limited
        self.limited.take_up(provider.rate_limited)
        self._longest = provider.read_timeout
        buckets = self._known.buckets
        buckets.configure(Limits(provider.rpm, provider.tpm, provider.rpd, provider.tpd))
        self._queue = BucketQueue(buckets)
        # A limit below the first one was found during trouble, which may be over; keep it only if
        # time-outs have reduced it, as more concurrent calls would be slower still.
        low = self._known.limit <= START and not self._known.time_outs.cut
        self.limiter = Limiter(
            start=START if low else self._known.limit,
            found=self._known.found and not low,
            ceiling=provider.max_concurrency,
            longest=self._longest,
            time_outs=self._known.time_outs,
        )

    @property
    def buckets(self) -> Buckets:
        """The limits of a minute and a day."""
        return self._queue.buckets

    @asynccontextmanager
    async def passage(self, tokens: int) -> AsyncIterator[Passage]:
        """Wait until a request of about ``tokens`` may be sent; the body sends it, reports the
        outcome to the slot, and sets the tokens ``used``.

        Raises:
            UsedUp: a limit allows no request for minutes.
        """
        passage = await self._enter(tokens)
        try:
            yield passage
        except BaseException:
            passage.slot.troubled = True
            raise
        finally:
            self.limiter.leave(passage.slot)
            self._queue.settle(passage.held, passage.used)

    async def _enter(self, tokens: int) -> Passage:
        if not self.buckets.bounded:
            slot = await self.limiter.enter()
            return Passage(slot, self.buckets.count(), self._longest)
        # Keep the turn until there is a slot, or requests with tokens would pile up and burst.
        async with self._queue.turn(tokens) as held:
            return Passage(await self.limiter.enter(), held, self._longest)

    def follow(self, headers: Mapping[str, str]) -> None:
        """Use the limits in an answer's headers."""
        limits = read_rate_headers(headers)
        if limits:
            self._queue.follow(**limits)

    def state(self, *, breaker_open: bool) -> LineState:
        """The current state."""
        known, limiter = self.buckets.known, self.limiter
        return LineState(
            limit=limiter.limit,
            in_flight=limiter.in_flight,
            waiting=limiter.waiting + self._queue.waiting,
            rpm=known.rpm,
            tpm=known.tpm,
            changes=limiter.changes,
            breaker_open=breaker_open,
            refused_share=limiter.refused_share,
            limited_by=self._limited_by(),
            unanswered=limiter.time_outs.unanswered,
        )

    def silent_calls(self) -> int:
        """The number of calls that have timed out since the last answer, once it is too high; 0
        before. The count then begins again, for a resumed run."""
        unanswered = self.limiter.time_outs.unanswered
        if self.limiter.time_outs.rests < MOST_RESTS:
            return 0
        self.limiter.time_outs = TimeOuts(cut=True)
        return unanswered

    def _limited_by(self) -> str:
        if self.limiter.refused_last:
            return RATE_LIMIT
        if self.limiter.time_outs.unanswered:
            return TIME_OUTS
        if self._queue.held_up:
            return PROVIDER_RATE
        if self.limiter.in_flight < self.limiter.limit:
            return ""
        at_most = self.limiter.limit >= self.limiter.ceiling
        return CONCURRENCY_SETTING if at_most else ADAPTIVE_LIMIT

    def close(self) -> None:
        """Keep the limit for the next line."""
        self._known.time_outs = self.limiter.time_outs
        if self.limiter.changes:
            self._known.limit, self._known.found = self.limiter.limit, self.limiter.found

    def learnt(self, provider: Provider) -> dict[str, int]:
        """The limits that came from headers, by name."""
        known = asdict(self.buckets.known)
        return {
            name: limit for name, limit in known.items() if limit and not getattr(provider, name)
        }


logger = logging.getLogger(__name__)


class Memory:
    """Stores what a gateway learns in the database, off the event loop."""

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Store a capability of ``spec``, on the object too."""
        await sync_to_async(services.learn_capability)(spec, capability)

    async def used_today(self, provider: Provider) -> tuple[int, int]:
        """Requests and tokens of this day (UTC)."""
        return await sync_to_async(services.used_today)(provider)

    async def keep_limits(self, provider: Provider, learnt: Mapping[str, int]) -> None:
        """Store the limits that the provider reports."""
        await sync_to_async(services.keep_limits)(provider, learnt)

    async def add_use(self, provider: Provider, use: Use) -> None:
        """Add to what was used today."""
        await sync_to_async(services.add_use)(provider, use)

    async def keep_limited(self, provider: Provider, limited: Mapping[str, float]) -> None:
        """Store since when the provider has refused every call; empty if it does not."""
        await sync_to_async(services.keep_limited)(provider, limited)


async def remember(memory: Memory, provider: Provider, traffic: Traffic) -> None:
    """Store what a line has learnt: limits, refusals, and what was used and spent.

    Never raises, as an error must not lose an answered call. Use that cannot be stored waits for
    the next time.
    """
    learnt = traffic.learnt(provider)
    kept = {name: limit for name, limit in provider.learnt_limits.items() if name != "at"}
    limited = traffic.limited.kept
    keep_use(provider, Use(*traffic.buckets.take_unsaved()))
    use = take_use(provider)
    try:
        if any(use):
            await memory.add_use(provider, use)
    except Exception:
        keep_use(provider, use)
        logger.exception("Provider %s: its use could not be stored", provider.name)
    try:
        if learnt and learnt != kept:
            await memory.keep_limits(provider, learnt)
        if limited != provider.rate_limited:
            await memory.keep_limited(provider, limited)
    except Exception:
        logger.exception("Provider %s: limits could not be stored", provider.name)
