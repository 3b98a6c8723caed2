"""Asking for a bulk job, and for its undoing; a worker does either."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.accounts.models import User
from apps.common import jobs
from apps.projects.models import Project
from apps.projects.services import hold_labels
from apps.reviews.models import BulkJob
from apps.reviews.selectors.bulk import BulkPlan, newest_item, preview
from apps.reviews.selectors.searching import Query, matching, read_query
from apps.reviews.services.bulk.options import read_options
from labelhub.core.errors import Conflict, InvalidInput

Status = BulkJob.Status
KIND = "reviews.bulk"
UNDOABLE = (Status.DONE, Status.FAILED)
#: Among the counts: who asked for the undoing.
UNDONE_BY = "undone_by"


class NothingToDo(Conflict):
    """No item would change; the message says why."""

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
    """A plan, checked. ``frozen`` holds ``upto`` and ``asked_at`` of a preview of it: what has come
    or was changed since is left alone.

    Raises:
        InvalidInput: a field that cannot be used, by its name.
    """
    matching(project, query)  # reads the values of labels
    upto, asked_at = _frozen(project, frozen or {})
    return BulkPlan(
        project=project,
        actor=actor,
        action=action,
        query=query,
        options=read_options(project, action, options),
        upto=upto,
        asked_at=asked_at,
    )


def plan_of(job: BulkJob, actor: User) -> BulkPlan:
    """The plan that a job was made of; ``actor`` asked for it."""
    return BulkPlan(
        project=job.project,
        actor=actor,
        action=job.action,
        query=read_query(job.query),
        options=job.options,
        upto=job.upto,
        asked_at=job.created_at,
    )


@transaction.atomic
def start_job(plan: BulkPlan) -> BulkJob:
    """Queue a plan; a worker carries it out.

    Raises:
        NothingToDo: it would change no item.
        Conflict: the labels are being changed.
    """
    found = preview(plan)
    if not found.changing:
        reasons = "; ".join(f"{count:,} {words}" for count, words in found.told)
        why = f" Of {found.total:,} items {reasons}." if reasons else " No item is found."
        raise NothingToDo(f"Nothing would change.{why}")
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
    return queued


@transaction.atomic
def undo_job(*, job: BulkJob, actor: User) -> BulkJob:
    """Queue the taking back of all that a job did and that nobody has changed since.

    Raises:
        Conflict: it is still at work, or was undone already; the labels are being changed.
    """
    hold_labels(job.project)
    now = BulkJob.objects.select_for_update().get(pk=job.pk)
    if now.status not in UNDOABLE:
        state = now.get_status_display().lower()
        raise Conflict(f"Bulk job {job.pk} is {state}: it cannot be undone now.")
    # An undoing that a fault had stopped goes on behind what it took back.
    now.after = now.after if UNDONE_BY in now.counts else 0
    now.counts |= {UNDONE_BY: actor.username}
    now.status, now.message, now.finished_at = Status.UNDOING, "", None
    now.save()
    jobs.start_job(KIND, now.pk)
    job.refresh_from_db()
    return job


def _frozen(project: Project, given: Mapping[str, Any]) -> tuple[int, datetime]:
    """What a preview held fast; nothing of the future, and without a preview what there is now."""
    newest, now = newest_item(project), timezone.now()
    raw_upto, raw_time = given.get("upto"), given.get("asked_at")
    if not raw_upto and not raw_time:
        return newest, now
    if not str(raw_upto).isdecimal() or len(str(raw_upto)) > 18:
        raise InvalidInput.at("upto", "Must be the number that the preview gave.")
    try:
        moment = parse_datetime(str(raw_time))
    except ValueError:
        moment = None
    if moment is None or timezone.is_naive(moment):
        raise InvalidInput.at("asked_at", "Must be the time that the preview gave.")
    return min(int(str(raw_upto)), newest), min(moment, now)
