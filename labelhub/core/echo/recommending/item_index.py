"""An index of a catalogue: by the words of its items, and by the values that they suit."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.recommending.items import Item
from labelhub.core.schema import fold
from labelhub.core.similarity import stem, words

Floats = NDArray[np.float64]
_SOURCE = Path(__file__).with_name("words.toml")
#: The counts of a word in the title, and in the tags or the vertical; in the text it counts once.
_TITLE, _TAGS = 3, 2


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


class ItemIndex:
    """The index of a catalogue; built once, then only read.

    Words are weighed by TF-IDF (:class:`sklearn.feature_extraction.text.TfidfVectorizer` with
    ``sublinear_tf``); those of a title count more than those of the text.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        # It takes half a second, and most processes match no items.
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
        from sklearn.preprocessing import normalize  # noqa: PLC0415

        self.items = tuple(items)
        self.places = {item.id: place for place, item in enumerate(self.items)}
        titles = [terms(item.title) for item in self.items]
        tags = [terms(" ".join(item.tags)) for item in self.items]
        self._names = [{*title, *tag} for title, tag in zip(titles, tags, strict=True)]
        bags = [
            title * _TITLE + (tag + terms(item.vertical)) * _TAGS + terms(item.text)
            for item, title, tag in zip(self.items, titles, tags, strict=True)
        ]
        self._terms = [set(bag) for bag in bags]
        self._tfidf = TfidfVectorizer(analyzer=list, sublinear_tf=True, norm=None)
        # Without any term, one that no message has: scikit-learn refuses an empty vocabulary.
        rows = self._tfidf.fit_transform(bags if any(bags) else [[""]])
        self._rows = (normalize(rows) if any(bags) else rows[:0]).tocsc()
        self._suiting: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._avoiding: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._telling: defaultdict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            for key, values in item.suits.items():
                self._telling[key].append(place)
                for value in values:
                    self._suiting[key, normalise_value(value)].append(place)
            for key, values in item.avoids.items():
                for value in values:
                    self._avoiding[key, normalise_value(value)].append(place)

    def __len__(self) -> int:
        return len(self.items)

    def likeness(self, wanted: Sequence[str]) -> Floats:
        """The cosine between these terms and each item: 0 (no term in common) to 1.

        Terms that no item has count as the rarest: the more of them a message has, the less similar
        is each item.
        """
        if not self._rows.shape[0]:
            return np.zeros(len(self.items))
        asked = self._tfidf.transform([wanted])
        unknown = Counter(term for term in wanted if term not in self._tfidf.vocabulary_)
        rarest = np.log(1.0 + self._rows.shape[0]) + 1.0
        squares = sum((rarest * (1.0 + np.log(count))) ** 2 for count in unknown.values())
        length = np.sqrt(asked.power(2).sum() + squares) or 1.0
        found: Floats = np.clip(self._rows[:, asked.indices] @ (asked.data / length), 0.0, 1.0)
        return found

    def shared(self, place: int, wanted: Sequence[str]) -> tuple[str, ...]:
        """The terms in ``wanted`` that the item at ``place`` has, in order."""
        return tuple(dict.fromkeys(term for term in wanted if term in self._terms[place]))

    def named(self, wanted: Sequence[str]) -> list[int]:
        """For each item, the number of different ``wanted`` terms in its title or tags."""
        different = set(wanted)
        return [len(different & names) for names in self._names]

    def suited(self, feature: Selected, *, is_open: bool) -> Floats:
        """1 for items that suit the predicted value, -1 where they contradict it, else 0: (items,).

        An item that suits some values of a feature contradicts the others, unless these are open.
        """
        verdicts = np.zeros(len(self.items))
        key, value = feature.key, normalise_value(feature.value)
        rest, named = denied(feature.value), (key, value) in self._suiting
        # If no item suits exactly this value, none contradicts it.
        if named and not is_open:
            verdicts[self._telling[key]] = -1.0
        if rest and not named:
            verdicts[self._suiting.get((key, rest), [])] = -1.0
            verdicts[self._avoiding.get((key, rest), [])] = 1.0
        verdicts[self._suiting.get((key, value), [])] = 1.0
        verdicts[self._avoiding.get((key, value), [])] = -1.0
        return verdicts
