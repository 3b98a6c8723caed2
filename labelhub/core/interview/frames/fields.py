"""Reading one field of a frame: each reader takes what stood in the JSON and gives a checked value.

A reader raises ``ValueError`` with the words that complete "qid …", such as "must be a text";
:func:`take` adds the name.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from labelhub.core.interview.frames.errors import BadField, TooLong

MOST_TEXT, MOST_ID, MOST_WORD = 8_000, 64, 40
#: Milliseconds: more than a day is no measurement.
MOST_MS = 86_400_000
#: The largest integer that JavaScript counts exactly.
MOST_INT = 2**53 - 1

#: Says that a field has no default: it must be there.
REQUIRED: Final[Any] = object()

Value = TypeVar("Value")
Reader = Callable[[object], Value]

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MOST_ID}}}")


def take(
    d: Mapping[str, object], name: str, read: Reader[Value], default: Value = REQUIRED
) -> Value:
    """The field ``name`` as ``read`` reads it; one that is missing or null is its ``default``.

    Raises:
        BadField: it must be there and is not, or it has not the shape it must have.
    """
    value = d.get(name)
    if value is None:
        if default is REQUIRED:
            raise BadField(f"{name} is missing")
        return default
    try:
        return read(value)
    except ValueError as fault:
        raise BadField(f"{name} {fault}") from None


def identifier(value: object) -> str:
    """An id: 1 to 64 letters, digits, ``_`` and ``-``."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"must be 1 to {MOST_ID} letters, digits, _ and -")
    return value


def reference(value: object) -> str:
    """What a host calls something of its own: 1 to 64 printable characters, such as ``msg:17``."""
    if not isinstance(value, str) or not 1 <= len(value) <= MOST_ID:
        raise ValueError(f"must be 1 to {MOST_ID} characters")
    if not value.isprintable() or not value.strip():
        raise ValueError("has characters that are not printable")
    return value


def text(value: object) -> str:
    """Text without NUL and without halves of surrogate pairs, of any length."""
    if not isinstance(value, str):
        raise ValueError("must be a text")
    if "\0" in value or _SURROGATE.search(value):
        raise ValueError("has characters that cannot be stored")
    return value


def message(value: object) -> str:
    """What an author or the assistant wrote: text of at most 8,000 code points."""
    read = text(value)
    if len(read) > MOST_TEXT:
        raise TooLong(f"text has more than {MOST_TEXT} characters")
    return read


def word(value: object) -> str:
    """One word of at most 40 code points, blanks around it removed."""
    read = text(value).strip()
    if len(read.split()) != 1 or len(read) > MOST_WORD:
        raise ValueError(f"must be one word of at most {MOST_WORD} characters")
    if any(unicodedata.category(char) == "Cc" for char in read):
        raise ValueError("has control characters")
    return read


def short(most: int, signs: str) -> Reader[str]:
    """A reader of texts of up to ``most`` of the ``signs`` (the inside of a character class)."""
    pattern = re.compile(rf"[{signs}]{{0,{most}}}")

    def read(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"must be a text of at most {most} of the usual characters")
        return value

    return read


def one_of(*offered: str) -> Reader[str]:
    """A reader of one of the ``offered`` texts."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in offered:
            raise ValueError(f"must be one of {', '.join(offered)}")
        return value

    return read


def some_of(*offered: str) -> Reader[tuple[str, ...]]:
    """A reader of a list with at least one of the ``offered`` texts, none of them twice."""

    def read(value: object) -> tuple[str, ...]:
        named = value if isinstance(value, list) else []
        found = tuple(name for name in offered if name in named)
        if not found or len(found) != len(named):
            raise ValueError(f"must be a list of {', '.join(offered)}, none twice")
        return found

    return read


def whole(most: int = MOST_INT) -> Reader[int]:
    """A reader of numbers from 0 to ``most``; what is behind the point is cut off."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number")
        if not 0 <= value <= most:
            raise ValueError(f"must be a number from 0 to {most}")
        return int(value)

    return read


def truth(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def inner(value: object) -> Mapping[str, object]:
    """An object."""
    if not isinstance(value, dict):
        raise ValueError("must be an object")
    return value
