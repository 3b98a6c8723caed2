"""Ratings in long form: rater, item and category as three arrays of small numbers.

Every coefficient and every aggregation reads this one shape. A missing rating has no row; an
abstention is a category of its own or left out, as the caller decides. Values are numbered by the
caller (by option id, never by text), and all declared categories count, used or not.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def divide(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole``; NaN where ``whole`` is 0 or less."""
    quotient: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return quotient


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """``raters[k]`` gave ``items[k]`` the category ``codes[k]``; all of shape (ratings,).

    Numbers run from 0 below ``n_items``, ``n_raters`` and ``n_categories``. The same rater may rate
    an item more than once (one does in Dawid and Skene 1979).
    """

    items: Ints
    raters: Ints
    codes: Ints
    n_items: int
    n_raters: int
    n_categories: int

    def __len__(self) -> int:
        return len(self.items)

    def counts(self) -> Ints:
        """How often each item got each category: shape (items, categories)."""
        cells = self.items * self.n_categories + self.codes
        table = np.bincount(cells, minlength=self.n_items * self.n_categories)
        return table.reshape(self.n_items, self.n_categories)

    def take(self, positions: Ints) -> "Ratings":
        """Only the ratings at ``positions``; numbers stay as they are."""
        return replace(
            self,
            items=self.items[positions],
            raters=self.raters[positions],
            codes=self.codes[positions],
        )

    def where(self, kept: Bools) -> "Ratings":
        """Only the ratings in ``kept``, shape (ratings,); numbers stay as they are."""
        # Taking positions is several times as fast as a mask for each array.
        return self.take(np.flatnonzero(kept))


#: Up to so many cells a table of items by raters shows whether a rater rated an item twice.
FEW_CELLS = 1 << 24


def keep_latest(ratings: Ratings) -> Ratings:
    """Only the last of a rater's ratings of an item; the same object where all are single."""
    cells = ratings.items * ratings.n_raters + ratings.raters
    size = ratings.n_items * ratings.n_raters
    if size <= FEW_CELLS:
        given = np.zeros(size, dtype=bool)
        given[cells] = True
        if np.count_nonzero(given) == cells.size:
            return ratings
    from_end = np.unique(cells[::-1], return_index=True)[1]
    return ratings.take(np.sort(cells.size - 1 - from_end))
