"""Whether a difference between two sources on the same items is more than chance.

Right or wrong is compared by McNemar's test (1947), on the items on which just one is right. The
exact form decides: with few such items the chi-square form says too much. Whole answers are
compared by their square table: do both use the categories equally often (Stuart-Maxwell, Bhapkar),
do they exchange them evenly (Bowker). Several tests at once are corrected in ``multiplicity``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, chdtrc

from labelhub.core.errors import InvalidInput

EXACT = "exact McNemar test, two-sided"
LEVEL = 0.05

Floats = NDArray[np.float64]


class ChiSquare(NamedTuple):
    """A statistic, its degrees of freedom and the chance of one as large; None where undefined."""

    statistic: float | None
    df: int
    p: float | None


def chi_square(statistic: float | None, df: int) -> ChiSquare:
    """With the upper tail's p-value; undefined for no or infinite statistic and for df 0."""
    if statistic is None or df == 0 or not np.isfinite(statistic):
        return ChiSquare(None, df, None)
    return ChiSquare(float(statistic), df, float(chdtrc(df, statistic)))


def mcnemar(only_one: int, only_other: int) -> float:
    """Two-sided exact p-value of ``only_one`` against ``only_other`` discordant items.

    The chance, were either side as likely, of a split at least as uneven: binomial with one half.
    1 where there is no discordant item. Exact to twelve digits for a million items.
    """
    n, fewer = _discordant(only_one, only_other)
    return min(1.0, 2 * _at_most(fewer, n))


def mcnemar_mid_p(only_one: int, only_other: int) -> float:
    """The mid-p variant (Fagerland et al. 2013): less strict, its level may be passed a little.

    Counts the split itself half; an even split is its own mirror and counts half once. 1 where
    there is no discordant item. Only to be set beside the exact value; nothing here decides by it.
    """
    n, fewer = _discordant(only_one, only_other)
    if n == 0:
        return 1.0
    if only_one == only_other:
        return 0.5 + _at_most(fewer - 1, n)
    return _at_most(fewer, n) + _at_most(fewer - 1, n)


def mcnemar_chi_square(only_one: int, only_other: int, *, corrected: bool = False) -> ChiSquare:
    """McNemar's (1947) (b - c)^2 / (b + c) with one degree of freedom.

    ``corrected``: for continuity (Edwards 1948), |b - c| less one but never below zero. Undefined
    without discordant items. For comparison with other reports; ``mcnemar`` is the test to use.
    """
    n, fewer = _discordant(only_one, only_other)
    if n == 0:
        return chi_square(None, 1)
    apart = n - 2 * fewer
    if corrected:
        apart = max(0, apart - 1)
    return chi_square(apart * apart / n, 1)


def stuart_maxwell(table: ArrayLike) -> ChiSquare:
    """Whether two sources use the categories equally often (Stuart 1955, Maxwell 1970).

    ``table``: counts, shape (categories, categories), one source's answer by the other's. The test
    is d' S^-1 d of the differences d of the margins. Categories that are never exchanged say
    nothing: degrees of freedom are the categories less the groups that exchange among themselves
    (so k - 1 as a rule, and 1 for McNemar's table). Undefined without discordant items.
    """
    counts = _square(table)
    swaps = counts + counts.T
    np.fill_diagonal(swaps, 0)
    differences = counts.sum(axis=1) - counts.sum(axis=0)
    covariance = np.diag(swaps.sum(axis=1)) - swaps
    # Singular, as the differences sum to 0: least squares serve for leaving out a category.
    solved, _, rank, _ = np.linalg.lstsq(covariance, differences, rcond=1e-10)
    return chi_square(max(0.0, float(differences @ solved)), int(rank))


def bhapkar(table: ArrayLike) -> ChiSquare:
    """Marginal homogeneity by Bhapkar (1966): X / (1 - X / n) of Stuart-Maxwell's X, n all items.

    Same hypothesis, a little more power. Undefined where that is, and where every item of a group
    changes the same way (X = n).
    """
    plain = stuart_maxwell(table)
    n = float(_square(table).sum())
    if plain.statistic is None or plain.statistic >= n * (1 - 1e-12):
        return chi_square(None, plain.df)
    return chi_square(plain.statistic / (1 - plain.statistic / n), plain.df)


def bowker(table: ArrayLike) -> ChiSquare:
    """Whether answers are exchanged evenly (Bowker 1948): sum of (n_ij - n_ji)^2 / (n_ij + n_ji).

    ``table`` as for ``stuart_maxwell``. Two categories that are never exchanged say nothing: the
    degrees of freedom are the pairs that are, at most k (k - 1) / 2. Undefined without any.
    """
    counts = _square(table)
    upper = np.triu_indices(len(counts), 1)
    there, back = counts[upper], counts.T[upper]
    swapped = there + back > 0
    there, back = there[swapped], back[swapped]
    return chi_square(float(((there - back) ** 2 / (there + back)).sum()), int(swapped.sum()))


def _discordant(only_one: int, only_other: int) -> tuple[int, int]:
    """How many there are, and how many on the smaller side."""
    if only_one < 0 or only_other < 0:
        raise InvalidInput("Counts of items are never negative.")
    return only_one + only_other, min(only_one, only_other)


def _at_most(k: int, n: int) -> float:
    """Chance of at most ``k`` heads among ``n`` tosses of a fair coin.

    By the incomplete beta function: ``bdtr`` says the same with three digits less for large n.
    """
    if k < 0:
        return 0.0
    return float(betainc(n - k, k + 1, 0.5)) if k < n else 1.0


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.size:
        raise InvalidInput("The table must have as many rows as columns.")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidInput("Counts of items are never negative and never missing.")
    return counts
