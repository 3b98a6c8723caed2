"""What calls take by name. These names are the server's: a test holds them against its document."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict

Protocol = Literal[
    "single", "cot", "self_consistency", "self_refine", "vote", "ecj", "discussion", "courtroom",
    "cascade",
]  # fmt: skip
TaskKind = Literal["single", "multi", "ordinal", "text", "per_item"]
Kind = Literal["llm", "crowd", "expert", "author", "model"]


class NewProject(TypedDict, total=False):
    """A project to make; give ``task`` and ``labels``, or a ``schema`` that says more of each."""

    name: str
    description: str
    task: TaskKind
    labels: Sequence[str]
    schema: Mapping[str, Any]
    guideline: str
    overlap: int
    blind_share: float


class Columns(TypedDict, total=False):
    """Which columns of a file or table are which field, where they are not called so."""

    text_column: str
    id_column: str
    question_column: str
    gold_column: str


class ItemFilter(TypedDict, total=False):
    """Which items; ``q`` looks in text and id."""

    stage: str
    queued: bool
    external_id: str
    q: str


class LabelFilter(TypedDict, total=False):
    """Which labels; ``current`` are those neither superseded nor withdrawn, and no rejections
    without a value, which are ``rejected``."""

    kind: Kind
    annotator: str
    item: int
    action: str
    current: bool
    rejected: bool


class Answer(TypedDict, total=False):
    """What goes with a label, or stands for it: ``reject`` says that the suggestion is wrong and,
    without a label, leaves the item to others; ``abstain`` that it cannot be told. ``evidence`` are
    phrases of the text by label; ``spans`` are ``{"label", "start", "end"}`` in code points."""

    reject: bool
    abstain: bool
    seconds: float
    comment: str
    rationale: str
    confidence: float
    evidence: Mapping[str, Sequence[str]]
    spans: Sequence[Mapping[str, Any]]


class RunPlan(TypedDict, total=False):
    """A run besides its protocol; ``model`` plays every role that ``models`` does not name."""

    model: str
    models: Mapping[str, str]
    annotators: Sequence[str]
    settings: Mapping[str, Any]
    params: Mapping[str, Mapping[str, Any]]
    limit: int
    items: Sequence[int]
    only_unlabelled: bool
    replicates: int
    budget: float | str | Decimal
    reuse_answers: bool


class DebateFilter(TypedDict, total=False):
    """Which debates of a run, and in which order."""

    status: str
    reason: str
    flag: str
    gold: str
    changed: str
    overruled: str
    q: str
    sort: str


class Predicted(TypedDict, total=False):
    """Whose labels are evaluated: a run's (the newest by default) or an annotator's, by number."""

    run: int
    annotator: int
    replicate: int


class Slice(TypedDict, total=False):
    """Which part of the ledger an agreement report is about."""

    kind: Kind
    annotator: str | int
    run: int
    replicate: int
    label: str
    since: str
    until: str
    tag: str
