"""The delete-one jackknife: error, bias and interval of any statistic of sums.

Each unit, an item or a cluster of items, is left out once; how far the statistic moves says how
sure it is. No random draws, and as cheap as one evaluation on a table of units.
"""

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.student import t_quantile
from labelhub.core.errors import InvalidInput


class Jackknife(NamedTuple):
    """``value`` of all units, its standard ``error`` and ``bias``, the interval ``low``, ``high``.

    ``units`` were left out in turn. The interval is about the value, not corrected for the bias.
    NaN where undefined: the value, or what is left without some unit.
    """

    value: float
    error: float
    bias: float
    low: float
    high: float
    units: int


def jackknife(
    parts: Floats,
    value: Value,
    *,
    clusters: Ints | None = None,
    confidence: float = CONFIDENCE,
) -> Jackknife:
    """Of a statistic of sums (Tukey 1958; Efron and Tibshirani 1993, chapter 11), Student's t.

    Bias (g - 1)(mean of the values left - value), error sqrt((g - 1) / g x sum of their squared
    deviations from their mean), interval value -+ t(g - 1) x error, for g units. Not for medians
    and other statistics that jump.

    Args:
        parts: shape (items, columns): what each item adds to the sums.
        value: sums, shape (draws, columns), to values, shape (draws,).
        clusters: shape (items,), whole numbers; items with the same number are left out together.
            Every item for itself by default.
    """
    table = np.asarray(parts, dtype=np.float64)
    if table.ndim != 2 or not 0 < confidence < 1:
        raise InvalidInput("A jackknife needs a table of items and a confidence between 0 and 1.")
    units = table if clusters is None else _summed(table, np.asarray(clusters))
    sums = units.sum(axis=0)
    number, g = float(value(sums[None, :])[0]), len(units)
    if g < 2:
        return Jackknife(number, nan, nan, nan, nan, g)
    left = value(sums - units)
    mean = float(left.mean())
    error = sqrt((g - 1) / g * float(((left - mean) ** 2).sum()))
    half = float(t_quantile(0.5 + confidence / 2, g - 1)) * error
    return Jackknife(number, error, (g - 1) * (mean - number), number - half, number + half, g)


def _summed(parts: Floats, clusters: Ints) -> Floats:
    """The parts of each cluster together: shape (clusters, columns)."""
    if clusters.shape != (len(parts),):
        raise InvalidInput("Every item needs the number of its cluster.")
    _, numbers = np.unique(clusters, return_inverse=True)
    size = int(numbers.max(initial=-1)) + 1
    columns = [np.bincount(numbers, weights=column, minlength=size) for column in parts.T]
    return np.stack(columns, axis=1) if columns else np.empty((size, 0))
