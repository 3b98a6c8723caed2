"""Ratings in long form: who said what of which item, as three arrays of small numbers.

Every coefficient and every aggregation reads this one shape. What was not said is not there; an
abstention is a category of its own or left out, as the caller decides. Values are numbered by the
caller (by option id, never by text), and all declared categories count, used or not.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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

    def of_raters(self, wanted: NDArray[np.bool_]) -> "Ratings":
        """Only what the raters in ``wanted``, shape (raters,), said; numbers stay as they are."""
        return self.where(wanted[self.raters])

    def where(self, kept: NDArray[np.bool_]) -> "Ratings":
        """Only the ratings in ``kept``, shape (ratings,); numbers stay as they are."""
        return Ratings(
            self.items[kept],
            self.raters[kept],
            self.codes[kept],
            self.n_items,
            self.n_raters,
            self.n_categories,
        )
