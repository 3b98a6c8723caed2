"""Every address this client uses, as data: what it takes and gives, and whether it may be repeated.

The options of the client's methods are named as the server names them. A test compares all of it
with the server's OpenAPI document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Generic, Literal, TypedDict, TypeVar

from labelhub.client.records import (
    Agreement,
    Debate,
    Evaluation,
    Gold,
    ImportOutcome,
    ItemStanding,
    Label,
    Lease,
    ModelInfo,
    Project,
    Run,
    RunInList,
    Skipped,
    Task,
)

T = TypeVar("T")

PREFIX = "/api/v1/"
PAGING = frozenset({"page", "page_size"})

Protocol = Literal[
    "single", "cot", "self_consistency", "self_refine", "vote", "ecj", "discussion", "courtroom",
    "cascade",
]  # fmt: skip
TaskKind = Literal["single", "multi", "ordinal", "text", "per_item"]
Kind = Literal["llm", "crowd", "expert", "author", "model"]


class NewProject(TypedDict, total=False):
    """A new project; give ``task`` and ``labels``, or a ``schema`` with more detail."""

    name: str
    description: str
    task: TaskKind
    labels: Sequence[str]
    schema: Mapping[str, Any]
    guideline: str
    overlap: int
    blind_share: float


class Columns(TypedDict, total=False):
    """The columns of a file or table that hold the fields, where their names differ."""

    text_column: str
    id_column: str
    question_column: str
    gold_column: str


class ItemFilter(TypedDict, total=False):
    """Which items to list; ``q`` searches text and id."""

    stage: str
    queued: bool
    external_id: str
    q: str


class LabelFilter(TypedDict, total=False):
    """Which labels to list; ``current`` ones are neither superseded nor withdrawn, and are no
    rejections without a value, which are ``rejected``."""

    kind: Kind
    annotator: str
    item: int
    action: str
    current: bool
    rejected: bool


class Answer(TypedDict, total=False):
    """What goes with a label, or replaces it.

    ``reject`` marks the suggestion as wrong and, without a label, leaves the item to others;
    ``abstain`` says that you cannot decide. ``evidence`` holds phrases of the text by label;
    ``spans`` are ``{"label", "start", "end"}`` in code points.
    """

    reject: bool
    abstain: bool
    seconds: float
    comment: str
    rationale: str
    confidence: float
    evidence: Mapping[str, Sequence[str]]
    spans: Sequence[Mapping[str, Any]]


class RunPlan(TypedDict, total=False):
    """A run apart from its protocol; ``model`` plays every role that ``models`` does not name."""

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
    """Which debates of a run to list, and in which order."""

    status: str
    reason: str
    flag: str
    gold: str
    changed: str
    overruled: str
    q: str
    sort: str


class Predicted(TypedDict, total=False):
    """Whose labels to evaluate: a run's (the newest by default) or an annotator's, by number."""

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


class Repeat(StrEnum):
    """Whether a request may be sent again when its outcome is unknown."""

    READS = "it only reads"
    IDEMPOTENT = "sending it twice has the effect of sending it once"
    NEVER = "sending it twice has another effect: repeated only if the server surely did nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[T]):
    """One method of one address below ``/api/v1/``.

    ``why`` is the reason for ``repeat``; ``query`` and ``body`` are the names that may be sent;
    ``answer`` is the record it gives, or each of its rows where ``paged``; without one, a GET gives
    a file. ``slow`` ones get more time.
    """

    method: str
    path: str
    repeat: Repeat
    why: str
    answer: type[T] | None = None
    query: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    paged: bool = False
    slow: bool = False

    @property
    def streamed(self) -> bool:
        """Whether the answer is a file, which is not read into memory."""
        return self.answer is None and self.method == "GET"


def _names(options: Any, *more: str) -> frozenset[str]:
    return frozenset({*options.__annotations__, *more})


def _read(path: str, answer: type[T] | None, **more: Any) -> Endpoint[T]:
    return Endpoint(
        method="GET", path=path, repeat=Repeat.READS, why="A GET.", answer=answer, **more
    )


def _list(path: str, answer: type[T], options: frozenset[str] = frozenset()) -> Endpoint[T]:
    return _read(path, answer, paged=True, query=options | PAGING)


PROJECTS = _list("projects/", Project)
PROJECT = _read("projects/{slug}/", Project)
MODELS = _list("models/", ModelInfo)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="projects/",
    repeat=Repeat.NEVER,
    why="The slug is then taken: a second request is refused although the first succeeded.",
    answer=Project,
    body=_names(NewProject, "slug"),
)
IMPORT = Endpoint(
    method="POST",
    path="projects/{slug}/import/",
    repeat=Repeat.IDEMPOTENT,
    why="The server knows a row by its id, or else by its text; known rows stay unchanged.",
    answer=ImportOutcome,
    query=_names(Columns, "strict", "name"),
    slow=True,
)
IMPORT_STATUS = _read("projects/{slug}/imports/{batch_id}/", ImportOutcome)
ITEMS = _list("projects/{slug}/items/", ItemStanding, _names(ItemFilter))
ITEM = _read("items/{id}/", ItemStanding)
LABELS = _list("projects/{slug}/labels/", Label, _names(LabelFilter))
GOLD = _list("projects/{slug}/gold/", Gold)
NEXT = Endpoint(
    method="POST",
    path="projects/{slug}/next/",
    repeat=Repeat.IDEMPOTENT,
    why="The item that you already hold comes first, under the same lease.",
    answer=Task,
)
_ANSWER = _names(Answer, "item", "value", "suggestion")
SUBMIT = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.IDEMPOTENT,
    why="The same answer under the same lease is stored once.",
    answer=Label,
    body=_ANSWER | {"lease"},
)
SUBMIT_UNLEASED = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.NEVER,
    why="Without a lease a second answer revises the first.",
    answer=Label,
    body=_ANSWER,
)
SKIP = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.IDEMPOTENT,
    why="A skipped item stays skipped, and a postponed one stays postponed.",
    answer=Skipped,
    body=frozenset({"item", "skip", "postpone", "lease", "comment"}),
)
RENEW = Endpoint(
    method="POST",
    path="projects/{slug}/leases/{token}/",
    repeat=Repeat.IDEMPOTENT,
    why="It sets when the lease expires.",
    answer=Lease,
)
RELEASE: Endpoint[None] = Endpoint(
    method="DELETE",
    path="projects/{slug}/leases/{token}/",
    repeat=Repeat.IDEMPOTENT,
    why="A released lease stays released.",
)
START_RUN = Endpoint(
    method="POST",
    path="projects/{slug}/runs/",
    repeat=Repeat.NEVER,
    why="Every request starts another run, and every run is paid for.",
    answer=Run,
    body=_names(RunPlan, "protocol"),
)
RUNS = _list("projects/{slug}/runs/", RunInList)
RUN = _read("runs/{run_id}/", Run)
DEBATES = _list("runs/{run_id}/debates/", Debate, _names(DebateFilter))
_STEERED = (
    "The run is already in that state: a second request is refused though the first succeeded."
)
PAUSE = Endpoint(
    method="POST", path="runs/{run_id}/pause/", repeat=Repeat.NEVER, why=_STEERED, answer=Run
)
RESUME = Endpoint(
    method="POST",
    path="runs/{run_id}/resume/",
    repeat=Repeat.NEVER,
    why=_STEERED,
    answer=Run,
    body=frozenset({"budget"}),
)
CANCEL = Endpoint(
    method="POST", path="runs/{run_id}/cancel/", repeat=Repeat.NEVER, why=_STEERED, answer=Run
)
EVALUATION = _read("projects/{slug}/evaluation/", Evaluation, query=_names(Predicted), slow=True)
AGREEMENT = _read("projects/{slug}/agreement/", Agreement, query=_names(Slice), slow=True)
EXPORT: Endpoint[None] = _read(
    "projects/{slug}/export/", None, query=frozenset({"format", "only"}), slow=True
)

ENDPOINTS: dict[str, Endpoint[Any]] = {
    name: value for name, value in list(globals().items()) if isinstance(value, Endpoint)
}
