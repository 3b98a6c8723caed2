"""The probability of counts by chance: exact tails, a chi-square test, intervals of shares."""

from collections.abc import Sequence
from math import erfc, exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import NamedTuple

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
    if least <= 0:
        return 1.0
    terms = (
        exp(_log_choose(n, k) + k * log(share) + (n - k) * log1p(-share))
        for k in range(least, n + 1)
    )
    return min(1.0, sum(terms))


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Chance of a chi-square of ``freedom`` degrees at least as large as ``statistic``.

    The finite sums for whole degrees of freedom (Abramowitz and Stegun 26.4.4 and 26.4.5).
    """
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    if freedom % 2:
        first, terms = erfc(sqrt(half)), [k + 0.5 for k in range((freedom - 1) // 2)]
    else:
        first, terms = 0.0, [float(k) for k in range(freedom // 2)]
    return min(1.0, first + sum(exp(k * log(half) - half - lgamma(k + 1)) for k in terms))


def uniform_chance(counts: Sequence[int]) -> tuple[float, float]:
    """Pearson's statistic of equally likely places, and its chance; n must be positive."""
    expected = sum(counts) / len(counts)
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    return statistic, chi_square_tail(statistic, len(counts) - 1)


def two_shares(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """The two-sided p-value of two equal shares; both wholes positive.

    The pooled normal test; Fisher's exact one where some cell expects fewer than 5.
    """
    successes, n = part + other_part, whole + other_whole
    smallest = min(successes, n - successes) * min(whole, other_whole) / n
    if smallest < LEAST_EXPECTED:
        return _fisher(part, whole, other_whole, successes)
    pooled = successes / n
    error = sqrt(pooled * (1 - pooled) * (1 / whole + 1 / other_whole))
    return erfc(abs(part / whole - other_part / other_whole) / error / sqrt(2))


def _fisher(part: int, whole: int, other_whole: int, successes: int) -> float:
    """The probability, given all sums, of all splits that are no likelier than the observed one."""

    def likelihood(k: int) -> float:
        return _log_choose(whole, k) + _log_choose(other_whole, successes - k)

    splits = range(max(0, successes - other_whole), min(whole, successes) + 1)
    every = _log_choose(whole + other_whole, successes)
    # The small term: equally likely splits differ by rounding.
    seen = likelihood(part) + 1e-7
    return min(1.0, sum(exp(like - every) for k in splits if (like := likelihood(k)) <= seen))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
