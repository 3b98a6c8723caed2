"""The database half of a slice: leases, claims, turns and results.

Every method runs in the slice's one database thread. A debate belongs to whoever's token it
carries; results are written only while it carries ours, so a worker whose lease has lapsed, however
late it wakes up, changes nothing.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.debates.models import Debate, Run, Turn
from apps.debates.services.results import Claimed, Finished, Reporter, Spent, reply_of
from apps.labels.services import record_debate_results
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import Reply, Status


class RunGone(LabelhubError):
    """The run or its project was deleted while a worker was at it."""

    code = "run_gone"


class SliceStore:
    """What one slice reads and writes of ``run``, under one lease token."""

    def __init__(self, run: Run, lease: timedelta) -> None:
        self.run = run
        self.token = uuid.uuid4()
        self._lease = lease
        self._reporter = Reporter(run)
        self._first: list[int] = []

    @transaction.atomic
    def begin(self) -> bool:
        """Mark the run as going; False when it is not to go or another worker is at it.

        Takes the first debate as well: of two slices that begin at once, each with the whole
        budget, the second must see that the first is there.
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
        # What was spent since the row was read counts against the budget.
        self.run.cost_nanousd, self.run.budget_nanousd = locked.cost_nanousd, locked.budget_nanousd
        self._first = self._take(1)
        return True

    def claim(self, count: int) -> list[Claimed]:
        """Take up to ``count`` waiting debates, with the good turns they already have."""
        first, self._first = self._first, []
        ids = first + self._take(count - len(first))
        debates = Debate.objects.filter(pk__in=ids, lease_token=self.token)
        return _with_turns(list(debates.select_related("item").order_by("pk")))

    @transaction.atomic
    def _take(self, count: int) -> list[int]:
        free = Debate.objects.claimable().filter(run=self.run).order_by("pk")
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        ids = list(free.values_list("pk", flat=True)[:count])
        # The condition again: on SQLite the read above took no lock.
        Debate.objects.claimable().filter(pk__in=ids).update(
            lease_token=self.token, lease_until=timezone.now() + self._lease
        )
        return ids

    def beat(self, pulse: Mapping[str, Any]) -> str:
        """Renew the lease of everything held, report ``pulse``; the run's status, "" when gone."""
        now = timezone.now()
        Debate.objects.filter(lease_token=self.token).update(lease_until=now + self._lease)
        Run.objects.filter(pk=self.run.pk).update(pulse={"at": now.isoformat(), **pulse})
        return Run.objects.filter(pk=self.run.pk).values_list("status", flat=True).first() or ""

    def write(self, turns: Sequence[Turn], finished: Sequence[Finished]) -> None:
        """Turns and results in one transaction: a result implies all of its turns.

        Raises:
            RunGone: what they belong to was deleted meanwhile.
        """
        try:
            with transaction.atomic():
                Turn.objects.bulk_create(turns, ignore_conflicts=True)
                self._conclude(finished)
                _count_in(self.run, turns)
        except IntegrityError as error:
            if Run.objects.filter(pk=self.run.pk).exists():
                raise
            raise RunGone(f"Run {self.run.pk} was deleted.") from error

    def release(self) -> None:
        """Put everything still held back to waiting."""
        Debate.objects.filter(lease_token=self.token).update(lease_token=None, lease_until=None)

    def pause(self, code: str, message: str, resume_at: datetime | None = None) -> None:
        """Pause the run, unless somebody has changed its status meanwhile."""
        Run.objects.filter(pk=self.run.pk, status=Run.Status.RUNNING).update(
            status=Run.Status.PAUSED, pause_code=code, message=message, resume_at=resume_at
        )

    def _conclude(self, finished: Sequence[Finished]) -> None:
        ours = self._still_ours(finished)
        for batch in _one_per_item(ours):
            results = [self._reporter.result(each) for each in batch]
            labels = record_debate_results(self.run.project, results)
            for each, label in zip(batch, labels, strict=True):
                Debate.objects.filter(pk=each.claimed.pk).update(
                    status=each.status,
                    lease_token=None,
                    lease_until=None,
                    label=label,
                    signals=dict(each.outcome.signals),
                    reasons=list(each.outcome.reasons),
                    error=each.error,
                    finished_at=each.at,
                )

    def _still_ours(self, finished: Sequence[Finished]) -> list[Finished]:
        """Those whose lease we still hold; the update locks them for this transaction."""
        if not finished:
            return []
        mine = Debate.objects.filter(
            pk__in=[each.claimed.pk for each in finished],
            lease_token=self.token,
            status=Debate.Status.WAITING,
        )
        mine.update(lease_until=timezone.now() + self._lease)
        held = set(mine.values_list("pk", flat=True))
        return [each for each in finished if each.claimed.pk in held]


def finish_run(run_id: int) -> bool:
    """Close a going run in which nothing waits any more; True when this call closed it."""
    if Debate.objects.filter(run=run_id, status=Debate.Status.WAITING).exists():
        return False
    with transaction.atomic():
        run = Run.objects.going().select_for_update().filter(pk=run_id).first()
        # Looked at again: the run may have been closed and resumed since.
        if run is None or Debate.objects.filter(run=run, status=Debate.Status.WAITING).exists():
            return False
        recount(run)
        Run.objects.filter(pk=run_id).update(
            status=Run.Status.DONE,
            pause_code="",
            message=_closing_words(run),
            finished_at=timezone.now(),
            pulse={},
        )
    return True


def recount(run: Run) -> None:
    """Bring the run's sums into line with its turns, which are the truth."""
    turns = Turn.objects.filter(debate__run=run)
    sums = _sums(
        turns.values_list("tokens_in", "tokens_out", "cost_nanousd").iterator(chunk_size=5000)
    )
    Run.objects.filter(pk=run.pk).update(**sums)


def _count_in(run: Run, turns: Sequence[Turn]) -> None:
    if not turns:
        return
    sums = _sums((turn.tokens_in, turn.tokens_out, turn.cost_nanousd) for turn in turns)
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


def _closing_words(run: Run) -> str:
    debates = Debate.objects.filter(run=run)
    counts = {status: debates.filter(status=status).count() for status in Debate.Status.values}
    words = f"{counts[Debate.Status.DONE]} of {sum(counts.values())} labelled"
    if counts[Debate.Status.UNPARSED]:
        words += (
            f", {counts[Debate.Status.UNPARSED]} without a usable label (they go to people first)"
        )
    if counts[Debate.Status.FAILED]:
        words += f", {counts[Debate.Status.FAILED]} failed (resume the run to try those again)"
    return words + "."


def _with_turns(debates: Sequence[Debate]) -> list[Claimed]:
    """The debates with what their stored turns say: good replies, attempts so far, money spent."""
    memo: dict[int, dict[str, Reply]] = defaultdict(dict)
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    tried: dict[int, dict[str, int]] = defaultdict(dict)
    spent: dict[int, Spent] = defaultdict(Spent)
    for turn in (
        Turn.objects.filter(debate__in=debates).defer("messages", "reasoning").order_by("attempt")
    ):
        tried[turn.debate_id][turn.step] = turn.attempt
        spent[turn.debate_id] = spent[turn.debate_id].plus(turn)
        if turn.status != Status.FAILED:
            memo[turn.debate_id][turn.step] = reply_of(turn)
            answers[turn.debate_id][turn.step] += 1
    return [
        Claimed(
            pk=debate.pk,
            replicate=debate.replicate,
            item=debate.item,
            memo=memo[debate.pk],
            answers=answers[debate.pk],
            tried=tried[debate.pk],
            spent=spent[debate.pk],
        )
        for debate in debates
    ]


def _one_per_item(finished: Iterable[Finished]) -> list[list[Finished]]:
    """Batches in which no item occurs twice, as replicates of one item may finish together."""
    batches: list[dict[int, Finished]] = []
    for each in finished:
        item_id = each.claimed.item.pk
        free = next((batch for batch in batches if item_id not in batch), None)
        if free is None:
            batches.append(free := {})
        free[item_id] = each
    return [list(batch.values()) for batch in batches]


def unfinished_runs() -> list[int]:
    """Ids of the runs a worker should drive or close now; paused ones whose time has come too.

    A run named here is not named again for a few seconds, by any process: its task is on its way.
    """
    now = timezone.now()
    Run.objects.filter(status=Run.Status.PAUSED, resume_at__lte=now).update(
        status=Run.Status.QUEUED, pause_code="", message="", resume_at=None, resumed_at=now
    )
    driven = Debate.objects.filter(lease_token__isnull=False, lease_until__gt=now).order_by()
    going = Run.objects.going().filter(_not_on_its_way(now)).exclude(pk__in=driven.values("run"))
    return [run_id for run_id in going.values_list("pk", flat=True) if mark_dispatched(run_id)]


def mark_dispatched(run_id: int) -> bool:
    """Note that a task for the run is on its way; False when somebody else just has."""
    now = timezone.now()
    free = Run.objects.going().filter(_not_on_its_way(now), pk=run_id)
    return bool(free.update(dispatched_until=now + DISPATCH))


def _not_on_its_way(now: datetime) -> Q:
    return Q(dispatched_until__isnull=True) | Q(dispatched_until__lte=now)


#: How long a task may take from its dispatch to its start before another is sent.
DISPATCH = timedelta(seconds=15)
