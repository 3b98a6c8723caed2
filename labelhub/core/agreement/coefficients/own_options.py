"""Agreement where each item brings its own options (paper 004: four answers made for a question).

"Option A" of one item has nothing to do with "option A" of another: chance from how often a
position is chosen (Cohen, Fleiss, alpha) measures positions. Here chance picks among the item's own
options:
S_q = (observed - mean(1 / q_i)) / (1 - mean(1 / q_i)), Brennan and Prediger 1981 with q_i options
of item i.
"""

import numpy as np

from labelhub.core.agreement.coefficients.chance import corrected, divided
from labelhub.core.agreement.coefficients.sums import Layout, parts
from labelhub.core.agreement.ratings import Floats, Ints


def own_options_parts(counts: Ints, options: Ints) -> Floats:
    """Shape (items, 3): share of agreeing pairs, pairable, 1 / options of pairable items.

    ``counts``: of positions, shape (items, most options); ``options``: how many each item has.
    """
    shared = parts(counts)[:, [Layout.agree, Layout.pairable]]
    chance = shared[:, 1] / np.maximum(options, 1)
    return np.column_stack([shared, chance])


def s_q(sums: Floats) -> Floats:
    """Of sums in the order of ``own_options_parts``; NaN where every item has one option."""
    observed = divided(sums[:, 0], sums[:, 1])
    return corrected(observed, divided(sums[:, 2], sums[:, 1]))
