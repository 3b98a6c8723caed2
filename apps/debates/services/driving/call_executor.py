"""Execution of a debate's calls: reuse of stored answers, budget reservation, storage of turns."""

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
from labelhub.core.phrases import Phrase

#: An unreadable answer is requested once more, by the same prompt and this line; one that was cut
#: off amid its words, with twice the cap. Where all of it was thinking, larger caps have been tried
#: already.
MOST_ANSWERS = 2
REMINDER = "An earlier answer to this could not be read. Keep exactly to the form asked for above."
REMINDER_JSON = (
    "An earlier answer to this could not be read. Answer with the one JSON object asked for above "
    "and with nothing else."
)


#: Statuses in which a second call has no answer.
NO_ANSWER = {Status.FAILED, Status.TOO_LONG}
CUT_SHORT = Phrase("Its answers so far were of no use, and it was stopped before another came.")


class Models(Protocol):
    """What a slice needs of the gateway."""

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        """Call the model; raises ModelError, and what ``record`` raises."""
        ...

    def hold(self) -> None:
        """Send no further request; those in flight continue."""
        ...

    def in_flight(self) -> int:
        """Number of requests in flight."""
        ...

    async def embed(self, spec: ModelSpec, texts: Sequence[str]) -> Embedded:
        """A vector for each text; raises ModelError."""
        ...

    def state_of(self, provider: Provider) -> LineState:
        """State of the line to an endpoint, with what limits its speed."""
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
        """The failed tries at the unanswered call of ``step``."""
        return [Attempt(**attempt) for attempt in self._failed_tries.get(step, [])]

    def note_try(self, step: str, attempt: Attempt) -> "FailedTries":
        """Add a failed try; returns what to store."""
        before = self._failed_tries.get(step, [])
        self._failed_tries[step] = [*before, asdict(attempt)]
        return FailedTries(self.claimed.pk, dict(self._failed_tries))

    def forget_tries(self, step: str) -> "FailedTries | None":
        """Drop the failed tries of ``step``, whose call has ended; returns what to store."""
        if self._failed_tries.pop(step, None) is None:
            return None
        return FailedTries(self.claimed.pk, dict(self._failed_tries))

    def book(self, turn: Turn) -> Turn:
        """Number ``turn`` as the debate's next attempt at its step and add its cost."""
        self._tried[turn.step] += 1
        turn.debate_id = self.claimed.pk
        turn.attempt = self._tried[turn.step]
        self.spent = self.spent.plus(turn)
        return turn


class CallExecutor:
    """Calls the models of a run's roles."""

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
        """The reply to ``call``: the stored one if there is one.

        Does not return once the slice is stopping: the slice cancels the debate then.
        """
        # A call that is made once for many debates does not resume by its step, which may be about
        # another precedent than before.
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
            # If the second call has no answer, the first one counts.
            return reply if second.status in NO_ANSWER else second
        return reply

    async def _ask(self, progress: DebateProgress, call: Call, *, again: bool = False) -> Reply:
        """The reply to ``call``, reused or new, stored as the debate's next turn."""
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
        # Nothing was awaited since the answer came, so an answered call is never lost.
        self._writer.add(progress.book(turn))
        if ended := progress.forget_tries(call.step):
            self._writer.note(ended)
        if reply.status is Status.FAILED:
            progress.error = reply.note
            if self._stop_signal.pausing:
                # An error that stops the run is not a failure of this debate.
                await self._stop_signal.park()
        return reply

    async def _asked(self, progress: DebateProgress, call: Call, key: str) -> tuple[Turn, Reply]:
        """As :meth:`_paid`; releases the calls that wait for this one if it breaks."""
        try:
            return await self._paid(progress, call, key)
        except Exception:
            if key:
                self._answers.settle(key, None)
            raise

    async def _paid(self, progress: DebateProgress, call: Call, key: str) -> tuple[Turn, Reply]:
        """Call the model, with the worst case of each answer reserved before."""
        role = self._roles[call.role]

        def failed(attempt: Attempt, unread_nanousd: int) -> None:
            noted = progress.note_try(call.step, attempt)
            self._writer.note(replace(noted, unread_nanousd=unread_nanousd))

        reservation = BudgetReservation(
            self._budget, role.model, call, tried=progress.tries_of(call.step), failed=failed
        )
        await self._writer.wait_for_room()
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
            # The slice ends while the call waits for another try: its cost so far is spent.
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
                # Without its cost: the waiting calls have paid nothing.
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
            # Without token logprobs, which are not needed after parsing.
            kept = replace(completion, logprobs=())
            self._answers.settle(key, Answer(kept, reply.probabilities))
        return _turn_of_answer(role, call, completion, reply)


def ignore_try(_: Attempt, __: int) -> None:
    """For calls whose failed tries are not stored."""


class BudgetReservation(CallRecord):
    """The budget reserved for one call, answer by answer.

    ``failed`` gets each failed try, with what a provider may charge for it in nano-USD. Only the
    budget counts that as spent, so that it cannot be exceeded.
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
        """Reserve the worst case of the first answer.

        Raises:
            BudgetReached: it does not fit.
        """
        await self.allow(output_cap(self._model, self._call))

    async def allow(self, cap: int) -> None:
        """Reserve the worst case of an answer of at most ``cap`` tokens, if less is reserved.

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
        """Book an unusable answer that has a cost."""
        self.useless = add_usage(self.useless, useless)
        self.settle(self.booked + (call_cost(self._model, useless) or 0))

    def fail(self, attempt: Attempt, unread: Usage) -> None:
        """Book a failed try."""
        unread_nanousd = call_cost(self._model, unread) or 0
        if unread_nanousd:
            self._release(0, unread=unread_nanousd)
        self._failed(attempt, unread_nanousd)

    def settle(self, cost: int) -> None:
        """Release the reservation; ``cost`` is that of all the call's answers."""
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
    # A text that is too long stays too long: people get it, and no run tries it again.
    status = Status.TOO_LONG if isinstance(error, ContextTooLong) else Status.FAILED
    turn = failed_turn(role, call, error)
    turn.status = str(status)
    if turn.tokens_in or turn.tokens_out:
        paid = Usage(turn.tokens_in, turn.tokens_out, turn.tokens_cached, turn.tokens_reasoning)
        turn.cost_nanousd = call_cost(role.model, paid)
    return turn, Reply(status=status, note=error.message)


def _reuse_key(model: ModelSpec, call: Call, replicate: int) -> str:
    """Hash of all that determines the answer to ``call``; empty for sampled answers, and for the
    offline model, which is quicker than a lookup."""
    warm = model.extra_body.get("temperature", model.fixed_temperature)
    chance = model.offline or warm or not model.takes_temperature
    if chance and not call.once:
        return ""
    endpoint, about = model.identity
    return call_key(call, endpoint=endpoint, model=about, replicate=replicate)


def with_reminder(call: Call, cap: int | None = None) -> Call:
    """The call with a reminder of fixed length, for a model whose answer could not be read.
    ``cap``: maximum tokens of the answer."""
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
