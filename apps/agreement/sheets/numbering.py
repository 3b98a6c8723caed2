"""Places of ids: numbers without gaps for what has ids with some."""

import numpy as np

from labelhub.core.agreement.ratings import Ints


def present(numbers: Ints) -> Ints:
    """The different numbers, rising; by marking places where they lie close together."""
    if not len(numbers):
        return numbers
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > 4 * len(numbers):
        return np.unique(numbers)
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[numbers - low] = True
    return np.flatnonzero(seen) + low


class Numbers:
    """Places of ids in a rising list of them."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids
        close = len(ids) and int(ids[-1]) - int(ids[0]) <= 4 * len(ids) + 1000
        self._places: Ints | None = None
        if close:
            self._places = np.full(int(ids[-1]) - int(ids[0]) + 1, -1)
            self._places[ids - ids[0]] = np.arange(len(ids))

    def __call__(self, wanted: Ints) -> Ints:
        if self._places is not None:
            return np.asarray(self._places[wanted - self._ids[0]])
        return np.asarray(np.searchsorted(self._ids, wanted))

    def find(self, wanted: Ints) -> Ints:
        """The places of ids; -1 for those that are not among them."""
        if not len(self._ids):
            return np.full(len(wanted), -1)
        places = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return np.where(self._ids[places] == wanted, places, -1)
