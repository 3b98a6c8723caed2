"""The spellings of answers: prompts show one form, and a few exact forms are recognised."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from labelhub.core.schema.definition import Schema, fold

#: A plain number; Python would also read ``1_0`` and ``1e1`` as ten.
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_JOINT = re.compile(r"(?<=[^\W\d_])[-‐‑_](?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Menu:
    """The names that an answer may use, with their spellings.

    Attributes:
        exact: squashed spelling → name.
        loose: the same with hyphens and underscores between letters as blanks, for spellings that
            only one name has.
        longest: longer forms are not looked up, which keeps hostile answers cheap to read.
        widest: how many pieces between commas may spell one name.
    """

    names: tuple[str, ...]
    exact: Mapping[str, str]
    loose: Mapping[str, str]
    longest: int
    widest: int

    def find(self, form: str) -> str | None:
        """The name that ``form`` spells, else None."""
        if len(form) > self.longest:
            return None
        key = squash(form)
        return self.exact.get(key) or self.loose.get(loosen(key))


def menu_of(schema: Schema, options: Sequence[str] = ()) -> Menu:
    """The menu of a schema, or of an item's own options.

    Names that differ only in case or blanks look the same in an answer, so neither is on the menu.
    A name takes precedence over another label's number.
    """
    # Only menus of schemas are cached: options may hold words about somebody.
    return _make_menu(schema, options) if options else _cached_menu(schema, ())


def _make_menu(schema: Schema, options: Sequence[str]) -> Menu:
    named = schema.offered(options)
    exact = _unique((squash(name), name) for name in named)
    numbered = {
        squash(form): name
        for name, number in answer_ids(schema).items()
        for form in _with_number(name, number)
    }
    loose = _unique((loosen(squash(name)), name) for name in named)
    # Decoration, blanks and letters in several parts make an answer longer than the name.
    longest = 4 * max(map(len, named), default=0) + 200
    # "a, b and c, d": two names that an "and" joins share a piece.
    commas = max((name.count(",") for name in named), default=0)
    return Menu(tuple(exact.values()), numbered | exact, loose, longest, 2 * commas + 1)


_cached_menu = lru_cache(maxsize=256)(_make_menu)


def answer_ids(schema: Schema) -> dict[str, str]:
    """Name → the number that a model may answer instead; empty if there are none.

    Labels count from 0 (as paper 001 numbers them), scale points have their own number. If a name
    looks like a number, numbers would be ambiguous and there are none.
    """
    if not schema.task.labelled or schema.task.several or any(map(is_number, schema.names)):
        return {}
    return {
        label.name: number_words(place if label.point is None else label.point)
        for place, label in enumerate(schema.labels)
    }


def number_words(number: float) -> str:
    """``number`` in full: not rounded, without ``.0``."""
    # Whole numbers may be too large for a float.
    whole = isinstance(number, int) or (math.isfinite(number) and number == int(number))
    return str(int(number)) if whole else repr(number)


def is_number(name: str) -> bool:
    """Whether a name looks like a number."""
    bare = unicodedata.normalize("NFKC", name).strip().lstrip("+-−")
    return bare.replace(".", "", 1).isdigit()


def squash(text: str) -> str:
    """Folded, with every run of blanks as one space: the form in which spellings are compared."""
    return " ".join(fold(text).split())


def loosen(key: str) -> str:
    """A squashed spelling with hyphens and underscores between letters as blanks."""
    return _JOINT.sub(" ", key)


def _with_number(name: str, number: str) -> tuple[str, ...]:
    return (
        number,
        f"label {number}",
        f"{number}: {name}",
        f"{number}. {name}",
        f"{number}) {name}",
        f"({number}) {name}",
        f"{number} - {name}",
        f"{number} ({name})",
        f"{name} ({number})",
    )


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    named = [(key, name) for key, name in pairs if key]
    counts = Counter(key for key, _ in named)
    return {key: name for key, name in named if counts[key] == 1}


def label_block(schema: Schema) -> list[dict[str, Any]]:
    """The labels as prompts show them: all fields of the definition and the answer number."""
    numbers = answer_ids(schema)
    return [
        {
            "id": numbers.get(label.name, ""),
            "name": label.name,
            "description": label.description,
            "include": label.include,
            "exclude": label.exclude,
            "examples_for": label.examples_for,
            "examples_against": label.examples_against,
        }
        for label in schema.labels
    ]
