"""Intervals: Wilson's for shares, the bootstrap over items for other figures.

Wilson's is our own: unlike ``scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`` it takes
an effective number that is not whole, and it takes a fiftieth of the time.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput
from labelhub.core.wilson import wilson_bounds

CONFIDENCE = 0.95
UPPER = 0.5 + CONFIDENCE / 2
DRAWS = 1000
#: With so many different rows, and at most so many items for each, drawing items takes less time
#: than drawing rows.
MANY_ROWS = 200
FEW_ALIKE = 8
SEED = 7
#: A variance below so much of that of one answer is rounding.
NIL = 1e-12
BOOTSTRAP = f"percentile bootstrap over items, {DRAWS} draws, seed {SEED}"
WILSON = "Wilson"
EFFECTIVE = "Wilson over {unit}, effective number"

Counts = NDArray[np.int64]


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Two-sided score interval of a share (Wilson 1927); 0 to 1 where ``n`` is 0.

    Raises ``InvalidInput`` for impossible counts, and for a confidence not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise InvalidInput(f"A confidence lies between 0 and 1: {confidence}.")
    if not 0 <= successes <= n:
        raise InvalidInput(f"Not a count and its whole: {successes} of {n}.")
    if n == 0:
        return Interval(0.0, 1.0)
    return Interval(*wilson_bounds(successes / n, n, NormalDist().inv_cdf(0.5 + confidence / 2)))


def wilson_of_units(part: Floats, whole: Floats, often: Ints, *, few: bool = False) -> Interval:
    """Wilson's interval of a ratio of sums, for the effective number of independent answers.

    That is how many of them would have the ratio's linearised variance over units (Korn and
    Graubard 1998); where nothing varies each unit is one. Units that count 0 or 1 have ``wilson``
    itself.

    Args:
        part: of each different unit, shape (units,).
        whole: what it is a part of, shape (units,), not 0 for all.
        often: how many units are like this one, shape (units,).
        few: whether Student's t of the number of units takes the place of the normal quantile, for
            clusters, whose spread is known the less the fewer they are.
    """
    total = float(often @ whole)
    share = float(often @ part) / total
    units = int(often[whole > 0].sum())
    variance = float(often @ (part - share * whole) ** 2) / total**2
    if not few:
        return effective_wilson(share, variance, units, NormalDist().inv_cdf(UPPER))
    spread = variance * units / max(units - 1, 1)
    return effective_wilson(share, spread, units, student_t(max(units - 1, 1)))


def effective_wilson(share: float, variance: float, units: float, z: float) -> Interval:
    """Wilson's interval of a share with this variance over so many ``units``."""
    even = share * (1 - share)
    n = even / variance if variance > even * NIL else float(units)
    return Interval(*wilson_bounds(share, n, z))


def draw_weights(often: Counts) -> NDArray[np.float64]:
    """How often each distinct row is drawn in each draw of a bootstrap, by one seed.

    ``often``: how many items each row stands for, shape (rows,), together at least one. All
    items are drawn with replacement: from the multinomial distribution over rows, or one by one
    where there are many rows with few items each, which is the same.
    Shape (draws, rows).
    """
    n, rows = int(often.sum()), len(often)
    generator = np.random.default_rng(SEED)
    if rows < MANY_ROWS or n > FEW_ALIKE * rows:
        return generator.multinomial(n, often / n, size=DRAWS).astype(np.float64)
    row_of = None if n == rows else np.repeat(np.arange(rows), often)
    found = np.empty((DRAWS, rows))
    for draw in found:
        items = generator.integers(n, size=n)
        draw[:] = np.bincount(items if row_of is None else row_of[items], minlength=rows)
    return found


def student_t(df: float) -> float:
    """Standard errors to either side that hold 95 % of Student's t (1908); ``df`` above 0."""
    return float(scipy.special.stdtrit(df, UPPER))
