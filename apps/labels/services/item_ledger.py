"""What the ledger says of an item now: its current labels, and the newest decision."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from apps.common.prepared import prepared
from apps.labels.models import MACHINES, PEOPLE, Gold, Kind, Label


@dataclass(slots=True)
class ItemLedger:
    """What the ledger says of one item: its current labels, oldest first, and its newest decision
    (a withdrawn one too: the next must supersede it, there is one chain per item). ``rejections``
    of those who only said that the suggestion is wrong count for nothing; the item stays open."""

    labels: list[Label] = field(default_factory=list)
    gold: Gold | None = None
    rejections: list[Label] = field(default_factory=list)

    def append(self, row: Label) -> None:
        """What the ledger says with ``row`` in it, which may supersede another one."""
        self.labels = [label for label in self.labels if label.pk != row.supersedes_id]
        self.rejections = [label for label in self.rejections if label.pk != row.supersedes_id]
        if not row.withdrawn:
            (self.rejections if row.rejected else self.labels).append(row)

    @property
    def by_people(self) -> list[Label]:
        """What crowd and experts say; who changed from one to the other counts once, as of late."""
        labels = [label for label in self.labels if label.annotator.kind in PEOPLE]
        newest = {label.annotator.user_id or -label.annotator_id: label for label in labels}
        return [label for label in labels if label in newest.values()]

    @property
    def by_author(self) -> Label | None:
        """What the one who wrote the text says of it. An import may say so of anybody, and what
        came too late or from somebody not trusted is told, not decided."""
        deciding = [
            label
            for label in self.labels
            if label.annotator.kind == Kind.AUTHOR
            and label.value is not None
            and label.action != Label.Action.IMPORTED
            and label.role != Label.Role.ADVISORY
        ]
        return deciding[-1] if deciding else None

    @property
    def by_machines(self) -> Label | None:
        """The newest of what models say, as people are shown it. Not what a model says that learns
        from these people: shown to them, it would be taught by its own echo."""
        suggesting = (
            label
            for label in reversed(self.labels)
            if label.annotator.kind in MACHINES
            and label.role != Label.Role.TRAINED
            and not label.abstained
        )
        return next(suggesting, None)


def read_ledgers(ids: Sequence[int]) -> dict[int, ItemLedger]:
    """What the ledger says of each item; items of which it says nothing have an empty ledger."""
    histories: dict[int, list[Label]] = defaultdict(list)
    for label in Label.objects.filter(item__in=ids).select_related("annotator").order_by("pk"):
        histories[label.item_id].append(label)
    golds: dict[int, list[Gold]] = defaultdict(list)
    for gold in Gold.objects.filter(item__in=ids).order_by():
        golds[gold.item_id].append(gold)
    return {item_id: ledger_of(histories[item_id], golds[item_id]) for item_id in ids}


@prepared
def read_history(item: int) -> QuerySet[Label]:
    """Every label the ledger has of one item, oldest first."""
    return Label.objects.filter(item=item).select_related("annotator").order_by("pk")


@prepared
def read_golds(item: int) -> QuerySet[Gold]:
    """Every decision the ledger has of one item, in no order."""
    return Gold.objects.filter(item=item).order_by()


def ledger_of(history: Sequence[Label], golds: Sequence[Gold]) -> ItemLedger:
    """What all labels of one item, oldest first, and all its decisions come to."""
    replaced = {gold.supersedes_id for gold in golds}
    newest = next((gold for gold in golds if gold.pk not in replaced), None)
    return ledger_from(current_labels(history), newest)


def current_labels(history: Collection[Label]) -> list[Label]:
    """Those of an item's labels that are neither withdrawn nor superseded, rejections among them,
    in the order given.

    ``history`` may be that of one annotator: nobody supersedes what another says.
    """
    superseded = {label.supersedes_id for label in history}
    return [label for label in history if not label.withdrawn and label.pk not in superseded]


def ledger_from(current: Collection[Label], gold: Gold | None = None) -> ItemLedger:
    """What annotators' last words, oldest first, and the newest decision make."""
    answers = [label for label in current if not label.rejected]
    return ItemLedger(answers, gold, [label for label in current if label.rejected])
