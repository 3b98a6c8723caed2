"""How far two ways of answering lie apart, as how often each answer is given: Jensen-Shannon."""

import numpy as np

from labelhub.core.agreement.divergence import distribution, js_divergence
from labelhub.core.agreement.estimation import (
    TOO_FEW,
    Units,
    bounded,
    doubted,
    few,
    few_clusters,
    interval,
    method_of,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import Interval
from labelhub.core.agreement.ratings import Floats
from labelhub.core.agreement.resampling import ends

TOO_LARGE = " (of few items the value is too large)"
MOVED = " (moved down by twice the bias of its draws: of few items the value is too large)"


def divergence(
    found: Units, one: slice, other: slice, *, n: int, items: int | None = None
) -> Figure:
    """Jensen-Shannon divergence, in bits, of the summed columns ``one`` and ``other``.

    Samples of the same distribution differ a little, so the plug-in estimate is too large, and that
    of a draw once more by as much. The ends of the draws are moved down by twice what their mean
    lies above the estimate; of many items, where that is next to nothing, the error is linearised.
    ``n`` is how many it counts, ``items`` on how many items it rests, n by default.
    """

    def value(sums: Floats) -> Floats:
        # Steps of a derivative may lie below 0.
        told, true = (distribution(np.maximum(sums[:, at], 0)) for at in (one, other))
        return js_divergence(told, true)

    number = float(value(found.sums)[0])
    if np.isnan(number):
        return undefined(TOO_FEW)
    if found.draws is None:
        given, how = interval(found, value, number), TOO_LARGE
    else:
        drawn = value(found.draws @ found.parts)
        down = 2 * (float(np.nanmean(drawn)) - number)
        low, high = ends(drawn)
        given, how = Interval(low - down, high - down), MOVED
    low, high = bounded(number, *given, lowest=0.0)
    told = figure(number, low=low, high=high, n=n, method=method_of(found) + how)
    return doubted(told, few(n if items is None else items), few_clusters(found))
