"""Intraclass correlations of Shrout and Fleiss (1979): how far numbers depend on their rater.

The raters are a sample of all possible raters, so a rater who is always higher lowers the value:
(2,1) is how good one rating is, (2,k) the mean of all k.
"""

from dataclasses import dataclass
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

UPPER = 0.5 + CONFIDENCE / 2
#: A sum of squares below this part of the whole is a zero after rounding.
ROUNDING = 1e-12


class Icc(NamedTuple):
    """One form with its interval (95 %); None where undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations:
    """Both forms on the same ``items``, those that all raters rated."""

    icc_2_1: Icc
    icc_2_k: Icc
    items: int


class _Squares(NamedTuple):
    """Mean squares of the analysis of variance, as the paper names them, of n items, k raters."""

    n: int
    k: int
    between: float
    judges: float
    error: float


def icc(ratings: ArrayLike) -> IntraclassCorrelations:
    """Intraclass correlations (2,1) and (2,k) (Shrout and Fleiss 1979, table 4 and its intervals).

    Args:
        ratings: shape (items, raters): numbers on a scale of equal steps; NaN where missing.

    The analysis needs complete rows: items with a missing rating are dropped. Undefined for fewer
    than two items or raters and where all ratings are the same; (2,k) also where the items' means
    vary less than by chance alone. The interval is undefined where nothing is left to chance and
    where its approximation fails (F near 0). Raises InvalidInput unless it is a table of numbers.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidInput("Intraclass correlations take a table of items by raters.")
    complete = table[~np.isnan(table).any(axis=1)]
    n, k = complete.shape
    single = _single(_mean_squares(complete)) if n > 1 and k > 1 else Icc(None, None, None)
    # By the formula of Spearman and Brown (1910), value and ends alike.
    # At -1 / (k - 1) the means do not vary at all; below, their spread is estimated as negative.
    mean = Icc(
        *(
            None if r is None or 1 + (k - 1) * r < ROUNDING else k * r / (1 + (k - 1) * r)
            for r in single
        )
    )
    return IntraclassCorrelations(icc_2_1=single, icc_2_k=mean, items=n)


def _mean_squares(table: Floats) -> _Squares:
    n, k = table.shape
    centred = table - table.mean()
    whole = float((centred**2).sum())
    between = k * float((centred.mean(axis=1) ** 2).sum())
    judges = n * float((centred.mean(axis=0) ** 2).sum())
    sums = [between, judges, whole - between - judges]
    # Ratings far from 0 that are all the same leave squares of the size of their rounding.
    floor = ROUNDING * max(whole, float((table**2).sum()) * ROUNDING)
    between, judges, error = (square if square > floor else 0.0 for square in sums)
    free = (n - 1) * (k - 1)
    return _Squares(n, k, between / (n - 1), judges / (k - 1), error / free)


def _single(s: _Squares) -> Icc:
    """(2,1)."""
    n, k = s.n, s.k
    raters = k * (s.judges - s.error) / n
    value = _ratio(s.between - s.error, s.between + (k - 1) * s.error + raters)
    v = _freedom(s, value)
    f_low, f_high = float(fdtri(n - 1, v, UPPER)), float(fdtri(v, n - 1, UPPER))
    # NaN without v; with v near 0 the approximation fails and its ends leave out the value itself.
    if not (isfinite(f_low) and min(f_low, f_high) >= 1):
        return Icc(value, None, None)
    rest = k * s.judges + (k * n - k - n) * s.error
    low = _ratio(n * (s.between - f_low * s.error), f_low * rest + n * s.between)
    high = _ratio(n * (f_high * s.between - s.error), rest + n * f_high * s.between)
    return Icc(value, low, high)


def _freedom(s: _Squares, value: float | None) -> float:
    """Satterthwaite's degrees of freedom of the noise of (2,1), the paper's v; NaN if undefined."""
    n, k = s.n, s.k
    if value is None or s.error == 0:
        return nan
    judges = k * value * s.judges / s.error
    items = n * (1 + (k - 1) * value) - k * value
    parts = judges**2 / (k - 1) + items**2 / ((n - 1) * (k - 1))
    return (judges + items) ** 2 / parts if parts else nan


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
