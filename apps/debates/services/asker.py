"""How a debate's calls reach their models: from memory, within the budget, always written down."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from apps.debates.models import RunRole, Turn
from apps.debates.services.budget import Budget, BudgetReached
from apps.debates.services.halt import Halt
from apps.debates.services.results import Claimed, answered_turn, failed_turn, storable
from apps.debates.services.writer import Writer
from apps.llm.models import ModelSpec, Provider
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.prices import cost_nanousd, estimate_usage
from labelhub.core.llm.types import Call, Completion, Reply, Status, Usage

#: An answer that cannot be read is asked for once more, by the same prompt and this line.
MOST_ANSWERS = 2
REMINDER = (
    "An earlier answer to this could not be read. Keep exactly to the form asked for above, and "
    "end with the line that states the decision."
)


class Models(Protocol):
    """What a slice needs of the gateway."""

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """Ask the model; raises ModelError."""
        ...

    def limit_of(self, provider: Provider) -> int:
        """How many calls may be under way to an endpoint at the moment."""
        ...


class Talk:
    """One debate in progress."""

    def __init__(self, claimed: Claimed) -> None:
        self.claimed = claimed
        self.spent = claimed.spent
        self.error = ""
        self._tried = Counter(claimed.tried)

    def book(self, turn: Turn) -> Turn:
        """Make ``turn`` this debate's next attempt at its step."""
        self._tried[turn.step] += 1
        turn.debate_id = self.claimed.pk
        turn.attempt = self._tried[turn.step]
        self.spent = self.spent.plus(turn)
        return turn


class Asker:
    """Asks the models of a run's roles; ``calls`` is how many calls are under way."""

    def __init__(
        self,
        *,
        roles: Mapping[str, RunRole],
        models: Models,
        budget: Budget,
        writer: Writer,
        halt: Halt,
    ) -> None:
        self._roles = roles
        self._models = models
        self._budget = budget
        self._writer = writer
        self._halt = halt
        self.calls = 0

    async def ask(self, talk: Talk, call: Call) -> Reply:
        """The reply to ``call``: the stored one if it was already paid for.

        Does not return once the slice is stopping; the slice cancels the debate then.
        """
        reply = talk.claimed.memo.get(call.step)
        answers = talk.claimed.answers.get(call.step, 0)
        if reply is None:
            reply, answers = await self._ask(talk, call), 1
        offline = self._roles[call.role].model.offline
        if reply.status is Status.UNPARSED and answers < MOST_ANSWERS and not offline:
            reply = await self._ask(talk, reminded(call))
        return reply

    async def _ask(self, talk: Talk, call: Call) -> Reply:
        role = self._roles[call.role]
        worst = worst_cost(role.model, call)
        await self._reserve(worst)
        self.calls += 1
        cost = 0
        try:
            turn, reply = await self._call(role, call)
            cost = turn.cost_nanousd or 0
            # Booked before anything else can be awaited: an answered call is never forgotten.
            self._writer.add(talk.book(turn))
        finally:
            self.calls -= 1
            await self._budget.settle(worst, cost)
        if reply.status is Status.FAILED:
            talk.error = reply.note
            if self._halt.asked:
                await self._halt.park()
        return reply

    async def _reserve(self, worst: int) -> None:
        try:
            await self._budget.reserve(worst)
        except BudgetReached as error:
            self._halt.stop_for(error)
        if self._halt.asked:
            await self._halt.park()

    async def _call(self, role: RunRole, call: Call) -> tuple[Turn, Reply]:
        try:
            completion = await self._models.complete(role.model, call)
        except ModelError as error:
            if error.stops_run:
                self._halt.stop_for(error)
            turn = failed_turn(role, call, error)
            return turn, Reply(status=Status.FAILED, note=error.message)
        completion = replace(
            completion, text=storable(completion.text), reasoning=storable(completion.reasoning)
        )
        reply = read_completion(call, completion)
        turn = answered_turn(role, call, completion, reply)
        turn.cost_nanousd = call_cost(role.model, completion.usage)
        return turn, reply


def reminded(call: Call) -> Call:
    """The same question with one line more, for a model whose answer could not be read. The line
    has a fixed length, so asking again cannot grow."""
    *before, last = call.messages
    again = replace(last, content=f"{last.content}\n\n{REMINDER}")
    return replace(call, messages=(*before, again))


def call_cost(model: ModelSpec, usage: Usage) -> int | None:
    """What a call to ``model`` cost, in nano-USD; None when its price is unknown."""
    return cost_nanousd(usage, price_in=model.price_in, price_out=model.price_out)


def worst_cost(model: ModelSpec, call: Call) -> int:
    """The most one call should cost: its input as estimated, an answer of full length.

    A model may be asked a second time with a doubled cap when it has thought too long; three caps
    cover both. 0 when the price is unknown: a run with a budget does not start then.
    """
    cap = int(call.params.get("max_tokens") or model.max_output_tokens)
    tokens_in = estimate_usage(call.messages, "").tokens_in
    return call_cost(model, Usage(tokens_in=2 * tokens_in, tokens_out=3 * cap)) or 0
