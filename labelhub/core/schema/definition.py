"""Label schemas: the question asked about each item, and what counts as an answer.

Everything here is frozen and validated at construction. A value that a schema does not offer is
refused by name (``ValueNotOffered``), never guessed.

Canonical values, the only shapes that reach the ledger:

========== ===========================================================
task       value
========== ===========================================================
single     one label name (``str``)
multi      list of the present label names, in schema order
ordinal    the number of a scale point (``int`` or ``float``)
text       non-empty ``str``
per_item   one of the item's own options (``str``); free text where it has none
========== ===========================================================
"""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from labelhub.core.errors import InvalidInput

Value: TypeAlias = str | int | float | list[str]

#: Control and format characters, and all kinds of space: a text of these alone shows nothing.
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


class ValueNotOffered(InvalidInput):
    """A value is not among what the schema (or the item) offers."""

    code = "value_not_offered"


class Task(StrEnum):
    """What kind of answer a project asks for."""

    SINGLE = "single"
    MULTI = "multi"
    ORDINAL = "ordinal"
    TEXT = "text"
    PER_ITEM = "per_item"


@dataclass(frozen=True, slots=True)
class LabelDef:
    """One label or aspect. ``point`` is its number on an ordinal scale, else None."""

    name: str
    description: str = ""
    include: str = ""
    exclude: str = ""
    examples_for: tuple[str, ...] = ()
    examples_against: tuple[str, ...] = ()
    point: float | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; empty fields are left out."""
        full: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "include": self.include,
            "exclude": self.exclude,
            "examples_for": list(self.examples_for),
            "examples_against": list(self.examples_against),
            "point": self.point,
        }
        return {key: kept for key, kept in full.items() if kept not in ("", [], None)}


@dataclass(frozen=True, slots=True)
class Schema:
    """A validated label schema; build it with :func:`~labelhub.core.schema.parse_schema`."""

    task: Task
    question: str = ""
    labels: tuple[LabelDef, ...] = ()
    _by_key: Mapping[str, LabelDef] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The label names, in schema order."""
        return tuple(label.name for label in self.labels)

    def label(self, name: str) -> LabelDef | None:
        """The label of that name; case, width and outer blanks do not matter."""
        return self._by_key.get(fold(name))

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :func:`~labelhub.core.schema.parse_schema` reads back unchanged."""
        return {
            "task": str(self.task),
            "question": self.question,
            "labels": [label.to_json() for label in self.labels],
        }

    def of_item(self, options: Sequence[str]) -> "Schema":
        """The schema as it is for an item with these options: without any, it asks for text."""
        if self.task is Task.PER_ITEM and not options:
            return Schema(Task.TEXT, self.question)
        return self

    def offered(self, options: Sequence[str] = ()) -> tuple[str, ...]:
        """The names an answer may use: the item's own options for ``per_item``."""
        return tuple(options) if self.task is Task.PER_ITEM else self.names

    def normalise(self, raw: Any, options: Sequence[str] = ()) -> Value:
        """The canonical value of ``raw``.

        Raises:
            ValueNotOffered: the value is of the wrong shape or not among what is offered.
        """
        match self.task:
            case Task.SINGLE:
                return self._one(raw)
            case Task.MULTI:
                return self._many(raw)
            case Task.ORDINAL:
                return self._point(raw)
            case Task.TEXT:
                return _text(raw)
            case Task.PER_ITEM:
                return _option(raw, options) if options else _text(raw)

    def _one(self, raw: Any) -> str:
        found = self.label(raw) if isinstance(raw, str) else None
        if found is None:
            raise _not_offered(raw, self.names)
        return found.name

    def _many(self, raw: Any) -> list[str]:
        present = {self._one(name) for name in _present_names(raw, self.names)}
        return [name for name in self.names if name in present]

    def _point(self, raw: Any) -> float | int:
        found = self.label(raw) if isinstance(raw, str) else None
        wanted = found.point if found else number(raw)
        for label in self.labels:
            if wanted is not None and label.point == wanted:
                return int(wanted) if wanted == int(wanted) else wanted
        points = [f"{label.point:g}" for label in self.labels if label.point is not None]
        raise _not_offered(raw, points)


def fold(name: str) -> str:
    """The form in which names are compared: NFKC, case-folded, blanks trimmed."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def unstorable(text: str) -> str:
    """What in ``text`` neither UTF-8 nor a database takes, in words; empty where nothing is."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a character pair"
    return ""


def value_key(value: Value) -> str:
    """A string that is equal for equal canonical values, and only for them."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def value_words(value: Value | None) -> str:
    """A value as people read it; an empty set is said in words."""
    if value is None:
        return "—"
    if isinstance(value, list):
        return ", ".join(value) if value else "None of these"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _present_names(raw: Any, offered: Sequence[str]) -> list[Any]:
    if isinstance(raw, Mapping):
        if not raw:
            raise ValueNotOffered("An empty object says nothing of any label; none of them is [].")
        if not all(isinstance(is_there, bool) for is_there in raw.values()):
            raise ValueNotOffered("Each label must be true or false.")
        folded = {fold(name) for name in offered}
        strange = next((name for name in raw if fold(str(name)) not in folded), None)
        if strange is not None:
            raise _not_offered(strange, offered)
        present = [name for name, is_there in raw.items() if is_there]
        said = {fold(str(name)) for name in raw}
        missing = [name for name in offered if fold(name) not in said]
        if missing and not present:  # nobody said that none of these is there
            raise ValueNotOffered(f"Nothing is said of: {_listed(missing)}.")
        return present
    if isinstance(raw, list | tuple):
        return list(raw)
    raise ValueNotOffered("Several labels must be a list of names, or names with true or false.")


def _text(raw: Any) -> str:
    if not isinstance(raw, str) or all(unicodedata.category(sign) in UNSEEN for sign in raw):
        raise ValueNotOffered("The answer must be text and not empty.")
    if bad := unstorable(raw):
        raise ValueNotOffered(f"The answer must not contain {bad}.")
    return raw.strip()


def _option(raw: Any, options: Sequence[str]) -> str:
    if isinstance(raw, str):
        for option in options:
            if fold(option) == fold(raw):
                return option
    raise _not_offered(raw, options)


def number(raw: Any) -> float | None:
    """The finite number that ``raw`` is or spells, else None; booleans are none."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        read = float(raw)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def _not_offered(raw: Any, offered: Iterable[str]) -> ValueNotOffered:
    choice = _listed(list(offered))
    if isinstance(raw, list | tuple):
        return ValueNotOffered(f"A list of {len(raw)} was given for one value: {choice}.")
    return ValueNotOffered(f"'{str(raw)[:80]}' is not offered here; the choice is: {choice}.")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
