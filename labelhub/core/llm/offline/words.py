"""Reading a text: tokens with rough stems, clauses, sentences. Linear in the text's length."""

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’]\w+)*")
# A quotation mark ends a clause too, so that a quoted clause never holds one.
_CLAUSE_END = re.compile(
    r"[.!?;:,\n\r\"“”„«»()…|]+|\s[-–—]+\s|\s(?=(?:but|although|though|however|whereas|nhưng)\s)",
    re.IGNORECASE,
)
# One character, not a run: a run of a million dots would be tried from each of its places.
_SENTENCE_END = re.compile(r"[.!?…\n\r](?=\s|$)")
_VOWEL = re.compile(r"[aeiouy]")
_LETTER = re.compile(r"\w")
QUOTE_LIMIT = 140


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text: its stem and where it stands, in code points."""

    stem: str
    start: int
    end: int
    clause: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that has been read: its words, and its clauses as (start, end)."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[tuple[int, int], ...]

    def quote(self, start: int, end: int) -> str:
        """The clause around a place in the text, word for word, at most about 140 characters."""
        left, right = self.clauses[max(bisect_right(self.clauses, (start, sys.maxsize)) - 1, 0)]
        right = max(right, end)
        if right - left > QUOTE_LIMIT:
            left, right = self._window(max(left, start - 60), min(right, end + 60), start, end)
        return self.text[left:right].strip(" \t-–—/*#")

    def _window(self, left: int, right: int, start: int, end: int) -> tuple[int, int]:
        while left and left < start and _LETTER.match(self.text[left - 1]):
            left += 1
        while right < len(self.text) and right > end and _LETTER.match(self.text[right]):
            right -= 1
        return left, right


def read(text: str, irregular: Mapping[str, str]) -> Reading:
    """Split a text into words, clauses and sentences."""
    clauses = _pieces(text, _CLAUSE_END)
    sentences = _pieces(text, _SENTENCE_END)
    starts, stops = [c[0] for c in clauses], [s[0] for s in sentences]
    tokens = tuple(
        Token(
            stem=_stem_of(found.group(), irregular),
            start=found.start(),
            end=found.end(),
            clause=max(bisect_right(starts, found.start()) - 1, 0),
            sentence=max(bisect_right(stops, found.start()) - 1, 0),
        )
        for found in _WORD.finditer(text)
    )
    return Reading(text, tokens, clauses)


def stems(words: str, irregular: Mapping[str, str]) -> tuple[str, ...]:
    """The stems of a phrase, as :func:`read` would find them."""
    spaced = words.replace("_", " ").replace("/", " ")
    return tuple(_stem_of(found, irregular) for found in _WORD.findall(spaced))


def _stem_of(word: str, irregular: Mapping[str, str]) -> str:
    folded = word.casefold().replace("’", "'")
    return stem(irregular.get(folded, folded))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem of a case-folded word; words of other scripts stay as they are."""
    if len(word) > 40:
        return word[:40]
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isascii():
        return word
    return _without_e(_without_ending(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= 3 and _VOWEL.search(left):
            doubled = left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _pieces(text: str, end: re.Pattern[str]) -> tuple[tuple[int, int], ...]:
    pieces, start = [], 0
    for cut in end.finditer(text):
        if cut.start() > start:
            pieces.append((start, cut.start()))
        start = cut.end()
    if start < len(text):
        pieces.append((start, len(text)))
    return tuple(pieces) or ((0, len(text)),)
