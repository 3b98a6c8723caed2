"""What comes back: frozen records whose fields are named as in the OpenAPI document.

Fields that a newer server adds are passed over. Instants know their zone; ids of labels and runs
(``uid``) are text.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

DONE, FAILED = "done", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Who said it; ``kind`` is llm, crowd, expert, author or model."""

    id: int
    name: str
    kind: str
    offline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDef:
    """One label of a schema."""

    name: str
    description: str = ""
    include: str = ""
    exclude: str = ""
    examples_for: tuple[str, ...] = ()
    examples_against: tuple[str, ...] = ()
    point: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSchema:
    """What is asked of each item."""

    task: str
    question: str = ""
    labels: tuple[LabelDef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project with its newest schema and guideline; ``role`` is yours in it."""

    slug: str
    name: str
    description: str
    task: str
    schema: LabelSchema
    schema_version: int
    guideline: str
    overlap: int
    review_scope: str
    created_at: datetime
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """A model that a run may name; ``offline`` marks the text matcher, which is not an LLM."""

    name: str
    provider: str
    offline: bool
    prices_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One text with what belongs to it; ``external_id`` is the id it was imported by."""

    id: int
    external_id: str
    text: str
    context: Any = ()
    question: str = ""
    options: Any = ()
    meta: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What a debate proposes, with its quotes."""

    id: int
    uid: str
    value: Any
    confidence: float | None
    rationale: str
    evidence: Any
    action: str
    annotator: Annotator
    run_uid: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decided value of an item."""

    uid: str
    value: Any
    basis: str
    decided_by: Annotator | None
    evidence: Any
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStanding(Item):
    """An item and where it stands."""

    stage: str
    queued: bool
    reasons: tuple[str, ...]
    labels_by_people: int
    suggestion: Suggestion | None
    gold: Decision | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The short exclusive hold on an item."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An item that is yours to label until the lease lapses, and what a debate suggests."""

    item: Item
    suggestion: Suggestion | None
    lease: Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One row of the ledger."""

    id: int
    uid: str
    item: int
    external_id: str
    annotator: Annotator
    value: Any
    abstained: bool
    withdrawn: bool
    rejected: bool
    action: str
    confidence: float | None
    rationale: str
    evidence: Any
    seconds: float | None
    shown: str | None
    proposed_from: str | None
    supersedes: str | None
    run_uid: str | None
    replicate: int
    schema_version: int
    current: bool
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """An item that you left to others."""

    item: int
    action: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A decided value, by the item's id."""

    uid: str
    item: int
    external_id: str
    value: Any
    basis: str
    decided_by: str | None
    evidence: Any
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFault:
    """Why a row was not taken; rows count from 1 in what you gave."""

    row: int
    field: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """What became of the rows; of each part sent, the first 1,000 faults are listed."""

    id: int = 0
    status: str = DONE
    message: str = ""
    rows: int = 0
    created: int = 0
    filled: int = 0
    unchanged: int = 0
    conflicts: int = 0
    failed: int = 0
    labels_created: int = 0
    errors: tuple[RowFault, ...] = ()
    conflict_rows: tuple[RowFault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its interval; ``value`` None comes with the ``reason``."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    method: str = ""
    reason: str = ""
