"""What one label and one decision are after a change of labels: forward, or back by what was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef

from apps.labels.models import Gold, Label
from apps.labels.services.facts import Facts
from apps.projects.models import LabelSchema, SchemaChange
from labelhub.core.schema import Value, value_key
from labelhub.core.schema.carrying import Fate, SchemaPlan

#: In the provenance of a carried label: the version it was given under.
MIGRATED_FROM = "migrated_from"


@dataclass
class Carrier:
    """One change at work on some items.

    Attributes:
        versions: id of a schema of the project → its version.
    """

    change: SchemaChange
    versions: Mapping[int, int]
    #: What takes a change back restores, by the id of the row that the change had made.
    labels_before: Mapping[int, Label] = field(default_factory=dict)
    golds_before: Mapping[int, Gold] = field(default_factory=dict)
    #: Item → labels that the change had withdrawn and of which nothing was said since.
    withdrawn: Mapping[int, Sequence[Label]] = field(default_factory=dict)

    @cached_property
    def plan(self) -> SchemaPlan:
        """What becomes of values."""
        return self.change.plan

    @cached_property
    def schema(self) -> LabelSchema:
        """The version of afterwards."""
        assert self.change.to_schema is not None  # noqa: S101 - it has begun
        return self.change.to_schema

    @property
    def restores(self) -> bool:
        """Whether it takes a change back."""
        return self.change.reverts_id is not None

    @property
    def decides_anew(self) -> bool:
        """Whether other labels may agree afterwards than before."""
        return self.restores or not self.plan.one_to_one

    def labels(self, item_id: int, facts: Facts) -> list[Label]:
        """An item's labels that it is about, in their order."""
        back = self.withdrawn.get(item_id, ())
        return sorted([*facts.labels, *back], key=lambda label: label.pk)

    def source(self, label: Label) -> Label:
        """The row whose words count: what it was before the change that is taken back."""
        return self.labels_before.get(label.pk, label)

    def changes(self, label: Label) -> bool:
        """Whether the label's value is another one afterwards."""
        if label.pk in self.labels_before:
            return True
        return self._is_old(label) and label.value is not None and self._differs(label.value)

    def row(self, label: Label) -> Label:
        """The row that carries it over, unsaved; it withdraws what nothing stands for any more."""
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
        """Whether the decision is another one afterwards, or rests on carried labels (``uids``)."""
        if gold.pk in self.golds_before:
            return True
        if gold.withdrawn or not self._is_old(gold):
            return False
        differs = gold.value is not None and self._differs(gold.value)
        return differs or any(uid in (uids or {}) for uid in gold.evidence)

    def gold(self, gold: Gold, uids: Mapping[str, str]) -> Gold:
        """The row that carries the decision over, unsaved."""
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
        told: dict[str, object] = dict(source.provenance)
        spans = told.get("spans")
        if isinstance(spans, list) and source is label and self._is_old(label):
            told["spans"] = self.plan.spans(spans)
        return told


def carrier_of(change: SchemaChange, facts: Mapping[int, Facts]) -> Carrier:
    """``change`` at work on these items; one query, four where it takes another one back."""
    schemas = LabelSchema.objects.filter(project=change.project_id)
    versions = dict(schemas.values_list("pk", "version"))
    if change.reverts_id is None:
        return Carrier(change, versions)
    later = Label.objects.filter(
        item=OuterRef("item"), annotator=OuterRef("annotator"), pk__gt=OuterRef("pk")
    )
    made = Label.objects.filter(~Exists(later), item__in=facts, change=change.reverts_id)
    rows = list(made.select_related("annotator", "supersedes"))
    decided = Gold.objects.filter(item__in=facts, change=change.reverts_id, superseded_by=None)
    withdrawn: dict[int, list[Label]] = {}
    for row in rows:
        if row.withdrawn:
            withdrawn.setdefault(row.item_id, []).append(row)
    return Carrier(
        change,
        versions,
        {row.pk: row.supersedes for row in rows if row.supersedes},
        {row.pk: row.supersedes for row in decided.select_related("supersedes") if row.supersedes},
        withdrawn,
    )
