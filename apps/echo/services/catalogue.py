"""A site's catalogue: imports, and the index that finds offers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from apps.authors.selectors.sites import FRESH
from apps.echo.models import CatalogueItem, Echo
from labelhub.core.echo.recommending.catalogue import read_catalogue, unused_attributes
from labelhub.core.echo.recommending.item_index import ItemIndex
from labelhub.core.echo.recommending.items import read_item
from labelhub.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _CachedIndex:
    index: ItemIndex
    stamp: tuple[datetime | None, int]
    looked_at: float


_cached: dict[int, _CachedIndex] = {}


def index_of(echo: Echo) -> ItemIndex:
    """The index of a site's active items, cached for up to ``FRESH`` seconds."""
    now = time.monotonic()
    kept = _cached.get(echo.pk)
    if kept is not None and now - kept.looked_at < FRESH:
        return kept.index
    newest = echo.items.aggregate(at=Max("changed_at"), count=Count("pk", filter=Q(active=True)))
    stamp = newest["at"], newest["count"]
    if kept is None or kept.stamp != stamp:
        rows = CatalogueItem.objects.filter(echo=echo, active=True).order_by("pk")
        index = ItemIndex([read_item(row.definition) for row in rows.iterator()])
    else:
        index = kept.index
    if len(_cached) > 50:
        _cached.clear()
    _cached[echo.pk] = _CachedIndex(index, stamp, now)
    return index


def forget_index(echo_id: int) -> None:
    """Drop the cached index of a site."""
    _cached.pop(echo_id, None)


#: Items per write, and the maximum number of reported faults (or of unused names).
AT_ONCE, MOST_TOLD = 500, 100


def import_catalogue(
    echo: Echo, data: bytes | str, *, replace: bool = False, strict: bool = False
) -> dict[str, Any]:
    """Import a CSV or JSON file of items: store valid rows, and report the faults of invalid ones.

    Features that the site does not ask about are stored and reported: the site may add them later.

    Args:
        echo: Echo of the site.
        data: the file.
        replace: stop offering items that are not in the file.
        strict: import nothing if any row has a fault.

    Returns:
        {"created", "changed", "unchanged", "retired", "errors": [{"row", "field", "message"}],
        "unused": [{"feature", "value", "rows"}], "ignored": [columns]}.

    Raises:
        InvalidInput: the file is not a table of items, or no row is valid; with ``strict``, any row
            has a fault.
    """
    read = read_catalogue(data)
    faults = read.faults
    if not read.items or (strict and faults):
        raise _refusal(faults, none=not read.items)
    counts = _store(echo, {item.id: item.to_json() for item in read.items}, replace=replace)
    forget_index(echo.pk)
    features = {row.key: row.parsed.values for row in echo.site.features.asked()}
    problems = {
        "errors": list(faults[:MOST_TOLD]),
        "unused": [
            {"feature": key, "value": value, "rows": rows}
            for key, value, rows in unused_attributes(read.items, features)[:MOST_TOLD]
        ],
    }
    return {**counts, **problems, "ignored": list(read.ignored[:MOST_TOLD])}


def set_active(item: CatalogueItem, *, active: bool) -> None:
    """Start or stop offering an item; past offers stay."""
    if item.active != active:
        item.active, item.changed_at = active, timezone.now()
        item.save(update_fields=["active", "changed_at"])
        forget_index(item.echo_id)


def _refusal(faults: Sequence[dict[str, Any]], *, none: bool) -> InvalidInput:
    fault = faults[0] if faults else {"row": 0, "field": "", "message": "there are no rows."}
    where = f"row {fault['row']}, {fault['field']}" if fault["field"] else f"row {fault['row']}"
    words = "No row is valid" if none else "Nothing was imported"
    return InvalidInput(
        f"{words}; {where}: {fault['message']}", data={"errors": list(faults[:MOST_TOLD])}
    )


@transaction.atomic
def _store(echo: Echo, definitions: dict[str, dict[str, Any]], *, replace: bool) -> dict[str, int]:
    # One import per site at a time: two would create the same items.
    Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    known = {row.ref: row for row in echo.items.all()}
    now = timezone.now()
    new = [
        CatalogueItem(echo=echo, ref=ref, definition=definition, changed_at=now)
        for ref, definition in definitions.items()
        if ref not in known
    ]
    changed = []
    for ref, definition in definitions.items():
        row = known.get(ref)
        if row is not None and (row.definition != definition or not row.active):
            row.definition, row.active, row.changed_at = definition, True, now
            changed.append(row)
    gone = [row for ref, row in known.items() if replace and ref not in definitions and row.active]
    for row in gone:
        row.active, row.changed_at = False, now
    CatalogueItem.objects.bulk_create(new, batch_size=AT_ONCE)
    fields = ["definition", "active", "changed_at"]
    CatalogueItem.objects.bulk_update([*changed, *gone], fields, batch_size=AT_ONCE)
    return {
        "created": len(new),
        "changed": len(changed),
        "unchanged": len(definitions) - len(new) - len(changed),
        "retired": len(gone),
    }
