"""The fields of a search, read and checked in one place for pages, REST, saved filters and bulk
jobs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrOrPromise

from apps.labels.models import Gold, Kind, Label
from apps.labels.selectors import STAGES as LADDER
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase
from labelhub.core.schema import unstorable
from labelhub.core.schema.definition import number

LONGEST = 200
MOST_ITEMS = 10_000
#: The largest key of a row.
MOST_ID = 2**63 - 1
ANYBODY = 0
STAGES: list[tuple[str, StrOrPromise]] = [
    ("waiting", _("Waiting for people")),
    ("doubtful", _("Waiting, uncertain")),
    ("rest", _("Waiting, not uncertain")),
    *((str(stage), stage.label) for stage in LADDER),
]
ACTIONS = [
    (value, _("Neither accepted nor fixed a suggestion") if value == Label.Action.NEW else words)
    for value, words in Label.Action.choices
    if value in (Label.Action.ACCEPTED, Label.Action.FIXED, Label.Action.REJECTED, Label.Action.NEW)
]
COMMENTED = [
    ("any", _("With comments")),
    ("open", pgettext_lazy("comments", "Open")),
    ("resolved", pgettext_lazy("comments", "Resolved")),
]
DIFFERING = [
    ("people", _("People from each other")),
    ("suggestion", _("A person from the suggestion")),
    ("gold", _("The suggestion from gold")),
]


def read_words(raw: Any) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError(Phrase("Must be text."))
    text = str(raw).strip()
    if bad := unstorable(text):
        raise ValueError(Phrase("Must not contain %(bad)s.", bad=bad))
    if len(text) > LONGEST:
        raise ValueError(Phrase("At most %(longest)s characters.", longest=LONGEST))
    return text


def _one_of(choices: Iterable[tuple[str, Any]]) -> Callable[[Any], str]:
    offered = [value for value, _ in choices]

    def read(raw: Any) -> str:
        if raw not in offered:
            raise ValueError(Phrase("Must be one of %(offered)s.", offered=", ".join(offered)))
        return str(raw)

    return read


def _id(raw: Any) -> int:
    text = str(raw)
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST_ID):
        raise ValueError(Phrase("Must be the number of a row."))
    return int(text)


def read_share(raw: Any) -> float:
    found = number(raw)
    if found is None or not 0 <= found <= 1:
        raise ValueError(Phrase("Must be a number from 0 to 1."))
    return found


def read_day(raw: Any) -> date:
    try:
        return date.fromisoformat(str(raw))
    except ValueError:
        raise ValueError(Phrase("Must be a day as in 2026-03-31.")) from None


def _ids(raw: Any) -> tuple[int, ...]:
    listed = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple):
        raise ValueError(Phrase("Must be a list of items' ids."))
    if len(listed) > MOST_ITEMS:
        raise ValueError(
            Phrase("At most %(most)s items; a search takes as many as there are.", most=MOST_ITEMS)
        )
    return tuple(sorted({_id(item) for item in listed}))


LABELS, UNCERTAINTY = _("Labels"), _("Uncertainty")
PEOPLE, DATES = _("People and comments"), _("Import and dates")


@dataclass(frozen=True, slots=True)
class SearchField:
    """One field of a search: its reader; its title and group in the panel, where it has a title;
    its choices, if they are the same in all projects."""

    read: Callable[[Any], Any]
    title: StrOrPromise
    group: StrOrPromise
    choices: Sequence[tuple[str, Any]]


def _column(
    read: Callable[[Any], Any] | Sequence[tuple[str, Any]],
    title: StrOrPromise,
    group: StrOrPromise = "",
) -> dict[str, SearchField]:
    """The metadata of a field of :class:`Query`; ``read``: a reader, or what to choose from."""
    choices, reader = ((), read) if callable(read) else (read, _one_of(read))
    return {"search": SearchField(reader, title, group, choices)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search over one project's items; an empty field (None, "") is no condition.

    Label values are as in a form; the project's schema reads them in the search. People are given
    by account id, annotators by annotator id; shares go from 0 to 1; ranges include both ends.
    """

    # fmt: off
    q: str = field(default="", metadata=_column(read_words, _("Words or id")))
    stage: str = field(default="", metadata=_column(STAGES, _("Stage")))
    label: str = field(default="", metadata=_column(read_words, _("Label"), LABELS))
    kind: str = field(default="", metadata=_column(Kind.choices, _("Annotator kind"), LABELS))
    annotator: int | None = field(default=None, metadata=_column(_id, _("Labelled by"), LABELS))
    not_by: int | None = field(default=None, metadata=_column(_id, _("Not labelled by"), LABELS))
    action: str = field(default="", metadata=_column(ACTIONS, _("Action of a person"), LABELS))
    suggested: str = field(default="", metadata=_column(read_words, _("Suggestion"), LABELS))
    gold: str = field(default="", metadata=_column(read_words, _("Gold"), LABELS))
    basis: str = field(default="", metadata=_column(Gold.Basis.choices, _("Basis of gold"), LABELS))
    differ: str = field(default="", metadata=_column(DIFFERING, _("Disagreement"), LABELS))
    reason: str = field(default="", metadata=_column(
        read_words, _("Uncertain because"), UNCERTAINTY))
    uncertainty_min: float | None = field(default=None, metadata=_column(
        read_share, _("Debate’s uncertainty from"), UNCERTAINTY))
    uncertainty_max: float | None = field(default=None, metadata=_column(
        read_share, _("Debate’s uncertainty to"), UNCERTAINTY))
    learned_min: float | None = field(default=None, metadata=_column(
        read_share, _("Trained model’s uncertainty from"), UNCERTAINTY))
    learned_max: float | None = field(default=None, metadata=_column(
        read_share, _("Trained model’s uncertainty to"), UNCERTAINTY))
    assigned: int | None = field(default=None, metadata=_column(_id, _("Assigned to"), PEOPLE))
    skipped_by: int | None = field(default=None, metadata=_column(_id, _("Skipped by"), PEOPLE))
    comments: str = field(default="", metadata=_column(COMMENTED, _("Comments"), PEOPLE))
    comment: str = field(default="", metadata=_column(read_words, _("Comment contains"), PEOPLE))
    comment_by: int | None = field(default=None, metadata=_column(_id, _("Comment by"), PEOPLE))
    batch: int | None = field(default=None, metadata=_column(
        _id, pgettext_lazy("noun", "Import"), DATES))
    created_from: date | None = field(default=None, metadata=_column(
        read_day, _("Imported from"), DATES))
    created_to: date | None = field(default=None, metadata=_column(
        read_day, _("Imported until"), DATES))
    labelled_from: date | None = field(default=None, metadata=_column(
        read_day, _("Labelled from"), DATES))
    labelled_to: date | None = field(default=None, metadata=_column(
        read_day, _("Labelled until"), DATES))
    decided_from: date | None = field(default=None, metadata=_column(
        read_day, _("Decided from"), DATES))
    decided_to: date | None = field(default=None, metadata=_column(
        read_day, _("Decided until"), DATES))
    items: tuple[int, ...] = field(default=(), metadata=_column(_ids, ""))
    # fmt: on

    def to_json(self) -> dict[str, Any]:
        """The fields that are not empty, as :func:`read_query` takes them."""
        given = {name: value for name, value in asdict(self).items() if value not in (None, "", ())}
        for name, value in given.items():
            if isinstance(value, date):
                given[name] = value.isoformat()
            elif isinstance(value, tuple):
                given[name] = list(value)
        return given

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The same as in an address or in the fields of a form."""
        return field_pairs(self.to_json())

    @property
    def given(self) -> int:
        return len(self.to_json())


SEARCH_FIELDS: dict[str, SearchField] = {
    column.name: column.metadata["search"] for column in fields(Query)
}
FIELDS = tuple(SEARCH_FIELDS)
RANGES = [
    (name, name.replace("_min", "_max").replace("_from", "_to"))
    for name in FIELDS
    if name.endswith(("_min", "_from"))
]


def field_pairs(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Fields of a search as an address has them, also of one that cannot be used any more."""
    return [
        (name, ",".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in fields.items()
    ]


def read_query(data: Mapping[str, Any], *, strict: bool = False) -> Query:
    """Read a search from a form's data or from JSON; ``strict`` refuses unknown fields.

    Raises:
        InvalidInput: with each field that cannot be used, and the reason.
    """
    found: dict[str, Any] = {}
    faults: list[dict[str, str]] = []
    for name in FIELDS:
        raw = data.get(name)
        if raw in (None, "", []):
            continue
        try:
            found[name] = SEARCH_FIELDS[name].read(raw)
        except ValueError as error:
            faults.append({"field": name, "message": str(error)})
    if strict:
        strange = sorted(str(name) for name in data if name not in SEARCH_FIELDS)
        faults += [
            {
                "field": name,
                "message": Phrase(
                    "there is no such field; a search has %(fields)s.", fields=", ".join(FIELDS)
                ),
            }
            for name in strange
        ]
    faults += _reversed_ranges(found)
    if faults:
        words = " ".join(f"{fault['field']}: {fault['message']}" for fault in faults)
        raise InvalidInput(words, data={"errors": faults})
    return Query(**found)


def _reversed_ranges(found: Mapping[str, Any]) -> Iterable[dict[str, str]]:
    """Ranges that end before they begin."""
    for low, high in RANGES:
        if low in found and high in found and found[low] > found[high]:
            yield {"field": high, "message": Phrase("Must not be below %(low)s.", low=low)}
