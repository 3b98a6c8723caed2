"""A person's labels go back into the queue: chunk by chunk, by one worker at a time."""

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import withdraw_labels
from apps.projects.models import Project
from apps.projects.services import hold_labels
from apps.reviews.models import Intervention, Requeue, Slot
from apps.reviews.selectors.requeueing import requeueable
from apps.reviews.services.leases import release_all
from apps.reviews.services.standing import checked_reason
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError

logger = logging.getLogger(__name__)

#: Labels taken back in one transaction: others write to the same project meanwhile.
CHUNK = 200
#: So few are taken back while the manager waits.
AT_ONCE = 400
LEASE = timedelta(seconds=60)
#: After a database error it is free again for the next worker that looks.
RETRY_AFTER = timedelta(seconds=10)


class LeaseLost(LabelhubError):
    """Another worker has this job now; what this one held is rolled back."""

    code = "lease_lost"


def requeue_labels(
    *,
    project: Project,
    user: User,
    by: User,
    reason: str,
    since: datetime | None = None,
    only_wrong: bool = False,
) -> Requeue:
    """Take back the labels of ``user`` that can be given anew; their items wait for people again.

    Which ones: see ``selectors.requeueing.requeueable``. What they hold just now goes back as well.
    A few hundred are done at once; more wait for a worker (``tasks.launch_requeue``), which takes
    them up where it or another was interrupted.

    Raises:
        InvalidInput: no reason, or there is no such label.
        Conflict: their labels are being put back already, or the labels are being changed.
    """
    reason = checked_reason(reason)
    try:
        job = _begun(project, user, by, Requeue(reason=reason, since=since, only_wrong=only_wrong))
    except IntegrityError:
        raise Conflict(
            f"Labels of {user.display_name} are being put back already; wait until that is done."
        ) from None
    return run_requeue(job.pk) if job.total <= AT_ONCE else job


@transaction.atomic
def _begun(project: Project, user: User, by: User, job: Requeue) -> Requeue:
    hold_labels(project)
    labels = requeueable(project, user, since=job.since, only_wrong=job.only_wrong)
    job.project, job.user, job.actor = project, user, by
    job.total = labels.count()
    if not job.total:
        raise InvalidInput(
            f"{user.display_name} has no such label: what an expert, the author or a file has "
            "decided since, and answers to items of known answer, stay as they are."
        )
    job.upto = labels.aggregate(newest=Max("pk"))["newest"]
    job.save(force_insert=True)
    release_all(project=project, user=user)
    Intervention.objects.create(
        project=project,
        actor=by,
        action=Intervention.Action.REQUEUE,
        subject=user,
        reason=job.reason,
        items=job.total,
        data={"since": job.since and job.since.isoformat(), "only_wrong": job.only_wrong},
    )
    return job


def unfinished_requeues() -> list[int]:
    """Ids of those that no living worker holds."""
    free = Requeue.objects.filter(_free(), status__in=Requeue.UNFINISHED)
    return list(free.order_by("pk").values_list("pk", flat=True))


def run_requeue(job_id: int) -> Requeue:
    """Bring it to its end, from the label it had reached.

    Safe to call twice: what another worker holds, or what has ended, is left alone. Each chunk
    commits its withdrawals together with the count, so an abort at any point loses and doubles
    nothing. Only faults of the database are raised, after which it is taken up again.
    """
    job = _claim(job_id)
    if job is None:
        return Requeue.objects.get(pk=job_id)
    try:
        while _chunk(job):
            pass
        _finish(job, Requeue.Status.DONE, "")
    except LeaseLost:
        logger.warning("requeue %s was taken over by another worker", job_id)
    except DatabaseError:
        _held(job).update(lease_until=timezone.now() + RETRY_AFTER)
        raise
    except Exception as error:
        logger.exception("requeue %s stopped", job_id)
        fault = error.message if isinstance(error, LabelhubError) else type(error).__name__
        words = f"It stopped by a fault of the server ({fault}); ask again for the others."
        _finish(job, Requeue.Status.FAILED, words)
    return Requeue.objects.get(pk=job_id)


def _free() -> Q:
    return Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())


def _claim(job_id: int) -> Requeue | None:
    """One conditional update: exclusive on every database."""
    free = Requeue.objects.filter(_free(), pk=job_id, status__in=Requeue.UNFINISHED)
    until = timezone.now() + LEASE
    if not free.update(lease_until=until, status=Requeue.Status.RUNNING):
        return None
    return Requeue.objects.select_related("project", "user", "actor").get(pk=job_id)


def _held(job: Requeue) -> QuerySet[Requeue]:
    """The job's row, provided that the lease is still ours."""
    return Requeue.objects.filter(pk=job.pk, lease_until=job.lease_until)


def _chunk(job: Requeue) -> bool:
    """Take back the next labels; False where there are none left."""
    labels = _labels(job)
    found = list(labels.order_by("pk").values_list("pk", "item_id")[:CHUNK])
    if not found:
        return False
    last, until = found[-1][0], timezone.now() + LEASE
    with transaction.atomic():
        of_chunk = labels.filter(pk__lte=last)
        taken = withdraw_labels(
            job.project, [item for _, item in found], of_chunk, provenance=_provenance(job)
        )
        _free_places(taken)
        if not _held(job).update(lease_until=until, after=last, done=F("done") + len(taken)):
            raise LeaseLost(f"Requeue {job.pk} is held by another worker.")
    job.lease_until, job.after = until, last
    return True


def _labels(job: Requeue) -> QuerySet[Label]:
    labels = requeueable(job.project, job.user, since=job.since, only_wrong=job.only_wrong)
    return labels.filter(pk__gt=job.after, pk__lte=job.upto)


def _provenance(job: Requeue) -> dict[str, str]:
    return {"requeued_by": job.actor.username if job.actor else "", "reason": job.reason}


def _free_places(labels: list[Label]) -> None:
    """Others may fill the places that these labels held."""
    places = Slot.objects.filter(label__in=[label.pk for label in labels])
    places.update(label=None, holder=None, lease_token=None, lease_until=None)


def _finish(job: Requeue, status: str, message: str) -> None:
    ended = {"status": status, "message": message, "lease_until": None}
    _held(job).update(finished_at=timezone.now(), **ended)
