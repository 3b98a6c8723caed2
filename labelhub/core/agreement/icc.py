"""Intraclass correlations of Shrout and Fleiss (1979): how far numbers depend on who gave them.

(1, ...) each item has other raters; (2, ...) the raters are a sample of those that could rate;
(3, ...) only these raters are of interest, and a rater who is always higher does not count against
them. (..., 1) is how good one rating is, (..., k) the mean of all k.
"""

from dataclasses import dataclass
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc, fdtri

from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]
UPPER = 0.5 + CONFIDENCE / 2
#: A sum of squares below this part of the whole is what rounding leaves of zero.
ROUNDING = 1e-12


class Icc(NamedTuple):
    """One form with the F test of zero and its interval (95 %); None where undefined."""

    value: float | None
    low: float | None
    high: float | None
    f: float | None
    df1: int
    df2: int
    p: float | None


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations:
    """All six forms on the same ``items``; ``dropped`` items lack a rating."""

    icc_1_1: Icc
    icc_2_1: Icc
    icc_3_1: Icc
    icc_1_k: Icc
    icc_2_k: Icc
    icc_3_k: Icc
    items: int
    raters: int
    dropped: int


class _Squares(NamedTuple):
    """Mean squares of the analysis of variance, as the paper names them, of n items, k raters."""

    n: int
    k: int
    between: float
    within: float
    judges: float
    error: float


def icc(ratings: ArrayLike) -> IntraclassCorrelations:
    """All six intraclass correlations (Shrout and Fleiss 1979, table 4 and its intervals).

    Args:
        ratings: shape (items, raters): numbers on a scale of equal steps; NaN where missing.

    The analysis needs complete rows: items with a missing rating are dropped and counted. Undefined
    for fewer than two items or raters and where all ratings are the same; (..., k) also where the
    items' means vary less than by chance alone. The interval and F are undefined where nothing is
    left to chance, the interval of (2, ...) also where its approximation fails (F near 0). Raises
    InvalidInput unless it is a table of numbers.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidInput("Intraclass correlations take a table of items by raters.")
    complete = table[~np.isnan(table).any(axis=1)]
    n, k = complete.shape
    one, two, three = _single_forms(_mean_squares(complete)) if n > 1 and k > 1 else [_NOTHING] * 3
    return IntraclassCorrelations(
        icc_1_1=one,
        icc_2_1=two,
        icc_3_1=three,
        icc_1_k=_of_the_mean(one, k),
        icc_2_k=_of_the_mean(two, k),
        icc_3_k=_of_the_mean(three, k),
        items=n,
        raters=k,
        dropped=len(table) - n,
    )


_NOTHING = Icc(None, None, None, None, 0, 0, None)


def _mean_squares(table: Floats) -> _Squares:
    n, k = table.shape
    centred = table - table.mean()
    whole = float((centred**2).sum())
    between = k * float((centred.mean(axis=1) ** 2).sum())
    judges = n * float((centred.mean(axis=0) ** 2).sum())
    sums = [between, whole - between, judges, whole - between - judges]
    # Ratings far from 0 that are all the same leave squares of the size of their rounding.
    floor = ROUNDING * max(whole, float((table**2).sum()) * ROUNDING)
    between, within, judges, error = (each if each > floor else 0.0 for each in sums)
    free = (n - 1) * (k - 1)
    return _Squares(n, k, between / (n - 1), within / (n * (k - 1)), judges / (k - 1), error / free)


def _single_forms(s: _Squares) -> list[Icc]:
    """(1,1), (2,1) and (3,1)."""
    one_way = _from_f(s, s.within, s.n * (s.k - 1))
    mixed = _from_f(s, s.error, (s.n - 1) * (s.k - 1))
    return [one_way, _sampled_raters(s, mixed), mixed]


def _from_f(s: _Squares, noise: float, df2: int) -> Icc:
    """(1,1) and (3,1): (B - noise) / (B + (k - 1) noise), a function of F = B / noise alone."""
    value = _ratio(s.between - noise, s.between + (s.k - 1) * noise)
    df1 = s.n - 1
    if noise == 0:
        return Icc(value, None, None, None, df1, df2, None)
    f = s.between / noise
    low, high = f / float(fdtri(df1, df2, UPPER)), f * float(fdtri(df2, df1, UPPER))
    low, high = ((each - 1) / (each + s.k - 1) for each in (low, high))
    return Icc(value, low, high, f, df1, df2, float(fdtrc(df1, df2, f)))


def _sampled_raters(s: _Squares, mixed: Icc) -> Icc:
    """(2,1): the spread of the raters counts too; the test is that of (3,1)."""
    n, k = s.n, s.k
    raters = k * (s.judges - s.error) / n
    value = _ratio(s.between - s.error, s.between + (k - 1) * s.error + raters)
    v = _freedom(s, value)
    f_low, f_high = float(fdtri(n - 1, v, UPPER)), float(fdtri(v, n - 1, UPPER))
    # NaN without v; with v near 0 the approximation fails and its ends leave out the value itself.
    if not (isfinite(f_low) and min(f_low, f_high) >= 1):
        return mixed._replace(value=value, low=None, high=None)
    rest = k * s.judges + (k * n - k - n) * s.error
    low = _ratio(n * (s.between - f_low * s.error), f_low * rest + n * s.between)
    high = _ratio(n * (f_high * s.between - s.error), rest + n * f_high * s.between)
    return mixed._replace(value=value, low=low, high=high)


def _freedom(s: _Squares, value: float | None) -> float:
    """Satterthwaite's degrees of freedom of the noise of (2,1), the paper's v; NaN if undefined."""
    n, k = s.n, s.k
    if value is None or s.error == 0:
        return nan
    judges = k * value * s.judges / s.error
    items = n * (1 + (k - 1) * value) - k * value
    parts = judges**2 / (k - 1) + items**2 / ((n - 1) * (k - 1))
    return (judges + items) ** 2 / parts if parts else nan


def _of_the_mean(form: Icc, k: int) -> Icc:
    """(..., k) from (..., 1), value and ends alike, by the formula of Spearman and Brown (1910)."""
    value, low, high = (_stepped_up(each, k) for each in (form.value, form.low, form.high))
    return form._replace(value=value, low=low, high=high)


def _stepped_up(value: float | None, k: int) -> float | None:
    # At -1 / (k - 1) the means do not vary at all; below, their spread is estimated as negative.
    if value is None or 1 + (k - 1) * value < ROUNDING:
        return None
    return k * value / (1 + (k - 1) * value)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
