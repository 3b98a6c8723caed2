"""Switching learning on and off, and when a model is to be taught anew. Nothing here learns."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from apps.accounts.models import User
from apps.common.jobs import JobRun, cancel_job, job, start_job
from apps.labels.services import unrank_items
from apps.learning.models import LearningSwitch, TrainedModel
from apps.learning.selectors import read_gold
from apps.learning.selectors.lesson import newest_gold
from apps.learning.selectors.standing import decided_items
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict
from labelhub.core.learning import LEAST_GOLD, growth

KIND, CLEAR = "learning.train", "learning.clear_ranks"
#: Items that come one by one are looked at together, not each by a model fitted for it.
REST = timedelta(minutes=5)
Status = TrainedModel.Status


@transaction.atomic
def switch_learning(*, project: Project, on: bool, actor: User | None) -> LearningSwitch:
    """Switch learning on or off; off, what is under way ends, and the queue forgets its order in
    the background. What was learnt and said stays."""
    switch, _ = LearningSwitch.objects.get_or_create(project=project)
    switch = LearningSwitch.objects.select_for_update().get(pk=switch.pk)
    if switch.on != on:
        switch.on, switch.changed_by, switch.changed_at = on, actor, timezone.now()
        switch.save(update_fields=["on", "changed_by", "changed_at"])
    if not on:
        going = TrainedModel.objects.filter(project=project, status__in=TrainedModel.UNFINISHED)
        for model_id in going.values_list("pk", flat=True):
            cancel_job(KIND, model_id)
        going.update(status=Status.CANCELLED, finished_at=timezone.now())
        start_job(CLEAR, project.pk)
    return switch


def start_training(
    *, project: Project, actor: User | None = None, send: bool = True
) -> TrainedModel:
    """A new version, waiting for a worker; the one that is unfinished, if there is one.

    ``send=False``: the caller carries it out.

    Raises:
        Conflict: learning is switched off.
        NotLearnable: a classifier cannot answer what the project asks.
        TooLittleGold: there is not enough to learn from; the message says how much is missing.
    """
    models = TrainedModel.objects.filter(project=project)
    going = models.filter(status__in=TrainedModel.UNFINISHED).first()
    if going is not None:
        return going
    if not LearningSwitch.objects.filter(project=project, on=True).exists():
        raise Conflict("Learning is switched off in this project; switch it on first.")
    schema, until = current_schema(project), newest_gold(project.pk)
    read_gold(schema, until)
    try:
        with transaction.atomic():
            last = models.aggregate(version=Max("version"))["version"] or 0
            model = TrainedModel.objects.create(
                project=project,
                version=last + 1,
                schema=schema,
                gold_until=until,
                decided=decided_items(project.pk),
                created_by=actor,
                phase_at=timezone.now(),
            )
            start_job(KIND, model.pk, send=send)
            return model
    except IntegrityError:  # somebody else has begun at this moment
        return models.filter(status__in=TrainedModel.UNFINISHED).latest("version")


def due_projects() -> Sequence[tuple[Project, int]]:
    """Projects that learn and whose gold has grown enough since, with how much they have.

    Two queries for each project that learns: the ledger itself is asked, nobody keeps a count.
    """
    going = TrainedModel.objects.filter(
        project=OuterRef("project"), status__in=TrainedModel.UNFINISHED
    )
    switches = LearningSwitch.objects.filter(~Exists(going), on=True).select_related("project")
    found = ((switch.project, decided_items(switch.project_id)) for switch in switches)
    return [(project, decided) for project, decided in found if _is_due(project, decided)]


def _is_due(project: Project, decided: int) -> bool:
    last = TrainedModel.objects.filter(project=project).order_by("-version").first()
    if last is None or last.status == Status.CANCELLED:
        return decided >= LEAST_GOLD
    grown = decided >= last.decided + growth(last.decided)
    return grown or last.schema_id != current_schema(project).pk


def reopen_for_new_items() -> int:
    """Have the newest models look at items that came since they were done; how many models."""
    newer = TrainedModel.objects.filter(
        project=OuterRef("project"), version__gt=OuterRef("version")
    )
    beyond = Item.objects.filter(project=OuterRef("project"), pk__gt=OuterRef("applied_to"))
    rested = TrainedModel.objects.filter(
        ~Exists(newer),
        Exists(beyond),
        status=Status.DONE,
        project__learning__on=True,
        finished_at__lt=timezone.now() - REST,
    )
    count = 0
    for pk in rested.values_list("pk", flat=True):
        count += _reopen(pk)
    return count


def _reopen(pk: int) -> int:
    done = TrainedModel.objects.filter(pk=pk, status=Status.DONE)
    try:
        with transaction.atomic():
            if not done.update(status=Status.APPLYING, phase_at=timezone.now()):
                return 0
            start_job(KIND, pk)
            return 1
    except IntegrityError:  # a newer version was begun at this moment
        return 0


def unswept_projects() -> list[int]:
    """Projects that do not learn any more and whose queue still heeds the model."""
    rows = LearningSwitch.objects.filter(on=False, ranked=True)
    return list(rows.values_list("project_id", flat=True))


@job(CLEAR)
def clear_ranks(run: JobRun) -> None:
    """Order a project's queue without the model, unless it was switched on again meanwhile."""
    switch = LearningSwitch.objects.filter(pk=run.subject, on=False).select_related("project")
    if found := switch.first():
        unrank_items(found.project)
        switch.update(ranked=False)
