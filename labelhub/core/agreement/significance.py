"""Whether a difference between two sources on the same items is more than chance.

Right or wrong is compared by McNemar's test (1947), on the items on which just one is right. The
exact form decides: with few such items the chi-square form says too much. Several tests at once are
corrected in ``multiplicity``.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, chdtrc

from labelhub.core.errors import InvalidInput

EXACT = "exact McNemar test, two-sided"
LEVEL = 0.05


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
