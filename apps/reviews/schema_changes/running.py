"""Carrying the labels of a project over: chunk by chunk, resumable, by one worker at a time."""

import logging
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.common.bulk import refresh_statistics
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import Carried, carry_over
from apps.projects.models import LabelSchema, SchemaChange
from apps.reviews.models import BulkChange, Decision, Slot
from labelhub.core.errors import LabelhubError

logger = logging.getLogger(__name__)

CHUNK = 1000
LEASE = timedelta(seconds=60)
#: After a database error the change is free again for the next worker that looks.
RETRY_AFTER = timedelta(seconds=10)
#: From here on the database plans its queries anew.
MANY_ROWS = 1000
Status = SchemaChange.Status


class LeaseLost(LabelhubError):
    """Another worker has this change now; what this one held is rolled back."""

    code = "lease_lost"


def unfinished_changes() -> list[int]:
    """Ids of changes that have begun and that no living worker holds."""
    free = SchemaChange.objects.filter(_free(), status=Status.RUNNING)
    return list(free.order_by("pk").values_list("pk", flat=True))


def run_change(change_id: int) -> SchemaChange:
    """Bring a change that has begun to its end, from the item it had reached.

    Safe to call twice: one that another worker holds, or that is over, is left alone. Each chunk
    commits its rows together with the cursor, so an abort at any point loses and doubles nothing.
    """
    change = _claim(change_id)
    if change is None:
        return SchemaChange.objects.get(pk=change_id)
    try:
        while ids := _next_items(change):
            _commit_chunk(change, ids)
        _finish(change)
    except LeaseLost:
        logger.warning("schema change %s was taken over by another worker", change_id)
    except DatabaseError:
        _held(change).update(lease_until=timezone.now() + RETRY_AFTER)
        raise
    except Exception as error:
        logger.exception("schema change %s stopped", change_id)
        message = (
            f"Stopped after {change.items_done:,} items by a fault of the server "
            f"({type(error).__name__}). What is done stays; go on to do the rest."
        )
        _held(change).update(status=Status.FAILED, message=message, lease_until=None)
    return SchemaChange.objects.get(pk=change_id)


def resume_change(change: SchemaChange) -> bool:
    """Let a change go on that a fault had stopped; False where it had not."""
    stopped = SchemaChange.objects.filter(pk=change.pk, status=Status.FAILED)
    return bool(stopped.update(status=Status.RUNNING, message="", lease_until=None))


def carry_items(change: SchemaChange, item_ids: list[int]) -> Carried:
    """Carry these items over, and let what points at their labels follow; in one transaction."""
    with transaction.atomic():
        carried = carry_over(change, item_ids)
        _follow(carried.moved)
    return carried


def _free() -> Q:
    return Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())


def _claim(change_id: int) -> SchemaChange | None:
    """One conditional update: exclusive on every database."""
    free = SchemaChange.objects.filter(_free(), status=Status.RUNNING, pk=change_id)
    if not free.update(lease_until=timezone.now() + LEASE):
        return None
    rows = SchemaChange.objects.select_related(
        "project", "from_schema", "to_schema", "reverts__from_schema"
    )
    return rows.get(pk=change_id)


def _held(change: SchemaChange) -> "QuerySet[SchemaChange]":
    """The change's row, provided that the lease is still ours."""
    return SchemaChange.objects.filter(
        pk=change.pk, lease_until=change.lease_until, status=Status.RUNNING
    )


def _next_items(change: SchemaChange) -> list[int]:
    states = ItemState.objects.filter(project=change.project_id, item_id__gt=change.cursor)
    return list(states.order_by("item_id").values_list("item_id", flat=True)[:CHUNK])


def _commit_chunk(change: SchemaChange, ids: list[int]) -> None:
    until = timezone.now() + LEASE
    with transaction.atomic():
        carried = carry_items(change, ids)
        after = {
            "cursor": ids[-1],
            "items_done": change.items_done + len(ids),
            "counts": _added(change.counts, carried.counts),
            "lease_until": until,
        }
        if not _held(change).update(**after):
            raise LeaseLost(f"Schema change {change.pk} is held by another worker.")
    for name, value in after.items():
        setattr(change, name, value)


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
    with transaction.atomic():
        items = sorted(set(late.order_by().values_list("item_id", flat=True)))
        carried = carry_items(change, items)
        ended = _held(change).update(
            status=Status.DONE,
            counts=_added(change.counts, carried.counts),
            items_total=change.items_done,
            lease_until=None,
            finished_at=timezone.now(),
        )
        if not ended:
            raise LeaseLost(f"Schema change {change.pk} is held by another worker.")
        LabelSchema.objects.filter(change=change).update(carrying=False)
    if change.items_done >= MANY_ROWS:
        refresh_statistics(Label, Gold, ItemState)


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
