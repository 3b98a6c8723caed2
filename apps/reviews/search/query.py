"""The fields of a search, read and checked in one place for pages, REST, saved filters and bulk
jobs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrOrPromise

from apps.labels.models import Gold, Kind, Label
from apps.labels.selectors import STAGES as LADDER
from labelhub.core.errors import InvalidInput
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search over one project's items; an empty field (None, "") is no condition.

    Label values are as in a form; the project's schema reads them in the search. People are given
    by account id, annotators by annotator id; shares go from 0 to 1; ranges include both ends.
    """

    q: str = ""
    stage: str = ""
    label: str = ""
    kind: str = ""
    annotator: int | None = None
    not_by: int | None = None
    suggested: str = ""
    gold: str = ""
    basis: str = ""
    action: str = ""
    differ: str = ""
    reason: str = ""
    uncertainty_min: float | None = None
    uncertainty_max: float | None = None
    learned_min: float | None = None
    learned_max: float | None = None
    assigned: int | None = None
    comments: str = ""
    comment: str = ""
    comment_by: int | None = None
    skipped_by: int | None = None
    batch: int | None = None
    created_from: date | None = None
    created_to: date | None = None
    labelled_from: date | None = None
    labelled_to: date | None = None
    decided_from: date | None = None
    decided_to: date | None = None
    items: tuple[int, ...] = ()

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
            found[name] = READERS[name](raw)
        except ValueError as error:
            faults.append({"field": name, "message": str(error)})
    if strict:
        strange = sorted(str(name) for name in data if name not in READERS)
        faults += [
            {"field": name, "message": f"there is no such field; a search has {', '.join(FIELDS)}."}
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
            yield {"field": high, "message": f"must not be below {low}."}


def _words(raw: Any) -> str:
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError("Must be text.")
    text = str(raw).strip()
    if bad := unstorable(text):
        raise ValueError(f"Must not contain {bad}.")
    if len(text) > LONGEST:
        raise ValueError(f"At most {LONGEST} characters.")
    return text


def _one_of(choices: Iterable[tuple[str, Any]]) -> Callable[[Any], str]:
    offered = [value for value, _ in choices]

    def read(raw: Any) -> str:
        if raw not in offered:
            raise ValueError(f"Must be one of {', '.join(offered)}.")
        return str(raw)

    return read


def _id(raw: Any) -> int:
    text = str(raw)
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST_ID):
        raise ValueError("Must be the number of a row.")
    return int(text)


def _share(raw: Any) -> float:
    found = number(raw)
    if found is None or not 0 <= found <= 1:
        raise ValueError("Must be a number from 0 to 1.")
    return found


def _day(raw: Any) -> date:
    try:
        return date.fromisoformat(str(raw))
    except ValueError:
        raise ValueError("Must be a day as in 2026-03-31.") from None


def _ids(raw: Any) -> tuple[int, ...]:
    listed = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple):
        raise ValueError("Must be a list of items' ids.")
    if len(listed) > MOST_ITEMS:
        raise ValueError(f"At most {MOST_ITEMS:,} items; a search takes as many as there are.")
    return tuple(sorted({_id(item) for item in listed}))


RANGES = (
    ("uncertainty_min", "uncertainty_max"),
    ("learned_min", "learned_max"),
    ("created_from", "created_to"),
    ("labelled_from", "labelled_to"),
    ("decided_from", "decided_to"),
)
FIELDS = tuple(field.name for field in fields(Query))
READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("q", "label", "suggested", "gold", "reason", "comment"), _words),
    **dict.fromkeys(("annotator", "not_by", "assigned", "comment_by", "skipped_by", "batch"), _id),
    **dict.fromkeys((name for pair in RANGES[:2] for name in pair), _share),
    **dict.fromkeys((name for pair in RANGES[2:] for name in pair), _day),
    "stage": _one_of(STAGES),
    "kind": _one_of(Kind.choices),
    "basis": _one_of(Gold.Basis.choices),
    "action": _one_of(ACTIONS),
    "differ": _one_of(DIFFERING),
    "comments": _one_of(COMMENTED),
    "items": _ids,
}
