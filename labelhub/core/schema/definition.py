"""Label schemas: the question about each item and its possible answers.

Schemas are frozen and validated when they are built. A value that a schema does not offer raises
``ValueNotOffered`` with its name and is never guessed.

Only canonical values reach the ledger; each label type in ``tasks`` defines its own.
"""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase

if TYPE_CHECKING:
    from labelhub.core.schema.tasks.base import LabelType

Value: TypeAlias = str | int | float | list[str]

#: The colours of labels, in the order in which they are given out; ``static/css/tokens.css`` has
#: their values.
COLORS = ("blue", "orange", "green", "pink", "teal", "purple", "yellow", "red")


class ValueNotOffered(InvalidInput):
    """The schema (or the item) does not offer the value."""

    code = "value_not_offered"


class SchemaError(InvalidInput):
    """A label schema is not well formed; the message names the field."""

    code = "invalid_schema"


@dataclass(frozen=True, slots=True)
class LabelDef:
    """One label or aspect. ``point`` is its number on an ordinal scale, else None. ``color`` is one
    of :data:`COLORS`, or empty for the colour of its place; labels that differ by it alone are
    equal."""

    name: str
    description: str = ""
    include: str = ""
    exclude: str = ""
    examples_for: tuple[str, ...] = ()
    examples_against: tuple[str, ...] = ()
    point: float | None = None
    color: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash(self.name)  # of all fields it takes long, and caches look labels up often

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; empty fields are left out."""
        full = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(kept) if isinstance(kept, tuple) else kept
            for name, kept in full.items()
            if kept not in ("", (), None)
        }


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
        """The label of that name; case, width and outer blanks are ignored."""
        return self._by_key.get(fold(name))

    def color(self, name: str, options: Sequence[str] = ()) -> str:
        """The colour of an offered name: its own, or that of its place; "" for any other name."""
        names = self.offered(options)
        if name not in names:
            return ""
        label = self.label(name)
        own = label.color if label is not None else ""
        return own or COLORS[names.index(name) % len(COLORS)]

    @property
    def colors(self) -> tuple[str, ...]:
        """The chosen colours of the labels, in schema order; "" for an automatic one."""
        return tuple(label.color for label in self.labels)

    def to_json(self) -> dict[str, Any]:
        """JSON form, which :func:`~labelhub.core.schema.parse_schema` reads back unchanged."""
        return {
            "task": str(self.task),
            "question": self.question,
            "labels": [label.to_json() for label in self.labels],
        }

    def of_item(self, options: Sequence[str]) -> "Schema":
        """The schema for an item with these options; without options ``per_item`` asks for text."""
        return self.task.of_item(self, options)

    def offered(self, options: Sequence[str] = ()) -> tuple[str, ...]:
        """The names an answer may use: the item's own options for ``per_item``."""
        return self.task.offered(self, options)

    def normalise(self, raw: Any, options: Sequence[str] = ()) -> Value:
        """The canonical value of ``raw``.

        Raises:
            ValueNotOffered: the value has the wrong shape or is not offered.
        """
        return self.task.normalise(self, raw, options)

    def names_in(self, value: Value | None) -> frozenset[str]:
        """The names in a canonical value; of a written answer the text itself."""
        return frozenset(() if value is None else self.task.names_in(self, value))

    def name_of(self, value: Value) -> str:
        """A canonical value as prompts and tables show it: a scale point by its name."""
        return self.task.name_of(self, value)


def fold(name: str) -> str:
    """The form in which names are compared: NFKC, case-folded, blanks trimmed."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def unstorable(text: str) -> str:
    """The part of ``text`` that UTF-8 or a database refuses, in words; empty if there is none."""
    if "\0" in text:
        return Phrase("a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        return Phrase("half of a character pair")
    return ""


def value_key(value: Value | None) -> str:
    """A string that is equal for equal canonical values, and only for them; None has its own."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def value_words(value: Value | None) -> str:
    """A value as people read it; an empty set is "None of these"."""
    if value is None:
        return "—"
    if isinstance(value, list):
        return ", ".join(value) if value else "None of these"
    return f"{value:g}" if isinstance(value, float) else str(value)


def number(raw: Any) -> float | None:
    """The finite number that ``raw`` is or spells, else None; a boolean is no number."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        read = float(raw)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def not_offered_error(raw: Any, offered: Iterable[str]) -> ValueNotOffered:
    """The error for ``raw``, with the names to choose from."""
    choice = join_names(list(offered))
    if isinstance(raw, list | tuple):
        return ValueNotOffered(
            "A list of %(raw)s was given for one value: %(choice)s.", raw=len(raw), choice=choice
        )
    return ValueNotOffered(
        "'%(raw)s' is not offered here; the choice is: %(choice)s.",
        raw=str(raw)[:80],
        choice=choice,
    )


def join_names(names: Sequence[str]) -> str:
    """The first twelve names, joined by commas."""
    return ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
