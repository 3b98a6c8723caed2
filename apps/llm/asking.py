"""One call of a debate on its way to a completion: what is asked, and how it is adapted."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

from apps.llm.capabilities import Capability, learnt_from
from apps.llm.failures import Failure, Verdict
from apps.llm.models import ModelSpec
from apps.llm.trying import Breaker, Line, Patience, Trying
from apps.llm.wire import add_usage, build_request, effective_params, output_cap
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Call, Completion, Usage

__all__ = ["Asking", "Breaker", "Line", "Patience", "Spend"]


#: Told what an answer cost that was of no use, and the cap of the next one, before that is asked
#: for; raises to have it not asked for.
Spend: TypeAlias = Callable[[Usage, int], Awaitable[None]]


async def spend_freely(_: Usage, __: int) -> None:
    """For calls that nobody keeps a budget for."""


class Asking(Trying[Completion]):
    """The state of one call while it is being asked. Use once.

    It is asked with a parameter less when the endpoint refuses one, and once more, at most, when
    its answer was cut off: as free text where a form was asked for (models can fill one with blanks
    without end), with a doubled cap where hidden thinking left no room for words. What answers of
    no use cost is part of the completion's usage, or of ``data['usage']`` of the error.
    """

    def __init__(
        self,
        spec: ModelSpec,
        call: Call,
        line: Line,
        patience: Patience,
        *,
        spend: Spend = spend_freely,
    ) -> None:
        super().__init__(spec, line.breaker, patience)
        self._call, self._line, self._spend = call, line, spend
        self._request: dict[str, Any] = {}
        self._adapted: set[tuple[str, Any]] = set()
        self._cap: int | None = None
        self._plain = self._again = False
        self._unspent: Usage | None = None
        self._tokens_in = estimate_usage(call.messages, "").tokens_in

    def _build(self) -> dict[str, Any]:
        return build_request(self._spec, self._call, max_tokens=self._cap, plain=self._plain)

    async def _send(self) -> tuple[Completion | Failure, float]:
        await self._before_again()
        self._request = self._build()
        return await self._line.send(self._request, self._tokens())

    async def _before_again(self) -> None:
        if self._unspent is not None:
            useless, self._unspent = self._unspent, None
            await self._spend(useless, self._longest())

    def _longest(self) -> int:
        """The most tokens of the next answer."""
        return self._cap or output_cap(self._spec, self._call)

    def _tokens(self) -> int:
        """What to reserve: the input as estimated, and the longest answer."""
        return self._tokens_in + self._longest()

    def _finished(self, answer: Completion) -> Completion | None:
        if self._cut_off(answer):
            return None
        return replace(
            answer,
            usage=add_usage(self._spent, answer.usage),
            attempts=tuple(self._attempts),
            seconds=round(sum(attempt.seconds for attempt in self._attempts), 4),
        )

    def _cut_off(self, answer: Completion) -> bool:
        """Whether to ask once more, in a way that leaves room for an answer."""
        formed = "response_format" in self._request
        if answer.finish_reason != "length" or self._again or not (formed or not answer.text):
            return False
        self._again, self._plain = True, formed
        self._cap = None if answer.text else 2 * output_cap(self._spec, self._call)
        self._waste(answer.usage)
        return True

    def _useless(self, failure: Failure) -> None:
        """An answer that nobody can read was written all the same: its tokens are guessed."""
        if failure.paid:
            written = min(failure.length // 3, self._longest())
            self._waste(Usage(self._tokens_in, written, estimated=True))

    def _waste(self, usage: Usage) -> None:
        self._spent = add_usage(self._spent, usage)
        self._unspent = usage

    async def _otherwise(self, verdict: Verdict, failure: Failure) -> Completion | bool:
        if verdict is Verdict.FILTERED:
            return self._filtered(failure)
        return verdict in (Verdict.REJECTED, Verdict.KEY) and await self._adapt(failure)

    def _filtered(self, failure: Failure) -> Completion:
        """A text that the provider's filter refuses to read is data, as a filtered answer is."""
        self._breaker.answered()
        refused = Completion(
            text="",
            finish_reason="content_filter",
            usage=Usage(self._tokens_in, estimated=True),
            refusal=failure.message or "The provider's content filter refused the request.",
            effective_params=effective_params(self._request),
        )
        return self._finished(refused) or refused

    async def _adapt(self, failure: Failure) -> bool:
        """Learn from a refused parameter, each at most once a call; True to ask again."""
        capability = learnt_from(failure, self._request)
        if capability is None or _step(capability) in self._adapted:
            return False
        self._adapted.add(_step(capability))
        # Calls in flight together are all refused: the first one learns for the others.
        if self._build() == self._request:
            await self._line.learn(self._spec, capability)
        return self._build() != self._request


def _step(capability: Capability) -> tuple[str, Any]:
    """What may be learnt once a call; a form of answers is given up in two steps."""
    return capability.field, capability.value if capability.field == "structured" else None
