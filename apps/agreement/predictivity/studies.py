"""Starting and steering studies, and finding them. Nothing here talks to a model."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.planning import Planned, StudyPlan, key_of, plan_study
from apps.agreement.predictivity.reading import Answers
from apps.debates.services.driving.budget import usd
from apps.debates.services.preview import check_prices
from apps.llm.services import remember_prompt
from apps.projects.models import Project
from labelhub.core.agreement.predictivity import PredictionTask
from labelhub.core.errors import Conflict, InvalidInput, NotFound

CHUNK = 2000
#: How long a task may take from its dispatch to its start before another is sent.
DISPATCH = timedelta(seconds=15)
GOING = (Study.Status.QUEUED, Study.Status.RUNNING)


def start_study(
    *, project: Project, actor: User | None, plan: StudyPlan, answers: Answers | None = None
) -> Study:
    """Record a study with all its tasks; a study of the same plan is continued instead.

    What it has asked is not asked again; what failed is, and what the ledger has grown by is added.
    A worker picks it up; the caller may send it a task to be quicker (``tasks.launch_study``).
    ``answers``: what the plan was made of, if it has been read already.

    Raises:
        InvalidInput: the plan cannot be carried out, or its budget is spent already.
        UnknownPrice: there is a budget, and the model's price is not known.
    """
    planned = plan_study(project, plan, answers)
    if planned.plan.budget_nanousd is not None:
        check_prices([planned.plan.model])
    with transaction.atomic():
        study = planned.study or _create(project, actor, planned)
        locked = Study.objects.select_for_update().get(pk=study.pk)
        _set_budget(locked, planned.plan)
        _add_predictions(locked, planned.tasks)
        if not locked.going:
            _queue_again(locked)
    locked.refresh_from_db()
    return locked


def pause_study(*, study: Study) -> Study:
    """Start no further calls; what is under way is finished and kept.

    Raises:
        Conflict: it is neither going nor about to.
    """
    about_to = Q(status=Study.Status.PAUSED, resume_at__isnull=False)
    return _change(
        study,
        Q(status__in=GOING) | about_to,
        "paused",
        status=Study.Status.PAUSED,
        pause_code="user",
        message="Paused by hand.",
        resume_at=None,
    )


def resume_study(*, study: Study) -> Study:
    """Go on with a paused study, and ask again what failed; also of one that is done.

    Raises:
        Conflict: it is going or cancelled, or it is done and nothing failed.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        failed = locked.predictions.filter(status=Prediction.Status.FAILED).exists()
        if not (locked.status == Study.Status.PAUSED or (failed and _done(locked))):
            raise _conflict(locked, "resumed")
        _queue_again(locked)
    study.refresh_from_db()
    return study


def cancel_study(*, study: Study) -> Study:
    """End it for good; what was predicted stays.

    Raises:
        Conflict: it has ended already.
    """
    return _change(
        study,
        ~Q(status__in=[Study.Status.DONE, Study.Status.CANCELLED]),
        "cancelled",
        status=Study.Status.CANCELLED,
        pause_code="",
        message="Cancelled by hand.",
        resume_at=None,
        finished_at=timezone.now(),
    )


def studies_of(project: Project) -> QuerySet[Study]:
    """The project's studies, newest first, with their models and how many tasks they have."""
    told = Study.objects.filter(project=project).select_related("model__provider", "project")
    # In words: a query that groups does not heed the order of the model.
    return told.order_by("-created_at", "-pk").annotate(
        total=Count("predictions"),
        finished=Count("predictions", filter=~Q(predictions__status=Prediction.Status.WAITING)),
        failed=Count("predictions", filter=Q(predictions__status=Prediction.Status.FAILED)),
        unparsed=Count("predictions", filter=Q(predictions__status=Prediction.Status.UNPARSED)),
    )


def get_study(project: Project, study_id: int | None) -> Study | None:
    """A study of the project, as ``studies_of`` tells it; the newest without an id, if any.

    Raises:
        NotFound: no such study there.
    """
    found = studies_of(project)
    if study_id is None:
        return found.first()
    study = found.filter(pk=study_id).first()
    if study is None:
        raise NotFound(f"There is no study {study_id} in the project '{project.slug}'.")
    return study


def unfinished_studies() -> list[int]:
    """Ids of the studies a worker should drive now; paused ones whose time has come too.

    One named here is not named again for a few seconds, by any process: its task is on its way.
    """
    now = timezone.now()
    Study.objects.filter(status=Study.Status.PAUSED, resume_at__lte=now).update(
        status=Study.Status.QUEUED, pause_code="", message="", resume_at=None
    )
    free = Study.objects.filter(_free(now), status__in=GOING).order_by("?")
    return [pk for pk in free.values_list("pk", flat=True) if mark_dispatched(pk)]


def mark_dispatched(study_id: int) -> bool:
    """Note that a task for it is on its way; False when somebody else just has."""
    now = timezone.now()
    free = Study.objects.filter(_unsent(now), pk=study_id, status__in=GOING)
    return bool(free.update(dispatched_until=now + DISPATCH))


def take_back_dispatch(study_id: int) -> None:
    """Its task was turned away: it may be named again at once."""
    Study.objects.filter(pk=study_id).update(dispatched_until=None)


def _create(project: Project, actor: User | None, planned: Planned) -> Study:
    try:
        with transaction.atomic():
            return Study.objects.create(
                project=project,
                model=planned.plan.model,
                prompt=remember_prompt(planned.form.prompt),
                sources=list(planned.plan.sources),
                examples=list(planned.plan.examples),
                limit=planned.plan.limit,
                seed=planned.plan.seed,
                plan_hash=planned.hash,
                offline_labels=_offline_labels(planned.plan, planned.answers),
                budget_nanousd=planned.plan.budget_nanousd,
                created_by=actor,
            )
    except IntegrityError:  # somebody else has begun the same at this moment
        same = Study.objects.filter(project=project, plan_hash=planned.hash)
        return same.exclude(status=Study.Status.CANCELLED).get()


def _offline_labels(plan: StudyPlan, answers: Answers) -> bool:
    return answers.offline and "llm" in plan.sources


def _add_predictions(study: Study, tasks: Sequence[PredictionTask]) -> None:
    """A waiting row for each task that has none."""
    there = set(study.predictions.order_by().values_list("item_id", "source", "examples"))
    rows = [
        Prediction(study=study, item_id=task.item, source=task.source, examples=task.examples)
        for task in tasks
        if key_of(task) not in there
    ]
    Prediction.objects.bulk_create(rows, batch_size=CHUNK)


def _queue_again(study: Study) -> None:
    """Make what failed wait again; a study with nothing left to do stays as it is."""
    again = [Prediction.Status.FAILED, Prediction.Status.VOID]
    study.predictions.filter(status__in=again).update(status=Prediction.Status.WAITING, note="")
    waiting = study.predictions.filter(status=Prediction.Status.WAITING).exists()
    if _done(study) and not waiting:
        return
    Study.objects.filter(pk=study.pk).update(
        status=Study.Status.QUEUED,
        pause_code="",
        message="",
        resume_at=None,
        faults=0,
        # A task sent before it was paused is no longer on its way.
        dispatched_until=None,
        finished_at=None,
    )


def _set_budget(study: Study, plan: StudyPlan) -> None:
    """The budget of the plan; the study keeps its own where the plan says nothing of it."""
    budget = plan.budget_nanousd
    if budget is None and not plan.unlimited:
        return
    if budget is not None and budget < study.cost_nanousd:
        raise InvalidInput(f"budget: {usd(study.cost_nanousd)} is spent already; give more.")
    study.budget_nanousd = budget
    study.save(update_fields=["budget_nanousd"])


def _change(study: Study, allowed: Q, word: str, **fields: Any) -> Study:
    """Change it in one conditional update, so that two people cannot both win."""
    if not Study.objects.filter(allowed, pk=study.pk).update(**fields):
        study.refresh_from_db(fields=["status"])
        raise _conflict(study, word)
    study.refresh_from_db()
    return study


def _conflict(study: Study, word: str) -> Conflict:
    state = study.get_status_display().lower()
    return Conflict(f"Study {study.pk} is {state} and cannot be {word}.")


def _done(study: Study) -> bool:
    return study.status == Study.Status.DONE


def _unsent(now: datetime) -> Q:
    return Q(dispatched_until__isnull=True) | Q(dispatched_until__lte=now)


def _free(now: datetime) -> Q:
    """Nobody drives it and no task for it is on its way."""
    return _unsent(now) & (Q(lease_until__isnull=True) | Q(lease_until__lte=now))
