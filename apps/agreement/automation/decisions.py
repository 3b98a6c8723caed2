"""What people decided of a sample's items first, blind; whatever they say later changes none of it.

All of it follows from the ledger, which only grows, and from the newest decision of each item as it
was at the drawing (``Guarantee.golds``). So who corrects, takes back or overrules a label that
counts against the debate does not take the error out of the sample.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from apps.agreement.models import Guarantee
from apps.labels.models import Gold, Kind, Label
from apps.labels.selectors import VERIFIED
from apps.projects.models import Project
from labelhub.core.schema import value_key

#: What shows that a person saw the suggestion.
LED = Q(proposed_from__isnull=False) | Q(
    action__in=(Label.Action.ACCEPTED, Label.Action.FIXED, Label.Action.REJECTED)
)


@dataclass(frozen=True, slots=True)
class Decisions:
    """First blind decisions by item, as compared; ``led``: items labelled beside the suggestion
    before anybody had spoken blind."""

    truths: Mapping[int, str]
    led: frozenset[int]


def newest_golds(item_ids: Iterable[int]) -> dict[str, int]:
    """The newest decision of each item that has any, by the item's id as JSON keeps it."""
    rows = Gold.objects.filter(item__in=item_ids, superseded_by__isnull=True).order_by()
    return {str(item): pk for item, pk in rows.values_list("item_id", "pk")}


def first_decisions(guarantee: Guarantee) -> Decisions:
    """What was known of each item at the drawing, else what people first decided since; where one
    was then labelled beside the suggestion before it was decided, the first blind label."""
    led = _first_led(guarantee.sample)
    golds = _first_golds(guarantee)
    known_at_draw = set(guarantee.golds.values())
    truths = {
        item: _key(gold.value)
        for item, gold in golds.items()
        if item not in led or gold.pk in known_at_draw or _before(gold, led[item])
    }
    spoken = _first_blind(guarantee, {item: row.pk for item, row in led.items()})
    truths = spoken | truths
    return Decisions(truths, frozenset(led) - truths.keys())


def led_items(project: Project, item_ids: Collection[int] | None = None) -> frozenset[int]:
    """Items that a person has labelled beside the suggestion, also if they have said anew since.

    Args:
        project: whose.
        item_ids: among these only.
    """
    labels = Label.objects.by_people().filter(LED, item__project=project)
    if item_ids is not None:
        labels = labels.filter(item__in=item_ids)
    return frozenset(labels.order_by().values_list("item_id", flat=True))


def _first_golds(guarantee: Guarantee) -> dict[int, Gold]:
    """The first decision by people from that of the drawing on."""
    found: dict[int, Gold] = {}
    rows = Gold.objects.filter(
        item__in=guarantee.sample, basis__in=VERIFIED, withdrawn=False, value__isnull=False
    ).exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL))
    for gold in rows.order_by("pk"):
        if gold.pk >= guarantee.golds.get(str(gold.item_id), 0):
            found.setdefault(gold.item_id, gold)
    return found


def _first_led(item_ids: Collection[int]) -> dict[int, Label]:
    found: dict[int, Label] = {}
    for label in Label.objects.by_people().filter(LED, item__in=item_ids).order_by("pk"):
        found.setdefault(label.item_id, label)
    return found


def _first_blind(guarantee: Guarantee, before: Mapping[int, int]) -> dict[int, str]:
    """What was said first of these items since the drawing, before the label named with each."""
    found: dict[int, str] = {}
    labels = Label.objects.by_people().filter(
        item__in=list(before), value__isnull=False, created_at__gte=guarantee.drawn_at
    )
    blind = labels.exclude(LED).exclude(action=Label.Action.IMPORTED).order_by("pk")
    for item, pk, value in blind.values_list("item_id", "pk", "value"):
        if pk < before[item]:
            found.setdefault(item, _key(value))
    return found


def _before(gold: Gold, led: Label) -> bool:
    return gold.created_at < led.created_at and str(led.uid) not in gold.evidence


def _key(value: Any) -> str:
    return value_key(value)
