"""Jensen-Shannon divergence of two distributions of answers."""

from math import log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from labelhub.core.agreement.estimation import (
    TOO_FEW,
    Units,
    add_doubts,
    estimate_interval,
    few_clusters_doubt,
    few_items_doubt,
    interval_method,
    limit_interval,
)
from labelhub.core.agreement.figures import Figure, figure, percentile_ends, undefined
from labelhub.core.agreement.intervals import Interval
from labelhub.core.agreement.ratings import Floats, divide
from labelhub.core.errors import InvalidInput


def answer_shares(counts: ArrayLike) -> Floats:
    """Shares of counted answers, shape (..., categories); a row of NaN without answers."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim == 0 or not (table >= 0).all():
        raise InvalidInput("Counts of answers are never negative.")
    total = table.sum(axis=-1, keepdims=True)
    return divide(table, np.broadcast_to(total, table.shape))


def js_divergence(first: ArrayLike, second: ArrayLike) -> Floats:
    """Jensen-Shannon (Lin 1991, equal weights): mean KL of both to their middle.

    In bits, without direction and always finite: 0 for equals, 1 without anything shared.
    """
    p, q = _check_shares(first), _check_shares(second)
    if p.shape[-1] != q.shape[-1]:
        raise InvalidInput("Only distributions over the same categories can be compared.")
    middle = (p + q) / 2
    both = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / 2
    # Rounding may leave equals a hair below 0.
    return np.asarray(np.maximum(both, 0) / log(2))


def _check_shares(given: ArrayLike) -> Floats:
    shares = np.asarray(given, dtype=np.float64)
    if shares.ndim == 0:
        raise InvalidInput("A distribution has at least one category.")
    total = shares.sum(axis=-1)
    if (shares < 0).any() or (np.abs(total - 1) > 1e-6).any():
        raise InvalidInput("Shares are never negative and sum to 1.")
    return shares


TOO_LARGE = " (of few items the value is too large)"
MOVED = " (moved down by twice the bias of its draws: of few items the value is too large)"


def estimate_divergence(
    found: Units, first: slice, second: slice, *, n: int, items: int | None = None
) -> Figure:
    """Jensen-Shannon divergence, in bits, of the summed columns ``first`` and ``second``.

    Samples of the same distribution differ a little, so the plug-in estimate is too large, and that
    of a draw by as much again. The ends of the draws move down by twice the distance of their mean
    from the estimate; for many items, where that is almost nothing, the error is linearised.
    ``n`` is how many it counts, ``items`` on how many items it rests, n by default.
    """

    def value(sums: Floats) -> Floats:
        # Steps of a derivative may lie below 0.
        left, right = (
            answer_shares(np.maximum(sums[:, columns], 0)) for columns in (first, second)
        )
        return js_divergence(left, right)

    number = float(value(found.sums)[0])
    if np.isnan(number):
        return undefined(TOO_FEW)
    if found.draws is None:
        given, how = estimate_interval(found, value, number), TOO_LARGE
    else:
        drawn = value(found.draws @ found.parts)
        down = 2 * (float(np.nanmean(drawn)) - number)
        low, high = percentile_ends(drawn)
        given, how = Interval(low - down, high - down), MOVED
    low, high = limit_interval(number, *given, lowest=0.0)
    result = figure(number, low=low, high=high, n=n, method=interval_method(found) + how)
    return add_doubts(
        result, few_items_doubt(n if items is None else items), few_clusters_doubt(found)
    )
