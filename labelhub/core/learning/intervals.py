"""Intervals of this part: Wilson for shares, the bootstrap for F1, Student's t for means."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from scipy import stats

from labelhub.core.learning.heads import Floats

CONFIDENCE = 0.95
DRAWS = 500
#: Told beside each figure, so that nobody takes one for another.
WILSON = "Wilson, five-fold cross-validation"
BOOTSTRAP = f"percentile bootstrap over items, {DRAWS} draws, five-fold cross-validation"
STUDENT = "Student's t over random orders"

#: ``{"value", "low", "high", "n", "method"}``.
Figure = dict[str, float | int | str | None]


def share(successes: int, n: int, method: str = WILSON) -> Figure:
    """A share with its score interval (Wilson 1927); without a number where ``n`` is 0."""
    if n == 0:
        return {"value": None, "reason": "there is nothing to count"}
    z = float(stats.norm.ppf(0.5 + CONFIDENCE / 2))
    rate, squared = successes / n, z * z / n
    middle = (rate + squared / 2) / (1 + squared)
    half = z / (1 + squared) * sqrt(rate * (1 - rate) / n + squared / (4 * n))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    # At the ends the formula is exact but for rounding.
    low, high = (0.0 if successes == 0 else low), (1.0 if successes == n else high)
    return {"value": rate, "low": low, "high": high, "n": n, "method": method}


def resampled(
    value: float | None, n: int, statistic: Callable[[Floats], Floats], *, seed: int
) -> Figure:
    """A figure with its percentile interval over draws of items.

    Args:
        value: the figure itself; None where it is not defined.
        n: how many items it is of.
        statistic: weights (draws x items) to figures; those that are not defined are NaN.
        seed: the same seed draws the same items.
    """
    if value is None:
        return {"value": None, "reason": "no item has or is given this label"}
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    for _ in range(DRAWS // 50):  # in parts: many items times many draws do not fit
        weights = np.array(rng.multinomial(n, np.full(n, 1 / n), size=50), dtype=np.float64)
        found.append(statistic(weights))
    drawn = np.concatenate(found)
    drawn = drawn[~np.isnan(drawn)]
    half = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [half, 1 - half]) if len(drawn) else (value, value)
    ends = {"low": min(float(low), value), "high": max(float(high), value)}
    return {"value": value, **ends, "n": n, "method": BOOTSTRAP}


def mean(values: Floats) -> Figure:
    """The mean over random orders; no interval for a single one."""
    n = len(values)
    middle = float(values.mean())
    if n < 2:
        return {"value": middle, "low": None, "high": None, "n": n, "method": STUDENT}
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * values.std(ddof=1) / sqrt(n))
    return {"value": middle, "low": middle - half, "high": middle + half, "n": n, "method": STUDENT}
