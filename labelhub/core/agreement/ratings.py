"""Ratings in long form: who said what of which item, as three arrays of small numbers.

Every coefficient and every aggregation reads this one shape. What was not said is not there; an
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
    an item more than once (Dawid and Skene 1979 have one who does).
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

    def of_raters(self, wanted: Bools) -> "Ratings":
        """Only what the raters in ``wanted``, shape (raters,), said; numbers stay as they are."""
        return self.where(wanted[self.raters])

    def where(self, kept: Bools) -> "Ratings":
        """Only the ratings in ``kept``, shape (ratings,); numbers stay as they are."""
        return Ratings(
            self.items[kept],
            self.raters[kept],
            self.codes[kept],
            self.n_items,
            self.n_raters,
            self.n_categories,
        )


#: In a table of so many items by raters it is looked up whether anybody rated an item twice.
FEW_CELLS = 1 << 24


def taken(ratings: Ratings, places: Ints) -> Ratings:
    """The ratings at ``places``; numbers stay as they are.

    Taking places is several times as fast as a mask for each array.
    """
    return replace(
        ratings,
        items=ratings.items[places],
        raters=ratings.raters[places],
        codes=ratings.codes[places],
    )


def on_items(ratings: Ratings, wanted: NDArray[np.bool_]) -> Ratings:
    """Only what was said of the items in ``wanted``, shape (items,)."""
    return taken(ratings, np.flatnonzero(wanted[ratings.items]))


def keep_latest(ratings: Ratings) -> Ratings:
    """Of a rater's several ratings of an item only the last; the same object without any."""
    cells = ratings.items * ratings.n_raters + ratings.raters
    size = ratings.n_items * ratings.n_raters
    if size <= FEW_CELLS:
        given = np.zeros(size, dtype=bool)
        given[cells] = True
        if np.count_nonzero(given) == cells.size:
            return ratings
    from_end = np.unique(cells[::-1], return_index=True)[1]
    return taken(ratings, np.sort(cells.size - 1 - from_end))
