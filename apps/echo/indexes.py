"""The catalogue as offers are looked up in it: built once in a process, anew when it changes."""

import time
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from apps.authors.selectors.sites import FRESH
from apps.echo.models import CatalogueItem, Echo
from labelhub.core.echo.recommending.item_index import ItemIndex
from labelhub.core.echo.recommending.items import read_item


@dataclass(frozen=True, slots=True)
class _Kept:
    index: ItemIndex
    stamp: tuple[datetime | None, int]
    looked_at: float


_kept: dict[int, _Kept] = {}


def index_of(echo: Echo) -> ItemIndex:
    """The items that are offered at a site, as old as what a process believes of it may be."""
    now = time.monotonic()
    kept = _kept.get(echo.pk)
    if kept is not None and now - kept.looked_at < FRESH:
        return kept.index
    stamp = _stamp(echo)
    if kept is None or kept.stamp != stamp:
        rows = CatalogueItem.objects.filter(echo=echo, active=True).order_by("pk")
        index = ItemIndex([read_item(row.definition) for row in rows.iterator()])
    else:
        index = kept.index
    if len(_kept) > 50:
        _kept.clear()
    _kept[echo.pk] = _Kept(index, stamp, now)
    return index


def forget_index(echo_id: int) -> None:
    """Look at that catalogue anew the next time."""
    _kept.pop(echo_id, None)


def _stamp(echo: Echo) -> tuple[datetime | None, int]:
    """What differs once anything of the catalogue does."""
    told = echo.items.aggregate(at=Max("changed_at"), count=Count("pk", filter=Q(active=True)))
    return told["at"], told["count"]
