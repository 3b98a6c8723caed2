"""How a debate's calls reach their models: from memory, within the budget, always written down."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Protocol

from apps.debates.models import RunRole, Turn
from apps.debates.services.driving.answers import Answer, AnswerCache
from apps.debates.services.driving.budget import Budget, BudgetReached, call_cost, worst_cost
from apps.debates.services.driving.results import (
    ClaimedDebate,
    FailedTries,
    Writer,
    answered_turn,
    failed_turn,
)
from apps.debates.services.driving.stop_signal import StopSignal
from apps.llm.completion import CallRecord
from apps.llm.embedding import Embedded
from apps.llm.error_messages import spent_on_thinking
from apps.llm.models import ModelSpec, Provider
from apps.llm.thinking import is_only_thinking
from apps.llm.traffic import LineState
from apps.llm.wire import add_usage, clean, doubled_cap, output_cap
from labelhub.core.llm.errors import ContextTooLong, ModelError
from labelhub.core.llm.parsing.ladder import AFTER_REASK
from labelhub.core.llm.types import (
    Attempt,
    Call,
    Completion,
    Message,
    Reply,
    Status,
    Usage,
    call_key,
)

#: An answer that cannot be read is asked for once more, by the same prompt and this line; one that
#: was cut off amid its words, with room for twice as many. Where all of it was thinking, whoever
#: asked has tried larger caps already.
MOST_ANSWERS = 2
REMINDER = "An earlier answer to this could not be read. Keep exactly to the form asked for above."
REMINDER_JSON = (
    "An earlier answer to this could not be read. Answer with the one JSON object asked for above "
    "and with nothing else."
)


#: What is no answer to a second asking.
NO_ANSWER = {Status.FAILED, Status.TOO_LONG}
CUT_SHORT = "Its answers so far were of no use, and it was stopped before another came."


class Models(Protocol):
    """What a slice needs of the gateway."""

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        """Ask the model; raises ModelError, and what ``record`` raises."""
        ...

    def hold(self) -> None:
        """Send nothing more; what is being answered goes on."""
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


class DebateProgress:
    """One debate in progress."""

    def __init__(self, claimed: ClaimedDebate) -> None:
        self.claimed = claimed
        self.spent = claimed.spent
        self.error = ""
        self._tried = Counter(claimed.tried)
        self._failed_tries = dict(claimed.failed_tries)

    def tries_of(self, step: str) -> Sequence[Attempt]:
        """The failed tries at the call of ``step`` that is not answered yet."""
        return [Attempt(**attempt) for attempt in self._failed_tries.get(step, [])]

    def note_try(self, step: str, attempt: Attempt) -> "FailedTries":
        """One more of them; what is to be written down."""
        before = self._failed_tries.get(step, [])
        self._failed_tries[step] = [*before, asdict(attempt)]
        return FailedTries(self.claimed.pk, dict(self._failed_tries))

    def forget_tries(self, step: str) -> "FailedTries | None":
        """The call of ``step`` has ended; what is to be written down."""
        if self._failed_tries.pop(step, None) is None:
            return None
        return FailedTries(self.claimed.pk, dict(self._failed_tries))

    def book(self, turn: Turn) -> Turn:
        """Make ``turn`` this debate's next attempt at its step."""
        self._tried[turn.step] += 1
        turn.debate_id = self.claimed.pk
        turn.attempt = self._tried[turn.step]
        self.spent = self.spent.plus(turn)
        return turn


class CallExecutor:
    """Asks the models of a run's roles."""

    def __init__(
        self,
        *,
        roles: Mapping[str, RunRole],
        models: Models,
        budget: Budget,
        writer: Writer,
        stop_signal: StopSignal,
        answers: AnswerCache,
    ) -> None:
        self._roles = roles
        self._models = models
        self._budget = budget
        self._writer = writer
        self._stop_signal = stop_signal
        self._answers = answers

    async def ask(self, progress: DebateProgress, call: Call) -> Reply:
        """The reply to ``call``: the stored one if it was already paid for.

        Does not return once the slice is stopping; the slice cancels the debate then.
        """
        # What is asked once for many debates has no place of its own in this one: the same step
        # may be about another precedent than before.
        reply = None if call.once else progress.claimed.memo.get(call.step)
        answers = progress.claimed.answers.get(call.step, 0)
        if reply is None:
            reply, answers = await self._ask(progress, call), 1
        model = self._roles[call.role].model
        cut_amid_words = reply.status is Status.TRUNCATED and bool(reply.text.strip())
        unreadable = reply.status is Status.UNPARSED or cut_amid_words
        if unreadable and answers < MOST_ANSWERS and not model.offline:
            cap = doubled_cap(model, call) if reply.cut_off else None
            if reply.cut_off and cap is None:
                return reply
            second = await self._ask(progress, with_reminder(call, cap), again=True)
            # Where asking again was in vain, the first answer is what there is.
            return reply if second.status in NO_ANSWER else second
        return reply

    async def _ask(self, progress: DebateProgress, call: Call, *, again: bool = False) -> Reply:
        """The reply to ``call``, however it is had, written down as the debate's next turn."""
        role = self._roles[call.role]
        key = _reuse_key(role.model, call, progress.claimed.replicate)
        known = await self._answers.known(key, call) if key else None
        if known is None:
            turn, reply = await self._asked(progress, call, key)
        elif isinstance(known, ModelError):
            turn, reply = _turn_of_failure(role, call, known)
        else:
            if self._stop_signal.is_set:
                await self._stop_signal.park()
            turn, reply = _turn_of_answer(role, call, known.as_reused, known.read(call))
            turn.reused, turn.cost_nanousd = True, 0
        if again and reply.ok:
            reply = replace(reply, rung=AFTER_REASK)
            turn.rung = AFTER_REASK
        turn.call_key = key
        # Nothing was awaited since the answer came: an answered call is never forgotten.
        self._writer.add(progress.book(turn))
        if ended := progress.forget_tries(call.step):
            self._writer.note(ended)
        if reply.status is Status.FAILED:
            progress.error = reply.note
            if self._stop_signal.pausing:
                # What stops the run is not this debate's failure.
                await self._stop_signal.park()
        return reply

    async def _asked(self, progress: DebateProgress, call: Call, key: str) -> tuple[Turn, Reply]:
        """As :meth:`_paid`; nobody waits for an equal call that broke."""
        try:
            return await self._paid(progress, call, key)
        except Exception:
            if key:
                self._answers.settle(key, None)
            raise

    async def _paid(self, progress: DebateProgress, call: Call, key: str) -> tuple[Turn, Reply]:
        """Ask the model, with the worst that each answer may cost set aside before it is asked
        for."""
        role = self._roles[call.role]

        def failed(attempt: Attempt, unread_nanousd: int) -> None:
            noted = progress.note_try(call.step, attempt)
            self._writer.note(replace(noted, unread_nanousd=unread_nanousd))

        reservation = BudgetReservation(
            self._budget, role.model, call, tried=progress.tries_of(call.step), failed=failed
        )
        try:
            await reservation.reserve()
        except BudgetReached as error:
            self._stop_signal.stop_for(error)
        if self._stop_signal.is_set:
            reservation.settle(0)
            await self._stop_signal.park()
        try:
            turn, reply = await self._call(role, call, key, reservation)
            cost = turn.cost_nanousd or 0
        except BaseException:
            # The slice ends while the call waits for another try: what it has cost is spent.
            cost = reservation.booked
            if reservation.useless.tokens_in or reservation.useless.tokens_out:
                paid = ModelError(CUT_SHORT, data={"usage": asdict(reservation.useless)})
                self._writer.add(progress.book(_turn_of_failure(role, call, paid)[0]))
            raise
        finally:
            reservation.settle(cost)
        return turn, reply

    async def _call(
        self, role: RunRole, call: Call, key: str, reservation: "BudgetReservation"
    ) -> tuple[Turn, Reply]:
        try:
            completion = await self._models.complete(role.model, call, reservation)
        except (ModelError, BudgetReached) as error:
            if isinstance(error, BudgetReached) or error.stops_run:
                self._stop_signal.stop_for(error)
            if key:
                # Without what it cost: those who wait have paid nothing.
                shared_error = type(error)(error.message) if isinstance(error, ModelError) else None
                self._answers.settle(key, shared_error)
            return _turn_of_failure(role, call, error)
        completion = replace(
            completion, text=clean(completion.text), reasoning=clean(completion.reasoning)
        )
        reply = Answer(completion, {}).read(call)
        if reply.status is Status.TRUNCATED and is_only_thinking(completion):
            sent = completion.effective_params.get(role.model.max_tokens_param)
            cap = int(sent or output_cap(role.model, call))
            reply = replace(reply, note=spent_on_thinking(role.model, cap))
        if key:
            # Without the choices for each token, which nobody needs once they are read.
            kept = replace(completion, logprobs=())
            self._answers.settle(key, Answer(kept, reply.probabilities))
        return _turn_of_answer(role, call, completion, reply)


def ignore_try(_: Attempt, __: int) -> None:
    """For calls whose failed tries nobody keeps."""


class BudgetReservation(CallRecord):
    """What is set aside of the budget for one call; each answer that is asked for is reserved.

    ``failed`` is told of each failed try, with what a provider may charge for it in nano-USD. The
    budget takes that for spent, or it could be passed; nothing else does.
    """

    def __init__(
        self,
        budget: Budget,
        model: ModelSpec,
        call: Call,
        *,
        tried: Sequence[Attempt] = (),
        failed: Callable[[Attempt, int], None] = ignore_try,
    ) -> None:
        self._budget, self._model, self._call = budget, model, call
        self.tried, self._failed = tried, failed
        self._worst = self._cap = 0
        self.booked = 0
        self.useless = Usage()

    async def reserve(self) -> None:
        """Set the worst case of the first answer aside.

        Raises:
            BudgetReached: it does not fit.
        """
        await self.allow(output_cap(self._model, self._call))

    async def allow(self, cap: int) -> None:
        """Set the worst case of an answer of at most ``cap`` tokens aside, if less is.

        Raises:
            BudgetReached: it does not fit.
        """
        if cap <= self._cap:
            return
        self._release(0)
        worst = worst_cost(self._model, self._call, cap) if self._budget.limited else 0
        await self._budget.reserve(worst)
        self._worst, self._cap = worst, cap

    def spend(self, useless: Usage) -> None:
        """An answer was of no use but has its price."""
        self.useless = add_usage(self.useless, useless)
        self.settle(self.booked + (call_cost(self._model, useless) or 0))

    def fail(self, attempt: Attempt, unread: Usage) -> None:
        """A try failed."""
        unread_nanousd = call_cost(self._model, unread) or 0
        if unread_nanousd:
            self._release(0, unread=unread_nanousd)
        self._failed(attempt, unread_nanousd)

    def settle(self, cost: int) -> None:
        """Give back what is set aside; all the call's answers have come to ``cost``."""
        self._release(cost - self.booked)
        self.booked = cost

    def _release(self, cost: int, *, unread: int = 0) -> None:
        self._budget.settle(self._worst, cost, unread=unread)
        self._worst = self._cap = 0


def _turn_of_answer(
    role: RunRole, call: Call, completion: Completion, reply: Reply
) -> tuple[Turn, Reply]:
    turn = answered_turn(role, call, completion, reply)
    turn.cost_nanousd = call_cost(role.model, completion.usage)
    return turn, reply


def _turn_of_failure(
    role: RunRole, call: Call, error: ModelError | BudgetReached
) -> tuple[Turn, Reply]:
    # What does not fit will not fit next time either: it is for people, not to be tried again.
    status = Status.TOO_LONG if isinstance(error, ContextTooLong) else Status.FAILED
    turn = failed_turn(role, call, error)
    turn.status = str(status)
    if turn.tokens_in or turn.tokens_out:
        paid = Usage(turn.tokens_in, turn.tokens_out, turn.tokens_cached, turn.tokens_reasoning)
        turn.cost_nanousd = call_cost(role.model, paid)
    return turn, Reply(status=status, note=error.message)


def _reuse_key(model: ModelSpec, call: Call, replicate: int) -> str:
    """What decides the answer to ``call``; empty where chance has a part in it, and for the
    offline model, which is quicker than any look."""
    warm = model.extra_body.get("temperature", model.fixed_temperature)
    chance = model.offline or warm or not model.takes_temperature
    if chance and not call.once:
        return ""
    endpoint, about = model.identity
    return call_key(call, endpoint=endpoint, model=about, replicate=replicate)


def with_reminder(call: Call, cap: int | None = None) -> Call:
    """The same question with one line more, for a model whose answer could not be read. The line
    has a fixed length, so asking again cannot grow. ``cap``: the most tokens of the answer."""
    return replace(
        call,
        messages=_append_line(call.messages, REMINDER),
        json_messages=_append_line(call.json_messages, REMINDER_JSON),
        params={**call.params, "max_tokens": cap} if cap else call.params,
    )


def _append_line(messages: tuple[Message, ...], line: str) -> tuple[Message, ...]:
    return tuple(
        replace(message, content=f"{message.content}\n\n{line}")
        if message is messages[-1]
        else message
        for message in messages
    )
