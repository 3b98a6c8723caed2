"""Carrying the labels of a project over: chunk by chunk, resumable, by one worker at a time."""

from collections import Counter
from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from apps.common.bulk import refresh_statistics
from apps.common.jobs import JobRun, job, start_job, work_on
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import Carried, carry_over
from apps.projects.models import LabelSchema, SchemaChange
from apps.reviews.models import BulkChange, Decision, Slot

CHUNK = 1000
#: From here on the database plans its queries anew.
MANY_ROWS = 1000
Status = SchemaChange.Status


KIND = "reviews.change_labels"


def run_change(change_id: int) -> SchemaChange:
    """Bring a change that has begun to its end, from the item it had reached; see
    :func:`apps.common.jobs.work_on`."""
    work_on(KIND, change_id)
    return SchemaChange.objects.get(pk=change_id)


def fail_change(change_id: int, error: Exception) -> None:
    """Say how it failed."""
    change = SchemaChange.objects.get(pk=change_id)
    change.message = (
        f"Stopped after {change.items_done:,} items by a fault of the server "
        f"({type(error).__name__}). What is done stays; go on to do the rest."
    )
    change.status = Status.FAILED
    change.save(update_fields=["message", "status"])


@job(KIND, fail=fail_change)
def carry_labels(run: JobRun) -> None:
    """Each chunk commits its rows together with the cursor: an abort loses and doubles nothing."""
    going = SchemaChange.objects.filter(pk=run.subject, status=Status.RUNNING)
    change = going.select_related(
        "project", "from_schema", "to_schema", "reverts__from_schema"
    ).first()
    if change is None:
        return
    while ids := _next_items(change):
        with run.chunk():
            carried = carry_items(change, ids)
            change.cursor, change.items_done = ids[-1], change.items_done + len(ids)
            change.counts = _added(change.counts, carried.counts)
            change.save(update_fields=["cursor", "items_done", "counts"])
    with run.last_chunk():
        _finish(change)
    if change.items_done >= MANY_ROWS:
        refresh_statistics(Label, Gold, ItemState)


def resume_change(change: SchemaChange) -> bool:
    """Let a change go on that a fault had stopped; False where it had not."""
    stopped = SchemaChange.objects.filter(pk=change.pk, status=Status.FAILED)
    with transaction.atomic():
        if not stopped.update(status=Status.RUNNING, message=""):
            return False
        start_job(KIND, change.pk)
    return True


def carry_items(change: SchemaChange, item_ids: list[int]) -> Carried:
    """Carry these items over, and let what points at their labels follow; in one transaction."""
    with transaction.atomic():
        carried = carry_over(change, item_ids)
        _follow(carried.moved)
    return carried


def _next_items(change: SchemaChange) -> list[int]:
    states = ItemState.objects.filter(project=change.project_id, item_id__gt=change.cursor)
    return list(states.order_by("item_id").values_list("item_id", flat=True)[:CHUNK])


def _added(before: Mapping[str, int], more: Counter[str]) -> dict[str, int]:
    return dict(sorted((Counter(before) + more).items()))


def _finish(change: SchemaChange) -> None:
    """What somebody wrote under the old version, having read it before the change began, comes
    last."""
    late = Label.objects.current().filter(
        item__project=change.project_id,
        created_at__gte=change.started_at or change.created_at,
        schema__version__lte=change.from_schema.version,
    )
    items = sorted(set(late.order_by().values_list("item_id", flat=True)))
    change.counts = _added(change.counts, carry_items(change, items).counts)
    change.status, change.finished_at = Status.DONE, timezone.now()
    change.items_total = change.items_done
    change.save(update_fields=["counts", "status", "finished_at", "items_total"])
    LabelSchema.objects.filter(change=change).update(carrying=False)


def _follow(moved: Mapping[int, int]) -> None:
    """What a reviewer did with an item is tied to the row that says it now: undo, revisions and
    repeated answers find it there."""
    if not moved:
        return
    for model, name in (
        (Slot, "label"), (Decision, "label"), (Decision, "suggestion"), (BulkChange, "label"),
    ):  # fmt: skip
        rows = list(model.objects.filter(**{f"{name}__in": list(moved)}))
        for row in rows:
            setattr(row, f"{name}_id", moved[getattr(row, f"{name}_id")])
        model.objects.bulk_update(rows, [name], batch_size=200)
