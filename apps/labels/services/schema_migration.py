"""Carry labels and gold over to a changed schema, item by item, in new rows.

A carried row has the annotator, action, role, confidence and time of its predecessor, under the new
names. Seconds and cost stay with the old row. Actions, roles and the order of an item's labels
decide gold and must not change, so all later labels of its item are carried as well.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.common.bulk import insert_rows
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services.gold import next_gold
from apps.labels.services.item_ledger import ItemLedger, read_ledgers
from apps.labels.services.states import lock_states, read_plan, settle_states
from apps.projects.models import LabelSchema, SchemaChange
from labelhub.core.schema import Value, value_key
from labelhub.core.schema.migration import Fate, SchemaPlan

#: Reason of items whose label has no counterpart in the new schema.
RELABEL = "labels_changed"
#: In the provenance of a carried label: the schema version it was given under.
MIGRATED_FROM = "migrated_from"


@dataclass
class SchemaMigration:
    """One schema change, applied to some items.

    Attributes:
        versions: id of a schema of the project → its version.
    """

    change: SchemaChange
    versions: Mapping[int, int]
    #: For a revert: the rows to restore, by the id of the row that the change had made.
    labels_before: Mapping[int, Label] = field(default_factory=dict)
    golds_before: Mapping[int, Gold] = field(default_factory=dict)
    #: For a revert: item → labels that the change had withdrawn, without a newer label.
    withdrawn: Mapping[int, Sequence[Label]] = field(default_factory=dict)

    @cached_property
    def plan(self) -> SchemaPlan:
        """The mapping of values."""
        return self.change.plan

    @cached_property
    def schema(self) -> LabelSchema:
        """The new version."""
        assert self.change.to_schema is not None  # noqa: S101 - it has begun
        return self.change.to_schema

    @property
    def restores(self) -> bool:
        """Whether it reverts a change."""
        return self.change.reverts_id is not None

    @property
    def may_change_gold(self) -> bool:
        """Whether the agreement of labels may change."""
        return self.restores or not self.plan.one_to_one

    def labels(self, item_id: int, ledger: ItemLedger) -> list[Label]:
        """An item's labels to look at, in their order."""
        back = self.withdrawn.get(item_id, ())
        return sorted([*ledger.labels, *back], key=lambda label: label.pk)

    def source(self, label: Label) -> Label:
        """The row whose content counts: for a revert, that before the change."""
        return self.labels_before.get(label.pk, label)

    def changes(self, label: Label) -> bool:
        """Whether the label's value changes."""
        if label.pk in self.labels_before:
            return True
        return self._is_old(label) and label.value is not None and self._differs(label.value)

    def carried_row(self, label: Label) -> Label:
        """The new row, unsaved; a withdrawal if the value has no counterpart."""
        source = self.source(label)
        row = Label(
            item_id=label.item_id,
            annotator_id=label.annotator_id,
            schema_id=self.schema.pk,
            supersedes_id=label.pk,
            change_id=self.change.pk,
            provenance={"change": self.change.pk, MIGRATED_FROM: self.versions[source.schema_id]},
        )
        row.annotator = label.annotator  # read already
        value = self._value(label, source)
        if isinstance(value, Fate):
            row.withdrawn, row.action = True, Label.Action.WITHDRAWN
            row.provenance |= {"was": source.value, "ask": value is Fate.NEEDS_PEOPLE}
            return row
        row.value, row.evidence = value, self._evidence(label, source)
        for name in ("abstained", "action", "role", "confidence", "rationale", "shown_id",
                     "proposed_from_id", "run_uid", "replicate", "created_at"):  # fmt: skip
            setattr(row, name, getattr(source, name))
        row.provenance = self._provenance(label, source) | row.provenance
        return row

    def changes_gold(self, gold: Gold, uids: Mapping[str, str] | None = None) -> bool:
        """Whether the decision changes, or rests on carried labels (``uids``)."""
        if gold.pk in self.golds_before:
            return True
        if gold.withdrawn or not self._is_old(gold):
            return False
        differs = gold.value is not None and self._differs(gold.value)
        return differs or any(uid in (uids or {}) for uid in gold.evidence)

    def gold(self, gold: Gold, uids: Mapping[str, str]) -> Gold:
        """The new gold row, unsaved."""
        source = self.golds_before.get(gold.pk, gold)
        restored = source is not gold or not self._is_old(gold)
        given: Any = source.value
        value = given if restored else self.plan.value(given)
        row = Gold(
            item_id=gold.item_id,
            schema_id=self.schema.pk,
            supersedes=gold,
            change_id=self.change.pk,
        )
        if isinstance(value, Fate) or source.withdrawn:
            row.withdrawn, row.basis = True, Gold.Basis.WITHDRAWN
            return row
        row.value, row.basis, row.decided_by_id = value, source.basis, source.decided_by_id
        row.evidence = [uids.get(uid, uid) for uid in source.evidence]
        return row

    def _is_old(self, row: Label | Gold) -> bool:
        return self.versions[row.schema_id] < self.schema.version

    def _differs(self, value: Value) -> bool:
        after = self.plan.value(value)
        return isinstance(after, Fate) or value_key(after) != value_key(value)

    def _value(self, label: Label, source: Label) -> Value | Fate | None:
        if source is not label or source.value is None or not self._is_old(label):
            given: Value | None = source.value
            return given
        return self.plan.value(source.value)

    def _evidence(self, label: Label, source: Label) -> dict[str, list[str]]:
        kept: dict[str, list[str]] = source.evidence
        stays = source is not label or not self._is_old(label)
        return kept if stays else self.plan.evidence(kept)

    def _provenance(self, label: Label, source: Label) -> dict[str, object]:
        provenance: dict[str, object] = dict(source.provenance)
        spans = provenance.get("spans")
        if isinstance(spans, list) and source is label and self._is_old(label):
            provenance["spans"] = self.plan.spans(spans)
        return provenance


def migration_of(change: SchemaChange, ledgers: Mapping[int, ItemLedger]) -> SchemaMigration:
    """``change``, applied to these items; one query, four for a revert."""
    schemas = LabelSchema.objects.filter(project=change.project_id)
    versions = dict(schemas.values_list("pk", "version"))
    if change.reverts_id is None:
        return SchemaMigration(change, versions)
    later = Label.objects.filter(
        item=OuterRef("item"), annotator=OuterRef("annotator"), pk__gt=OuterRef("pk")
    )
    made = Label.objects.filter(~Exists(later), item__in=ledgers, change=change.reverts_id)
    rows = list(made.select_related("annotator", "supersedes"))
    decided = Gold.objects.filter(item__in=ledgers, change=change.reverts_id, superseded_by=None)
    withdrawn: dict[int, list[Label]] = {}
    for row in rows:
        if row.withdrawn:
            withdrawn.setdefault(row.item_id, []).append(row)
    return SchemaMigration(
        change,
        versions,
        {row.pk: row.supersedes for row in rows if row.supersedes},
        {row.pk: row.supersedes for row in decided.select_related("supersedes") if row.supersedes},
        withdrawn,
    )


@dataclass(slots=True)
class Carried:
    """The result for some items' labels.

    Attributes:
        moved: id of a label → id of the row that carries it over.
        counts: rows by what they are, such as ``labels:crowd`` or ``gold_withdrawn``.
    """

    moved: dict[int, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _MigratedItem:
    """One item: its new rows in order, each with the label it comes from."""

    ledger: ItemLedger
    before: Gold | None
    may_change_gold: bool
    rows: list[tuple[Label, Label]]
    gold: Gold | None = None


@transaction.atomic
def carry_over(change: SchemaChange, item_ids: Iterable[int]) -> Carried:
    """Append these items' labels and decisions under ``change``, which has begun.

    The states are locked as by every writer of the ledger. Items that are done, and labels under
    the new version, stay as they are: doing it twice does no harm.
    """
    states = lock_states(item_ids)
    read_plan(change.project)
    ledgers = read_ledgers(list(states))
    migration = migration_of(change, ledgers)
    items = {}
    for item_id in states:
        if item := _migrate_item(migration, item_id, ledgers[item_id]):
            items[item_id] = item
    found = Carried()
    _write_labels(list(items.values()), found)
    for item_id, item in items.items():
        _update_state(migration, states[item_id], item, found)
    insert_rows([item.gold for item in items.values() if item.gold])
    changed = {item_id: states[item_id] for item_id in items}
    settle_states(change.project, changed, {item_id: ledgers[item_id] for item_id in changed})
    found.counts["items"] = len(items)
    return found


def _migrate_item(
    migration: SchemaMigration, item_id: int, ledger: ItemLedger
) -> _MigratedItem | None:
    """None where nothing changes."""
    labels = migration.labels(item_id, ledger)
    first = next(
        (index for index, label in enumerate(labels) if migration.changes(label)), len(labels)
    )
    rows = [(label, migration.carried_row(label)) for label in labels[first:]]
    if not rows and (ledger.gold is None or not migration.changes_gold(ledger.gold)):
        return None
    mixed = any(label.schema_id == migration.schema.pk for label in labels)
    return _MigratedItem(ledger, ledger.gold, migration.may_change_gold or mixed, rows)


def _write_labels(items: Sequence[_MigratedItem], found: Carried) -> None:
    """Insert the n-th rows of all items together, so that the rows of an item are in order and may
    refer to earlier ones."""
    for nth in range(max((len(item.rows) for item in items), default=0)):
        wave = [item.rows[nth] for item in items if nth < len(item.rows)]
        for _, row in wave:
            row.shown_id = found.moved.get(row.shown_id or 0, row.shown_id)
            row.proposed_from_id = found.moved.get(row.proposed_from_id or 0, row.proposed_from_id)
        insert_rows([row for _, row in wave])
        for label, row in wave:
            found.moved[label.pk] = row.pk
            outcome = "labels"
            if row.withdrawn:
                outcome = "asked" if row.provenance.get("ask") else "withdrawn"
            found.counts[f"{outcome}:{label.annotator.kind}"] += 1


def _update_state(
    migration: SchemaMigration, state: ItemState, item: _MigratedItem, found: Carried
) -> None:
    """Put the new labels into the item's ledger, decide, and update suggestion and reasons."""
    gone = {label.pk for label, _ in item.rows}
    kept = [label for label in item.ledger.labels if label.pk not in gone]
    item.ledger.labels = kept + [row for _, row in item.rows if not row.withdrawn]
    uids = {str(label.uid): str(row.uid) for label, row in item.rows}
    uids |= {str(migration.source(label).uid): str(row.uid) for label, row in item.rows}
    now = item.before
    if now is not None and migration.changes_gold(now, uids):
        item.gold = item.ledger.gold = migration.gold(now, uids)
    overlap, here = migration.change.project.overlap, state.required_here
    if item.may_change_gold and (decided := next_gold(overlap, item.ledger, here)):
        decided.item_id, decided.supersedes, decided.change = state.item_id, now, migration.change
        item.gold = item.ledger.gold = decided
    if item.gold is not None:
        stood = now is not None and not now.withdrawn
        if item.gold.withdrawn:
            found.counts["gold_withdrawn"] += stood
        else:
            found.counts["gold_carried" if stood else "gold_made"] += 1
    if state.suggestion_id in gone:
        row = next(row for label, row in item.rows if label.pk == state.suggestion_id)
        state.suggestion = None if row.withdrawn else row
    if not state.reasons and any(row.provenance.get("ask") for _, row in item.rows):
        state.reasons = [RELABEL]
    elif state.reasons == [RELABEL] and migration.restores:
        state.reasons = []


def translated_label(label: Label, history: Sequence[Label]) -> Label:
    """The newest row of ``label``, following schema changes only."""
    after = {row.supersedes_id: row for row in history if row.change_id and not row.withdrawn}
    while label.pk in after:
        label = after[label.pk]
    return label
