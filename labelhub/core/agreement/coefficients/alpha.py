"""Krippendorff's alpha for any distance: ordinal, interval, ratio, sets.

alpha = 1 - observed over expected distance of two ratings of the same item (Krippendorff 2011;
2019, chapter 12). Items with fewer than two ratings are left out. Computed over the whole data set:
a mean of alphas of single items means nothing.
"""

from collections.abc import Callable

import numpy as np

from labelhub.core.agreement.coefficients.chance import divided
from labelhub.core.agreement.coefficients.metrics import ordinal_distance
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.ratings import Floats, Ints

#: Margins, shape (draws, q) → distances, shape (q, q) or (draws, q, q).
Metric = Callable[[Floats], Floats]


def coincidences(counts: Ints) -> Floats:
    """Pairs of ratings of each row of counts over (ratings - 1): shape (rows, q * q).

    Summed over items this is Krippendorff's coincidence matrix. The memory is that of rows x q²:
    for ordinal alpha of many categories take ``ordinal.ordinal_alpha``.
    """
    table = counts.astype(np.float64)
    ratings = table.sum(axis=1)
    scale = np.divide(1, ratings - 1, out=np.zeros_like(ratings), where=ratings >= 2)
    pairs = table[:, :, None] * table[:, None, :]
    at = np.arange(table.shape[1])
    pairs[:, at, at] -= table
    pairs *= scale[:, None, None]
    return np.asarray(pairs.reshape(len(table), at.size**2))


def alpha(q: int, metric: Metric) -> Value:
    """Alpha of summed coincidences, shape (draws, q * q); NaN where nothing varies."""

    def value(sums: Floats) -> Floats:
        matrix = sums.reshape(len(sums), q, q)
        margins = matrix.sum(axis=2)
        n = margins.sum(axis=1)
        distances = metric(margins)
        observed = (matrix * distances).sum(axis=(1, 2))
        apart = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
        return 1 - divided(observed * (n - 1), apart)

    return value


def distance_parts(counts: Ints, distances: Floats) -> Floats:
    """Shape (rows, 1 + q): distances of an item's pairs of ratings over (ratings - 1), its margins.

    For a distance that does not depend on the data: far less than all coincidences.
    """
    table = counts.astype(np.float64)
    ratings = table.sum(axis=1)
    two = ratings >= 2
    apart = ((table @ distances) * table).sum(axis=1)
    observed = np.divide(apart, ratings - 1, out=np.zeros_like(ratings), where=two)
    return np.column_stack([observed, np.where(two[:, None], table, 0)])


def alpha_by_distance(distances: Floats) -> Value:
    """Alpha of sums in the order of ``distance_parts``; NaN where nothing varies."""

    def value(sums: Floats) -> Floats:
        margins = sums[:, 1:]
        n = margins.sum(axis=1)
        apart = ((margins @ distances) * margins).sum(axis=1)
        return 1 - divided(sums[:, 0] * (n - 1), apart)

    return value


def ordinal() -> Metric:
    """Krippendorff's ordinal metric: categories in rank order."""
    return ordinal_distance
