"""A catalogue made ready for comparison: by the words of its items, and by whom they suit."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.recommending.items import Item
from labelhub.core.echo.recommending.postings import Floats, Postings
from labelhub.core.echo.recommending.terms import denied, spelled, terms
from labelhub.core.echo.selected import Selected

#: How often a word counts where it stands: in the title, among tags and in the vertical, below.
_TITLE, _TAGS, _TEXT = 3, 2, 1

_Places = NDArray[np.int64]


class ItemIndex:
    """A catalogue made ready; built once, then only read."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._bags = [_bag(item) for item in self.items]
        self.places = {item.id: at for at, item in enumerate(self.items)}
        self.postings = Postings(self._bags)
        self._suiting = _by_value(item.suits for item in self.items)
        self._avoiding = _by_value(item.avoids for item in self.items)
        self._naming = _by_term(self.items)
        self._telling = _by_key(item.suits for item in self.items)

    def __len__(self) -> int:
        return len(self.items)

    def shared(self, at: int, wanted: Sequence[str]) -> tuple[str, ...]:
        """Of the terms ``wanted`` those that item number ``at`` has, in their order."""
        return tuple(dict.fromkeys(term for term in wanted if term in self._bags[at]))

    def named(self, wanted: Sequence[str]) -> Mapping[int, int]:
        """How many of the different terms ``wanted`` are in the title or tags, by item number."""
        return Counter(at for term in wanted for at in self._naming.get(term, ()))

    def suited(self, feature: Selected, *, is_open: bool) -> Floats:
        """For each item 1 where it suits the predicted value, -1 where it contradicts it, else 0.

        An item that suits some values of a feature contradicts the others, unless these are open.
        """
        verdicts = np.zeros(len(self.items))
        value, rest = spelled(feature.value), denied(feature.value)
        if not is_open and self._is_told(feature.key, value):
            verdicts[self._telling[feature.key]] = -1.0
        if rest and not self._is_told(feature.key, value):
            verdicts[self._of(self._suiting, feature.key, rest)] = -1.0
            verdicts[self._of(self._avoiding, feature.key, rest)] = 1.0
        verdicts[self._of(self._suiting, feature.key, value)] = 1.0
        verdicts[self._of(self._avoiding, feature.key, value)] = -1.0
        return verdicts

    def _is_told(self, key: str, value: str) -> bool:
        """Whether some item suits this very value; of one that none names nothing can be said."""
        return (key, value) in self._suiting

    def _of(self, told: Mapping[tuple[str, str], _Places], key: str, value: str) -> _Places:
        return told.get((key, value), np.zeros(0, np.int64))


def _bag(item: Item) -> Mapping[str, float]:
    bag: Counter[str] = Counter()
    parts = ((item.title, _TITLE), (" ".join((*item.tags, item.vertical)), _TAGS))
    for text, times in (*parts, (item.text, _TEXT)):
        for term in terms(text):
            bag[term] += times
    return bag


def _by_term(items: Sequence[Item]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        for term in dict.fromkeys(terms(" ".join((item.title, *item.tags)))):
            found.setdefault(term, []).append(at)
    return found


def _by_value(
    told: Iterable[Mapping[str, Sequence[str]]],
) -> dict[tuple[str, str], _Places]:
    found: dict[tuple[str, str], list[int]] = {}
    for at, attributes in enumerate(told):
        for key, values in attributes.items():
            for value in values:
                found.setdefault((key, spelled(value)), []).append(at)
    return {each: np.array(places, np.int64) for each, places in found.items()}


def _by_key(told: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, _Places]:
    found: dict[str, list[int]] = {}
    for at, attributes in enumerate(told):
        for key in attributes:
            found.setdefault(key, []).append(at)
    return {key: np.array(places, np.int64) for key, places in found.items()}
