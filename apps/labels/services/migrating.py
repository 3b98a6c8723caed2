"""Labels and gold carried over to a changed schema: by new rows, of whole items, in their order.

A carried row says what its predecessor said, under the names of afterwards: the same annotator,
action, confidence and moment. What the label took and cost stays with the row that was paid for.
What decides gold (actions, roles, the order of an item's labels) is the same
afterwards; therefore all labels of an item that come after a carried one are carried too.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from apps.common.bulk import insert_rows
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services.carrying import Carrier, carrier_of
from apps.labels.services.deciding import next_gold
from apps.labels.services.facts import Facts, read_facts
from apps.labels.services.states import lock_states, read_plan, settle_states
from apps.projects.models import SchemaChange

#: Why people are asked: their label, or the machine's, stands for nothing any more.
RELABEL = "labels_changed"


@dataclass(slots=True)
class Carried:
    """What became of some items' labels.

    Attributes:
        moved: id of a label → id of the row that carries it over.
        counts: rows by what they are, such as ``labels:crowd`` or ``gold_withdrawn``.
    """

    moved: dict[int, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Item:
    """One item on the way: its rows in order, each with the label it comes from."""

    facts: Facts
    before: Gold | None
    anew: bool
    rows: list[tuple[Label, Label]]
    gold: Gold | None = None


@transaction.atomic
def carry_over(change: SchemaChange, item_ids: Iterable[int]) -> Carried:
    """Append what these items' labels and decisions are after ``change``, which has begun.

    The states are locked as by every writer of the ledger. Items that are through already, and
    labels that were given under the new version, stay as they are: doing it twice does no harm.
    """
    states = lock_states(item_ids)
    read_plan(change.project)
    facts = read_facts(list(states))
    carrier = carrier_of(change, facts)
    items = {}
    for item_id in states:
        if item := _item(carrier, item_id, facts[item_id]):
            items[item_id] = item
    found = Carried()
    _write_labels(list(items.values()), found)
    for item_id, item in items.items():
        _settle(carrier, states[item_id], item, found)
    insert_rows([item.gold for item in items.values() if item.gold])
    changed = {item_id: states[item_id] for item_id in items}
    settle_states(change.project, changed, {each: facts[each] for each in changed})
    found.counts["items"] = len(items)
    return found


def _item(carrier: Carrier, item_id: int, facts: Facts) -> _Item | None:
    """None where nothing changes."""
    labels = carrier.labels(item_id, facts)
    first = next((at for at, label in enumerate(labels) if carrier.changes(label)), len(labels))
    rows = [(label, carrier.row(label)) for label in labels[first:]]
    if not rows and (facts.gold is None or not carrier.changes_gold(facts.gold)):
        return None
    mixed = any(label.schema_id == carrier.schema.pk for label in labels)
    return _Item(facts, facts.gold, carrier.decides_anew or mixed, rows)


def _write_labels(items: Sequence[_Item], found: Carried) -> None:
    """The n-th rows of all items together: so those of an item are in order, and each may name one
    that came before it."""
    for nth in range(max((len(item.rows) for item in items), default=0)):
        wave = [item.rows[nth] for item in items if nth < len(item.rows)]
        for _, row in wave:
            row.shown_id = found.moved.get(row.shown_id or 0, row.shown_id)
            row.proposed_from_id = found.moved.get(row.proposed_from_id or 0, row.proposed_from_id)
        insert_rows([row for _, row in wave])
        for label, row in wave:
            found.moved[label.pk] = row.pk
            what = "asked" if row.withdrawn and row.provenance.get("ask") else "labels"
            what = "withdrawn" if row.withdrawn and what == "labels" else what
            found.counts[f"{what}:{label.annotator.kind}"] += 1


def _settle(carrier: Carrier, state: ItemState, item: _Item, found: Carried) -> None:
    """What the item's labels are now, what they decide, and what that means for the queue."""
    gone = {label.pk for label, _ in item.rows}
    kept = [label for label in item.facts.labels if label.pk not in gone]
    item.facts.labels = kept + [row for _, row in item.rows if not row.withdrawn]
    uids = {str(label.uid): str(row.uid) for label, row in item.rows}
    uids |= {str(carrier.source(label).uid): str(row.uid) for label, row in item.rows}
    now = item.before
    if now is not None and carrier.changes_gold(now, uids):
        item.gold = item.facts.gold = carrier.gold(now, uids)
    if item.anew and (decided := next_gold(carrier.change.project.overlap, item.facts)):
        decided.item_id, decided.supersedes, decided.change = state.item_id, now, carrier.change
        item.gold = item.facts.gold = decided
    _count_gold(now, item.gold, found.counts)
    if state.suggestion_id in gone:
        row = next(row for label, row in item.rows if label.pk == state.suggestion_id)
        state.suggestion = None if row.withdrawn else row
    if not state.reasons and any(row.provenance.get("ask") for _, row in item.rows):
        state.reasons = [RELABEL]
    elif state.reasons == [RELABEL] and carrier.restores:
        state.reasons = []


def _count_gold(before: Gold | None, after: Gold | None, counts: Counter[str]) -> None:
    if after is None:
        return
    stood = before is not None and not before.withdrawn
    if after.withdrawn:
        counts["gold_withdrawn"] += stood
    else:
        counts["gold_carried" if stood else "gold_made"] += 1


def as_carried(label: Label, history: Sequence[Label]) -> Label:
    """The row that says now what ``label`` said, as far as it was only carried over since."""
    after = {each.supersedes_id: each for each in history if each.change_id and not each.withdrawn}
    while label.pk in after:
        label = after[label.pk]
    return label
