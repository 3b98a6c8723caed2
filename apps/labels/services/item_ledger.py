"""The current labels and the newest decision of an item."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from apps.common.prepared import prepared, read_rows
from apps.labels.models import MACHINES, PEOPLE, Gold, Kind, Label


@dataclass(slots=True)
class ItemLedger:
    """One item's current labels, oldest first, and its newest decision, also a withdrawn one: the
    next decision supersedes it, in one chain per item. ``rejections`` without a value count for
    nothing; the item stays open."""

    labels: list[Label] = field(default_factory=list)
    gold: Gold | None = None
    rejections: list[Label] = field(default_factory=list)

    def append(self, row: Label) -> None:
        """Take in a new row, which may supersede another one."""
        self.labels = [label for label in self.labels if label.pk != row.supersedes_id]
        self.rejections = [label for label in self.rejections if label.pk != row.supersedes_id]
        if not row.withdrawn:
            (self.rejections if row.rejected else self.labels).append(row)

    @property
    def by_people(self) -> list[Label]:
        """Labels of crowd and experts; a user who was both counts once, with the newest label."""
        labels = [label for label in self.labels if label.annotator.kind in PEOPLE]
        newest = {label.annotator.user_id or -label.annotator_id: label for label in labels}
        if len(newest) == len(labels):
            return labels
        return [label for label in labels if label in newest.values()]

    @property
    def by_author(self) -> Label | None:
        """The author's newest label that decides: neither imported nor advisory (too late, or from
        an author who is not trusted)."""
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
        """The newest suggestion of a model, as people are shown it. Not that of a model that is
        trained on these people's labels: it would learn from itself."""
        suggesting = (
            label
            for label in reversed(self.labels)
            if label.annotator.kind in MACHINES
            and label.role != Label.Role.TRAINED
            and not label.abstained
        )
        return next(suggesting, None)


def read_ledgers(ids: Sequence[int]) -> dict[int, ItemLedger]:
    """The ledger of each item; empty for an item without labels."""
    return ledgers_of(read_histories(ids))


def read_histories(ids: Iterable[int]) -> dict[int, list[Label]]:
    """Every label of each item, oldest first."""
    histories: dict[int, list[Label]] = {item_id: [] for item_id in ids}
    labels = Label.objects.filter(item__in=list(histories)).select_related("annotator")
    for label in read_rows(labels.order_by("pk")):
        histories[label.item_id].append(label)
    return histories


def ledgers_of(histories: Mapping[int, Sequence[Label]]) -> dict[int, ItemLedger]:
    """The ledgers of these items; reads their decisions."""
    ids = list(histories)
    golds: dict[int, list[Gold]] = defaultdict(list)
    for gold in read_rows(Gold.objects.filter(item__in=ids).order_by()):
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
    """The ledger of one item from all its labels, oldest first, and all its decisions."""
    replaced = {gold.supersedes_id for gold in golds}
    newest = next((gold for gold in golds if gold.pk not in replaced), None)
    return ledger_from(current_labels(history), newest)


def current_labels(history: Collection[Label]) -> list[Label]:
    """The labels that are neither withdrawn nor superseded, also rejections, in the order given.

    ``history`` may be that of one annotator: nobody supersedes another's label.
    """
    superseded = {label.supersedes_id for label in history}
    return [label for label in history if not label.withdrawn and label.pk not in superseded]


def ledger_from(current: Collection[Label], gold: Gold | None = None) -> ItemLedger:
    """The ledger of current labels, oldest first, and the newest decision."""
    answers = [label for label in current if not label.rejected]
    return ItemLedger(answers, gold, [label for label in current if label.rejected])
