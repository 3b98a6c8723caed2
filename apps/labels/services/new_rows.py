"""Data that callers hand to the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import LabelSchema
from labelhub.core.schema import Value


class ImportOutcome(StrEnum):
    """The result for one imported row."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLabel:
    """A label to append; ``value`` is None for abstentions, withdrawals and rejections.

    Imported labels refer to others by ``uid`` within the item, the rest by id. ``supersedes_own``:
    an import supersedes the annotator's current label of the item.
    """

    item_id: int
    annotator: Annotator
    schema: LabelSchema
    value: Value | None
    action: str = Label.Action.NEW
    role: str = Label.Role.VOTE
    abstained: bool = False
    withdrawn: bool = False
    rejected: bool = False
    confidence: float | None = None
    rationale: str = ""
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: float | None = None
    cost_nanousd: int | None = None
    shown_id: int | None = None
    proposed_from_id: int | None = None
    supersedes_id: int | None = None
    shown_uid: UUID | None = None
    proposed_from_uid: UUID | None = None
    supersedes_uid: UUID | None = None
    supersedes_own: bool = False
    run_uid: UUID | None = None
    replicate: int = 1
    provenance: Mapping[str, Any] = field(default_factory=dict)
    uid: UUID | None = None
    created_at: datetime | None = None

    def to_row(self) -> Label:
        """The unsaved ledger row; references by uid are resolved by the importer."""
        row = Label(
            item_id=self.item_id,
            annotator=self.annotator,
            schema=self.schema,
            value=self.value,
            abstained=self.abstained,
            withdrawn=self.withdrawn,
            rejected=self.rejected,
            action=self.action,
            role=self.role,
            confidence=self.confidence,
            rationale=self.rationale,
            evidence={name: list(phrases) for name, phrases in self.evidence.items()},
            seconds=self.seconds,
            cost_nanousd=self.cost_nanousd,
            shown_id=self.shown_id or self.proposed_from_id,
            proposed_from_id=self.proposed_from_id,
            supersedes_id=self.supersedes_id,
            run_uid=self.run_uid,
            replicate=self.replicate,
            provenance=dict(self.provenance),
        )
        if self.uid:
            row.uid = self.uid
        if self.created_at:
            row.created_at = self.created_at
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGold:
    """An imported decision; a plain gold column has neither uid nor evidence."""

    item_id: int
    schema: LabelSchema
    value: Value | None
    basis: str = Gold.Basis.IMPORTED
    withdrawn: bool = False
    decided_by: Annotator | None = None
    evidence: Sequence[str] = ()
    supersedes_uid: UUID | None = None
    uid: UUID | None = None
    created_at: datetime | None = None

    def to_row(self) -> Gold:
        """The unsaved ledger row."""
        row = Gold(
            item_id=self.item_id,
            schema=self.schema,
            value=self.value,
            basis=self.basis,
            withdrawn=self.withdrawn,
            decided_by=self.decided_by,
            evidence=list(self.evidence),
        )
        if self.uid:
            row.uid = self.uid
        if self.created_at:
            row.created_at = self.created_at
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateResult:
    """The end of a debate on one item; ``draft`` is None without an offered label, ``uncertainty``
    is None if the debate stated none."""

    item_id: int
    draft: NewLabel | None
    reasons: Sequence[str] = ()
    uncertainty: float | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)
