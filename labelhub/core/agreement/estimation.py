"""From sums to figures: a coefficient's value, its interval, and what makes the interval doubtful.

The unit that is drawn is the item, or the cluster of items that belong together (one author, one
conversation, one document). Few different units: the bootstrap. Many: the linearised standard
error (the infinitesimal jackknife), whose cost does not grow with the number of draws. The error
under the hypothesis of no agreement is never used for an interval: it covers far too little.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.special

from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, CONFIDENCE, DRAWS, SEED, Interval, weights
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.resampling import ends

#: Nothing varies, so chance alone would give full agreement.
NO_VARIATION = "no_variation"
TOO_FEW = "fewer_than_two_labels"

#: Above this many different units, draws cost more than they tell.
MOST_DRAWN = 2000
#: Fewer items than this outside the commonest category: the interval covers less than it says.
FEW = 10
FEW_WORDS = "interval_unreliable: fewer than 10 items lie outside the commonest category"

LINEARISED = "linearised standard error over {unit}, Student's t"
CLUSTERED = "percentile bootstrap over {unit}, {draws} draws, seed {seed}"
#: Steps of the numerical derivative, relative to the size of a sum.
STEP = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn: ``parts``, shape (different units, columns); how ``often`` each is there.

    ``draws``: weights of a bootstrap, shape (draws, different units); None for linearised errors.
    """

    parts: Floats
    often: Ints
    unit: str
    draws: Floats | None

    @property
    def sums(self) -> Floats:
        """Over all units: shape (1, columns)."""
        return np.asarray(self.often.astype(np.float64) @ self.parts)[None, :]

    def with_parts(self, parts: Floats) -> "Units":
        """The same units and draws, of which other things are summed."""
        return Units(parts, self.often, self.unit, self.draws)


def units(parts: Floats, often: Ints, unit: str = "items") -> Units:
    """Ready to be estimated from; ``often`` is how many units each row of ``parts`` stands for."""
    n = int(often.sum())
    if len(parts) > MOST_DRAWN or n == 0:
        return Units(parts, often, unit, None)
    return Units(parts, often, unit, weights(often))


def clustered(parts: Floats, clusters: Ints, unit: str) -> Units:
    """Units that are clusters: ``clusters`` numbers each row of ``parts`` from 0 without gaps."""
    size = int(clusters.max(initial=-1)) + 1
    columns = [np.bincount(clusters, weights=column, minlength=size) for column in parts.T]
    return units(np.column_stack(columns), np.ones(size, dtype=np.int64), unit)


def estimated(found: Units, value: Value, *, n: int, missing: str = NO_VARIATION) -> Figure:
    """The value with its interval; null for the reason ``missing`` where there is none.

    ``n`` is how many items it rests on.
    """
    number = float(value(found.sums)[0])
    if np.isnan(number):
        return undefined(missing if n else TOO_FEW)
    low, high = interval(found, value, number)
    return figure(number, low=low, high=high, n=n, method=method_of(found))


def interval(found: Units, value: Value, number: float) -> Interval:
    """At 95 %; NaN where nothing varies between units."""
    if found.draws is not None:
        return Interval(*ends(value(found.draws @ found.parts)))
    size = int(found.often.sum())
    if size < 2:
        return Interval(float("nan"), float("nan"))
    half = linearised_error(found, value) * float(
        scipy.special.stdtrit(size - 1, 0.5 + CONFIDENCE / 2)
    )
    return Interval(number - half, number + half)


def linearised_error(found: Units, value: Value) -> float:
    """Standard error by each unit's influence on the value (Gwet 2014, chapter 5; delta method)."""
    sums = found.sums[0]
    steps = np.maximum(np.abs(sums), 1.0) * STEP
    moved = np.diag(steps)
    slopes = (value(sums + moved) - value(sums - moved)) / (2 * steps)
    influence = found.parts @ np.nan_to_num(slopes)
    n = int(found.often.sum())
    if n < 2:
        return float("nan")
    mean = float(found.often @ influence) / n
    spread = float(found.often @ (influence - mean) ** 2)
    return sqrt(spread * n / (n - 1))


def method_of(found: Units) -> str:
    """How the interval was made, in words."""
    if found.draws is None:
        return LINEARISED.format(unit=found.unit)
    if found.unit == "items":
        return BOOTSTRAP
    return CLUSTERED.format(unit=found.unit, draws=DRAWS, seed=SEED)


def doubtful(counts: Ints, often: Ints | None = None) -> str | None:
    """Why an interval should not be trusted; ``counts`` of labels, shape (items, categories).

    ``often``: how many items each row stands for, shape (items,); one by default.
    """
    items = np.ones(len(counts), dtype=np.int64) if often is None else often
    labels = items @ counts
    total, most = int(labels.sum()), int(labels.max(initial=0))
    rated = int(items[counts.any(axis=1)].sum())
    # Share outside the commonest category times items, in whole numbers.
    return FEW_WORDS if (total - most) * rated < FEW * total else None
