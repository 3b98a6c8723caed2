"""One call's way to its answer: send, wait where told to, try again, adapt, or give up.

Nothing here opens a connection: a :class:`Line` does, and tests script one.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from apps.llm import troubles
from apps.llm.failures import Capability, Cause, Failure, Verdict, judge, learnt_from, retry_after
from apps.llm.models import ModelSpec
from apps.llm.wire import add_usage, build_request, output_cap
from labelhub.core.llm.errors import ModelError, ModelUnreachable
from labelhub.core.llm.types import Attempt, Call, Completion, Usage


def _jitter() -> float:
    return random.uniform(1.0, 1.25)  # noqa: S311 - spreads retries, guards nothing


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on with one call; seconds. ``sleep`` and ``jitter`` are there for tests."""

    attempts: int = 5
    first_backoff: float = 0.5
    longest_backoff: float = 30.0
    total_wait: float = 900.0
    calls_in_a_row: int = 5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = _jitter

    def backoff(self, tried: int) -> float:
        """Seconds to wait after ``tried`` attempts without any hint from the endpoint."""
        doubled = self.first_backoff * 2.0 ** min(tried - 1, 16)
        return min(doubled, self.longest_backoff) * self.jitter()


class Breaker:
    """Stops all calls to a provider once several in a row were given up."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._in_a_row = 0
        self._reason: ModelUnreachable | None = None

    def check(self) -> None:
        """Raise what opened the breaker, if it is open."""
        if self._reason is not None:
            raise ModelUnreachable(self._reason.message, data=self._reason.data)

    def answered(self) -> None:
        """A call was answered: the row starts anew."""
        self._in_a_row = 0

    def given_up(self, error: ModelError, reason: ModelUnreachable, *, at_once: bool) -> ModelError:
        """Count a call given up with ``error``; ``reason`` once the breaker is open."""
        self._in_a_row += 1
        if self._reason is None and (at_once or self._in_a_row >= self._limit):
            self._reason = reason
        return self._reason or error


class Line(Protocol):
    """A connection to one provider, as :class:`Asking` needs it."""

    breaker: Breaker

    async def send(self, request: dict[str, Any]) -> tuple[Completion | Failure, float]:
        """Send one request when there is room; the answer and the seconds it took."""
        ...

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep what was learnt about ``spec``, on the object and in the database."""
        ...


class Asking:
    """The state of one call while it is being asked. Use once."""

    def __init__(self, spec: ModelSpec, call: Call, line: Line, patience: Patience) -> None:
        self._spec, self._call, self._line, self._patience = spec, call, line, patience
        self._attempts: list[Attempt] = []
        self._failed = self._limited = 0
        self._waited = 0.0
        self._adapted: set[str] = set()
        self._cap: int | None = None
        self._spent = Usage()

    async def run(self) -> Completion:
        """Ask until there is a completion.

        Raises:
            ModelError: or one of its kinds; ``data['attempts']`` says what was tried.
        """
        try:
            return await self._run()
        except ModelError as error:
            error.data["attempts"] = [asdict(attempt) for attempt in self._attempts]
            raise

    async def _run(self) -> Completion:
        while True:
            self._line.breaker.check()
            request = build_request(self._spec, self._call, max_tokens=self._cap)
            answer, seconds = await self._line.send(request)
            self._note(answer, seconds)
            if isinstance(answer, Failure):
                await self._after(answer, request)
                continue
            self._line.breaker.answered()
            if not self._thought_too_long(answer):
                return self._finished(answer)

    def _note(self, answer: Completion | Failure, seconds: float) -> None:
        status, note = (answer.status, answer.note) if isinstance(answer, Failure) else (200, "")
        self._attempts.append(Attempt(status, round(seconds, 4), note))

    def _thought_too_long(self, answer: Completion) -> bool:
        """Whether to ask once more with a doubled cap: hidden thinking left no room for words."""
        if answer.finish_reason != "length" or answer.text or self._cap is not None:
            return False
        self._cap = 2 * output_cap(self._spec, self._call)
        self._spent = answer.usage
        return True

    def _finished(self, answer: Completion) -> Completion:
        usage = answer.usage if self._cap is None else add_usage(self._spent, answer.usage)
        return replace(
            answer,
            usage=usage,
            attempts=tuple(self._attempts),
            seconds=round(sum(attempt.seconds for attempt in self._attempts), 4),
        )

    async def _after(self, failure: Failure, request: dict[str, Any]) -> None:
        now = time.time()
        verdict = judge(failure, now=now)
        if verdict is Verdict.WAIT:
            await self._wait_for_room(failure, now)
        elif verdict is Verdict.RETRY:
            await self._back_off(failure)
        elif not (verdict is Verdict.REJECTED and await self._adapt(failure, request)):
            raise troubles.final_error(verdict, failure, self._spec, now=now)

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
            raise troubles.quota_error(self._spec.provider, seconds)
        self._waited += seconds
        await self._patience.sleep(seconds)

    async def _back_off(self, failure: Failure) -> None:
        self._failed += 1
        if self._failed >= self._patience.attempts:
            provider = self._spec.provider
            raise self._line.breaker.given_up(
                troubles.given_up(failure, provider, self._failed),
                troubles.unreachable(failure, provider),
                at_once=failure.cause is Cause.NO_CONNECTION,
            )
        await self._patience.sleep(self._patience.backoff(self._failed))

    async def _adapt(self, failure: Failure, request: dict[str, Any]) -> bool:
        """Learn from a refused parameter, each at most once a call; True to ask again."""
        capability = learnt_from(failure, request)
        if capability is None or capability.field in self._adapted:
            return False
        self._adapted.add(capability.field)
        # Calls in flight together are all refused: the first one learns for the others.
        if getattr(self._spec, capability.field) != capability.value:
            await self._line.learn(self._spec, capability)
        return True
