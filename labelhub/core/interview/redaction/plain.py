"""A text as the detectors read it: one alphabet of digits, blanks and dashes, nothing unseen."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from labelhub.core.interview.redaction.finding import MARK

#: Stands for a mark that is in the text already; no pattern matches it.
_BARRIER = "\ue000"
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = frozenset("‐‑‒–—−﹣－")
_QUOTES = frozenset("‘’ʼ＇")
# A dash between digits, a long vowel anywhere else.
_LONG_VOWEL = re.compile("(?<=[0-9])ー(?=[0-9])")
_DIGITS = re.compile(r"\d")


class _Letters(dict[int, str]):
    """Code point -> the plain character for it; always one, so that offsets stay."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain_letter(chr(code))
        return plain


_LETTERS = _Letters()


@dataclass(frozen=True)
class Reading:
    """What the detectors search.

    ``text``: the plain text; ``region``: where national phone numbers are taken to be from.
    """

    text: str
    region: str = ""

    @cached_property
    def small(self) -> str:
        """In small letters, to look for words in; its offsets may differ."""
        return self.text.lower()

    @cached_property
    def digits(self) -> int:
        """How many digits there are."""
        return len(_DIGITS.findall(self.text))

    def has(self, words: Iterable[str]) -> bool:
        """Whether one of ``words``, in small letters, is in the text, if only within a word."""
        small = self.small
        return any(word in small for word in words)


def plain(text: str) -> tuple[str, list[int] | None]:
    """``text`` as it is searched, and where each of its characters stood (None: where it stands).

    Marks become barriers, digits of all scripts 0-9, full-width characters narrow ones; characters
    that nobody sees are taken out.
    """
    searched = MARK.sub(lambda mark: _BARRIER * len(mark[0]), text) if "[" in text else text
    if searched.isascii():
        return searched, None
    # Which code points occur is in the hands of strangers: what is remembered has an end.
    if len(_LETTERS) > 20_000:
        _LETTERS.clear()
    searched = _LONG_VOWEL.sub("-", searched.translate(_LETTERS))
    if not _UNSEEN.search(searched):
        return searched, None
    places = [at for at, letter in enumerate(searched) if not _UNSEEN.match(letter)]
    return "".join(searched[at] for at in places), places


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    if letter in _DASHES:
        return "-"
    if letter in _QUOTES:
        return "'"
    if letter not in "\n\r\t" and unicodedata.category(letter) == "Zs":
        return " "
    narrow = unicodedata.normalize("NFKC", letter)
    return narrow if len(narrow) == 1 else letter
