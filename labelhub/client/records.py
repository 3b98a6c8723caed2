"""What comes back: frozen records whose fields are named as in the OpenAPI document.

Fields that a newer server adds are ignored. Times have a time zone; ids of labels and runs
(``uid``) are text. :func:`read` makes the records from JSON by their type hints.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from labelhub.client.errors import UnexpectedAnswer

T = TypeVar("T")
#: Takes the JSON value and its place in the answer.
Reader = Callable[[Any, str], Any]

DONE, FAILED, PAUSED, CANCELLED = "done", "failed", "paused", "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Who gave a label; ``kind`` is llm, crowd, expert, author or model."""

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
    """The question that every item is labelled for."""

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
    """One text and its context; ``external_id`` is its id in the import."""

    id: int
    external_id: str
    text: str
    context: Any = ()
    question: str = ""
    options: Any = ()
    meta: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The value that a debate proposes, with its quotes."""

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
    """An item and its place in the workflow."""

    stage: str
    queued: bool
    reasons: tuple[str, ...]
    labels_by_people: int
    suggestion: Suggestion | None
    gold: Decision | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A short exclusive hold on an item."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An item that is yours to label until the lease expires, and a debate's suggestion."""

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
    """An item that you skipped or postponed."""

    item: int
    action: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The decided value of an item."""

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
    """Why a row was not imported; rows count from 1 in your data."""

    row: int
    field: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """The result of an import; it lists the first 1,000 faults of each part sent."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRole:
    """The model and prompt behind a role of a run."""

    role: str
    model: str
    provider: str
    offline: bool
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run, counted in debates; None marks what is not known."""

    total: int
    done: int
    unparsed: int
    failed: int
    waiting: int
    turns: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    calls_per_second: float | None
    seconds_left: float | None
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInList:
    """A run as it appears in a list of runs."""

    id: int
    uid: str
    project: str
    protocol: str
    settings: Any
    replicates: int
    roles: tuple[RunRole, ...]
    schema_version: int
    status: str
    pause_code: str
    message: str
    resume_at: datetime | None
    cost_usd: float | None
    budget_usd: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def stopped(self) -> bool:
        """Whether the run is over or waits for somebody to resume it; a run that rests, for
        example because of an endpoint's limits, continues by itself."""
        resting = self.status == PAUSED and self.resume_at is not None
        return self.status in (DONE, PAUSED, CANCELLED) and not resting


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunInList):
    """A run with its progress."""

    progress: RunProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate:
    """One item in a run."""

    id: int
    run: int
    item: int
    item_external_id: str
    replicate: int
    status: str
    value: Any
    gold: Any
    uncertainty: float | None
    signals: Any
    flags: Any
    reasons: Any
    error: str
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of items by predicted and gold value."""

    predicted_yes_gold_yes: int
    predicted_yes_gold_no: int
    predicted_no_gold_yes: int
    predicted_no_gold_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore:
    """One label's counts and metrics."""

    label: str
    counts: Counts
    precision: Figure
    recall: Figure
    f1: Figure
    accuracy: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Predicted values against gold; ``overall`` is by the name of the metric."""

    project: str
    task: str
    run: int | None
    replicate: int | None
    annotator: str | None
    kind: str | None
    offline: bool | None
    note: str
    gold: int
    items: int
    unanswered: int
    n: int
    overall: Mapping[str, Figure]
    labels: tuple[LabelScore, ...]
    matrix: Mapping[str, Mapping[str, int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement within and between kinds of annotators, against gold and against authors.

    ``within`` and ``cost`` are by kind, then by the name of the figure.
    """

    project: str
    task: str
    slice: Mapping[str, Any]
    unit: str
    categories: tuple[str, ...] | None
    offline: Mapping[str, tuple[str, ...]]
    items: int
    sources: Mapping[str, Mapping[str, Any]]
    within: Mapping[str, Mapping[str, Figure]]
    per_label: Mapping[str, Any]
    between: tuple[Mapping[str, Any], ...]
    against_gold: Mapping[str, Mapping[str, Any]]
    against_author: Mapping[str, Mapping[str, Any]]
    alt_test: Mapping[str, Mapping[str, Any]]
    comparisons: Mapping[str, Mapping[str, Any]]
    intra: Mapping[str, Mapping[str, Any]]
    left_out: Mapping[str, int]
    reasons: Mapping[str, str]
    cost: Mapping[str, Mapping[str, Figure]]


def read(kind: type[T], data: Any) -> T:
    """The record of that kind.

    Raises:
        UnexpectedAnswer: a field is missing or has another type; the message names it.
    """
    return cast(T, reader_of(cast(Any, kind))(data, kind.__name__))


@cache
def reader_of(hint: Any) -> Reader:
    """The function that reads values of one type hint."""
    if hint is Any:
        return lambda data, _: data
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(_read_record, hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        (kept,) = (option for option in inner if option is not NoneType)
        reader = reader_of(kept)
        return lambda data, place: None if data is None else reader(data, place)
    if origin is tuple:
        return partial(_read_list, reader_of(inner[0]))
    if origin is Mapping:
        return partial(_read_mapping, reader_of(inner[1]))
    return _read_time if hint is datetime else partial(_read_plain, hint)


@cache
def _field_readers(kind: type[Any]) -> list[tuple[str, Reader, bool]]:
    """The name and reader of each field, and whether it has a default."""
    hints = get_type_hints(kind)
    return [
        (
            item.name,
            reader_of(hints[item.name]),
            item.default is not MISSING or item.default_factory is not MISSING,
        )
        for item in fields(kind)
    ]


def _read_record(kind: type[Any], data: Any, place: str) -> Any:
    if not isinstance(data, Mapping):
        raise _wrong_type(place, "an object", data)
    values = {}
    for name, reader, optional in _field_readers(cast(Any, kind)):
        if optional and data.get(name) is None:
            continue  # null stands for the default
        if name not in data:
            raise UnexpectedAnswer(
                f"The server's answer has no {place}.{name}; is this client newer than the server?"
            )
        values[name] = reader(data[name], f"{place}.{name}")
    return kind(**values)


def _read_list(reader: Reader, data: Any, place: str) -> Any:
    if not isinstance(data, list):
        raise _wrong_type(place, "a list", data)
    return tuple(reader(value, f"{place}[{index}]") for index, value in enumerate(data))


def _read_mapping(reader: Reader, data: Any, place: str) -> Any:
    if not isinstance(data, Mapping):
        raise _wrong_type(place, "an object", data)
    return {str(name): reader(value, f"{place}.{name}") for name, value in data.items()}


def _read_time(data: Any, place: str) -> datetime:
    try:
        return datetime.fromisoformat(data)
    except (TypeError, ValueError):
        raise _wrong_type(place, "an instant", data) from None


def _read_plain(kind: type[Any], data: Any, place: str) -> Any:
    accepted = (int, float) if kind is float else kind
    if not isinstance(data, accepted) or (isinstance(data, bool) and kind is not bool):
        raise _wrong_type(place, kind.__name__, data)
    return data


def _wrong_type(place: str, wanted: str, data: Any) -> UnexpectedAnswer:
    return UnexpectedAnswer(f"{place} should be {wanted}, but is {type(data).__name__}.")
