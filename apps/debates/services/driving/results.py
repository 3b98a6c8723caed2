"""Conversion between protocols (calls, replies, outcomes) and stored rows; the batch writer."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from apps.common.charts import TEXT_MATCHER
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.services.driving.answers import Answer
from apps.debates.services.routing import routing_policy
from apps.labels.models import Annotator, Kind, Label
from apps.labels.services import DebateResult, NewLabel, annotator_for
from apps.projects.models import Item
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.outcome import DebateItem, Outcome, Precedent
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.types import Call, Completion, Reply, Status

FAILED_REASON = "failed"


@dataclass(frozen=True, slots=True)
class DebateCost:
    """Cost of turns in nano-USD (None if any price is unknown) and seconds of waiting."""

    cost: int | None = 0
    seconds: float = 0.0

    def plus(self, turn: Turn) -> "DebateCost":
        """With one more turn."""
        known = self.cost is not None and turn.cost_nanousd is not None
        cost = (self.cost or 0) + (turn.cost_nanousd or 0) if known else None
        return DebateCost(cost, self.seconds + turn.seconds)


@dataclass(frozen=True, slots=True)
class ClaimedDebate:
    """A debate under our lease, with the state that earlier attempts left.

    Each maps steps: ``memo`` to stored replies, ``answers`` to the number of answers, ``tried`` to
    the number of attempts with failed ones, ``failed_tries`` to the failed tries at a call that
    has no answer yet.
    """

    pk: int
    replicate: int
    item: Item
    memo: Mapping[str, Reply] = field(default_factory=dict)
    answers: Mapping[str, int] = field(default_factory=dict)
    tried: Mapping[str, int] = field(default_factory=dict)
    failed_tries: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    spent: DebateCost = field(default_factory=DebateCost)

    precedents: tuple[Precedent, ...] = ()

    @property
    def debate_item(self) -> DebateItem:
        """The item for protocols; the replicate is part of its key, which seeds random draws."""
        key = self.item.external_id
        return DebateItem(
            key=key if self.replicate == 1 else f"{key}#{self.replicate}",
            text=self.item.text,
            context=tuple((turn["role"], turn["text"]) for turn in self.item.context),
            question=self.item.question,
            options=tuple(self.item.options),
            precedents=self.precedents,
        )


@dataclass(frozen=True, slots=True)
class FinishedDebate:
    """A debate that has ended and is not stored yet."""

    claimed: ClaimedDebate
    outcome: Outcome
    spent: DebateCost
    ended_at: datetime
    error: str = ""

    @property
    def status(self) -> Debate.Status:
        """Failed debates stay resumable; one that reached no offered label does not."""
        if self.outcome.failed:
            return Debate.Status.FAILED
        return Debate.Status.UNPARSED if self.outcome.value is None else Debate.Status.DONE


def answered_turn(role: RunRole, call: Call, completion: Completion, reply: Reply) -> Turn:
    """The unsaved row of a call that was answered; debate, attempt and cost are the caller's."""
    usage = completion.usage
    return Turn(
        **_request_columns(role, call, as_json="response_format" in completion.effective_params),
        model_answered=completion.model_answered[:200],
        params_effective=dict(completion.effective_params),
        text=completion.text,
        reasoning=completion.reasoning,
        value=reply.value,
        evidence={name: list(phrases) for name, phrases in reply.evidence.items()},
        status=str(reply.status),
        rung=reply.rung,
        ranking=list(reply.ranking),
        probabilities=dict(reply.probabilities),
        off_menu=reply.off_menu,
        note=reply.note,
        finish_reason=completion.finish_reason[:30],
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        tokens_reasoning=usage.tokens_reasoning,
        usage_estimated=usage.estimated,
        seconds=completion.seconds,
        attempts=[asdict(attempt) for attempt in completion.attempts],
    )


def failed_turn(role: RunRole, call: Call, error: LabelhubError) -> Turn:
    """The unsaved row of a failed call. ``data['usage']`` of the error has the tokens of unusable
    answers; the caller sets the cost."""
    attempts = error.data.get("attempts", [])
    usage = error.data.get("usage", {})
    return Turn(
        **_request_columns(role, call, as_json=role.model.answers_in_json),
        status=str(Status.FAILED),
        note=error.message,
        cost_nanousd=0,
        tokens_in=usage.get("tokens_in", 0),
        tokens_out=usage.get("tokens_out", 0),
        tokens_cached=usage.get("tokens_cached", 0),
        tokens_reasoning=usage.get("tokens_reasoning", 0),
        usage_estimated=usage.get("estimated", False),
        attempts=attempts,
        seconds=sum(attempt.get("seconds", 0.0) for attempt in attempts),
    )


def reply_of(turn: Turn) -> Reply:
    """The reply that the protocol got at that turn."""
    return Reply(
        text=strip_thinking(turn.text),
        value=turn.value,
        status=Status(turn.status),
        rung=turn.rung,
        evidence={name: tuple(phrases) for name, phrases in turn.evidence.items()},
        note=turn.note,
        ranking=tuple(turn.ranking),
        probabilities=turn.probabilities,
        off_menu=turn.off_menu,
        cut_off=turn.finish_reason == "length",
    )


def stored_answer(turn: Turn) -> Answer:
    """A stored turn's answer, for an equal call."""
    completion = Completion(
        text=turn.text,
        finish_reason=turn.finish_reason,
        model_answered=turn.model_answered,
        reasoning=turn.reasoning,
        effective_params=turn.params_effective,
    )
    return Answer(completion, turn.probabilities)


def _request_columns(role: RunRole, call: Call, *, as_json: bool) -> dict[str, Any]:
    messages = call.json_messages if as_json and call.json_messages else call.messages
    return {
        "step": call.step,
        "role": call.role,
        "model": role.model,
        "prompt": role.prompt,
        "messages": [asdict(message) for message in messages],
        "params_asked": dict(call.params),
    }


class Reporter:
    """Converts finished debates of a run into results for the ledger."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._policy = routing_policy(run.project)
        self._roles = list(run.roles.select_related("model__provider", "prompt"))
        self._annotators: dict[int, Annotator] = {}

    def reasons(self, finished: FinishedDebate) -> tuple[str, ...]:
        """The reasons to ask people about the item; empty if its label is accepted."""
        outcome = finished.outcome
        labelled = finished.status == Debate.Status.DONE
        if outcome.failed and not outcome.flags:
            return (FAILED_REASON,)
        return self._policy.reasons(
            flags=outcome.flags,
            signals={**outcome.signals, "uncertainty": outcome.uncertainty},
            labelled=labelled,
            key=finished.claimed.item.external_id,
        )

    def result(self, finished: FinishedDebate) -> DebateResult:
        """The result for the ledger; without a label if the debate has none."""
        outcome = finished.outcome
        # The rule or the review plan may have changed since the run started.
        self._policy = routing_policy(self._run.project)
        return DebateResult(
            item_id=finished.claimed.item.pk,
            draft=None if finished.status != Debate.Status.DONE else self._draft(finished),
            reasons=self.reasons(finished),
            uncertainty=outcome.uncertainty,
            signals=outcome.signals,
        )

    def _draft(self, finished: FinishedDebate) -> NewLabel:
        outcome, run = finished.outcome, self._run
        return NewLabel(
            item_id=finished.claimed.item.pk,
            annotator=self._annotator(finished.claimed.replicate),
            schema=run.schema,
            value=outcome.value,
            action=Label.Action.PROPOSED,
            rationale=outcome.rationale,
            evidence=outcome.evidence,
            seconds=finished.spent.seconds,
            cost_nanousd=finished.spent.cost,
            run_uid=run.uid,
            replicate=finished.claimed.replicate,
            provenance=self._provenance(),
        )

    def _provenance(self) -> dict[str, Any]:
        run = self._run
        return {
            "protocol": run.protocol,
            "models": {role.role: role.model.name for role in self._roles},
            "prompts": {role.role: role.prompt.hash for role in self._roles},
            "schema_version": run.schema.version,
            "guideline_version": run.guideline.version if run.guideline else None,
            "settings": run.protocol_settings,
            "spec": run.spec_hash,
            "offline": self.offline,
        }

    @property
    def offline(self) -> bool:
        """Whether no language model takes part."""
        return all(role.model.offline for role in self._roles)

    def _annotator(self, replicate: int) -> Annotator:
        if replicate not in self._annotators:
            models = [
                TEXT_MATCHER if role.model.offline else role.model.name for role in self._roles
            ]
            name = annotator_name(self._run.protocol, models, replicate)
            self._annotators[replicate] = annotator_for(
                self._run.project, kind=Kind.LLM, name=name, offline=self.offline
            )
        return self._annotators[replicate]


def annotator_name(protocol: str, models: list[str], replicate: int) -> str:
    """``Vote: a + b``; each replicate is a separate annotator, or it would supersede the last."""
    name = f"{PROTOCOLS[protocol].title}: {' + '.join(dict.fromkeys(models))}"
    return name if replicate == 1 else f"{name[:190]} #{replicate}"


@dataclass(frozen=True, slots=True)
class FailedTries:
    """Failed tries, by step, at calls of a debate that have no answer yet; ``unread_nanousd``: what
    a provider may charge for the last one."""

    debate_id: int
    tries: Mapping[str, Sequence[Mapping[str, Any]]]
    unread_nanousd: int = 0


Write: TypeAlias = Callable[
    [Sequence[Turn], Sequence[FinishedDebate], Sequence[FailedTries]], Awaitable[None]
]


class Writer:
    """Buffers turns and results; :meth:`run` writes them every ``rows`` rows or ``seconds``.

    A debate's result is added after its last turn and both leave in one batch or in order, so a
    result that is written implies all of its turns. Callers await
    :meth:`wait_for_room` before a call, so that a slow database delays calls instead of filling
    memory with paid answers that a killed process would lose.
    """

    def __init__(self, write: Write, *, rows: int, seconds: float) -> None:
        self._write = write
        self._rows = rows
        self._seconds = seconds
        self._turns: list[Turn] = []
        self._finished: list[FinishedDebate] = []
        self._tries: list[FailedTries] = []
        self._full = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    def add(self, turn: Turn) -> None:
        """Take a turn."""
        self._turns.append(turn)
        self._note_fill()

    def conclude(self, finished: FinishedDebate) -> None:
        """Take the end of a debate whose turns were all added before."""
        self._finished.append(finished)
        self._note_fill()

    def note(self, tries: FailedTries) -> None:
        """Take failed tries."""
        self._tries.append(tries)
        self._note_fill()

    async def wait_for_room(self) -> None:
        """Wait while a whole batch is buffered."""
        await self._room.wait()

    async def run(self) -> None:
        """Write until :meth:`close`; raises what the database raised."""
        while not self._closed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), self._seconds)
            await self.flush()

    def close(self) -> None:
        """Let :meth:`run` write the rest and end. Cancelling it instead could lose the outcome of
        a transaction."""
        self._closed = True
        self._full.set()

    async def flush(self) -> None:
        """Write all buffered rows. On an error they stay buffered for the next try."""
        async with self._one_at_a_time:
            turns, finished, tries = self._turns, self._finished, self._tries
            self._turns, self._finished, self._tries = [], [], []
            self._full.clear()
            self._room.set()
            if not turns and not finished and not tries:
                return
            try:
                await self._write(turns, finished, tries)
            except Exception:
                self._turns[:0], self._finished[:0], self._tries[:0] = turns, finished, tries
                raise

    def _note_fill(self) -> None:
        if len(self._turns) + len(self._finished) + len(self._tries) >= self._rows:
            self._full.set()
            self._room.clear()
