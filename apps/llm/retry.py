"""Retry a request: send, wait if the endpoint asks for it, try again, or give up.

Nothing here opens a connection: an :class:`~apps.llm.http_line.HttpLine` does.
"""

import asyncio
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Generic, TypeVar

from apps.llm import error_messages
from apps.llm.call_metrics import call_span, count_usage, note_call
from apps.llm.failures import LONGEST_WAIT, Cause, Failure, Verdict, judge, retry_after
from apps.llm.models import ModelSpec
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.errors import ModelError, ModelUnreachable
from labelhub.core.llm.types import Attempt, Usage

T = TypeVar("T")
#: Verdicts that hold for all calls.
_FOR_ALL = (Verdict.KEY, Verdict.MODEL, Verdict.QUOTA)

#: Maximum seconds between two refusals in a row; longer than any wait.
LONGEST_GAP = 2 * LONGEST_WAIT


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits of retries, in seconds. ``sleep`` and ``jitter`` are parameters for tests.

    ``total_wait`` is the longest wait for rate limits; with ``for_all`` it counts all calls to an
    endpoint together, as in a run.
    """

    attempts: int = 5
    first_backoff: float = 0.5
    longest_backoff: float = 30.0
    total_wait: float = 900.0
    for_all: bool = True
    calls_in_a_row: int = 5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default=partial(random.uniform, 1.0, 1.25))

    def backoff(self, tried: int) -> float:
        """Seconds to wait after ``tried`` attempts without any hint from the endpoint."""
        doubled = self.first_backoff * 2.0 ** min(tried - 1, 16)
        return min(doubled, self.longest_backoff) * self.jitter()


@dataclass(slots=True)
class Limited:
    """Start and latest answer of the current series of "too many requests" from an endpoint, in
    Unix seconds. A series can outlast a process.
    """

    since: float = 0.0
    last: float = 0.0
    _answered: float = 0.0

    @property
    def kept(self) -> dict[str, float]:
        """The state for other processes; empty after an answer."""
        return {"since": self.since, "last": self.last} if self.last else {}

    def take_up(self, kept: Mapping[str, float]) -> None:
        """Continue from the stored state, unless this process has received an answer since."""
        last = kept.get("last", 0.0)
        if not last or last > self._answered:
            self.since, self.last = kept.get("since", 0.0), last

    def refused(self, now: float) -> float:
        """Note a refusal; the seconds since the first one in a row. A long time without requests
        begins a new series."""
        if now - self.last > LONGEST_GAP:
            self.since = now
        self.last = now
        return now - self.since

    def forget(self) -> None:
        """End the series, after an answer or before a new start."""
        self.since = self.last = 0.0
        self._answered = time.time()


class Breaker:
    """Stops all calls to a provider after several in a row were given up, or one was refused for a
    reason that applies to all.

    It never closes again: a resumed run opens a new line, with a new breaker.
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
        """Raise the error that opened the breaker, if it is open."""
        if self._reason is not None:
            raise type(self._reason)(self._reason.message, data=dict(self._reason.data))

    def answered(self) -> None:
        """A call was answered: begin a new row."""
        self._in_a_row = 0
        self.limited.forget()

    def given_up(self, error: ModelError, reason: ModelUnreachable, *, at_once: bool) -> ModelError:
        """Count a call given up with ``error``; ``reason`` once the breaker is open."""
        self._in_a_row += 1
        if self._reason is None and (at_once or self._in_a_row >= self._limit):
            self._reason = reason
        return self._reason or error

    def refused(self, error: ModelError) -> None:
        """Open for a reason that no call can avoid: the key, the model or the quota."""
        self._reason = self._reason or error


class RetriedRequest(ABC, Generic[T]):
    """One request with its retries. Use once.

    Args:
        spec: the model.
        breaker: that of its line.
        patience: the limits of retries.
        tried: earlier failed attempts, for example of another process, which count too.
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
        self._failure: Failure | None = None

    @abstractmethod
    async def _send(self) -> tuple[T | Failure, float]:
        """One attempt; the answer and its seconds."""

    def _accept_answer(self, answer: T) -> T | None:
        """The result for ``answer``; None to ask again."""
        return answer

    def _count_waste(self, failure: Failure) -> None:
        """Count the cost of a failure, which another try may follow."""

    async def _adapt_request(self, verdict: Verdict, failure: Failure) -> T | bool:
        """Handle a failure that a retry cannot fix: an answer, True to ask again, or False."""
        return False

    async def run(self) -> T:
        """Ask until there is an answer.

        Raises:
            ModelError: or a subclass; ``data['attempts']`` has the attempts, and
                ``data['usage']`` the tokens of useless answers.
        """
        try:
            return await self._run()
        except LabelhubError as error:
            error.data["attempts"] = [asdict(attempt) for attempt in self._attempts]
            error.data["usage"] = asdict(self._spent)
            if isinstance(error, ModelError):
                error.failure = self._failure
            raise
        finally:
            self._count_usage()

    def _count_usage(self) -> None:
        """Count the tokens of all requests, also if the call was cancelled."""
        count_usage(self._spec, self._spent)

    async def _run(self) -> T:
        while True:
            self._breaker.check()
            with call_span(self._spec) as traced:
                answer, seconds = await self._send()
                note_call(self._spec, answer, seconds, traced)
            self._record_attempt(answer, seconds)
            if isinstance(answer, Failure):
                done = await self._handle_failure(answer)
            else:
                self._breaker.answered()
                done = self._accept_answer(answer)
            if done is not None:
                return done

    def _record_attempt(self, answer: T | Failure, seconds: float) -> None:
        self._failure = answer if isinstance(answer, Failure) else None
        status, note = (answer.status, answer.note) if isinstance(answer, Failure) else (200, "")
        self._attempts.append(Attempt(status, round(seconds, 4), note))

    async def _handle_failure(self, failure: Failure) -> T | None:
        now = time.time()
        verdict = judge(failure, now=now)
        if verdict is Verdict.WAIT:
            await self._wait_for_room(failure, now)
            return None
        if verdict is Verdict.RETRY:
            self._count_waste(failure)
            await self._back_off(failure)
            return None
        done = await self._adapt_request(verdict, failure)
        if done is False:
            error = error_messages.final_error(verdict, failure, self._spec, now=now)
            if verdict in _FOR_ALL:
                self._breaker.refused(error)
            raise error
        return None if isinstance(done, bool) else done

    async def _wait_for_room(self, failure: Failure, now: float) -> None:
        """Wait for a rate limit, which costs no attempt; the hint applies to this call only."""
        self._limited += 1
        hint = retry_after(failure.headers, now=now)
        if hint is None:
            seconds = self._patience.backoff(self._limited)
        else:
            # Do not call an endpoint that says 0 but keeps refusing in a tight loop.
            floor = min(1.0, 0.02 * 2.0 ** min(self._limited, 10))
            seconds = max(hint, floor) * self._patience.jitter()
        if self._waited + seconds > self._patience.total_wait:
            raise error_messages.quota_error(self._spec.provider, seconds)
        self._heed_limit(now)
        self._waited += seconds
        await self._patience.sleep(seconds)

    def _heed_limit(self, now: float) -> None:
        """Give up if all calls to the endpoint together have waited too long."""
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
        self._breaker.check()  # this failure may have opened the breaker
        await self._patience.sleep(self._patience.backoff(self._failed))
