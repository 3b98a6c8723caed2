"""Data that callers hand to the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.common.rows import new_row
from apps.labels.models import Annotator, Gold, Label
from apps.projects.models import LabelSchema
from labelhub.core.schema import Value


class ImportOutcome(StrEnum):
    """The result for one imported row."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"


# Not frozen, which would make them in three times as long: two for each label of a file.
@dataclass(slots=True, kw_only=True)
class LabelContent:
    """What a label says; ``value`` is None for abstentions, withdrawals and rejections.

    Imported labels refer to others by ``uid`` within the item, the rest by id. ``supersedes_own``:
    an import supersedes the annotator's current label of the item.
    """

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


@dataclass(slots=True, kw_only=True)
class NewLabel(LabelContent):
    """A label to append."""

    item_id: int
    annotator: Annotator
    schema: LabelSchema

    def to_row(self, now: datetime | None = None) -> Label:
        """The unsaved ledger row; references by uid are resolved by the importer.

        ``now``: the time of a label without one; one for all rows of a chunk is converted once.
        """
        given = _columns_of(self, LABEL_COLUMNS)
        if now:
            given.setdefault("created_at", now)
        given["annotator_id"], given["schema_id"] = self.annotator.pk, self.schema.pk
        given["evidence"] = {name: list(phrases) for name, phrases in self.evidence.items()}
        given["provenance"] = dict(self.provenance)
        given["shown_id"] = self.shown_id or self.proposed_from_id
        row = new_row(Label, given)
        Label.annotator.field.set_cached_value(row, self.annotator)
        Label.schema.field.set_cached_value(row, self.schema)
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldContent:
    """What an imported decision says; a plain gold column has neither uid nor evidence."""

    value: Value | None
    basis: str = Gold.Basis.IMPORTED
    withdrawn: bool = False
    evidence: Sequence[str] = ()
    supersedes_uid: UUID | None = None
    uid: UUID | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGold(GoldContent):
    """An imported decision to append."""

    item_id: int
    schema: LabelSchema
    decided_by: Annotator | None = None

    def to_row(self) -> Gold:
        """The unsaved ledger row."""
        return Gold(**_columns_of(self, GOLD_COLUMNS) | {"evidence": list(self.evidence)})


#: Resolved by the importer.
BY_UID = {"shown_uid", "proposed_from_uid", "supersedes_uid", "supersedes_own"}
RELATED = {"annotator", "schema"}
LABEL_COLUMNS = [part.name for part in fields(NewLabel) if part.name not in BY_UID | RELATED]
GOLD_COLUMNS = [part.name for part in fields(NewGold) if part.name not in BY_UID]


def _columns_of(new: NewLabel | NewGold, names: Sequence[str]) -> dict[str, Any]:
    """The columns of the ledger row; uid and time have defaults there."""
    given = {name: getattr(new, name) for name in names}
    for name in ("uid", "created_at"):
        if given[name] is None:
            del given[name]
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateResult:
    """The end of a debate on one item; ``draft`` is None without an offered label, ``uncertainty``
    is None if the debate stated none."""

    item_id: int
    draft: NewLabel | None
    reasons: Sequence[str] = ()
    uncertainty: float | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)
