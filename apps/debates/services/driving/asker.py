"""How a debate's calls reach their models: from memory, within the budget, always written down."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Protocol

from apps.debates.models import RunRole, Turn
from apps.debates.services.driving.answers import Answer, Answers
from apps.debates.services.driving.budget import Budget, BudgetReached
from apps.debates.services.driving.costs import call_cost, worst_cost
from apps.debates.services.driving.halt import Halt
from apps.debates.services.driving.results import Claimed, answered_turn, failed_turn
from apps.debates.services.driving.writer import Writer
from apps.llm.asking import Spend, spend_freely
from apps.llm.embedding import Embedded
from apps.llm.models import ModelSpec, Provider
from apps.llm.texts import clean
from apps.llm.traffic import LineState
from apps.llm.wire import add_usage
from labelhub.core.llm.errors import ContextTooLong, ModelError
from labelhub.core.llm.identity import call_key
from labelhub.core.llm.parsing.ladder import AFTER_REASK
from labelhub.core.llm.types import Call, Completion, Reply, Status, Usage

#: An answer that cannot be read is asked for once more, by the same prompt and this line.
MOST_ANSWERS = 2
ASK_AGAIN = (Status.UNPARSED, Status.TRUNCATED)
REMINDER = (
    "An earlier answer to this could not be read. Keep exactly to the form asked for above, and "
    "end with the line that states the decision."
)


CUT_SHORT = "Its answers so far were of no use, and it was stopped before another came."


class Models(Protocol):
    """What a slice needs of the gateway."""

    async def complete(
        self, spec: ModelSpec, call: Call, spend: Spend = spend_freely
    ) -> Completion:
        """Ask the model; raises ModelError, and what ``spend`` raises."""
        ...

    def in_flight(self) -> int:
        """How many requests are being answered at the moment."""
        ...

    async def embed(self, spec: ModelSpec, texts: Sequence[str]) -> Embedded:
        """A vector for each text; raises ModelError."""
        ...

    def state_of(self, provider: Provider) -> LineState:
        """How the line to an endpoint is doing, and what limits its speed."""
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
    """Asks the models of a run's roles."""

    def __init__(
        self,
        *,
        roles: Mapping[str, RunRole],
        models: Models,
        budget: Budget,
        writer: Writer,
        halt: Halt,
        answers: Answers,
    ) -> None:
        self._roles = roles
        self._models = models
        self._budget = budget
        self._writer = writer
        self._halt = halt
        self._answers = answers

    async def ask(self, talk: Talk, call: Call) -> Reply:
        """The reply to ``call``: the stored one if it was already paid for.

        Does not return once the slice is stopping; the slice cancels the debate then.
        """
        # What is asked once for many debates has no place of its own in this one: the same step
        # may be about another precedent than before.
        reply = None if call.once else talk.claimed.memo.get(call.step)
        answers = talk.claimed.answers.get(call.step, 0)
        if reply is None:
            reply, answers = await self._ask(talk, call), 1
        offline = self._roles[call.role].model.offline
        if reply.status in ASK_AGAIN and answers < MOST_ANSWERS and not offline:
            reply = await self._ask(talk, reminded(call), again=True)
        return reply

    async def _ask(self, talk: Talk, call: Call, *, again: bool = False) -> Reply:
        """The reply to ``call``, however it is had, written down as the debate's next turn."""
        role = self._roles[call.role]
        key = _key(role.model, call, talk.claimed.replicate)
        known = await self._answers.known(key, call) if key else None
        if known is None:
            turn, reply = await self._asked(talk, call, key)
        elif isinstance(known, ModelError):
            turn, reply = _failed(role, call, known)
        else:
            if self._halt.asked:
                await self._halt.park()
            turn, reply = _answered(role, call, known.as_reused, known.read(call))
            turn.reused, turn.cost_nanousd = True, 0
        if again and reply.ok:
            reply = replace(reply, rung=AFTER_REASK)
            turn.rung = AFTER_REASK
        turn.call_key = key
        # Nothing was awaited since the answer came: an answered call is never forgotten.
        self._writer.add(talk.book(turn))
        if reply.status is Status.FAILED:
            talk.error = reply.note
            if self._halt.asked:
                await self._halt.park()
        return reply

    async def _asked(self, talk: Talk, call: Call, key: str) -> tuple[Turn, Reply]:
        """As :meth:`_paid`; nobody waits for an equal call that broke."""
        try:
            return await self._paid(talk, call, key)
        except Exception:
            if key:
                self._answers.settle(key, None)
            raise

    async def _paid(self, talk: Talk, call: Call, key: str) -> tuple[Turn, Reply]:
        """Ask the model, with the worst that each answer may cost set aside before it is asked
        for."""
        role = self._roles[call.role]
        held = Held(self._budget, role.model, call)
        try:
            await held.reserve()
        except BudgetReached as error:
            self._halt.stop_for(error)
        if self._halt.asked:
            held.settle(0)
            await self._halt.park()
        try:
            turn, reply = await self._call(role, call, key, held)
            cost = turn.cost_nanousd or 0
        except BaseException:
            # The slice ends while the call waits for another try: what it has cost is spent.
            cost = held.booked
            if held.useless.tokens_in or held.useless.tokens_out:
                paid = ModelError(CUT_SHORT, data={"usage": asdict(held.useless)})
                self._writer.add(talk.book(_failed(role, call, paid)[0]))
            raise
        finally:
            held.settle(cost)
        return turn, reply

    async def _call(self, role: RunRole, call: Call, key: str, held: "Held") -> tuple[Turn, Reply]:
        try:
            completion = await self._models.complete(role.model, call, held.spend)
        except (ModelError, BudgetReached) as error:
            if isinstance(error, BudgetReached) or error.stops_run:
                self._halt.stop_for(error)
            if key:
                # Without what it cost: those who wait have paid nothing.
                told = type(error)(error.message) if isinstance(error, ModelError) else None
                self._answers.settle(key, told)
            return _failed(role, call, error)
        completion = replace(
            completion, text=clean(completion.text), reasoning=clean(completion.reasoning)
        )
        reply = Answer(completion, {}).read(call)
        if key:
            # Without the choices for each token, which nobody needs once they are read.
            kept = replace(completion, logprobs=())
            self._answers.settle(key, Answer(kept, reply.probabilities))
        return _answered(role, call, completion, reply)


class Held:
    """What is set aside of the budget for one call; each answer that is asked for is reserved."""

    def __init__(self, budget: Budget, model: ModelSpec, call: Call) -> None:
        self._budget, self._model, self._call = budget, model, call
        self._worst = 0
        self.booked = 0
        self.useless = Usage()

    async def reserve(self, cap: int | None = None) -> None:
        """Set the worst case of one answer aside.

        Raises:
            BudgetReached: it does not fit.
        """
        worst = worst_cost(self._model, self._call, cap) if self._budget.limited else 0
        await self._budget.reserve(worst)
        self._worst = worst

    async def spend(self, useless: Usage, cap: int) -> None:
        """An answer was of no use but has its price; another of at most ``cap`` tokens is due.

        Raises:
            BudgetReached: that does not fit.
        """
        self.useless = add_usage(self.useless, useless)
        self.settle(self.booked + (call_cost(self._model, useless) or 0))
        await self.reserve(cap)

    def settle(self, cost: int) -> None:
        """Give back what is set aside; all the call's answers have come to ``cost``."""
        self._budget.settle(self._worst, cost - self.booked)
        self._worst, self.booked = 0, cost


def _answered(
    role: RunRole, call: Call, completion: Completion, reply: Reply
) -> tuple[Turn, Reply]:
    turn = answered_turn(role, call, completion, reply)
    turn.cost_nanousd = call_cost(role.model, completion.usage)
    return turn, reply


def _failed(role: RunRole, call: Call, error: ModelError | BudgetReached) -> tuple[Turn, Reply]:
    # What does not fit will not fit next time either: it is for people, not to be tried again.
    status = Status.TOO_LONG if isinstance(error, ContextTooLong) else Status.FAILED
    turn = failed_turn(role, call, error)
    turn.status = str(status)
    if turn.tokens_in or turn.tokens_out:
        paid = Usage(turn.tokens_in, turn.tokens_out, turn.tokens_cached, turn.tokens_reasoning)
        turn.cost_nanousd = call_cost(role.model, paid)
    return turn, Reply(status=status, note=error.message)


def _key(model: ModelSpec, call: Call, replicate: int) -> str:
    """What decides the answer to ``call``; empty where chance has a part in it, and for the
    offline model, which is quicker than any look."""
    warm = model.extra_body.get("temperature", model.fixed_temperature)
    chance = model.offline or warm or not model.takes_temperature
    if chance and not call.once:
        return ""
    endpoint, about = model.identity
    return call_key(call, endpoint=endpoint, model=about, replicate=replicate)


def reminded(call: Call) -> Call:
    """The same question with one line more, for a model whose answer could not be read. The line
    has a fixed length, so asking again cannot grow."""
    *before, last = call.messages
    again = replace(last, content=f"{last.content}\n\n{REMINDER}")
    return replace(call, messages=(*before, again))
