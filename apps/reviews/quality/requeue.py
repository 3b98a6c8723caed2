"""Requeue a person's labels: withdraw them chunk by chunk, by one worker at a time."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.common.jobs import JobRun, failure_message, job, start_job, work_on
from apps.common.queues import HEAVY
from apps.labels.models import PEOPLE, Gold, ItemState, Label
from apps.labels.services import withdraw_labels
from apps.projects.models import Project
from apps.projects.services import hold_labels
from apps.reviews.models import Decision, Intervention, Purpose, Requeue, Slot
from apps.reviews.queue.leases import NOT_HELD, release_all
from apps.reviews.queue.reviewer_status import validate_reason
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.phrases import Phrase

#: Decisions that outrank reviewers: their items need no further label.
SETTLED = (Gold.Basis.ADJUDICATION, Gold.Basis.AUTHOR, Gold.Basis.IMPORTED)
#: Labels withdrawn in one transaction; others write to the same project meanwhile.
CHUNK = 200
#: Up to this many labels are withdrawn at once, while the manager waits.
AT_ONCE = 400
KIND = "reviews.requeue"


def requeueable_labels(
    project: Project, user: User, *, since: datetime | None = None, only_wrong: bool = False
) -> QuerySet[Label]:
    """The current labels of ``user`` whose items others could label again.

    Without items that an expert, the author or a file has decided or that an expert found unclear,
    without answers to gold questions (the item would come back to the same person), and without
    imported labels. ``since``: only labels given then or later. ``only_wrong``: only labels that
    differ from gold or, without gold, from another person's label.
    """
    known = Decision.objects.filter(label=OuterRef("pk")).exclude(purpose=Purpose.WORK)
    by_others = Q(item__state__gold__basis__in=SETTLED) & ~Q(
        item__state__gold__decided_by__user=user
    )
    unclear = Q(item__state__stage=ItemState.Stage.UNCLEAR) & ~Q(role=Label.Role.UNCLEAR)
    labels = (
        Label.objects.current()
        .filter(annotator__project=project, annotator__user=user, annotator__kind__in=PEOPLE)
        .exclude(action=Label.Action.IMPORTED)
        .exclude(by_others)
        .exclude(unclear)
        .filter(~Exists(known))
    )
    if since is not None:
        labels = labels.filter(created_at__gte=since)
    return _only_contradicted(labels, user) if only_wrong else labels


def _only_contradicted(labels: QuerySet[Label], user: User) -> QuerySet[Label]:
    as_text = Cast("value", TextField())
    others = (
        Label.objects.current()
        .by_people()
        .filter(item=OuterRef("item"), value__isnull=False)
        .exclude(annotator__user=user)
        .annotate(said=as_text)
        .exclude(said=OuterRef("said"))
    )
    labels = labels.filter(abstained=False).annotate(
        said=as_text, decided=Cast("item__state__gold__value", TextField())
    )
    undecided = Q(item__state__gold__isnull=True) & Q(Exists(others))
    return labels.filter((Q(decided__isnull=False) & ~Q(decided=F("said"))) | undecided)


def requeue_of(project: Project, user: User) -> Requeue | None:
    """The latest requeueing of labels of ``user``, at work or ended."""
    return Requeue.objects.filter(project=project, user=user).select_related("actor").first()


def requeue_labels(
    *,
    project: Project,
    user: User,
    by: User,
    reason: str,
    since: datetime | None = None,
    only_wrong: bool = False,
) -> Requeue:
    """Withdraw the labels of ``user`` that :func:`requeueable_labels` finds; their items wait for
    people again.

    The items that they hold go back as well. A few hundred are done at once, more by a worker.

    Raises:
        InvalidInput: no reason, or there is no such label.
        Conflict: their labels are being put back already, or the labels are being changed.
    """
    reason = validate_reason(reason)
    try:
        asked = Requeue(reason=reason, since=since, only_wrong=only_wrong)
        requeue = _start_requeue(project, user, by, asked)
    except IntegrityError:
        raise Conflict(
            "Labels of %(display_name)s are already being withdrawn; wait until that is done.",
            display_name=user.display_name,
        ) from None
    return run_requeue(requeue.pk) if requeue.total <= AT_ONCE else requeue


@transaction.atomic
def _start_requeue(project: Project, user: User, by: User, requeue: Requeue) -> Requeue:
    hold_labels(project)
    labels = requeueable_labels(project, user, since=requeue.since, only_wrong=requeue.only_wrong)
    requeue.project, requeue.user, requeue.actor = project, user, by
    requeue.total = labels.count()
    if not requeue.total:
        raise InvalidInput(
            "%(display_name)s has no such label. Labels of items that an expert, the author "
            "or an import decided, and answers to gold questions, stay as they are.",
            display_name=user.display_name,
        )
    requeue.upto = labels.aggregate(newest=Max("pk"))["newest"]
    requeue.save(force_insert=True)
    release_all(project=project, user=user)
    Intervention.objects.create(
        project=project,
        actor=by,
        action=Intervention.Action.REQUEUE,
        subject=user,
        reason=requeue.reason,
        items=requeue.total,
        data={
            "since": requeue.since and requeue.since.isoformat(),
            "only_wrong": requeue.only_wrong,
        },
    )
    record(Action.LABELS_REQUEUED, user, project=project, changes={"labels": (None, requeue.total)})
    start_job(KIND, requeue.pk, send=requeue.total > AT_ONCE)
    return requeue


def run_requeue(requeue_id: int) -> Requeue:
    """Run it to its end, from the label it had reached; see :func:`apps.common.jobs.work_on`."""
    work_on(KIND, requeue_id)
    return Requeue.objects.get(pk=requeue_id)


def fail_requeue(requeue_id: int, error: Exception) -> None:
    advice = Phrase("Start it again for the other labels.")
    _end(requeue_id, Requeue.Status.FAILED, failure_message(error, advice))


@job(KIND, fail=fail_requeue, queue=HEAVY)
def put_labels_back(run: JobRun) -> None:
    """Withdraw the labels; each chunk commits its withdrawals together with the count."""
    going = Requeue.objects.filter(pk=run.subject, status__in=Requeue.UNFINISHED)
    requeue = going.select_related("project", "user", "actor").first()
    if requeue is None:
        return
    going.update(status=Requeue.Status.RUNNING)
    while found := list(_labels(requeue).order_by("pk").values_list("pk", "item_id")[:CHUNK]):
        last = found[-1][0]
        with run.chunk():
            taken = withdraw_labels(
                requeue.project,
                [item for _, item in found],
                _labels(requeue).filter(pk__lte=last),
                provenance={"requeued_by": requeue.actor_id, "reason": requeue.reason},
            )
            # Others may fill the slots of these labels.
            places = Slot.objects.filter(label__in=[label.pk for label in taken])
            places.update(label=None, holder=None, **NOT_HELD)
            going.update(after=last, done=F("done") + len(taken))
        requeue.after = last
    with run.last_chunk():
        _end(requeue.pk, Requeue.Status.DONE, "")


def _labels(requeue: Requeue) -> QuerySet[Label]:
    labels = requeueable_labels(
        requeue.project, requeue.user, since=requeue.since, only_wrong=requeue.only_wrong
    )
    return labels.filter(pk__gt=requeue.after, pk__lte=requeue.upto)


def _end(requeue_id: int, status: str, message: str) -> None:
    ended = {"status": status, "message": message, "finished_at": timezone.now()}
    Requeue.objects.filter(pk=requeue_id).update(**ended)
