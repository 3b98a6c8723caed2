"""Bootstrap intervals of any statistic of rows: percentile, and BCa, which corrects bias and skew.

For a statistic that is no function of sums, and for a skewed one of few rows. A statistic of sums
of many items is drawn far faster by ``intervals.bootstrap``.
"""

from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labelhub.core.agreement.intervals import CONFIDENCE, SEED, Interval
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

#: The tails of BCa need more draws than the ends of a percentile interval.
DRAWS = 10_000

Rows = NDArray[Any]
#: Rows, shape (n, ...) → one number, NaN where undefined.
RowStatistic = Callable[[Rows], float]


def percentile_interval(
    rows: ArrayLike,
    statistic: RowStatistic,
    confidence: float = CONFIDENCE,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval:
    """The middle ``confidence`` of the bootstrap's draws (Efron and Tibshirani 1993, chapter 13).

    ``rows``: shape (n, ...), drawn with replacement by the ``seed``. Draws where the statistic is
    undefined are left out. NaN of fewer than two rows and where all draws are the same.
    """
    data = _checked(rows, confidence, draws)
    return _ends(_drawn(data, statistic, draws, seed), _tails(confidence))


def bca_interval(
    rows: ArrayLike,
    statistic: RowStatistic,
    confidence: float = CONFIDENCE,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Interval:
    """Bias-corrected and accelerated (Efron and Tibshirani 1993, section 14.3).

    The quantiles taken are moved by how many draws lie below the value itself (those equal to it
    count half) and by the skewness of the values with one row left out. Arguments and undefined
    cases as for ``percentile_interval``; NaN too where the value is, or where all draws lie on one
    side of it.
    """
    data = _checked(rows, confidence, draws)
    drawn = _drawn(data, statistic, draws, seed)
    if not drawn.size:
        return Interval(nan, nan)
    value = _of(statistic, data)
    below = (np.mean(drawn < value) + np.mean(drawn <= value)) / 2
    if np.isnan(value) or not 0 < below < 1:
        return Interval(nan, nan)
    bias = float(special.ndtri(below))
    quantile = special.ndtri(_tails(confidence)) + bias
    moved = special.ndtr(bias + quantile / (1 - _acceleration(data, statistic) * quantile))
    return _ends(drawn, moved)


def _acceleration(data: Rows, statistic: RowStatistic) -> float:
    """A sixth of the skewness of the jackknife's values; 0 where they do not vary."""
    left = np.array([_of(statistic, np.delete(data, at, axis=0)) for at in range(len(data))])
    apart = np.nanmean(left) - left[~np.isnan(left)] if not np.isnan(left).all() else np.zeros(1)
    spread = float((apart**2).sum())
    return float((apart**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _drawn(data: Rows, statistic: RowStatistic, draws: int, seed: int) -> Floats:
    """The statistic where it is defined, at most shape (draws,); none of fewer than two rows."""
    generator, n = np.random.default_rng(seed), len(data)
    if n < 2:
        return np.empty(0)
    found = [_of(statistic, data[generator.integers(n, size=n)]) for _ in range(draws)]
    values = np.array(found)
    return np.asarray(values[~np.isnan(values)])


def _of(statistic: RowStatistic, data: Rows) -> float:
    # A draw in which nothing varies is undefined; NumPy need not warn of each.
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(statistic(data))


def _ends(drawn: Floats, shares: Floats) -> Interval:
    if not drawn.size or np.ptp(drawn) == 0:
        return Interval(nan, nan)
    low, high = np.quantile(drawn, shares).tolist()
    return Interval(low, high)


def _tails(confidence: float) -> Floats:
    return np.array([0.5 - confidence / 2, 0.5 + confidence / 2])


def _checked(rows: ArrayLike, confidence: float, draws: int) -> Rows:
    data = np.asarray(rows)
    if data.ndim < 1 or not 0 < confidence < 1 or draws < 1:
        raise InvalidInput("A bootstrap needs rows, a confidence between 0 and 1, and draws.")
    return data
