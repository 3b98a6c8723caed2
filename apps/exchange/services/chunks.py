"""One chunk of rows into the project, inside the caller's transaction."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from apps.common.bulk import insert_rows
from apps.common.rows import new_row
from apps.exchange.rows import ItemRow, RowError, bare_hash
from apps.exchange.services.context import ImportContext, ImportTally
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import (
    ImportOutcome,
    NewGold,
    NewLabel,
    import_gold,
    import_labels,
    import_ledger,
    open_items,
)
from apps.projects.models import ImportBatch, Item, Project
from labelhub.core.phrases import Phrase
from labelhub.core.schema import value_key


def is_placeholder(item: Item) -> bool:
    """Whether only the id of the item is known, as a file of labels gave it."""
    return item.batch_id is None and item.content_hash == bare_hash(item.external_id)


def has_texts(project: Project) -> bool:
    """Whether any item of the project is more than its id."""
    return project.items.exclude(batch=None, text=F("external_id")).exists()


def lock_unjudged(items: Iterable[Item]) -> set[int]:
    """The keys of the items without a debate or a reviewer's decision.

    They stay locked until the end of the transaction, so that none is judged meanwhile; their
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


COMPARED = ("text", "context", "question", "options", "meta")
FILLED = (*COMPARED, "content_hash")


@dataclass(slots=True)
class _Ledger:
    """The labels and gold of an item that exists."""

    uids: set[UUID] = field(default_factory=set)
    labels: set[tuple[str, str, str]] = field(default_factory=set)
    gold: set[str] = field(default_factory=set)


def write_chunk(
    context: ImportContext, rows: Sequence[ItemRow | RowError], batch: ImportBatch | None
) -> ImportTally:
    """Sort the rows into created, filled, unchanged, conflict and failed; write the first two.

    Existing items are never changed, except placeholders, which get their content. The caller holds
    the project's lock, so that two imports cannot create the same item.
    """
    tally = ImportTally()
    good = []
    noted = {Phrase.of(note["message"]) for note in batch.errors} if batch else set()
    for row in rows:
        if isinstance(row, RowError):
            tally.add_error(row)
            continue
        good.append(row)
        for field_name, message in row.remarks:
            if message not in noted:
                noted.add(Phrase(message))
                tally.remark(row.number, field_name, message)
    found = Item.objects.named(context.project, {row.external_id for row in good})
    fields = ("external_id", "content_hash", "batch")
    there = {item.external_id: item for item in found.only(*fields)}
    blank = _fillable(good, there)
    settled = {name: item for name, item in there.items() if name not in blank}
    fresh = _split_fresh(good, settled, tally)
    _compare([(row, settled[row.external_id]) for row in good if row.external_id in settled], tally)
    _create(context, {name: row for name, row in fresh.items() if name not in blank}, batch, tally)
    _fill(context, [(fresh[name], item) for name, item in blank.items()], batch, tally)
    return tally


def _fillable(rows: Iterable[ItemRow], there: Mapping[str, Item]) -> dict[str, Item]:
    """The placeholders that these rows may fill."""
    waiting = {}
    for row in rows:
        item = there.get(row.external_id)
        if item and item.content_hash != row.content_hash and is_placeholder(item):
            waiting[row.external_id] = item
    free = lock_unjudged(waiting.values())
    return {name: item for name, item in waiting.items() if item.pk in free}


def _split_fresh(
    rows: Iterable[ItemRow], there: dict[str, Item], tally: ImportTally
) -> dict[str, ItemRow]:
    fresh: dict[str, ItemRow] = {}
    for row in rows:
        if row.external_id in there:
            continue
        first = fresh.setdefault(row.external_id, row)
        if first is row:
            continue
        same = ("content_hash", "gold", "labels", "gold_history")
        if all(getattr(first, name) == getattr(row, name) for name in same):
            tally.unchanged += 1
        else:
            message = Phrase(
                "The id '%(id)s' is already that of row %(row)s, whose content differs; row "
                "%(row)s is kept.",
                id=row.external_id,
                row=first.number,
            )
            tally.conflict(row.number, "id", message)
    return fresh


def _compare(pairs: Sequence[tuple[ItemRow, Item]], tally: ImportTally) -> None:
    """Compare rows with their items: unchanged where the ledger has all their labels and gold."""
    judged = [
        item.pk for row, item in pairs if row.labels or row.gold is not None or row.gold_history
    ]
    ledgers = _ledgers(judged)
    other_content = [item.pk for row, item in pairs if row.content_hash != item.content_hash]
    contents = {item.pk: item for item in Item.objects.filter(pk__in=other_content)}
    for row, item in pairs:
        there = contents.get(item.pk, row)
        parts = [name for name in COMPARED if getattr(row, name) != getattr(there, name)]
        if parts and is_placeholder(item):
            message = Phrase(
                "'%(id)s' was judged here while only its id was known, or is at this moment; it is "
                "not changed.",
                id=item.external_id,
            )
            tally.conflict(row.number, "id", message)
        elif parts:
            message = Phrase(
                "The id '%(id)s' belongs to an item with another content (%(fields)s); it is not "
                "changed.",
                id=item.external_id,
                fields=parts,
            )
            tally.conflict(row.number, "id", message)
        elif reason := _find_unknown(row, ledgers[item.pk]):
            tally.conflict(row.number, *reason)
        else:
            tally.unchanged += 1


def _ledgers(item_ids: Sequence[int]) -> dict[int, _Ledger]:
    ledgers: dict[int, _Ledger] = defaultdict(_Ledger)
    labels = Label.objects.filter(item__in=item_ids).order_by()
    for item_id, uid, kind, name, value in labels.values_list(
        "item_id", "uid", "annotator__kind", "annotator__name", "value"
    ):
        ledgers[item_id].uids.add(uid)
        ledgers[item_id].labels.add((kind, name, _key(value)))
    golds = Gold.objects.filter(item__in=item_ids).order_by()
    for item_id, uid, value in golds.values_list("item_id", "uid", "value"):
        ledgers[item_id].uids.add(uid)
        ledgers[item_id].gold.add(_key(value))
    return ledgers


def _key(value: object) -> str:
    return "" if value is None else value_key(value)  # type: ignore[arg-type]  # canonical already


def _find_unknown(row: ItemRow, ledger: _Ledger) -> tuple[str, str] | None:
    """(field, message) of the row's first label or decision that the ledger does not have."""
    for index, label in enumerate(row.labels):
        name = label.annotator.name
        content = (label.annotator.kind, name, _key(label.value))
        known = label.uid in ledger.uids if label.uid else content in ledger.labels
        if not known:
            message = Phrase(
                "The item exists without this label of '%(name)s'; nothing was added.", name=name
            )
            return f"labels[{index}]", message
    for gold in row.gold_history:
        if gold.uid not in ledger.uids and _key(gold.value) not in ledger.gold:
            return "gold_history", Phrase("The item exists with another history of decisions.")
    if not row.gold_history and row.gold is not None and _key(row.gold) not in ledger.gold:
        message = Phrase("The item exists with another gold value or none; it is not changed.")
        return "gold", message
    return None


def _create(
    context: ImportContext, fresh: dict[str, ItemRow], batch: ImportBatch | None, tally: ImportTally
) -> None:
    names = ("external_id", *FILLED)
    shared = {"project_id": context.project.pk, "batch_id": batch.pk if batch else None}
    items = [
        new_row(Item, shared | {name: getattr(row, name) for name in names})
        for row in fresh.values()
    ]
    insert_rows(items)
    tally.created += len(items)
    labels, golds, origin = _drafts(context, zip(fresh.values(), items, strict=True))
    touched = {draft.item_id for draft in labels} | {draft.item_id for draft in golds}
    tally.unlabelled += len(items) - len(touched)
    tally.gold_created += len({gold.item_id for gold in golds})
    open_items([item for item in items if item.pk not in touched], context.project)
    if not touched:
        return
    _count_labels(origin, import_ledger(context.project, labels, golds), tally)


def _count_labels(
    origin: Sequence[tuple[ItemRow, int]], outcomes: Sequence[ImportOutcome], tally: ImportTally
) -> None:
    tally.labels_created += outcomes.count(ImportOutcome.CREATED)
    for (row, index), outcome in zip(origin, outcomes, strict=True):
        if outcome is ImportOutcome.CONFLICT:
            name = row.labels[index].annotator.name
            message = Phrase(
                "'%(name)s' has labelled this item already; the first label is kept.", name=name
            )
            tally.conflict(row.number, f"labels[{index}]", message)


def _fill(
    context: ImportContext,
    pairs: Sequence[tuple[ItemRow, Item]],
    batch: ImportBatch | None,
    tally: ImportTally,
) -> None:
    """Give placeholders their content, and add the rows' labels to those that exist."""
    if not pairs:
        return
    for row, item in pairs:
        for name in FILLED:
            setattr(item, name, getattr(row, name))
        item.batch = batch
    Item.objects.bulk_update([item for _, item in pairs], [*FILLED, "batch"], batch_size=100)
    tally.filled += len(pairs)
    labels, golds, origin = _drafts(context, pairs)
    if labels:
        _count_labels(origin, import_labels(context.project, labels), tally)
    row_of = {item.pk: row for row, item in pairs}
    outcomes = import_gold(context.project, golds) if golds else []
    decided = set()
    for gold, outcome in zip(golds, outcomes, strict=True):
        decided.add(gold.item_id)
        if outcome is ImportOutcome.CONFLICT:
            message = Phrase("The item has another gold value already; it is not changed.")
            tally.conflict(row_of[gold.item_id].number, "gold", message)
    tally.gold_created += len(decided)
    tally.unlabelled += len(pairs) - len(decided | {label.item_id for label in labels})


def _drafts(
    context: ImportContext, pairs: Iterable[tuple[ItemRow, Item]]
) -> tuple[list[NewLabel], list[NewGold], list[tuple[ItemRow, int]]]:
    """Label drafts, gold drafts, and the row and index of each label draft."""
    labels, golds, origin = [], [], []
    for row, item in pairs:
        for index, label in enumerate(row.labels):
            labels.append(context.label_draft(item.pk, label))
            origin.append((row, index))
        golds += [context.gold_draft(item.pk, gold) for gold in row.gold_history]
        if row.gold is not None and not row.gold_history:
            golds.append(NewGold(item_id=item.pk, schema=context.schema, value=row.gold))
    return labels, golds, origin
