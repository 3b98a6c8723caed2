"""Items that a file of labels brought by their id only, and that wait for their texts."""

from collections.abc import Iterable

from django.db.models import F, Q
from django.utils import timezone

from apps.exchange.rows import bare_hash
from apps.labels.models import ItemState
from apps.projects.models import Item, Project


def is_placeholder(item: Item) -> bool:
    """Whether nothing but its id is known of the item, and no import of items brought it."""
    return item.batch_id is None and item.content_hash == bare_hash(item.external_id)


def has_texts(project: Project) -> bool:
    """Whether any item of the project is more than its id."""
    return project.items.exclude(batch=None, text=F("external_id")).exists()


def untouched(items: Iterable[Item]) -> set[int]:
    """The keys of those that nobody judged by their id here: no debate, no reviewer.

    They stay locked for the rest of the transaction, so that nobody begins to meanwhile; their
    states first, in the order in which the ledger locks them.
    """
    ids = sorted(item.pk for item in items)
    if not ids:
        return set()
    list(ItemState.objects.select_for_update().filter(item__in=ids).order_by("item_id"))
    list(Item.objects.select_for_update().filter(pk__in=ids).order_by("pk").only("pk"))
    judged = (
        Q(debates__isnull=False)
        | Q(decisions__label__isnull=False)
        | Q(slots__lease_until__gt=timezone.now())
    )
    return set(ids).difference(Item.objects.filter(judged, pk__in=ids).values_list("pk", flat=True))
