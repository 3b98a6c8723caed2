"""Items as rows of numbers whose sums are all that a coefficient needs.

A coefficient is then a plain function of sums, and the same function serves the value, every draw
of a bootstrap and the linearised standard error. Items with the same counts are one row with a
weight: a million ratings are seldom more than a few hundred different rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.ratings import Floats, Ints

#: (draws, columns) of sums → (draws,) values; NaN where there is none.
Value = Callable[[Floats], Floats]

#: Tables of counts with fewer possible rows than this are numbered by position, without sorting.
DIRECT = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Different rows of counts, shape (rows, categories), and how many items have each."""

    counts: Ints
    items: Ints


def distinct(counts: Ints) -> Rows:
    """The different rows of a table of counts, shape (items, categories)."""
    base = int(counts.max(initial=0)) + 1
    q = counts.shape[1]
    if base == 1 or q * np.log2(base) > 62:
        rows, items = np.unique(counts, axis=0, return_counts=True)
        return Rows(rows, items)
    places = base ** np.arange(q, dtype=np.int64)
    keys = counts @ places
    if base**q <= DIRECT:
        often = np.bincount(keys, minlength=0)
        found = np.flatnonzero(often)
        items = often[found]
    else:
        found, items = np.unique(keys, return_counts=True)
    return Rows(found[:, None] // places % base, items)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where in a row of sums each part stands, for ``q`` categories.

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


def parts(counts: Ints, weights: Floats | None = None) -> Floats:
    """A row of parts (see ``Layout``) for each row of counts.

    ``weights``: of agreement, shape (categories, categories), 1 on the diagonal; identity by
    default. Rows without ratings are all zero.
    """
    q = counts.shape[1]
    layout = Layout(q)
    table = counts.astype(np.float64)
    ratings = table.sum(axis=1)
    near = table if weights is None else table @ weights
    pairs = (table * (near - 1)).sum(axis=1)
    two, one = ratings >= 2, ratings >= 1
    found = np.zeros((len(table), 4 + 2 * q))
    found[two, layout.agree] = pairs[two] / (ratings[two] * (ratings[two] - 1))
    found[:, layout.pairable] = two
    found[:, layout.rated] = one
    found[two, layout.pairs] = pairs[two] / (ratings[two] - 1)
    np.divide(table, ratings[:, None], out=found[:, layout.shares], where=one[:, None])
    found[:, layout.margins] = np.where(two[:, None], table, 0)
    return found


def total(rows: Rows, columns: Floats) -> Floats:
    """The sums over all items: shape (1, columns)."""
    return np.asarray(rows.items.astype(np.float64) @ columns)[None, :]
