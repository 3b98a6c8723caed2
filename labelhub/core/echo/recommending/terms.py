"""The words of messages and items, in the form in which they are compared."""

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from labelhub.core.schema import fold
from labelhub.core.similarity import words
from labelhub.core.stems import stem

_SOURCE = Path(__file__).with_name("words.toml")


def terms(text: str) -> list[str]:
    """The stems of the words of ``text`` that say something, in order.

    Words are those of :func:`labelhub.core.similarity.words`: of scripts without blanks they are
    pairs of characters. Small words of five languages and lone letters are left out; numbers stay.
    """
    small = _listed("small")
    return [
        stem(word)
        for word in words(text.replace("_", " "))
        if word not in small and (len(word) > 1 or word.isdecimal())
    ]


def spelled(value: str) -> str:
    """The form in which values are compared: case, width, blanks and underscores aside."""
    return " ".join(fold(value).replace("_", " ").split())


def denied(value: str) -> str:
    """What a value says no to: "plastic" of "no plastic", "not_heavy" is "heavy"; "" if nothing.

    A bare "no" says no to nothing by itself; see :func:`is_no`.
    """
    found = _denial().match(spelled(value))
    return found["rest"] if found else ""


def is_yes(value: str) -> bool:
    """Whether a value is a bare yes, in one of five languages."""
    return fold(value) in _listed("yes")


def is_no(value: str) -> bool:
    """Whether a value is a bare no, in one of five languages."""
    return fold(value) in _listed("no")


@lru_cache(maxsize=1)
def _denial() -> re.Pattern[str]:
    spaced = "|".join(sorted(map(re.escape, _listed("denials"))))
    return re.compile(rf"(?:{spaced})[ \-]+(?P<rest>\S.*)")


@lru_cache(maxsize=8)
def _listed(name: str) -> frozenset[str]:
    return frozenset(tomllib.loads(_SOURCE.read_text("utf-8"))[name].split())
