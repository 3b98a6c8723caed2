"""Items as rows of numbers whose sums are all that a coefficient needs.

A coefficient is then a plain function of sums, and the same function serves the value, every draw
of a bootstrap and the linearised standard error. Items with the same counts are one row with a
weight: a million ratings are seldom more than a few hundred different rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelhub.core.agreement.ratings import Floats, Ints, divide

#: (draws, columns) of sums → (draws,) values; NaN where there is none.
Value = Callable[[Floats], Floats]


class Coefficient(NamedTuple):
    """``parts``: of items, to be summed, shape (items, columns); ``value``: of the sums."""

    parts: Floats
    value: Value


def first_over_second(sums: Floats) -> Floats:
    """The first column of sums over the second: a share, or a mean beside ones."""
    return divide(sums[:, 0], sums[:, 1])


#: Tables of counts with fewer possible rows than this are numbered by position, without sorting.
DIRECT = 1 << 20
#: Bits of a row that fit into one number.
WIDEST = 62
HASH_SEED = 7


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Different rows of counts, how many items have each, and the number of each item's row.

    ``counts``: shape (patterns, categories); ``items``: shape (patterns,); ``of_item``: shape
    (items,). Functions of an item's counts are computed for a few hundred patterns alone.
    """

    counts: Ints
    items: Ints
    of_item: Ints

    @property
    def totals(self) -> Ints:
        """Ratings of an item of each pattern: shape (patterns,)."""
        return np.asarray(self.counts.sum(axis=1))

    def table(self) -> Ints:
        """The counts of each item again: shape (items, categories)."""
        return np.asarray(self.counts[self.of_item])


def find_patterns(counts: Ints) -> Patterns:
    """The different rows of a table of counts, shape (items, categories), by item."""
    base = int(counts.max(initial=0)) + 1
    q = counts.shape[1]
    if q * np.log2(base) > WIDEST:
        return _hashed(counts)
    places = base ** np.arange(q, dtype=np.int64)
    found, items, of_item = number_keys(counts @ places, base**q)
    return Patterns(found[:, None] // places % base, items, of_item)


def number_keys(keys: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """The different keys, rising; how often each is there; and the place of each key among them.

    ``keys``: shape (items,), from 0 below ``size``. Few possible keys are found by position,
    without sorting.
    """
    if size > DIRECT:
        found, of_item, often = np.unique(keys, return_inverse=True, return_counts=True)
        return found, often, of_item
    often = np.bincount(keys)
    found = np.flatnonzero(often)
    place = np.cumsum(often > 0) - 1
    return found, often[found], place[keys]


def _hashed(counts: Ints) -> Patterns:
    """Patterns of rows too wide for one number: by a hash of 64 bits, and compared afterwards."""
    factors = np.random.default_rng(HASH_SEED).integers(1 << 62, size=counts.shape[1])
    _, first, of_item, items = np.unique(
        counts @ factors, return_index=True, return_inverse=True, return_counts=True
    )
    found = counts[first]
    if not (found[of_item] == counts).all():  # two different rows with the same hash
        found, of_item, items = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    return Patterns(found, items, of_item.reshape(-1))


@dataclass(frozen=True, slots=True)
class Layout:
    """The position of each part in a row of sums, for ``q`` categories.

    agree: share of pairs of ratings that agree, weighted; pairable: 1 where there are two ratings;
    rated: 1 where there is one; shares: of each category; pairs: agreeing pairs over (ratings - 1);
    margins: ratings of each category on pairable items.
    """

    q: int
    agree = 0
    pairable = 1
    rated = 2
    pairs = 3

    @property
    def shares(self) -> slice:
        """Shares of the categories."""
        return slice(4, 4 + self.q)

    @property
    def margins(self) -> slice:
        """Ratings of the categories on items with two or more."""
        return slice(4 + self.q, 4 + 2 * self.q)


def agreement_parts(
    counts: Ints | Floats, weights: Floats | None = None, squares: Floats | None = None
) -> Floats:
    """A row of parts (see ``Layout``) for each row of counts, of shape (..., categories).

    ``weights``: of agreement, shape (categories, categories), 1 on the diagonal; identity by
    default. ``squares``: as for ``count_pairs``. Rows without ratings are all zero.
    """
    layout = Layout(counts.shape[-1])
    table = counts.astype(np.float64)
    near = table if weights is None else table @ weights
    ratings, pairs = count_pairs(table, squares)
    agreeing = (table * near).sum(axis=-1) - (ratings if squares is None else squares)
    two, rated = pairs > 0, ratings > 0
    found = np.zeros((*ratings.shape, 4 + 2 * layout.q))
    np.divide(agreeing, pairs, out=found[..., layout.agree], where=two)
    found[..., layout.pairable] = two
    found[..., layout.rated] = rated
    np.divide(agreeing * ratings, pairs, out=found[..., layout.pairs], where=two)
    np.divide(table, ratings[..., None], out=found[..., layout.shares], where=rated[..., None])
    found[..., layout.margins] = table * two[..., None]
    return found


def count_pairs(table: Floats, squares: Floats | None = None) -> tuple[Floats, Floats]:
    """Ratings and pairs of different ratings of each row of counts, both of shape (...).

    ``squares``: the sum of squares of what each single rating counts; once by default. A rating
    that counts more is never compared with itself.
    """
    ratings = table.sum(axis=-1)
    return ratings, ratings**2 - (ratings if squares is None else squares)
