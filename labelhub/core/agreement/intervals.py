"""Intervals: Wilson's for shares, the bootstrap over items for other figures.

Wilson's is our own: unlike ``scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`` it takes
an effective number that is not whole, and it takes a fiftieth of the time.
"""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

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
Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


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
    return effective_wilson(share, spread, units, float(special.stdtrit(max(units - 1, 1), UPPER)))


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


def bootstrap(rows: NDArray[np.bool_] | Counts, statistic: Statistic) -> NDArray[np.float64]:
    """Percentile interval of a statistic of items.

    Draws weights of the *distinct* rows (``draw_weights``) instead of resampling items: the same
    distribution at a fraction of the cost.

    Args:
        rows: shape (items, columns); each row is all that matters of one item.
        statistic: takes sums of the columns, shape (draws, columns), gives shape (draws, k).

    Returns:
        Shape (2, k): lower and upper ends; NaN where every draw was undefined, and where all were
        the same: items without variation give no interval.
    """
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    drawn = statistic(draw_weights(counts) @ distinct.astype(np.float64))
    ends = np.full((2, drawn.shape[1]), np.nan)
    varied = np.nanmax(drawn, axis=0, initial=-np.inf) > np.nanmin(drawn, axis=0, initial=np.inf)
    tail = 100 * (1 - CONFIDENCE) / 2
    ends[:, varied] = np.nanpercentile(drawn[:, varied], [tail, 100 - tail], axis=0)
    return ends


def t_cdf(t: ArrayLike, df: ArrayLike) -> Floats:
    """Chance of a value of at most ``t`` under ``df`` degrees of freedom (Student 1908).

    Both broadcast; ``df`` is positive and need not be whole. NaN where either is NaN.
    """
    return np.asarray(special.stdtr(_positive(df), t), dtype=np.float64)


def t_quantile(share: ArrayLike, df: ArrayLike) -> Floats:
    """The value that a share of the distribution stays below: the inverse of ``t_cdf``."""
    shares = np.asarray(share, dtype=np.float64)
    if np.any((shares < 0) | (shares > 1)):
        raise InvalidInput("A share of a distribution lies between 0 and 1.")
    return np.asarray(special.stdtrit(_positive(df), shares), dtype=np.float64)


def _positive(df: ArrayLike) -> Floats:
    freedom = np.asarray(df, dtype=np.float64)
    if np.any(freedom <= 0):
        raise InvalidInput("Degrees of freedom are positive.")
    return freedom
