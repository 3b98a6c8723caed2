"""A site's catalogue: imports, and the index that finds offers."""

import time
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from apps.authors.selectors.sites import FRESH
from apps.common.audit import Action, record
from apps.echo.models import CatalogueItem, Echo
from labelhub.core.echo.recommending.catalogue import read_catalogue, read_item
from labelhub.core.echo.recommending.matching import ItemIndex, unused_attributes
from labelhub.core.errors import InvalidInput

#: By site: the index, what it was made of, and when that was last checked (monotonic seconds).
_cached: dict[int, tuple[ItemIndex, tuple[datetime | None, int], float]] = {}


def index_of(echo: Echo) -> ItemIndex:
    """The index of a site's active items, cached for up to ``FRESH`` seconds."""
    now = time.monotonic()
    index, stamp, checked_at = _cached.get(echo.pk, (None, None, 0.0))
    if index is not None and now - checked_at < FRESH:
        return index
    newest = echo.items.aggregate(at=Max("changed_at"), count=Count("pk", filter=Q(active=True)))
    found = newest["at"], newest["count"]
    if index is None or stamp != found:
        rows = CatalogueItem.objects.filter(echo=echo, active=True).order_by("pk")
        index = ItemIndex(read_item(row.definition) for row in rows.iterator())
    if len(_cached) > 50:
        _cached.clear()
    _cached[echo.pk] = index, found, now
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
    faults = list(read.faults[:MOST_TOLD])
    if not read.items or (strict and faults):
        fault = faults[0] if faults else {"row": 0, "field": "", "message": "there are no rows."}
        where = f"row {fault['row']}, {fault['field']}" if fault["field"] else f"row {fault['row']}"
        words = "Nothing was imported" if read.items else "No row is valid"
        raise InvalidInput(f"{words}; {where}: {fault['message']}", data={"errors": faults})
    counts = _store(echo, {item.id: item.to_json() for item in read.items}, replace=replace)
    forget_index(echo.pk)
    features = {row.key: row.parsed.values for row in echo.site.features.asked()}
    unused = unused_attributes(read.items, features)[:MOST_TOLD]
    return {
        **counts,
        "errors": faults,
        "unused": [{"feature": key, "value": value, "rows": n} for key, value, n in unused],
        "ignored": list(read.ignored[:MOST_TOLD]),
    }


def set_active(item: CatalogueItem, *, active: bool) -> None:
    """Start or stop offering an item; past offers stay."""
    if item.active != active:
        item.active, item.changed_at = active, timezone.now()
        with transaction.atomic():
            item.save(update_fields=["active", "changed_at"])
            changes = {"active": (not active, active)}
            site = item.echo.site
            record(Action.CATALOGUE_CHANGED, site, name=item.ref[:100], changes=changes)
        forget_index(item.echo_id)


@transaction.atomic
def _store(echo: Echo, definitions: dict[str, dict[str, Any]], *, replace: bool) -> dict[str, int]:
    # One import per site at a time: two would create the same items.
    Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    known = {row.ref: row for row in echo.items.all()}
    now = timezone.now()
    written = [
        CatalogueItem(echo=echo, ref=ref, definition=definition, changed_at=now)
        for ref, definition in definitions.items()
        if ref not in known or known[ref].definition != definition or not known[ref].active
    ]
    retired = [
        CatalogueItem(echo=echo, ref=ref, definition=row.definition, active=False, changed_at=now)
        for ref, row in known.items()
        if replace and row.active and ref not in definitions
    ]
    CatalogueItem.objects.bulk_create(
        [*written, *retired],
        batch_size=AT_ONCE,
        update_conflicts=True,
        unique_fields=["echo", "ref"],
        update_fields=["definition", "active", "changed_at"],
    )
    created = len(definitions.keys() - known.keys())
    counts = {"changed": (None, len(written)), "retired": (None, len(retired))}
    record(Action.CATALOGUE_CHANGED, echo.site, changes=counts)
    return {
        "created": created,
        "changed": len(written) - created,
        "unchanged": len(definitions) - len(written),
        "retired": len(retired),
    }
