"""The database half of a slice: the lease of a study, its tasks, and what was predicted.

Every method runs in the slice's one database thread. A study is driven by whoever holds its lease.
An answer that was paid for is written whoever holds it by then: a task is answered only once.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.asking import Form, call_of, form_of, items_of
from apps.agreement.predictivity.outcomes import TRIED, Outcome, Waiting, closing_words
from apps.agreement.predictivity.planning import Key, key_of
from apps.agreement.predictivity.reading import read_answers
from apps.agreement.predictivity.studies import GOING
from apps.debates.services.driving.store import RESTS
from apps.llm.models import ModelSpec
from apps.projects.models import Item
from labelhub.core.agreement.predictivity import PredictionTask, plan_tasks

#: How long reading the ledger may take before the first beat.
LOADING = timedelta(minutes=1)
VOID = "The answers that it was planned with are no longer there."


class StudyStore:
    """What one slice reads and writes of a study, under one lease token."""

    def __init__(self, study: Study, lease: timedelta) -> None:
        self.study = study
        self.token = uuid.uuid4()
        self._lease = lease
        self._tasks: dict[Key, PredictionTask] = {}
        self._form: Form | None = None

    @property
    def model(self) -> ModelSpec:
        """Who is asked."""
        return self.study.model

    def begin(self) -> bool:
        """Take the lease; False when it is not to go or another worker is at it."""
        now = timezone.now()
        free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
        taken = Study.objects.filter(free, pk=self.study.pk, status__in=GOING).update(
            status=Study.Status.RUNNING,
            message="",
            lease_token=self.token,
            lease_until=now + LOADING,
        )
        if not taken:
            return False
        Study.objects.filter(pk=self.study.pk, started_at=None).update(started_at=now)
        # What was spent since the row was read counts against the budget.
        self.study.refresh_from_db(fields=["cost_nanousd", "budget_nanousd", "started_at"])
        return True

    def load(self) -> None:
        """Plan the tasks anew from the ledger as it is now: what was taken back is not shown.

        Raises:
            InvalidInput: the project asks for something else by now.
        """
        study = self.study
        answers = read_answers(study.project)
        tasks = plan_tasks(answers.rows, study.sources, study.examples, seed=study.seed)
        self._tasks = {key_of(task): task for task in tasks}
        self._form = form_of(study.project, answers.schema, study.prompt)

    def next_batch(self, after: int, count: int) -> tuple[list[Waiting], int | None]:
        """Up to ``count`` waiting tasks beyond the row ``after``, and the last row looked at; None
        where there is no more."""
        columns = ("pk", "item_id", "source", "examples", *TRIED)
        waiting = self.study.predictions.filter(status=Prediction.Status.WAITING, pk__gt=after)
        rows = list(waiting.order_by("pk").only(*columns)[:count])
        if not rows:
            return [], None
        known = [(row, self._tasks.get((row.item_id, row.source, row.examples))) for row in rows]
        items = items_of([task for _, task in known if task])
        ready = []
        for row, task in known:
            if task is None or not _present(task, items) or self._form is None:
                self._void(row.pk)
            else:
                ready.append(Waiting(row, task, call_of(task, items, self._form)))
        return ready, rows[-1].pk

    def write(self, outcomes: Sequence[Outcome]) -> bool:
        """Results and what they cost in one transaction; whether the study is still ours to drive.

        Rows that were erased meanwhile stay gone; what they cost is counted all the same.
        """
        if outcomes:
            with transaction.atomic():
                self._count(outcomes)
                for each in sorted(outcomes, key=lambda outcome: outcome.pk):
                    waiting = Prediction.objects.filter(
                        pk=each.pk, status=Prediction.Status.WAITING
                    )
                    waiting.update(**each.fields)
        return self._ours().exists()

    def beat(self) -> bool:
        """Renew the lease; whether the study is still ours to drive."""
        return bool(self._ours().update(lease_until=timezone.now() + self._lease))

    def release(self) -> None:
        """Let go of the study."""
        mine = Study.objects.filter(pk=self.study.pk, lease_token=self.token)
        mine.update(lease_token=None, lease_until=None)

    def pause(self, code: str, message: str, resume_at: datetime | None = None) -> None:
        """Pause it, unless somebody has changed its status meanwhile."""
        Study.objects.filter(pk=self.study.pk, status=Study.Status.RUNNING).update(
            status=Study.Status.PAUSED, pause_code=code, message=message, resume_at=resume_at
        )

    def rest(self) -> None:
        """Pause it over a fault of the server: for a while at first, longer each time, and until
        somebody looks after the last."""
        Study.objects.filter(pk=self.study.pk).update(faults=F("faults") + 1)
        faults = Study.objects.filter(pk=self.study.pk).values_list("faults", flat=True).first()
        words = "The server failed at this study; its log has the details. What was stored is kept."
        if faults and faults <= len(RESTS):
            self.pause("fault", words, timezone.now() + RESTS[faults - 1])
        else:
            self.pause("fault", f"{words} Mend the cause, then resume.")

    def recovered(self) -> None:
        """Forget the faults of earlier slices."""
        Study.objects.filter(pk=self.study.pk, faults__gt=0).update(faults=0)

    def finish(self) -> bool:
        """Close it when nothing waits any more; whether this call closed it."""
        with transaction.atomic():
            going = Study.objects.select_for_update().filter(pk=self.study.pk, status__in=GOING)
            study = going.first()
            waiting = Prediction.objects.filter(
                study=self.study.pk, status=Prediction.Status.WAITING
            )
            if study is None or waiting.exists():
                return False
            study.status, study.pause_code, study.faults = Study.Status.DONE, "", 0
            study.message, study.finished_at = closing_words(study), timezone.now()
            study.save(update_fields=["status", "pause_code", "faults", "message", "finished_at"])
        return True

    def _ours(self) -> QuerySet[Study]:
        return Study.objects.filter(
            pk=self.study.pk, lease_token=self.token, status=Study.Status.RUNNING
        )

    def _void(self, pk: int) -> None:
        waiting = Prediction.objects.filter(pk=pk, status=Prediction.Status.WAITING)
        waiting.update(status=Prediction.Status.VOID, note=VOID)

    def _count(self, outcomes: Sequence[Outcome]) -> None:
        Study.objects.filter(pk=self.study.pk).update(
            calls=F("calls") + len(outcomes),
            unpriced_calls=F("unpriced_calls") + sum(each.cost is None for each in outcomes),
            tokens_in=F("tokens_in") + sum(each.usage.tokens_in for each in outcomes),
            tokens_out=F("tokens_out") + sum(each.usage.tokens_out for each in outcomes),
            cost_nanousd=F("cost_nanousd") + sum(each.cost or 0 for each in outcomes),
        )


def _present(task: PredictionTask, items: Mapping[int, Item]) -> bool:
    """Whether all its items are still there."""
    return task.item in items and all(each.item in items for each in task.shown)
