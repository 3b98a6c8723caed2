"""One request's way to its answer: send, wait where told to, try again, or give up.

Nothing here opens a connection: a :class:`Line` does, and tests script one.
"""

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar

from apps.llm import error_messages
from apps.llm.failures import LONGEST_WAIT, Cause, Failure, Verdict, judge, retry_after
from apps.llm.models import ModelSpec
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.errors import ModelError, ModelUnreachable
from labelhub.core.llm.types import Attempt, Usage

T = TypeVar("T")
#: What befalls one call befalls every other.
_FOR_ALL = (Verdict.KEY, Verdict.MODEL, Verdict.QUOTA)

#: Seconds between two refusals of one spell at most: longer than any wait, or than between slices.
LONGEST_GAP = 2 * LONGEST_WAIT


def _jitter() -> float:
    return random.uniform(1.0, 1.25)  # noqa: S311 - spreads retries, guards nothing


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on with one call; seconds. ``sleep`` and ``jitter`` are there for tests.

    ``total_wait`` is for rate limits, and ``for_all`` that it is for all calls to an endpoint
    together, as in a run; somebody who waits for one answer waits for that alone.
    """

    attempts: int = 5
    first_backoff: float = 0.5
    longest_backoff: float = 30.0
    total_wait: float = 900.0
    for_all: bool = True
    calls_in_a_row: int = 5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = _jitter

    def backoff(self, tried: int) -> float:
        """Seconds to wait after ``tried`` attempts without any hint from the endpoint."""
        doubled = self.first_backoff * 2.0 ** min(tried - 1, 16)
        return min(doubled, self.longest_backoff) * self.jitter()


@dataclass(slots=True)
class Limited:
    """Since when an endpoint has answered nothing but that it has too many requests, and when it
    said so last, in Unix seconds: waits outlast the calls, and the processes, that they began in.
    """

    since: float = 0.0
    last: float = 0.0
    _answered: float = 0.0

    @property
    def kept(self) -> dict[str, float]:
        """What other processes are to know; empty where there was an answer."""
        return {"since": self.since, "last": self.last} if self.last else {}

    def take_up(self, kept: Mapping[str, float]) -> None:
        """Go on with what a process has kept, perhaps another one, unless an answer has come to
        this one since then."""
        last = kept.get("last", 0.0)
        if not last or last > self._answered:
            self.since, self.last = kept.get("since", 0.0), last

    def refused(self, now: float) -> float:
        """Note a refusal; for how many seconds there has been nothing else. A long time without any
        request tells nothing, and is not counted."""
        if now - self.last > LONGEST_GAP:
            self.since = now
        self.last = now
        return now - self.since

    def forget(self) -> None:
        """There was an answer, or whoever goes on is to wait as long again."""
        self.since = self.last = 0.0
        self._answered = time.time()


class Breaker:
    """Stops all calls to a provider once several in a row were given up, or one was refused in a
    way that no other will fare better.

    It never closes again: whoever resumes the run opens a new line, with a new breaker.
    """

    def __init__(self, limit: int, limited: Limited | None = None) -> None:
        self.limited = limited or Limited()
        self._limit = limit
        self._in_a_row = 0
        self._reason: ModelError | None = None

    @property
    def open(self) -> bool:
        """Whether nothing is sent any more."""
        return self._reason is not None

    def check(self) -> None:
        """Raise what opened the breaker, if it is open."""
        if self._reason is not None:
            raise type(self._reason)(self._reason.message, data=dict(self._reason.data))

    def answered(self) -> None:
        """A call was answered: the row starts anew."""
        self._in_a_row = 0
        self.limited.forget()

    def given_up(self, error: ModelError, reason: ModelUnreachable, *, at_once: bool) -> ModelError:
        """Count a call given up with ``error``; ``reason`` once the breaker is open."""
        self._in_a_row += 1
        if self._reason is None and (at_once or self._in_a_row >= self._limit):
            self._reason = reason
        return self._reason or error

    def refused(self, error: ModelError) -> None:
        """No call will be answered any more: the key, the model or the quota is at fault."""
        self._reason = self._reason or error


class RetriedRequest(ABC, Generic[T]):
    """The state of one request while it is tried. Use once.

    Args:
        spec: the model that is asked.
        breaker: that of its line.
        patience: how long to go on.
        tried: attempts that failed before, say in a process that has ended; they count.
    """

    def __init__(
        self,
        spec: ModelSpec,
        breaker: Breaker,
        patience: Patience,
        *,
        tried: Sequence[Attempt] = (),
    ) -> None:
        self._spec, self._breaker, self._patience = spec, breaker, patience
        self._attempts: list[Attempt] = list(tried)
        self._failed, self._limited = len(tried), 0
        self._waited = 0.0
        self._spent = Usage()

    @abstractmethod
    async def _send(self) -> tuple[T | Failure, float]:
        """One attempt; the answer and the seconds it took."""

    def _finished(self, answer: T) -> T | None:
        """What to return for ``answer``; None to ask once more."""
        return answer

    def _useless(self, failure: Failure) -> None:
        """Take note of a failure after which another try may follow, and of what it may cost."""

    async def _otherwise(self, verdict: Verdict, failure: Failure) -> T | bool:
        """What to make of a failure that waiting does not mend: an answer, True to ask again, or
        False."""
        return False

    async def run(self) -> T:
        """Ask until there is an answer.

        Raises:
            ModelError: or one of its kinds; ``data['attempts']`` says what was tried, and
                ``data['usage']`` what was paid for answers of no use.
        """
        try:
            return await self._run()
        except LabelhubError as error:
            error.data["attempts"] = [asdict(attempt) for attempt in self._attempts]
            error.data["usage"] = asdict(self._spent)
            raise

    async def _run(self) -> T:
        while True:
            self._breaker.check()
            answer, seconds = await self._send()
            self._note(answer, seconds)
            if isinstance(answer, Failure):
                done = await self._after(answer)
            else:
                self._breaker.answered()
                done = self._finished(answer)
            if done is not None:
                return done

    def _note(self, answer: T | Failure, seconds: float) -> None:
        status, note = (answer.status, answer.note) if isinstance(answer, Failure) else (200, "")
        self._attempts.append(Attempt(status, round(seconds, 4), note))

    async def _after(self, failure: Failure) -> T | None:
        now = time.time()
        verdict = judge(failure, now=now)
        if verdict is Verdict.WAIT:
            await self._wait_for_room(failure, now)
            return None
        if verdict is Verdict.RETRY:
            self._useless(failure)
            await self._back_off(failure)
            return None
        done = await self._otherwise(verdict, failure)
        if done is False:
            error = error_messages.final_error(verdict, failure, self._spec, now=now)
            if verdict in _FOR_ALL:
                self._breaker.refused(error)
            raise error
        return None if isinstance(done, bool) else done

    async def _wait_for_room(self, failure: Failure, now: float) -> None:
        """A rate limit costs time, not attempts; the hint belongs to this call alone."""
        self._limited += 1
        hint = retry_after(failure.headers, now=now)
        if hint is None:
            seconds = self._patience.backoff(self._limited)
        else:
            # An endpoint that says 0 and goes on refusing must not be asked in a tight loop.
            floor = min(1.0, 0.02 * 2.0 ** min(self._limited, 10))
            seconds = max(hint, floor) * self._patience.jitter()
        if self._waited + seconds > self._patience.total_wait:
            raise error_messages.quota_error(self._spec.provider, seconds)
        self._heed_limit(now)
        self._waited += seconds
        await self._patience.sleep(seconds)

    def _heed_limit(self, now: float) -> None:
        """Give up where all calls to the endpoint together have waited too long: a run's slices are
        shorter than the wait of one call."""
        if not self._patience.for_all:
            return
        limited = self._breaker.limited
        seconds = limited.refused(now)
        if seconds > self._patience.total_wait:
            limited.forget()
            raise error_messages.limited_too_long(self._spec.provider, seconds)

    async def _back_off(self, failure: Failure) -> None:
        self._failed += 1
        if self._failed >= self._patience.attempts:
            provider = self._spec.provider
            raise self._breaker.given_up(
                error_messages.given_up(failure, provider, self._failed),
                error_messages.unreachable(failure, provider),
                at_once=failure.cause is Cause.NO_CONNECTION,
            )
        self._breaker.check()  # it may have opened over this very failure
        await self._patience.sleep(self._patience.backoff(self._failed))
