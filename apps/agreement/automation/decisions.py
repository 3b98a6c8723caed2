"""The first blind decisions of people on a sample's items and on audits; later ones do not count.

The truth of an item is its author's answer, given here or imported, else the project's decision:
the answer of more than half of its annotators, imported labels included, else that of the last
expert. If an expert found the item unclear, no answer of a debate is right.

All of it follows from the append-only ledger and the newest decision of each item at the drawing
(``Guarantee.golds``). So correcting, withdrawing or overruling a label that counts against the
debate does not remove the error from the sample.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.agreement.models import Guarantee
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import MACHINES, VIEW_UNKNOWN, Gold, ItemState, Kind, Label
from apps.labels.selectors import VERIFIED
from apps.projects.changes import Translator
from apps.projects.models import LabelSchema, Project
from labelhub.core.schema import value_key

#: Answers of people who saw the suggestion or may have seen it: with it in view, or after rejecting
#: it. A mere rejection is no answer: it influences nobody else and removes no item from a sample.
LED = Q(rejected=False, withdrawn=False) & (
    Q(shown__isnull=False)
    | Q(provenance__has_key=VIEW_UNKNOWN)
    | Q(action__in=(Label.Action.ACCEPTED, Label.Action.FIXED, Label.Action.REJECTED))
    | Q(supersedes__rejected=True)
)

#: The truth of an unclear item, as values are compared: unlike every answer.
NONE_IS_RIGHT = "null"


@dataclass(frozen=True, slots=True)
class Decisions:
    """First blind decisions by item, as compared; ``led``: items labelled beside the suggestion
    before any blind answer."""

    truths: Mapping[int, str]
    led: frozenset[int]


def newest_golds(item_ids: Iterable[int]) -> dict[str, int]:
    """The newest decision of each item that has any, by the item's id as JSON keeps it."""
    rows = Gold.objects.filter(item__in=item_ids, superseded_by__isnull=True).order_by()
    return {str(item): pk for item, pk in rows.values_list("item_id", "pk")}


def author_labels_before(project: Project, since: datetime) -> QuerySet[Label]:
    """The authors' labels of their items before ``since``, imported ones too, the oldest first.
    Advisory labels (too late, or by an untrusted author) do not count."""
    labels = Label.objects.filter(
        item__project=project,
        annotator__kind=Kind.AUTHOR,
        withdrawn=False,
        value__isnull=False,
        created_at__lt=since,
    ).exclude(role=Label.Role.ADVISORY)
    # A later revision does not remove the error.
    return labels.exclude(superseded_by__created_at__lt=since).order_by("pk")


def first_decisions(guarantee: Guarantee) -> Decisions:
    """The author's answer to each item before the drawing, else its gold then, else people's first
    decision since. If it was labelled beside the suggestion before that decision, the first blind
    label counts instead."""
    golds: dict[int, Gold] = {}
    for gold in _golds_of_people(guarantee.sample):
        if gold.pk >= guarantee.golds.get(str(gold.item_id), 0):
            golds.setdefault(gold.item_id, gold)
    led = _first_led(guarantee.sample)
    rows = _blind_decisions(golds, led, guarantee.drawn_at, frozenset(guarantee.golds.values()))
    rows |= _first_unclear(guarantee.sample, rows, led, guarantee.drawn_at)
    rows |= _by_authors(guarantee, guarantee.sample, guarantee.drawn_at)
    truths = _truths(guarantee, rows)
    return Decisions(truths, frozenset(led) - truths.keys())


def audit_decisions(guarantee: Guarantee) -> dict[int, str]:
    """The first decision on each audited item that somebody has answered since the promise was
    switched on, in order; without items of the sample and items that a person had labelled
    before."""
    since = guarantee.switched_on_at or timezone.now()
    answered = _audits_answered(guarantee, since)
    golds: dict[int, Gold] = {}
    # Of decisions before, only the last one was valid.
    for gold in _golds_of_people(answered).exclude(superseded_by__created_at__lt=since):
        golds.setdefault(gold.item_id, gold)
    led = _first_led(answered)
    rows = _blind_decisions(golds, led, since)
    rows |= _first_unclear(answered, rows, led, since)
    rows |= _by_authors(guarantee, answered, since)
    order = sorted(rows, key=lambda item: (max(rows[item].created_at, answered[item]), item))
    return _truths(guarantee, {item: rows[item] for item in order})


def _by_authors(guarantee: Guarantee, items: Iterable[int], since: datetime) -> dict[int, Label]:
    """Item → the author's first label before ``since``."""
    found: dict[int, Label] = {}
    for label in author_labels_before(guarantee.project, since).filter(item__in=list(items)):
        found.setdefault(label.item_id, label)
    return found


def _audits_answered(guarantee: Guarantee, since: datetime) -> dict[int, datetime]:
    """Audited item → the time of its first answer by a person."""
    here = Label.objects.by_people().filter(rejected=False)
    here = here.exclude(action=Label.Action.IMPORTED)
    answers = here.filter(item__project=guarantee.project_id, created_at__gte=since)
    before = here.filter(item=OuterRef("item"), created_at__lt=since)
    audited = ItemState.objects.filter(item=OuterRef("item"), reasons=ONLY_AUDITED)
    first = answers.filter(Exists(audited), ~Exists(before)).order_by().values("item")
    drawn = frozenset(guarantee.sample)
    moments = first.annotate(at=Min("created_at")).values_list("item", "at")
    return {item: moment for item, moment in moments if item not in drawn}


def led_items(project: Project, item_ids: Collection[int] | None = None) -> frozenset[int]:
    """Items that a person has labelled beside the suggestion, also if that label was revised.

    Args:
        project: the project of the items.
        item_ids: only these items.
    """
    labels = Label.objects.by_people().filter(LED, item__project=project)
    if item_ids is not None:
        labels = labels.filter(item__in=item_ids)
    return frozenset(labels.order_by().values_list("item_id", flat=True))


def _blind_decisions(
    golds: Mapping[int, Gold],
    led: Mapping[int, Label],
    since: datetime,
    known: Collection[int] = (),
) -> dict[int, Gold | Label]:
    """The decision on each item; on an item labelled beside the suggestion, the blind label before.

    Args:
        golds: first decisions by item.
        led: the first label beside the suggestion, of those items that have any.
        since: earlier labels do not count.
        known: ids of earlier decisions, which no suggestion can have influenced.
    """
    blind = {
        item: gold
        for item, gold in golds.items()
        if item not in led
        or gold.pk in known
        or (gold.created_at < led[item].created_at and str(led[item].uid) not in gold.evidence)
    }
    return {**_first_blind(since, {item: row.pk for item, row in led.items()}), **blind}


def _first_unclear(
    items: Iterable[int],
    rows: Mapping[int, Gold | Label],
    led: Mapping[int, Label],
    since: datetime,
) -> dict[int, Label]:
    """The first label by which an expert marked an item as unclear, if it came before any decision
    (``rows``) and any label beside the suggestion (``led``)."""
    found: dict[int, Label] = {}
    labels = Label.objects.by_people().filter(item__in=list(items), role=Label.Role.UNCLEAR)
    for label in labels.exclude(superseded_by__created_at__lt=since).order_by("pk"):
        found.setdefault(label.item_id, label)
    return {
        item: label
        for item, label in found.items()
        if (item not in rows or label.created_at < rows[item].created_at)
        and (item not in led or label.pk < led[item].pk)
    }


def _golds_of_people(items: Iterable[int]) -> QuerySet[Gold]:
    """People's decisions of these items, the oldest first."""
    rows = Gold.objects.filter(
        item__in=list(items), basis__in=VERIFIED, withdrawn=False, value__isnull=False
    ).exclude(decided_by__kind__in=MACHINES)
    return rows.order_by("pk")


def _first_led(items: Iterable[int]) -> dict[int, Label]:
    found: dict[int, Label] = {}
    for label in Label.objects.by_people().filter(LED, item__in=list(items)).order_by("pk"):
        found.setdefault(label.item_id, label)
    return found


def _first_blind(since: datetime, before: Mapping[int, int]) -> dict[int, Label]:
    """The first blind label of each item since then and before the label in ``before``, without
    labels that crowd workers gave unasked."""
    found: dict[int, Label] = {}
    labels = Label.objects.by_people().filter(
        item__in=list(before), value__isnull=False, created_at__gte=since
    )
    asked = labels.exclude(annotator__kind=Kind.CROWD, role=Label.Role.EXTRA)
    for label in asked.exclude(LED).exclude(action=Label.Action.IMPORTED).order_by("pk"):
        if label.pk < before[label.item_id]:
            found.setdefault(label.item_id, label)
    return found


def _truths(guarantee: Guarantee, rows: Mapping[int, Gold | Label]) -> dict[int, str]:
    """The values under their current names, without values that have no current label.
    Labels changed since the drawing are only renamed, or the promise would be over."""
    versions = dict(
        LabelSchema.objects.filter(project=guarantee.project_id).values_list("pk", "version")
    )
    translator = Translator.of(guarantee.project_id) if len(versions) > 1 else None
    truths = {}
    for item, row in rows.items():
        if row.value is None:
            truths[item] = NONE_IS_RIGHT
            continue
        value: Any = row.value
        value = translator.value(versions[row.schema_id], value) if translator else value
        if value is not None:
            truths[item] = value_key(value)
    return truths
