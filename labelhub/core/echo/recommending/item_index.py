"""An index of a catalogue: by the words of its items, and by the values that they suit."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelhub.core.echo.recommending.items import Item
from labelhub.core.schema import fold
from labelhub.core.similarity import stem, words


@dataclass(frozen=True, slots=True)
class Selected:
    """One of the k features that go downstream.

    Args:
        key: the feature's name for programs.
        name: its name for people.
        value: what its model predicts for the message; one of the feature's values, or a word.
        probability: how likely that value is right, 0 to 1 (one minus the uncertainty).
        relevance: what being right about it adds to the log-odds of success downstream.
    """

    key: str
    name: str
    value: str
    probability: float
    relevance: float


_SOURCE = Path(__file__).with_name("words.toml")


def terms(text: str) -> list[str]:
    """The stems of the words of ``text`` without small words, in order.

    Words are those of :func:`labelhub.core.similarity.words`: of scripts without blanks they are
    pairs of characters. Small words of five languages and lone letters are left out; numbers stay.
    """
    small = _word_list("small")
    return [
        stem(word)
        for word in words(text.replace("_", " "))
        if word not in small and (len(word) > 1 or word.isdecimal())
    ]


def normalise_value(value: str) -> str:
    """A value without differences of case, width, blanks and underscores."""
    return " ".join(fold(value).replace("_", " ").split())


def denied(value: str) -> str:
    """The value that ``value`` denies: "plastic" for "no plastic", "heavy" for "not_heavy"; or "".

    A bare "no" denies nothing by itself; see :func:`is_no`.
    """
    found = _denial().match(normalise_value(value))
    return found["rest"] if found else ""


def is_yes(value: str) -> bool:
    """Whether a value is a bare yes, in one of five languages."""
    return fold(value) in _word_list("yes")


def is_no(value: str) -> bool:
    """Whether a value is a bare no, in one of five languages."""
    return fold(value) in _word_list("no")


@lru_cache(maxsize=1)
def _denial() -> re.Pattern[str]:
    spaced = "|".join(sorted(map(re.escape, _word_list("denials"))))
    return re.compile(rf"(?:{spaced})[ \-]+(?P<rest>\S.*)")


@lru_cache(maxsize=8)
def _word_list(name: str) -> frozenset[str]:
    return frozenset(tomllib.loads(_SOURCE.read_text("utf-8"))[name].split())


Floats = NDArray[np.float64]


class Postings:
    """Term → the texts that have it, with its weight in each.

    TF-IDF as :mod:`labelhub.core.similarity` has it: a term counts ``1 + log(times)``, weighed by
    ``log((1 + texts) / (1 + texts with it)) + 1``, and every text has length one. Here a text is a
    bag of terms with times, so that a title can count more than what stands below it.
    """

    def __init__(self, bags: Sequence[Mapping[str, float]]) -> None:
        self._count = len(bags)
        places: dict[str, int] = {}
        for bag in bags:
            for term in bag:
                places.setdefault(term, len(places))
        self._places = places
        columns = [places[term] for bag in bags for term in bag]
        times = np.array([count for bag in bags for count in bag.values()], np.float64)
        starts = np.cumsum([0, *(len(bag) for bag in bags)])
        shape = (self._count, len(places))
        counted: Floats = 1.0 + np.log(times)
        rows = sparse.csr_matrix((counted, columns, starts), shape=shape)
        self._rarity = self._rarities(np.bincount(columns, minlength=len(places)))
        rows = rows.multiply(self._rarity[None, :]).tocsr() if columns else rows
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel())
        inverse: Floats = 1.0 / np.where(lengths > 0, lengths, 1.0)
        self._terms = (sparse.diags_array(inverse) @ rows).tocsc()

    def __len__(self) -> int:
        return self._count

    def likeness(self, terms: Sequence[str]) -> Floats:
        """The cosine between ``terms`` and each text: 0 (no term in common) to 1.

        Terms that no text has count as the rarest: the more of them a message has, the less
        similar is each text.
        """
        found = np.zeros(self._count)
        asked = self._weigh(terms)
        length = np.sqrt(sum(weight**2 for weight in asked.values())) or 1.0
        starts, owners, weights = self._terms.indptr, self._terms.indices, self._terms.data
        for term, weight in asked.items():
            place = self._places.get(term)
            if place is not None:
                span = slice(starts[place], starts[place + 1])
                # A term lists each text once, so the indexed addition loses nothing.
                found[owners[span]] += weights[span] * (weight / length)
        return np.clip(found, 0.0, 1.0)

    def _weigh(self, terms: Sequence[str]) -> dict[str, float]:
        unknown = float(self._rarities(np.zeros(1))[0])
        counts = Counter(terms)
        return {
            term: (1.0 + np.log(count))
            * (self._rarity[self._places[term]] if term in self._places else unknown)
            for term, count in counts.items()
        }

    def _rarities(self, spread: NDArray[np.generic]) -> Floats:
        rare: Floats = np.log((1.0 + self._count) / (1.0 + spread.astype(np.float64))) + 1.0
        return rare


#: The counts of a word in the title, in the tags or the vertical, and in the text.
_TITLE, _TAGS, _TEXT = 3, 2, 1

_Places = NDArray[np.int64]


class ItemIndex:
    """The index of a catalogue; built once, then only read."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._bags = [_bag(item) for item in self.items]
        self.places = {item.id: place for place, item in enumerate(self.items)}
        self.postings = Postings(self._bags)
        self._suiting = _by_value(item.suits for item in self.items)
        self._avoiding = _by_value(item.avoids for item in self.items)
        self._naming = _by_term(self.items)
        self._telling = _by_key(item.suits for item in self.items)

    def __len__(self) -> int:
        return len(self.items)

    def shared(self, place: int, wanted: Sequence[str]) -> tuple[str, ...]:
        """The terms in ``wanted`` that the item at ``place`` has, in order."""
        return tuple(dict.fromkeys(term for term in wanted if term in self._bags[place]))

    def named(self, wanted: Sequence[str]) -> Mapping[int, int]:
        """Place of an item → number of the ``wanted`` terms in its title or tags."""
        return Counter(place for term in wanted for place in self._naming.get(term, ()))

    def suited(self, feature: Selected, *, is_open: bool) -> Floats:
        """1 for items that suit the predicted value, -1 where they contradict it, else 0: (items,).

        An item that suits some values of a feature contradicts the others, unless these are open.
        """
        verdicts = np.zeros(len(self.items))
        value, rest = normalise_value(feature.value), denied(feature.value)
        if not is_open and self._is_named(feature.key, value):
            verdicts[self._telling[feature.key]] = -1.0
        if rest and not self._is_named(feature.key, value):
            verdicts[self._of(self._suiting, feature.key, rest)] = -1.0
            verdicts[self._of(self._avoiding, feature.key, rest)] = 1.0
        verdicts[self._of(self._suiting, feature.key, value)] = 1.0
        verdicts[self._of(self._avoiding, feature.key, value)] = -1.0
        return verdicts

    def _is_named(self, key: str, value: str) -> bool:
        """Whether an item suits exactly this value; otherwise no item contradicts it."""
        return (key, value) in self._suiting

    def _of(self, named: Mapping[tuple[str, str], _Places], key: str, value: str) -> _Places:
        return named.get((key, value), np.zeros(0, np.int64))


def _bag(item: Item) -> Mapping[str, float]:
    bag: Counter[str] = Counter()
    parts = ((item.title, _TITLE), (" ".join((*item.tags, item.vertical)), _TAGS))
    for text, times in (*parts, (item.text, _TEXT)):
        for term in terms(text):
            bag[term] += times
    return bag


def _by_term(items: Sequence[Item]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        for term in dict.fromkeys(terms(" ".join((item.title, *item.tags)))):
            found.setdefault(term, []).append(place)
    return found


def _by_value(
    stated: Iterable[Mapping[str, Sequence[str]]],
) -> dict[tuple[str, str], _Places]:
    found: dict[tuple[str, str], list[int]] = {}
    for place, attributes in enumerate(stated):
        for key, values in attributes.items():
            for value in values:
                found.setdefault((key, normalise_value(value)), []).append(place)
    return {key_value: np.array(places, np.int64) for key_value, places in found.items()}


def _by_key(stated: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, _Places]:
    found: dict[str, list[int]] = {}
    for place, attributes in enumerate(stated):
        for key in attributes:
            found.setdefault(key, []).append(place)
    return {key: np.array(places, np.int64) for key, places in found.items()}
