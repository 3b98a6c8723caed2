"""Agreement by order: Kendall's W of several raters, Spearman's rho of two.

Only who stands before whom counts, not by how much. Equal values share the mean of their ranks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.significance import ChiSquare, chi_square
from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]


class KendallW(NamedTuple):
    """0: no common order, 1: all raters have the same; with the test of 0 and what it rests on."""

    w: float | None
    test: ChiSquare
    items: int
    raters: int
    dropped: int


class Spearman(NamedTuple):
    """Correlation of ranks from -1 to 1, over ``n`` items; ``dropped`` lack one of the values."""

    rho: float | None
    n: int
    dropped: int


def average_ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, shape (n,); equal values share the mean of the places they take."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middles: Floats = last - (counts - 1) / 2
    return middles[place]


def kendall_w(values: ArrayLike) -> KendallW:
    """Coefficient of concordance with the correction for ties (Kendall 1948, chapter 6).

    W = 12 S / (m^2 (n^3 - n) - m T): S the squares of the items' rank sums about their mean, T the
    sum of t^3 - t over all groups of t equal values. The test is m (n - 1) W as chi-square, which
    is rough below about eight items.

    Args:
        values: shape (items, raters): ranks or what can be ranked; NaN where missing.

    Items that a rater did not rank are dropped and counted. Undefined for fewer than two items or
    raters, and where no rater tells any item apart.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise InvalidInput("Kendall's W takes a table of items by raters.")
    complete = table[~np.isnan(table).any(axis=1)]
    n, m = complete.shape
    w = _concordance(complete) if n > 1 and m > 1 else None
    test = chi_square(None if w is None else m * (n - 1) * w, max(n - 1, 0))
    return KendallW(w, test, items=n, raters=m, dropped=len(table) - n)


def spearman(one: ArrayLike, other: ArrayLike) -> Spearman:
    """Pearson's correlation of average ranks (Spearman 1904), both of shape (items,).

    Items with a NaN on either side are dropped before ranking and counted. Undefined for fewer
    than two items and where one side is all the same.
    """
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InvalidInput("Spearman's rho takes two lists of the same length.")
    both = ~(np.isnan(first) | np.isnan(second))
    n = int(both.sum())
    rho = _correlation(average_ranks(first[both]), average_ranks(second[both]))
    return Spearman(rho, n=n, dropped=len(first) - n)


def _concordance(complete: Floats) -> float | None:
    n, m = complete.shape
    sums = sum(average_ranks(column) for column in complete.T)
    squares = float(((sums - m * (n + 1) / 2) ** 2).sum())
    whole = m * m * (n**3 - n) - m * sum(map(_ties, complete.T))
    return 12 * squares / whole if whole else None


def _ties(values: Floats) -> int:
    """Sum of t^3 - t over the groups of t equal values."""
    return sum(t**3 - t for t in np.unique(values, return_counts=True)[1].tolist())


def _correlation(one: Floats, other: Floats) -> float | None:
    middle = (len(one) + 1) / 2
    one, other = one - middle, other - middle
    # Ranks have whole or half numbers about their middle: nothing is lost before the root.
    spread = float((one @ one) * (other @ other))
    return float(one @ other) / spread**0.5 if spread else None
