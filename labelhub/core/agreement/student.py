"""Student's t: the distribution, and the tests of means that rest on it.

A test says how far a mean difference may be chance. Values that do not vary carry no such
information: then there is no t and no p, only the difference and the reason.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]

NO_VARIATION = "no_variation"
TOO_FEW_VALUES = "too_few_values"
#: Differences of floats that should be equal differ in the last digits, relative to their size.
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class TTest:
    """A t-test; ``t``, ``p``, ``low`` and ``high`` are None for ``reason``, else reason is "".

    ``difference`` is in the unit of the values, with its interval ``low`` to ``high``; ``n`` counts
    the values used (pairs, or both groups together); ``df`` are the degrees of freedom.
    """

    n: int
    difference: float | None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def t_cdf(t: ArrayLike, df: ArrayLike) -> Floats:
    """Chance of a value of at most ``t`` under ``df`` degrees of freedom (Student 1908).

    Both broadcast; ``df`` is positive and need not be whole. NaN where either is NaN.
    """
    return np.asarray(special.stdtr(_positive(df), t), dtype=np.float64)


def t_quantile(share: ArrayLike, df: ArrayLike) -> Floats:
    """The value that a share of the distribution stays below: the inverse of ``t_cdf``."""
    shares = np.asarray(share, dtype=np.float64)
    if np.any((shares < 0) | (shares > 1)):
        raise InvalidInput("A share of a distribution lies between 0 and 1.")
    return np.asarray(special.stdtrit(_positive(df), shares), dtype=np.float64)


def paired_t(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> TTest:
    """Two-sided paired test of mean ``a`` - ``b``, values of the same items (Student 1908).

    Both of shape (pairs,). A pair of which either is NaN is left out. Differences that are all the
    same give no t (``no_variation``), fewer than two pairs neither (``too_few_values``).
    """
    first, second = _values(a), _values(b)
    if first.shape != second.shape:
        raise InvalidInput(f"Pairs need as many values on both sides: {first.size}, {second.size}.")
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    differences = first - second
    n = differences.size
    mean = float(differences.mean()) if n else None
    if mean is None or n < 2:
        return TTest(n, mean, reason=TOO_FEW_VALUES)
    size = max(np.abs(first).max(), np.abs(second).max())
    if np.ptp(differences) <= SAME * size:
        return TTest(n, mean, reason=NO_VARIATION)
    error = float(differences.std(ddof=1)) / sqrt(n)
    return _two_sided(n, mean, error, n - 1, confidence)


def welch_t(a: ArrayLike, b: ArrayLike, confidence: float = CONFIDENCE) -> TTest:
    """Two-sided test of mean ``a`` - mean ``b`` of independent groups (Welch 1947).

    Shapes (n,) and (m,); the variances may differ, and one of them may be 0. NaN are left out.
    ``no_variation`` where neither group varies, ``too_few_values`` below two values in either.
    Repeated runs of a model are such groups; the test says nothing about other items.
    """
    first, second = (values[~np.isnan(values)] for values in (_values(a), _values(b)))
    n = first.size + second.size
    if min(first.size, second.size) < 2:
        between = float(first.mean() - second.mean()) if first.size and second.size else None
        return TTest(n, between, reason=TOO_FEW_VALUES)
    difference = float(first.mean() - second.mean())
    parts = [_variance(group) / group.size for group in (first, second)]
    total = sum(parts)
    if total == 0:
        return TTest(n, difference, reason=NO_VARIATION)
    # As shares of the total, so that squares of tiny variances do not vanish (Satterthwaite 1946).
    shares = [part / total for part in parts]
    df = 1 / (shares[0] ** 2 / (first.size - 1) + shares[1] ** 2 / (second.size - 1))
    return _two_sided(n, difference, sqrt(total), df, confidence)


def one_sample_less(values: ArrayLike, bound: float) -> TTest:
    """One-sided test that the mean of ``values``, shape (n,), lies below ``bound``.

    ``difference`` is the mean minus ``bound``; there is no interval. NaN are left out; reasons as
    in ``paired_t``.
    """
    given = _values(values)
    given = given[~np.isnan(given)]
    mean = float(given.mean()) if given.size else float("nan")
    variance = _variance(given) if given.size else 0.0
    return less_by_moments(given.size, mean, variance, bound)


def less_by_moments(n: int, mean: float, variance: float, bound: float) -> TTest:
    """``one_sample_less`` of ``n`` values of which only mean and variance (n - 1) are known."""
    if n < 2:
        return TTest(n, mean - bound if n else None, reason=TOO_FEW_VALUES)
    if variance == 0:
        return TTest(n, mean - bound, df=n - 1, reason=NO_VARIATION)
    t = (mean - bound) / sqrt(variance / n)
    return TTest(n, mean - bound, t=t, df=n - 1, p=float(t_cdf(t, n - 1)))


def _two_sided(n: int, difference: float, error: float, df: float, confidence: float) -> TTest:
    """The test of a ``difference`` whose standard error is known and not 0."""
    t = difference / error
    half = float(t_quantile(0.5 + confidence / 2, df)) * error
    p = 2 * float(t_cdf(-abs(t), df))
    return TTest(n, difference, t, df, p, difference - half, difference + half)


def _variance(values: Floats) -> float:
    """With n - 1; exactly 0 where values differ only in their last digits."""
    if values.size < 2 or np.ptp(values) <= SAME * np.abs(values).max():
        return 0.0
    return float(values.var(ddof=1))


def _values(given: ArrayLike) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or np.isinf(values).any():
        raise InvalidInput("A test of means takes finite numbers in one row.")
    return values


def _positive(df: ArrayLike) -> Floats:
    freedom = np.asarray(df, dtype=np.float64)
    if np.any(freedom <= 0):
        raise InvalidInput("Degrees of freedom are positive.")
    return freedom
