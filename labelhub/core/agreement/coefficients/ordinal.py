"""Krippendorff's ordinal alpha with an interval, in memory linear in the number of categories.

The distance of two ranks depends on the margins, hence on the draw, so a draw would need all its
coincidences: items x q² numbers. With many categories they are taken near the margins of all the
data instead: the value and the linearised error stay exact, an interval of draws all but exact.
"""

from typing import NamedTuple

import numpy as np

from labelhub.core.agreement.coefficients.alpha import alpha, coincidences, ordinal
from labelhub.core.agreement.coefficients.chance import divided
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.ratings import Floats, Ints

#: Up to so many categories, and numbers in the table of parts (8 MB), coincidences are summed.
FEW_CATEGORIES = 30
FEW_CELLS = 1 << 20


class OrdinalAlpha(NamedTuple):
    """``parts``: to be summed, shape (rows, columns); ``value``: of the sums, NaN if undefined."""

    parts: Floats
    value: Value


def ordinal_alpha(counts: Ints, often: Ints) -> OrdinalAlpha:
    """Parts and value of ordinal alpha (Krippendorff 2011; 2019, section 12.3.3), ready to draw.

    ``counts``: shape (rows, categories), categories in rank order; ``often``: how many items each
    row stands for, shape (rows,). Rows with fewer than two ratings add nothing.
    """
    # A rank that nobody uses changes nothing: of few items of many ranks most go.
    counts = counts[:, counts.any(axis=0)]
    q = counts.shape[1]
    if q <= FEW_CATEGORIES and counts.size * q <= FEW_CELLS:
        return OrdinalAlpha(coincidences(counts), alpha(q, ordinal()))
    return near_all(counts, often)


def near_all(counts: Ints, often: Ints) -> OrdinalAlpha:
    """The same with 3 q + 1 columns.

    With u the place of each rank among all ratings (its mid-rank over their number), an item of
    counts c, m ratings, has the distance 2 (m c·u² - (c·u)²) / (m - 1). In a draw u is u0 + e, and
    (c·u)² = (c·u0)² + 2 (c·u0)(c·e) + (c·e)². Only the sum of the last, tiny, term needs all pairs
    of categories: it is taken from all the data, in proportion to the ratings drawn.
    """
    rows, q = counts.shape
    two = counts.sum(axis=1) >= 2
    # Filled in place: many items of many categories should not be there several times.
    parts = np.empty((rows, 3 * q + 1))
    table, squares, crossed = (parts[:, at : at + q] for at in (0, q, 2 * q))
    np.multiply(counts, two[:, None], out=table)
    ratings = table.sum(axis=1)
    scale = np.divide(1, ratings - 1, out=np.zeros_like(ratings), where=two)
    margins = often.astype(np.float64) @ table
    places = _places(margins[None, :])[0]
    at = table @ places
    np.multiply(table, (ratings * scale)[:, None], out=squares)
    np.multiply(table, (often * scale)[:, None], out=crossed)
    pairs = crossed.T @ table
    np.multiply(table, (at * scale)[:, None], out=crossed)
    parts[:, 3 * q] = at**2 * scale
    return OrdinalAlpha(parts, _near(places, divided(pairs, np.full_like(pairs, margins.sum()))))


def _near(places: Floats, pairs: Floats) -> Value:
    """``places``: of the ranks in all the data; ``pairs``: of categories of an item, by rating."""
    q = len(places)

    def value(sums: Floats) -> Floats:
        margins, squares, crossed = sums[:, :q], sums[:, q : 2 * q], sums[:, 2 * q : 3 * q]
        n = margins.sum(axis=1)
        now = _places(margins)
        moved = now - places
        last = ((moved @ pairs) * moved).sum(axis=1) * n
        together = sums[:, 3 * q] + 2 * (crossed * moved).sum(axis=1) + last
        observed = (squares * now**2).sum(axis=1) - together
        apart = n * (margins * now**2).sum(axis=1) - (margins * now).sum(axis=1) ** 2
        found = 1 - divided(observed * (n - 1), apart)
        # Where all ratings are of one rank, rounding must not pass for variation.
        return np.where((margins > 0).sum(axis=1) > 1, found, np.nan)

    return value


def _places(margins: Floats) -> Floats:
    """Mid-ranks over the number of ratings, in [0, 1]: shape (draws, q)."""
    n = margins.sum(axis=1, keepdims=True)
    middle = np.cumsum(margins, axis=1) - margins / 2
    return divided(middle, np.broadcast_to(n, middle.shape))
