"""Carrying out bulk jobs. Chunks are short: reviewers wait for the items of one at most."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.jobs import JobRun, fault_words, job, work_on
from apps.labels.services.states import lock_states
from apps.projects.selectors import role_in
from apps.reviews.models import BulkChange, BulkJob, Intervention
from apps.reviews.selectors.bulk import BulkPlan, sorted_out
from apps.reviews.services.bulk.acting import act
from apps.reviews.services.bulk.jobs import KIND, plan_of
from apps.reviews.services.bulk.undoing import take_back
from labelhub.core.errors import Forbidden

#: Items of one transaction: as many as take no longer than this, for reviewers wait for it.
CHUNK, FIRST_CHUNK = 500, 25
SECONDS = 0.25
#: SQLite wakes nobody: whoever waits to write looks again after up to a tenth of a second.
PAUSE = 0.05
#: Ids that are looked up at once: a search may take long, what follows it does not.
AHEAD = 10_000
Status = BulkJob.Status
GOING = (Status.QUEUED, Status.RUNNING, Status.UNDOING)
LOGGED = {
    BulkJob.Action.ASSIGN: Intervention.Action.ASSIGN,
    BulkJob.Action.AUDIENCE: Intervention.Action.ASSIGN,
    BulkJob.Action.PROMOTE: Intervention.Action.PROMOTE,
    BulkJob.Action.RETURN: Intervention.Action.RETURN,
}


def run_job(job_id: int) -> BulkJob:
    """Bring a job, or its undoing, to its end, from the item it had reached; see
    :func:`apps.common.jobs.work_on`."""
    work_on(KIND, job_id)
    return BulkJob.objects.get(pk=job_id)


def fail_job(job_id: int, error: Exception) -> None:
    """Say how it failed."""
    bulk = BulkJob.objects.get(pk=job_id)
    words = f"Stopped by {{fault}} after {bulk.done:,} items; what was done can be undone."
    bulk.status, bulk.message = Status.FAILED, fault_words(error, words)
    bulk.finished_at = timezone.now()
    bulk.save(update_fields=["status", "message", "finished_at"])


@job(KIND, fail=fail_job)
def carry_out(run: JobRun) -> None:
    """Each chunk commits what it did together with how far it got."""
    going = BulkJob.objects.filter(pk=run.subject, status__in=GOING)
    bulk = going.select_related("project", "actor").first()
    if bulk is None:
        return
    if bulk.status == Status.UNDOING:
        _undo(run, bulk)
    else:
        going.update(status=Status.RUNNING)
        _do(run, bulk)


def _do(run: JobRun, job: BulkJob) -> None:
    plan = plan_of(job, _asker(job))
    size = min(FIRST_CHUNK, CHUNK)
    while ahead := list(_ids_ahead(plan, job)):
        run.keep()
        while ahead:
            began = time.monotonic()
            with run.chunk():
                _do_chunk(plan, job, ahead[:size])
            ahead, size = ahead[size:], _paced(size, time.monotonic() - began)
    left = max(0, job.total - job.done - job.passed_over)
    counts = Counter(job.counts) + Counter(gone=left)
    with run.last_chunk():
        _finish(job, Status.DONE, passed_over=job.passed_over + left, counts=dict(counts))
        _log(job, job.actor, job.done)


def _asker(job: BulkJob) -> User:
    """Who asked for it, if they still may.

    Raises:
        Forbidden: they may not, or are gone.
    """
    if job.actor is None or role_in(job.actor, job.project) != Role.MANAGER:
        raise Forbidden("Whoever asked for this is no manager here any more: it was stopped.")
    return job.actor


def _ids_ahead(plan: BulkPlan, job: BulkJob) -> QuerySet[Any, int]:
    found = plan.items().filter(pk__gt=job.after).order_by("pk")
    return found.values_list("pk", flat=True)[:AHEAD]


def _do_chunk(plan: BulkPlan, job: BulkJob, ids: Sequence[int]) -> None:
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


def _undo(run: JobRun, job: BulkJob) -> None:
    size = min(FIRST_CHUNK, CHUNK)
    while changes := _changes_ahead(job, size):
        began = time.monotonic()
        with run.chunk():
            states = lock_states([change.item_id for change in changes])
            back = take_back(job, changes, states)
            counts = {**job.counts, "undone": job.counts.get("undone", 0) + back}
            counts["kept"] = job.counts.get("kept", 0) + len(changes) - back
            _write(job, after=changes[-1].item_id, counts=counts)
        size = _paced(size, time.monotonic() - began)
    with run.last_chunk():
        undoer = User.objects.filter(username=job.counts.get("undone_by", "")).first()
        _finish(job, Status.UNDONE)
        _log(job, undoer, job.counts.get("undone", 0), undone=True)


def _changes_ahead(job: BulkJob, size: int) -> list[BulkChange]:
    return list(BulkChange.objects.filter(job=job, item__gt=job.after).order_by("item")[:size])


def _write(job: BulkJob, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(job, name, value)
    job.save(update_fields=list(fields))


def _finish(job: BulkJob, status: Status, **fields: Any) -> None:
    _write(job, status=status, message="", finished_at=timezone.now(), **fields)


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
