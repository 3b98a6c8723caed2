"""Carrying out bulk jobs: chunk by chunk, resumable, by one worker at a time.

Each chunk commits what it did together with how far it got, so an abort at any point loses and
doubles nothing. Chunks are short: reviewers wait for the items of one at most.
"""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.services.states import lock_states
from apps.projects.selectors import role_in
from apps.reviews.models import BulkChange, BulkJob, Intervention
from apps.reviews.selectors.bulk import Plan, sorted_out
from apps.reviews.services.bulk.acting import act
from apps.reviews.services.bulk.jobs import plan_of
from apps.reviews.services.bulk.undoing import take_back
from labelhub.core.errors import Forbidden, LabelhubError

logger = logging.getLogger(__name__)

#: Items of one transaction: as many as take no longer than this, for reviewers wait for it.
CHUNK, FIRST_CHUNK = 500, 25
SECONDS = 0.25
#: SQLite wakes nobody: whoever waits to write looks again after up to a tenth of a second.
PAUSE = 0.05
#: Ids that are looked up at once: a search may take long, what follows it does not.
AHEAD = 10_000
LEASE = timedelta(seconds=60)
RETRY_AFTER = timedelta(seconds=10)
Status = BulkJob.Status
GOING = (Status.QUEUED, Status.RUNNING, Status.UNDOING)
LOGGED = {
    BulkJob.Action.ASSIGN: Intervention.Action.ASSIGN,
    BulkJob.Action.AUDIENCE: Intervention.Action.ASSIGN,
    BulkJob.Action.PROMOTE: Intervention.Action.PROMOTE,
    BulkJob.Action.RETURN: Intervention.Action.RETURN,
}


class LeaseLost(LabelhubError):
    """Another worker has this job now; what this one held is rolled back."""

    code = "lease_lost"


def unfinished_jobs() -> list[int]:
    """Ids of jobs that were asked for and that no living worker holds."""
    free = BulkJob.objects.filter(_free(), status__in=GOING)
    return list(free.order_by("pk").values_list("pk", flat=True))


def run_job(job_id: int) -> BulkJob:
    """Bring a job, or its undoing, to its end, from the item it had reached.

    Safe to call twice: a job that another worker holds, or that has ended, is left alone. The
    outcome is in ``status`` and ``message``; only faults of the database are raised, after which
    the job stays unfinished and is taken up again.
    """
    job = _claim(job_id)
    if job is None:
        return BulkJob.objects.get(pk=job_id)
    try:
        _undo(job) if job.status == Status.UNDOING else _do(job)
    except LeaseLost:
        logger.warning("bulk job %s was taken over by another worker", job_id)
    except LabelhubError as error:
        _finish(job, Status.FAILED, error.message)
    except DatabaseError:
        _held(job).update(lease_until=timezone.now() + RETRY_AFTER)
        raise
    except Exception as error:
        logger.exception("bulk job %s stopped", job_id)
        fault = f"Stopped by a fault of the server ({type(error).__name__})"
        words = f"{fault} after {job.done:,} items; what was done can be undone."
        _finish(job, Status.FAILED, words)
    return BulkJob.objects.get(pk=job_id)


def _free() -> Q:
    return Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())


def _claim(job_id: int) -> BulkJob | None:
    """One conditional update: exclusive on every database."""
    until = timezone.now() + LEASE
    free = BulkJob.objects.filter(_free(), pk=job_id)
    begun = free.filter(status__in=(Status.QUEUED, Status.RUNNING))
    if not (
        begun.update(lease_until=until, status=Status.RUNNING)
        or free.filter(status=Status.UNDOING).update(lease_until=until)
    ):
        return None
    return BulkJob.objects.select_related("project", "actor").get(pk=job_id)


def _held(job: BulkJob) -> QuerySet[BulkJob]:
    """The job's row, provided that the lease is still ours."""
    return BulkJob.objects.filter(pk=job.pk, lease_until=job.lease_until)


def _do(job: BulkJob) -> None:
    plan = plan_of(job, _asker(job))
    size = min(FIRST_CHUNK, CHUNK)
    while ahead := list(_ids_ahead(plan, job)):
        while ahead:
            began = time.monotonic()
            _do_chunk(plan, job, ahead[:size])
            ahead, size = ahead[size:], _paced(size, time.monotonic() - began)
    left = max(0, job.total - job.done - job.passed_over)
    counts = Counter(job.counts) + Counter(gone=left)
    with transaction.atomic():
        told = {"passed_over": job.passed_over + left, "counts": dict(counts)}
        if _finish(job, Status.DONE, "", **told):
            _log(job, job.actor, job.done)


def _asker(job: BulkJob) -> User:
    """Who asked for it, if they still may.

    Raises:
        Forbidden: they may not, or are gone.
    """
    if job.actor is None or role_in(job.actor, job.project) != Role.MANAGER:
        raise Forbidden("Whoever asked for this is no manager here any more: it was stopped.")
    return job.actor


def _ids_ahead(plan: Plan, job: BulkJob) -> QuerySet[Any, int]:
    found = plan.items().filter(pk__gt=job.after).order_by("pk")
    return found.values_list("pk", flat=True)[:AHEAD]


def _do_chunk(plan: Plan, job: BulkJob, ids: Sequence[int]) -> None:
    with transaction.atomic():
        states = lock_states(ids)
        outcomes = dict(sorted_out(plan, plan.among(ids)).values_list("pk", "outcome"))
        counts = Counter(outcomes.get(pk, "gone") for pk in ids)
        changes = act(plan, job, [states[pk] for pk in ids if outcomes.get(pk) == ""])
        BulkChange.objects.bulk_create(changes)
        # Somebody said something in the same breath as the items were locked.
        counts["gone"] += counts.pop("", 0) - len(changes)
        _write(
            job,
            after=ids[-1],
            done=job.done + len(changes),
            passed_over=job.passed_over + counts.total(),
            counts=dict(Counter(job.counts) + counts),
        )


def _paced(size: int, seconds: float) -> int:
    """How many items to take next, after a moment for others."""
    if connection.vendor == "sqlite":
        time.sleep(PAUSE)
    if seconds > SECONDS:
        return max(1, size // 2)
    return min(CHUNK, size * 2) if seconds < SECONDS / 3 else size


def _undo(job: BulkJob) -> None:
    size = min(FIRST_CHUNK, CHUNK)
    while changes := _changes_ahead(job, size):
        began = time.monotonic()
        with transaction.atomic():
            states = lock_states([change.item_id for change in changes])
            back = take_back(job, changes, states)
            counts = {**job.counts, "undone": job.counts.get("undone", 0) + back}
            counts["kept"] = job.counts.get("kept", 0) + len(changes) - back
            _write(job, after=changes[-1].item_id, counts=counts)
        size = _paced(size, time.monotonic() - began)
    with transaction.atomic():
        undoer = User.objects.filter(username=job.counts.get("undone_by", "")).first()
        if _finish(job, Status.UNDONE, ""):
            _log(job, undoer, job.counts.get("undone", 0), undone=True)


def _changes_ahead(job: BulkJob, size: int) -> list[BulkChange]:
    return list(BulkChange.objects.filter(job=job, item__gt=job.after).order_by("item")[:size])


def _write(job: BulkJob, **fields: Any) -> None:
    until = timezone.now() + LEASE
    if not _held(job).update(lease_until=until, **fields):
        raise LeaseLost(f"Bulk job {job.pk} is held by another worker.")
    job.lease_until = until
    for name, value in fields.items():
        setattr(job, name, value)


def _finish(job: BulkJob, status: Status, message: str, **fields: Any) -> bool:
    """Whether it was still ours to end."""
    ended = {"status": status, "message": message, "finished_at": timezone.now(), **fields}
    return bool(_held(job).update(lease_until=None, **ended))


def _log(job: BulkJob, actor: User | None, items: int, *, undone: bool = False) -> None:
    """For those who look later at who changed the queue."""
    action = LOGGED.get(BulkJob.Action(job.action))
    if action is None or not items:
        return
    told = {"bulk": job.pk, **job.options} | ({"undone": True} if undone else {})
    Intervention.objects.create(
        project=job.project,
        actor=actor,
        action=action,
        reason=job.options.get("reason", ""),
        items=items,
        data=told,
    )
