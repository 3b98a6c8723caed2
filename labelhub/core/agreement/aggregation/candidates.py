"""The answers that each item got: of the many categories only these can be its true one.

Models of many categories keep a number for each answer that was given to an item in place of a
table of items by categories; their work grows with the labels, not with the categories.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.ratings import Floats, Ints, Ratings

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Every different pair of an item and an answer to it, item by item.

    ``items``, ``categories``: of each candidate, shape (candidates,).
    ``own``: the candidate that each rating names, shape (ratings,).
    ``rated``: the items with ratings, shape (rated,); ``starts``: the first candidate of each;
    ``sizes``: how many it has.
    """

    items: Ints
    categories: Ints
    own: Ints
    rated: Ints
    starts: Ints
    sizes: Ints
    n_items: int
    n_categories: int

    def sum_by_item(self, values: Floats) -> Floats:
        """``values`` of the candidates, summed over those of a rated item: shape (rated,)."""
        return np.add.reduceat(values, self.starts) if len(values) else np.empty(0)

    def highest(self, values: Floats) -> Floats:
        """The highest of ``values`` among the candidates of a rated item: shape (rated,)."""
        return np.maximum.reduceat(values, self.starts) if len(values) else np.empty(0)

    def of_items(self, values: NDArray[T]) -> NDArray[T]:
        """``values`` of the rated items for each of their candidates: shape (candidates,)."""
        return np.repeat(values, self.sizes)

    def table(self, values: Floats, others: Floats | float = 0.0) -> Floats:
        """Shape (items, categories): ``values`` of the candidates, ``others`` for the rest.

        ``others``: of the rated items, shape (rated,), or of all. NaN for an item without ratings.
        """
        found = np.full((self.n_items, self.n_categories), np.nan)
        found[self.rated] = np.broadcast_to(others, len(self.rated))[:, None]
        found[self.items, self.categories] = values
        return found


def find_candidates(ratings: Ratings) -> Candidates:
    """The candidates of all items."""
    q = ratings.n_categories
    found, own = np.unique(ratings.items * q + ratings.codes, return_inverse=True)
    items, categories = np.divmod(found, max(q, 1))
    rated, starts, sizes = np.unique(items, return_index=True, return_counts=True)
    return Candidates(items, categories, own, rated, starts, sizes, ratings.n_items, q)
