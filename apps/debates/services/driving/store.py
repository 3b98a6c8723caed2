"""The database side of a slice: leases, claims, turns and results.

Every method runs in the slice's database thread. A debate belongs to the worker whose token it
carries. Results are written only under our token, so a worker with an expired lease changes
nothing, however late it wakes up.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.common.bulk import insert_rows
from apps.common.jobs import LeaseLost
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.services.driving.answers import Answer
from apps.debates.services.driving.results import (
    ClaimedDebate,
    DebateCost,
    FailedTries,
    FinishedDebate,
    Reporter,
    reply_of,
    stored_answer,
)
from apps.debates.services.driving.stop_signal import WINDOW
from apps.labels.models import Label
from apps.labels.services import record_debate_results
from apps.projects.models import Notification
from apps.projects.notifications import notify_end
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import Reply, Status
from labelhub.core.phrases import Phrase, join_sentences


def finish_run(run_id: int) -> bool:
    """Close an active run without waiting debates; True if this call closed it."""
    if Debate.objects.filter(run=run_id, status=Debate.Status.WAITING).exists():
        return False
    with transaction.atomic():
        run = Run.objects.going().select_for_update().filter(pk=run_id).first()
        # Checked again under the lock: the run may have been closed and resumed since.
        if run is None or Debate.objects.filter(run=run, status=Debate.Status.WAITING).exists():
            return False
        recount_sums(run)
        Run.objects.filter(pk=run_id).update(
            status=Run.Status.DONE,
            pause_code="",
            message=_closing_message(run),
            finished_at=timezone.now(),
            pulse={},
        )
        _notify_starter(run_id, Notification.Outcome.DONE)
    return True


def _notify_starter(run_id: int, outcome: Notification.Outcome) -> None:
    """Not about the parts of an experiment, nor a trial of a prompt, whose pages are watched."""
    run = Run.objects.select_related("project").get(pk=run_id)
    if run.trial or run.experiment_id is not None:
        return
    notify_end(
        user_id=run.created_by_id,
        project=run.project,
        kind=Notification.Kind.RUN,
        subject=run.pk,
        began_at=run.resumed_at or run.created_at,
        outcome=outcome,
        message=run.message,
    )


def recount_sums(run: Run) -> None:
    """Recompute the run's sums from its turns."""
    turns = Turn.objects.filter(debate__run=run)
    sums = _sums(
        turns.values_list("tokens_in", "tokens_out", "cost_nanousd").iterator(chunk_size=5000)
    )
    sums["cost_nanousd"] += run.other_cost_nanousd
    Run.objects.filter(pk=run.pk).update(**sums)


def add_to_sums(run: Run, turns: Sequence[Turn], other_cost: int = 0) -> None:
    """Add ``turns`` and other costs to the run's sums, in the transaction that writes them."""
    if not turns and not other_cost:
        return
    sums = _sums((turn.tokens_in, turn.tokens_out, turn.cost_nanousd) for turn in turns)
    sums["cost_nanousd"] += other_cost
    sums["other_cost_nanousd"] = other_cost
    Run.objects.filter(pk=run.pk).update(**{name: F(name) + more for name, more in sums.items()})


def _sums(turns: Iterable[tuple[int, int, int | None]]) -> dict[str, int]:
    sums = dict.fromkeys(
        ("turns_count", "unpriced_turns", "tokens_in", "tokens_out", "cost_nanousd"), 0
    )
    for tokens_in, tokens_out, cost in turns:
        sums["turns_count"] += 1
        sums["unpriced_turns"] += cost is None
        sums["tokens_in"] += tokens_in
        sums["tokens_out"] += tokens_out
        sums["cost_nanousd"] += cost or 0
    return sums


def _closing_message(run: Run) -> Phrase:
    debates = Debate.objects.filter(run=run)
    counts = {status: debates.filter(status=status).count() for status in Debate.Status.values}
    done, total = counts[Debate.Status.DONE], sum(counts.values())
    parts = [Phrase("%(done)s of %(total)s labelled", done=done, total=total)]
    if unparsed := counts[Debate.Status.UNPARSED]:
        parts.append(
            Phrase("%(number)s without a usable label (they go to people first)", number=unparsed)
        )
    failed = debates.filter(status=Debate.Status.FAILED).order_by("-finished_at")
    last = failed.values_list("error", flat=True).first()
    if last is not None:
        parts.append(
            Phrase(
                "%(number)s failed (resume the run to try those again)",
                number=counts[Debate.Status.FAILED],
            )
        )
    if last:
        return Phrase("%(counts)s. The last one: %(error)s", counts=parts, error=last)
    return Phrase("%(counts)s.", counts=parts)


class RunGone(LabelhubError):
    """The run or its project was deleted while a worker was driving it."""

    code = "run_gone"


#: How long a run pauses after the first, second and third server fault in a row.
RESTS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15))

#: Maximum number of keys of earlier answers in memory, about 20 MB.
MOST_KEYS = 150_000

#: Columns that the end of a debate changes.
CONCLUDED = [
    "status", "lease_token", "lease_until", "label", "value", "signals", "flags", "reasons",
    "uncertainty", "error", "finished_at", "failed_tries",
]  # fmt: skip


class SliceStore:
    """What one slice reads and writes of ``run``, under one lease token."""

    def __init__(self, run: Run, lease: timedelta, renew: Callable[[], object]) -> None:
        self.run = run
        self._renew = renew
        self.token = uuid.uuid4()
        self._lease = lease
        self._reporter = Reporter(run)
        self._first: list[int] = []

    @transaction.atomic
    def begin(self) -> bool:
        """Mark the run as running; False if it is not active or another worker drives it.

        Also leases the first debate: of two slices that begin at once, each with the whole budget,
        the second must see the first.
        """
        now = timezone.now()
        locked = Run.objects.select_for_update().get(pk=self.run.pk)
        held = Debate.objects.filter(run=self.run, lease_token__isnull=False, lease_until__gt=now)
        if held.exists():
            return False
        going = Run.objects.going().filter(pk=self.run.pk)
        started = locked.started_at or now
        if not going.update(status=Run.Status.RUNNING, started_at=started, message=""):
            return False
        # Costs since the row was read count against the budget.
        self.run.cost_nanousd, self.run.budget_nanousd = locked.cost_nanousd, locked.budget_nanousd
        self.run.unread_nanousd = locked.unread_nanousd
        self._first = self._take(1)
        return True

    def claim(self, count: int) -> list[ClaimedDebate]:
        """Lease up to ``count`` waiting debates, with the usable turns that they already have."""
        first, self._first = self._first, []
        ids = first + self._take(count - len(first))
        debates = Debate.objects.filter(pk__in=ids, lease_token=self.token)
        return _read_progress(list(debates.select_related("item").order_by("pk")))

    @transaction.atomic
    def _take(self, count: int) -> list[int]:
        # Not our own: after a stall their lease has expired while they are still debated here.
        free = Debate.objects.claimable().filter(run=self.run).order_by("pk")
        free = free.exclude(lease_token=self.token)
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        ids = list(free.values_list("pk", flat=True)[:count])
        # The condition again: on SQLite the query above takes no lock.
        Debate.objects.claimable().filter(pk__in=ids).update(
            lease_token=self.token, lease_until=timezone.now() + self._lease
        )
        return ids

    def beat(self, pulse: Mapping[str, Any]) -> str:
        """Renew the leases of the job and the debates and report ``pulse``.

        Returns:
            The run's status; "" if it is gone or another worker drives it.
        """
        now = timezone.now()
        if self._overtaken(now):
            return ""
        # Also if the job's lease is lost: nobody may pay again for the calls under way.
        Debate.objects.filter(lease_token=self.token).update(lease_until=now + self._lease)
        try:
            self._renew()
        except LeaseLost:
            return ""
        Run.objects.filter(pk=self.run.pk).update(pulse={"at": now.isoformat(), **pulse})
        return self._status()

    def _status(self) -> str:
        return Run.objects.filter(pk=self.run.pk).values_list("status", flat=True).first() or ""

    def _overtaken(self, now: datetime) -> bool:
        """Whether our lease has expired, as after the machine slept: another worker may drive the
        run by now, and two slices would spend its budget twice."""
        held = Debate.objects.filter(run=self.run, lease_token__isnull=False)
        lapsed = Q(lease_token=self.token, lease_until__lt=now)
        others = ~Q(lease_token=self.token) & Q(lease_until__gt=now)
        return held.filter(lapsed | others).exists()

    def answered_keys(self) -> frozenset[str] | None:
        """Keys of answered calls of the project with the run's models and prompts, also of this
        run; None if there are more than ``MOST_KEYS``."""
        if not self.run.reuse_answers:
            return frozenset()
        asked = RunRole.objects.filter(run=self.run)
        turns = Turn.objects.filter(
            debate__run__project=self.run.project_id,
            model__in=asked.values("model"),
            prompt__in=asked.values("prompt"),
            reused=False,
        ).exclude(call_key="")
        keys = turns.order_by().values_list("call_key", flat=True)[: MOST_KEYS + 1]
        found = frozenset(keys.iterator(chunk_size=5000))
        return found if len(found) <= MOST_KEYS else None

    def answers(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Key → the oldest complete answer to an equal call of the project."""
        turns = Turn.objects.filter(
            call_key__in=keys,
            reused=False,
            finish_reason="stop",
            debate__run__project=self.run.project_id,
        ).exclude(status__in=[Status.FAILED, Status.REFUSED])
        turns = turns.defer("messages", "evidence", "attempts").order_by("-pk")
        return {turn.call_key: stored_answer(turn) for turn in turns}

    def recent_ends(self) -> list[tuple[bool, str]]:
        """Of the last debates that ended since the run was started or resumed, oldest first:
        whether they failed, and why."""
        ended = Debate.objects.filter(run=self.run, finished_at__isnull=False)
        if self.run.resumed_at:
            ended = ended.filter(finished_at__gt=self.run.resumed_at)
        rows = ended.order_by("-finished_at").values_list("status", "error")[:WINDOW]
        return [(status == Debate.Status.FAILED, error) for status, error in rows][::-1]

    def write(
        self,
        turns: Sequence[Turn],
        finished: Sequence[FinishedDebate],
        tries: Sequence[FailedTries] = (),
        other_cost: int = 0,
    ) -> str:
        """Write turns, results and failed tries in one transaction, so that a stored result has all
        of its turns. Returns the run's present status.

        Raises:
            RunGone: the run was deleted meanwhile.
        """
        try:
            with transaction.atomic():
                self._insert_turns(turns)
                self._store_tries(tries)
                self._conclude(finished)
                add_to_sums(self.run, turns, other_cost)
            return self._status()
        except IntegrityError as error:
            if Run.objects.filter(pk=self.run.pk).exists():
                raise
            raise RunGone(f"Run {self.run.pk} was deleted.") from error

    def release(self) -> None:
        """Release all leased debates."""
        Debate.objects.filter(lease_token=self.token).update(lease_token=None, lease_until=None)

    def pause(self, code: str, message: str, resume_at: datetime | None = None) -> None:
        """Pause the run, unless its status has changed meanwhile; tell the person who started it if
        it will not resume automatically."""
        outcome = Notification.Outcome.STOPPED if code == "budget" else Notification.Outcome.FAILED
        with transaction.atomic():
            paused = Run.objects.filter(pk=self.run.pk, status=Run.Status.RUNNING).update(
                status=Run.Status.PAUSED, pause_code=code, message=message, resume_at=resume_at
            )
            if paused and resume_at is None:
                _notify_starter(self.run.pk, outcome)

    def pause_for_fault(self) -> None:
        """Pause the run because of a server fault: longer each time, and after the last of
        ``RESTS`` until somebody resumes it."""
        Run.objects.filter(pk=self.run.pk).update(faults=F("faults") + 1)
        faults = Run.objects.values_list("faults", flat=True).get(pk=self.run.pk)
        words = Phrase("The server failed during this run; see its log. Stored turns are kept.")
        if faults > len(RESTS):
            self.pause("fault", join_sentences(words, Phrase("Fix the cause, then resume.")))
        else:
            self.pause("fault", words, timezone.now() + RESTS[faults - 1])

    def clear_faults(self) -> None:
        """Forget the faults of earlier slices."""
        Run.objects.filter(pk=self.run.pk, faults__gt=0).update(faults=0)

    @staticmethod
    def _insert_turns(turns: Sequence[Turn]) -> None:
        """Write ``turns``; rows of a commit whose answer was lost stay as they are."""
        try:
            with transaction.atomic():
                insert_rows(turns)
        except IntegrityError:
            Turn.objects.bulk_create(turns, ignore_conflicts=True)

    def _store_tries(self, tries: Sequence[FailedTries]) -> None:
        """Store the failed tries of debates under our lease."""
        mine = Debate.objects.filter(lease_token=self.token, status=Debate.Status.WAITING)
        for debate_id, latest in {failed.debate_id: failed.tries for failed in tries}.items():
            mine.filter(pk=debate_id).update(failed_tries=latest)
        if unread := sum(failed.unread_nanousd for failed in tries):
            Run.objects.filter(pk=self.run.pk).update(unread_nanousd=F("unread_nanousd") + unread)

    def _conclude(self, finished: Sequence[FinishedDebate]) -> None:
        ours = self._still_ours(finished)
        for batch in _one_per_item(ours):
            labels = self._record(batch)
            rows = [self._row(result, label) for result, label in zip(batch, labels, strict=True)]
            # One statement for all rows; they exist, so this only updates.
            Debate.objects.bulk_create(
                rows, update_conflicts=True, unique_fields=["pk"], update_fields=CONCLUDED
            )

    def _row(self, finished: FinishedDebate, label: Label | None) -> Debate:
        outcome = finished.outcome
        return Debate(
            pk=finished.claimed.pk,
            run_id=self.run.pk,
            item_id=finished.claimed.item.pk,
            replicate=finished.claimed.replicate,
            status=finished.status,
            lease_token=None,
            lease_until=None,
            label=label,
            value=outcome.value,
            signals=dict(outcome.signals),
            flags=list(outcome.flags),
            reasons=list(self._reporter.reasons(finished)),
            uncertainty=outcome.uncertainty,
            error=finished.error,
            finished_at=finished.ended_at,
        )

    def _record(self, batch: Sequence[FinishedDebate]) -> Sequence[Label | None]:
        """Record the results in the ledger and return their labels; a trial records nothing."""
        if self.run.trial:
            return [None] * len(batch)
        return record_debate_results(
            self.run.project, [self._reporter.result(result) for result in batch]
        )

    def _still_ours(self, finished: Sequence[FinishedDebate]) -> list[FinishedDebate]:
        """The results whose debates we still lease; the update locks their rows."""
        if not finished:
            return []
        mine = Debate.objects.filter(
            pk__in=[result.claimed.pk for result in finished],
            lease_token=self.token,
            status=Debate.Status.WAITING,
        )
        mine.update(lease_until=timezone.now() + self._lease)
        held = set(mine.values_list("pk", flat=True))
        return [result for result in finished if result.claimed.pk in held]


def _read_progress(debates: Sequence[Debate]) -> list[ClaimedDebate]:
    """The debates with the state in their stored turns: replies, attempts, cost."""
    memo: dict[int, dict[str, Reply]] = defaultdict(dict)
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    tried: dict[int, dict[str, int]] = defaultdict(dict)
    spent: dict[int, DebateCost] = defaultdict(DebateCost)
    for turn in (
        Turn.objects.filter(debate__in=debates).defer("messages", "reasoning").order_by("attempt")
    ):
        tried[turn.debate_id][turn.step] = turn.attempt
        spent[turn.debate_id] = spent[turn.debate_id].plus(turn)
        if turn.status != Status.FAILED:
            # A second call that was too long does not replace the answer before it.
            if turn.status != Status.TOO_LONG or turn.step not in memo[turn.debate_id]:
                memo[turn.debate_id][turn.step] = reply_of(turn)
            answers[turn.debate_id][turn.step] += 1
    return [
        ClaimedDebate(
            pk=debate.pk,
            replicate=debate.replicate,
            item=debate.item,
            memo=memo[debate.pk],
            answers=answers[debate.pk],
            tried=tried[debate.pk],
            failed_tries=debate.failed_tries,
            spent=spent[debate.pk],
        )
        for debate in debates
    ]


def _one_per_item(finished: Iterable[FinishedDebate]) -> list[list[FinishedDebate]]:
    """Batches without two replicates of one item, which may finish together."""
    batches: list[dict[int, FinishedDebate]] = []
    for result in finished:
        item_id = result.claimed.item.pk
        free = next((batch for batch in batches if item_id not in batch), None)
        if free is None:
            batches.append(free := {})
        free[item_id] = result
    return [list(batch.values()) for batch in batches]
