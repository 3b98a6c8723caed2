"""Texts as tokens, and tables of phrases to look for in them.

A token is a word in small letters without accents; kana and Chinese characters, which set no
blanks, are tokens one by one. A phrase is written as in ``words/en.toml``: ``a|b`` is either word,
``a*`` any word that begins so, ``...`` up to three words. Looking for all phrases of a table costs
time by the length of the text, not by the size of the table.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

#: How much of a text is read, characters: what a message is shows early, and to sort a pile of
#: combining marks takes time by the square of its height.
READ = 2_000
LONGEST_GAP = 3

Kind = TypeVar("Kind")

#: Kana and Chinese characters.
DENSE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_DENSE_TOKEN = re.compile(f"[{DENSE}]")
_TOKEN = re.compile(rf"[{DENSE}]|[^\W_{DENSE}]+")
#: With those of Arabic, which are left out as often as written: vowels, hamza and the long stroke.
_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
#: Letters of Arabic that are written for each other.
_ALIKE = str.maketrans("\u0649\u0629\u0671\u06cc\u06a9", "\u064a\u0647\u0627\u064a\u0643")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)


@dataclass(frozen=True, slots=True)
class Item:
    """One place of a phrase: any of ``words``, or a word that begins with one of ``stems``."""

    words: frozenset[str]
    stems: tuple[str, ...] = ()
    gap: bool = False

    def fits(self, token: str) -> bool:
        """Whether ``token`` may stand here."""
        return token in self.words or (bool(self.stems) and token.startswith(self.stems))


Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PhraseTable(Generic[Kind]):
    """Phrases by their first word, each without it and with the kind it stands for."""

    by_word: Mapping[str, Sequence[tuple[Items, Kind]]]
    by_stem: Mapping[str, Sequence[tuple[Items, Kind]]]
    stem_lengths: tuple[int, ...]

    def ends_at(self, tokens: Sequence[str], start: int) -> Iterator[tuple[int, Kind]]:
        """Where each phrase that begins at ``start`` ends, with its kind."""
        first = tokens[start]
        for rest, kind in self.by_word.get(first, ()):
            end = _end(rest, 0, tokens, start + 1)
            if end:
                yield end, kind
        for length in self.stem_lengths:
            for rest, kind in self.by_stem.get(first[:length], ()):
                end = _end(rest, 0, tokens, start + 1)
                if end:
                    yield end, kind

    def found(self, tokens: Sequence[str]) -> Iterator[tuple[int, int, Kind]]:
        """Every phrase in ``tokens``: start, end and kind."""
        for start in range(len(tokens)):
            for end, kind in self.ends_at(tokens, start):
                yield start, end, kind


def folded(text: str) -> str:
    """The beginning of ``text`` in small letters of one width, without accents and unseen signs."""
    text = text[:READ]
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", _ACCENTS.sub("", text)))
    # One sign may stand for a sentence: what is read stays bounded.
    text = text[:READ].casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_ALIKE)


def tokens_of(text: str) -> list[str]:
    """The tokens of the beginning of ``text``."""
    return _TOKEN.findall(folded(text))


def is_dense(token: str) -> bool:
    """Whether ``token`` is a character of a script without blanks."""
    return _DENSE_TOKEN.match(token) is not None


def entries(words: str) -> list[str]:
    """The entries of a list as the tables write it, separated by commas."""
    return [entry for entry in (part.strip() for part in words.split(",")) if entry]


def phrase_table(phrases: Iterable[tuple[str, Kind]]) -> PhraseTable[Kind]:
    """The table of ``phrases``, each given with its kind."""
    by_word: dict[str, list[tuple[Items, Kind]]] = {}
    by_stem: dict[str, list[tuple[Items, Kind]]] = {}
    for phrase, kind in phrases:
        first, *rest = _items(phrase)
        for word in first.words:
            by_word.setdefault(word, []).append((tuple(rest), kind))
        for stem in first.stems:
            by_stem.setdefault(stem, []).append((tuple(rest), kind))
    return PhraseTable(by_word, by_stem, tuple(sorted({len(stem) for stem in by_stem})))


def _items(phrase: str) -> list[Item]:
    found: list[Item] = []
    for piece in phrase.split():
        if piece == "...":
            found.append(Item(frozenset(), gap=True))
        elif "|" in piece or piece.endswith("*"):
            either = [(tokens_of(word), word.endswith("*")) for word in piece.split("|")]
            words = frozenset(said[0] for said, begins in either if not begins)
            found.append(Item(words, tuple(said[0] for said, begins in either if begins)))
        else:
            found.extend(Item(frozenset((token,))) for token in tokens_of(piece))
    return found


def _end(items: Items, at: int, tokens: Sequence[str], start: int) -> int:
    """Where ``items`` from ``at`` on end if they begin at ``start``; 0: they are not there."""
    for place in range(at, len(items)):
        item = items[place]
        if item.gap:
            tries = range(start, min(start + LONGEST_GAP + 1, len(tokens) + 1))
            return next((e for each in tries if (e := _end(items, place + 1, tokens, each))), 0)
        if start >= len(tokens) or not item.fits(tokens[start]):
            return 0
        start += 1
    return start
