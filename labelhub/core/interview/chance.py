"""The probability of counts by chance, and intervals of shares."""

from math import erfc, sqrt
from statistics import NormalDist
from typing import NamedTuple

import scipy

from labelhub.core.wilson import wilson_bounds

#: Standard errors to either side of a 95 % interval.
_Z = NormalDist().inv_cdf(0.975)
#: With a smaller expected count in a cell the normal approximation is too coarse.
LEAST_EXPECTED = 5


class ShareInterval(NamedTuple):
    """Lower and upper end of a share."""

    low: float
    high: float


def wilson(part: int, whole: int) -> ShareInterval:
    """The 95 % score interval of a share (Wilson 1927); 0 to 1 if ``whole`` is 0."""
    if whole == 0:
        return ShareInterval(0.0, 1.0)
    return ShareInterval(*wilson_bounds(part / whole, whole, _Z))


def binomial_tail(least: int, n: int, share: float) -> float:
    """Chance of ``least`` or more successes in ``n`` tries, each with chance ``share`` (0 < 1)."""
    return float(scipy.special.bdtrc(least - 1, n, share)) if least > 0 else 1.0


def two_shares(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """The two-sided p-value of two equal shares; both wholes positive.

    The pooled normal test; Fisher's exact one where some cell expects fewer than 5.
    """
    successes, n = part + other_part, whole + other_whole
    smallest = min(successes, n - successes) * min(whole, other_whole) / n
    if smallest < LEAST_EXPECTED:
        table = [[part, whole - part], [other_part, other_whole - other_part]]
        return float(scipy.stats.fisher_exact(table).pvalue)
    pooled = successes / n
    error = sqrt(pooled * (1 - pooled) * (1 / whole + 1 / other_whole))
    return erfc(abs(part / whole - other_part / other_whole) / error / sqrt(2))
