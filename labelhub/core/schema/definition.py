"""Label schemas: the question asked about each item, and what counts as an answer.

Everything here is frozen and validated at construction. A value that a schema does not offer is
refused by name (``ValueNotOffered``), never guessed.

Canonical values are the only shapes that reach the ledger; each label type in ``tasks`` says which
its own are.
"""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from labelhub.core.errors import InvalidInput

if TYPE_CHECKING:
    from labelhub.core.schema.tasks.base import LabelType

Value: TypeAlias = str | int | float | list[str]


class ValueNotOffered(InvalidInput):
    """A value is not among what the schema (or the item) offers."""

    code = "value_not_offered"


class SchemaError(InvalidInput):
    """A label schema is not well formed; the message names the field."""

    code = "invalid_schema"


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

    task: "LabelType"
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
        return self.task.of_item(self, options)

    def offered(self, options: Sequence[str] = ()) -> tuple[str, ...]:
        """The names an answer may use: the item's own options for ``per_item``."""
        return self.task.offered(self, options)

    def normalise(self, raw: Any, options: Sequence[str] = ()) -> Value:
        """The canonical value of ``raw``.

        Raises:
            ValueNotOffered: the value is of the wrong shape or not among what is offered.
        """
        return self.task.normalise(self, raw, options)

    def names_in(self, value: Value | None) -> frozenset[str]:
        """The names that a canonical value says apply; of a written answer its words."""
        return frozenset(() if value is None else self.task.names_in(self, value))

    def name_of(self, value: Value) -> str:
        """A canonical value as prompts and tables name it: on a scale by the name of the point."""
        return self.task.name_of(self, value)


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


def number(raw: Any) -> float | None:
    """The finite number that ``raw`` is or spells, else None; booleans are none."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        read = float(raw)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def not_offered(raw: Any, offered: Iterable[str]) -> ValueNotOffered:
    """The refusal of ``raw``, with the names to choose from."""
    choice = listed(list(offered))
    if isinstance(raw, list | tuple):
        return ValueNotOffered(f"A list of {len(raw)} was given for one value: {choice}.")
    return ValueNotOffered(f"'{str(raw)[:80]}' is not offered here; the choice is: {choice}.")


def listed(names: Sequence[str]) -> str:
    """At most twelve names, in a line."""
    return ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
