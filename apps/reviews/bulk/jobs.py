"""Start, run and undo bulk jobs.

Chunks are short, because reviewers wait for the items of a chunk.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common import jobs
from apps.common.addresses import parse_row_id
from apps.common.audit import Action, record
from apps.common.jobs import JobRun, failure_message, job
from apps.common.queues import HEAVY
from apps.labels.services.states import lock_states
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.projects.services import hold_labels
from apps.reviews.bulk.actions import apply_action, undo_changes
from apps.reviews.bulk.plan import BulkPlan, preview, read_options, with_outcomes
from apps.reviews.models import BulkChange, BulkJob, Intervention
from apps.reviews.search.matching import matching_items, newest_item
from apps.reviews.search.query import Query, read_query
from labelhub.core.errors import Conflict, Forbidden, InvalidInput
from labelhub.core.phrases import Phrase, join_sentences

Status = BulkJob.Status
KIND = "reviews.bulk"
#: Key in the counts: the user who undid the job.
UNDONE_BY = "undone_by"
#: Items of one transaction: as many as take no longer than ``SECONDS``.
CHUNK, FIRST_CHUNK = 500, 25
SECONDS = 0.25
#: On SQLite waiting writers only look again after up to a tenth of a second.
PAUSE = 0.05
#: Ids that are looked up at once, because a search may be slow.
AHEAD = 10_000
LOGGED = {
    BulkJob.Action.ASSIGN: Intervention.Action.ASSIGN,
    BulkJob.Action.AUDIENCE: Intervention.Action.ASSIGN,
    BulkJob.Action.PROMOTE: Intervention.Action.PROMOTE,
    BulkJob.Action.RETURN: Intervention.Action.RETURN,
}


class NothingToDo(Conflict):
    code = "nothing_to_do"


def plan_job(
    project: Project,
    actor: User,
    *,
    action: str,
    query: Query,
    options: Mapping[str, Any],
    frozen: Mapping[str, Any] | None = None,
) -> BulkPlan:
    """A checked plan. ``frozen`` holds ``upto`` and ``asked_at`` of its preview: items that were
    added or changed since are left alone.

    Raises:
        InvalidInput: a field that cannot be used, by its name.
    """
    matching_items(project, query)  # reads the values of labels
    upto, asked_at = _read_frozen(project, frozen or {})
    return BulkPlan(
        project=project,
        actor=actor,
        action=action,
        query=query,
        options=read_options(project, action, options),
        upto=upto,
        asked_at=asked_at,
    )


COUNTED = "%(number)s %(reason)s"


@transaction.atomic
def start_job(plan: BulkPlan) -> BulkJob:
    """Create the job of a plan; a worker runs it.

    Raises:
        NothingToDo: it would change no item.
        Conflict: the labels are being changed.
    """
    found = preview(plan)
    if not found.changing:
        reasons = [Phrase(COUNTED, number=n, reason=why) for n, why in found.reasons]
        why = Phrase("Of %(total)s items %(reasons)s.", total=found.total, reasons=reasons)
        raise NothingToDo(
            join_sentences(
                Phrase("Nothing would change."), why if reasons else Phrase("No item is found.")
            )
        )
    hold_labels(plan.project)  # last: others wait for the project while it is held
    queued = BulkJob.objects.create(
        project=plan.project,
        actor=plan.actor,
        action=plan.action,
        query=plan.query.to_json(),
        options=dict(plan.options),
        total=found.total,
        upto=plan.upto,
        created_at=plan.asked_at,
    )
    jobs.start_job(KIND, queued.pk)
    record(
        Action.BULK_STARTED, queued, name=str(plan.action), changes={"items": (None, queued.total)}
    )
    return queued


@transaction.atomic
def undo_job(*, job: BulkJob, actor: User) -> BulkJob:
    """Undo a job in the background, where nobody has changed the items since.

    Raises:
        Conflict: the job is at work or undone already, or the labels are being changed.
    """
    hold_labels(job.project)
    now = BulkJob.objects.select_for_update().get(pk=job.pk)
    if now.status not in BulkJob.UNDOABLE:
        raise Conflict(
            Phrase(
                "Bulk job %(pk)s is %(status)s: it cannot be undone now.",
                pk=str(job.pk),
                status=str(now.status),
            )
        )
    # An undo that failed continues after the last item that it reached.
    now.after = now.after if UNDONE_BY in now.counts else 0
    now.counts |= {UNDONE_BY: str(actor.pk)}
    now.status, now.message, now.finished_at = Status.UNDOING, "", None
    now.save()
    jobs.start_job(KIND, now.pk)
    record(Action.BULK_UNDONE, now, name=str(now.action))
    job.refresh_from_db()
    return job


def _read_frozen(project: Project, given: Mapping[str, Any]) -> tuple[int, datetime]:
    """Newest item and time of the preview, no later than now; without a preview those of now."""
    newest, now = newest_item(project), timezone.now()
    raw_upto, raw_time = given.get("upto"), given.get("asked_at")
    if not raw_upto and not raw_time:
        return newest, now
    if not str(raw_upto).isdecimal() or len(str(raw_upto)) > 18:
        raise InvalidInput.at("upto", Phrase("Must be the number that the preview gave."))
    try:
        moment = parse_datetime(str(raw_time))
    except ValueError:
        moment = None
    if moment is None or timezone.is_naive(moment):
        raise InvalidInput.at("asked_at", Phrase("Must be the time that the preview gave."))
    return min(int(str(raw_upto)), newest), min(moment, now)


def fail_job(job_id: int, error: Exception) -> None:
    bulk = BulkJob.objects.get(pk=job_id)
    advice = Phrase("%(number)s items are done, which can be undone.", number=bulk.done)
    bulk.status, bulk.message = Status.FAILED, failure_message(error, advice)
    bulk.finished_at = timezone.now()
    bulk.save(update_fields=["status", "message", "finished_at"])


@job(KIND, fail=fail_job, queue=HEAVY)
def carry_out(run: JobRun) -> None:
    """Run or undo the job; each chunk commits its changes together with its progress."""
    going = BulkJob.objects.filter(pk=run.subject, status__in=BulkJob.UNFINISHED)
    bulk = going.select_related("project", "actor").first()
    if bulk is None:
        return
    if bulk.status == Status.UNDOING:
        _undo(run, bulk)
    else:
        going.update(status=Status.RUNNING)
        _do(run, bulk)


def _do(run: JobRun, job: BulkJob) -> None:
    # Only for a manager of the project.
    if job.actor is None or role_in(job.actor, job.project) != Role.MANAGER:
        raise Forbidden(
            Phrase("The job was stopped: the user who started it is no longer a manager here.")
        )
    plan = BulkPlan(
        project=job.project,
        actor=job.actor,
        action=job.action,
        query=read_query(job.query),
        options=job.options,
        upto=job.upto,
        asked_at=job.created_at,
    )
    size = min(FIRST_CHUNK, CHUNK)
    while ahead := list(
        plan.items().filter(pk__gt=job.after).order_by("pk").values_list("pk", flat=True)[:AHEAD]
    ):
        run.keep()
        while ahead:
            began = time.monotonic()
            with run.chunk():
                _do_chunk(plan, job, ahead[:size])
            ahead, size = ahead[size:], _next_size(size, time.monotonic() - began)
    left = max(0, job.total - job.done - job.passed_over)
    counts = Counter(job.counts) + Counter(gone=left)
    with run.last_chunk():
        _finish(job, Status.DONE, passed_over=job.passed_over + left, counts=dict(counts))
        _log(job, job.actor, job.done)


def _do_chunk(plan: BulkPlan, job: BulkJob, ids: Sequence[int]) -> None:
    states = lock_states(ids)
    outcomes = dict(with_outcomes(plan, plan.among(ids)).values_list("pk", "outcome"))
    counts = Counter(outcomes.get(pk, "gone") for pk in ids)
    changes = apply_action(plan, job, [states[pk] for pk in ids if outcomes.get(pk) == ""])
    BulkChange.objects.bulk_create(changes)
    # Items that changed just before they were locked.
    counts["gone"] += counts.pop("", 0) - len(changes)
    _write(
        job,
        after=ids[-1],
        done=job.done + len(changes),
        passed_over=job.passed_over + counts.total(),
        counts=dict(Counter(job.counts) + counts),
    )


def _next_size(size: int, seconds: float) -> int:
    """The size of the next chunk; pauses to let others write."""
    if connection.vendor == "sqlite":
        time.sleep(PAUSE)
    if seconds > SECONDS:
        return max(1, size // 2)
    return min(CHUNK, size * 2) if seconds < SECONDS / 3 else size


def user_who_undid(job: BulkJob) -> User | None:
    """Who asked to undo ``job``; None if nobody did, or if the account is gone."""
    return User.objects.filter(pk=parse_row_id(job.counts.get(UNDONE_BY, "")) or 0).first()


def _undo(run: JobRun, job: BulkJob) -> None:
    size = min(FIRST_CHUNK, CHUNK)
    while changes := list(
        BulkChange.objects.filter(job=job, item__gt=job.after).order_by("item")[:size]
    ):
        began = time.monotonic()
        with run.chunk():
            states = lock_states([change.item_id for change in changes])
            back = undo_changes(job, changes, states)
            counts = {**job.counts, "undone": job.counts.get("undone", 0) + back}
            counts["kept"] = job.counts.get("kept", 0) + len(changes) - back
            _write(job, after=changes[-1].item_id, counts=counts)
        size = _next_size(size, time.monotonic() - began)
    with run.last_chunk():
        undoer = user_who_undid(job)
        _finish(job, Status.UNDONE)
        _log(job, undoer, job.counts.get("undone", 0), undone=True)


def _write(job: BulkJob, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(job, name, value)
    job.save(update_fields=list(fields))


def _finish(job: BulkJob, status: Status, **fields: Any) -> None:
    _write(job, status=status, message="", finished_at=timezone.now(), **fields)


def _log(job: BulkJob, actor: User | None, items: int, *, undone: bool = False) -> None:
    action = LOGGED.get(BulkJob.Action(job.action))
    if action is None or not items:
        return
    data = {"bulk": job.pk, **job.options} | ({"undone": True} if undone else {})
    Intervention.objects.create(
        project=job.project,
        actor=actor,
        action=action,
        reason=job.options.get("reason", ""),
        items=items,
        data=data,
    )
