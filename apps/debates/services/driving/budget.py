"""Keeping a run below its budget: reserve the worst case before a call, settle the cost after."""

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.common.figures import usd
from apps.llm.models import ModelSpec
from apps.llm.structured import answer_schema
from apps.llm.wire import output_cap
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.prices import cost_nanousd
from labelhub.core.llm.types import Call, Usage
from labelhub.core.phrases import Phrase

#: Tokens, at most, that a chat format adds to each message and to the call.
AROUND_A_MESSAGE = 16
AROUND_A_CALL = 64


def call_cost(model: ModelSpec, usage: Usage) -> int | None:
    """What a call to ``model`` cost, in nano-USD; None when its price is unknown."""
    return cost_nanousd(usage, **model.prices)


def worst_cost(model: ModelSpec, call: Call, cap: int | None = None) -> int:
    """The most one answer to ``call`` can cost, in nano-USD.

    No tokenizer makes more tokens of a text than it has bytes. 0 when the price is unknown: a run
    with a budget does not start then.

    Args:
        model: the model that answers.
        call: the call.
        cap: maximum tokens of the answer; None: the limit of the call and the model.
    """
    if not model.prices_known or model.free:
        return 0
    # Additions to the body, such as tools, may count as input text.
    tokens_in = max_input_tokens(call) + _max_json_tokens(model.extra_body)
    tokens_out = cap or output_cap(model, call)
    plain = Usage(tokens_in, tokens_out)
    # Cached and reasoning tokens may cost more or less than plain ones: take the dearer.
    special = Usage(tokens_in, tokens_out, tokens_cached=tokens_in, tokens_reasoning=tokens_out)
    return sum(
        max(part)
        for part in zip(
            _input_and_output_cost(model, plain),
            _input_and_output_cost(model, special),
            strict=True,
        )
    )


def _input_and_output_cost(model: ModelSpec, usage: Usage) -> tuple[int, int]:
    """Cost of the input and of the output, nano-USD, each rounded up."""
    asked = replace(usage, tokens_out=0, tokens_reasoning=0)
    output_usage = replace(usage, tokens_in=0, tokens_cached=0)
    return (call_cost(model, asked) or 0) + 1, (call_cost(model, output_usage) or 0) + 1


def max_input_tokens(call: Call) -> int:
    """Upper bound on the input tokens of ``call``, as text or as JSON."""
    longest_text = max(
        sum(
            len(message.content.encode("utf-8", "replace")) + AROUND_A_MESSAGE
            for message in messages
        )
        for messages in (call.messages, call.json_messages)
    )
    form = call.params.get("response_format")
    if call.json_messages:
        form = answer_schema(call)
    return (
        longest_text + AROUND_A_CALL + (_max_json_tokens(form) if isinstance(form, Mapping) else 0)
    )


def _max_json_tokens(given: Mapping[str, Any]) -> int:
    """Upper bound on the tokens of an object sent as JSON."""
    return len(json.dumps(given)) if given else 0


class BudgetReached(LabelhubError):
    """The next call could cost more than is left of the budget."""

    code = "budget"


class Budget:
    """One run's money in nano-USD, within one event loop. ``limit`` None: no limit.

    Spent and reserved together never pass the limit, so in-flight calls cannot overshoot it.
    ``unread``: what providers may charge for failed calls; it counts as spent.
    """

    def __init__(self, limit: int | None, spent: int = 0, *, unread: int = 0) -> None:
        self._limit = limit
        self._spent = spent + unread
        self._unread = unread
        self._reserved = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._limit is not None

    async def reserve(self, worst: int) -> None:
        """Reserve ``worst``. Waits in order of arrival while calls in flight may leave enough.

        Raises:
            BudgetReached: it does not fit although no call is in flight.
        """
        if self._limit is None:
            return
        if self._waiting or not self._fits(worst):
            if self._reserved == 0:
                raise self._reached(worst)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((worst, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self.settle(worst, 0)  # it had been set aside already
                raise
            return
        self._reserved += worst

    def settle(self, worst: int, cost: int, *, unread: int = 0) -> None:
        """Release a reservation and add its cost, and what may yet be charged."""
        if self._limit is None:
            return
        self._reserved -= worst
        self._spent += cost + unread
        self._unread += unread
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            worst, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
            elif self._fits(worst):
                self._waiting.popleft()
                self._reserved += worst
                turn.set_result(None)
            elif self._reserved == 0:
                self._waiting.popleft()
                turn.set_exception(self._reached(worst))
            else:
                return

    def _fits(self, worst: int) -> bool:
        return self._limit is None or self._spent + self._reserved + worst <= self._limit

    def _reached(self, worst: int) -> BudgetReached:
        spent = Phrase("%(amount)s is spent", amount=usd(self._spent - self._unread))
        parts = [spent]
        if self._unread:
            words = Phrase(
                "up to %(amount)s may be charged for calls without an answer",
                amount=usd(self._unread),
            )
            parts.append(words)
        return BudgetReached(
            "The next call could exceed the budget of %(budget)s: %(parts)s, and the call may "
            "cost up to %(cost)s. Raise the budget and resume, or end the run here.",
            budget=usd(self._limit or 0),
            parts=parts,
            cost=usd(worst),
        )
