"""Standard errors as published with the coefficients, to be set beside those of other programs.

Gwet 2014, chapter 5 and section 2.6. Reports carry bootstrap intervals instead (``estimation``):
these count an item that only one rater rated as if it had agreement 0, and are a little wider.
``corrected``: by items - 1, as for many raters; the formulas for two raters divide by items.
NaN where the coefficient has no value, and of fewer than two items.
"""

from math import nan, sqrt

import numpy as np

from labelhub.core.agreement.coefficients.chance import NIL, divided
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.ratings import Floats

STEP = 1e-5


def gwet_error(columns: Floats, chance: Value, *, corrected: bool = True) -> float:
    """Of a coefficient (percent - chance) / (1 - chance), from one row of parts for each item.

    The first two columns are an item's agreement and whether it is pairable (``sums.parts``,
    ``conger.conger_parts``); ``chance`` takes their sums. Items that nobody rated do not count.
    """
    columns = columns[columns.any(axis=1)]
    sums = columns.sum(axis=0)
    agree, pairable = columns[:, 0], columns[:, 1]
    n, pairs = len(columns), sums[1]
    expected = float(chance(sums[None, :])[0])
    beyond = 1 - expected
    if not (pairs and beyond > NIL):
        return nan
    kappa = (sums[0] / pairs - expected) / beyond
    each = n / pairs * (agree - expected * pairable) / beyond
    each -= (1 - kappa) * n * _influence(columns, sums, chance) / beyond
    return _error(each - kappa, corrected=corrected)


def _influence(columns: Floats, sums: Floats, chance: Value) -> Floats:
    """What each item adds to chance agreement; sums to zero."""
    steps = np.maximum(np.abs(sums), 1.0) * STEP
    moved = np.diag(steps)
    slopes = divided(chance(sums + moved) - chance(sums - moved), 2 * steps)
    return np.asarray(columns @ slopes)


def _error(each: Floats, *, corrected: bool) -> float:
    n = len(each)
    if n < 2:
        return nan
    return sqrt(float((each**2).sum()) / (n * (n - 1 if corrected else n)))
