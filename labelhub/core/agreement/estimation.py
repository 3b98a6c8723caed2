"""From sums to figures: a coefficient's value, its interval, and the doubts about the interval.

The unit that is drawn is the item, or the cluster of items that belong together (one author, one
conversation, one document). Shares have Wilson's interval. Other figures of few different units:
the bootstrap; of many: the linearised standard error (the infinitesimal jackknife), whose cost does
not grow with the number of draws. The error under the hypothesis of no agreement is never used for
an interval: it covers far too little. Fewer than ten items give no interval at all.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.coefficients.sums import Value, first_over_second
from labelhub.core.agreement.figures import (
    Figure,
    figure,
    percentile_ends,
    share,
    undefined,
)
from labelhub.core.agreement.intervals import (
    BOOTSTRAP,
    DRAWS,
    EFFECTIVE,
    SEED,
    Interval,
    draw_weights,
    effective_wilson,
    student_t,
    wilson_of_units,
)
from labelhub.core.agreement.ratings import Floats, Ints, divide

#: Nothing varies, so chance alone would give full agreement.
NO_VARIATION = "no_variation"
TOO_FEW = "fewer_than_two_labels"

#: Above this many different units draws are not worth their cost.
MOST_DRAWN = 2000
#: Nor of so many items: there both intervals are the same to a few hundredths of their width.
MOST_ITEMS_DRAWN = 10_000
#: Fewer items give no interval; fewer outside the commonest category make it cover less than 95 %.
FEW = 10
FEW_WORDS = "interval_unreliable: fewer than 10 items lie outside the commonest category"
FEW_ITEMS = "few_items: too few items for an interval"
#: With fewer clusters the spread between them is hardly known.
FEW_UNITS = 20
FEW_CLUSTERS = "few_clusters: fewer than 20 different {unit} are drawn"

LINEARISED = "linearised standard error over {unit}, Student's t"
CLUSTERED = "percentile bootstrap over {unit}, {draws} draws, seed {seed}"
#: Steps of the numerical derivative, relative to the size of a sum.
STEP = 1e-5
#: Sums that are moved at once for it: 32 MB.
MOST_MOVED = 1 << 22
#: Half an interval below this is a zero of the numerical derivative.
FLAT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Units to draw: ``parts``, shape (different units, columns); how ``often`` each occurs.

    ``draws``: weights of a bootstrap, shape (draws, different units); None for linearised errors,
    for which ``parts`` may be sparse.
    """

    parts: Floats
    often: Ints
    unit: str
    draws: Floats | None

    @property
    def filled(self) -> int:
        """How many units have anything to sum; the others give no evidence."""
        return int(self.often[(self.parts != 0).sum(axis=1) > 0].sum())

    @property
    def sums(self) -> Floats:
        """Over all units: shape (1, columns)."""
        return np.asarray(self.often.astype(np.float64) @ self.parts)[None, :]

    def doubts(self, items: int) -> tuple[str | None, str | None]:
        """The doubts about an interval over these units, of so many ``items``."""
        return few_items_doubt(items), few_clusters_doubt(self.unit, self.filled)

    def with_parts(self, parts: Floats) -> "Units":
        """The same units and draws, of which other things are summed."""
        return Units(parts, self.often, self.unit, self.draws)


def item_units(parts: Floats, often: Ints, unit: str = "items") -> Units:
    """Units of items; ``often``: how many items each row of ``parts`` represents."""
    n = int(often.sum())
    if len(parts) > MOST_DRAWN or not 0 < n <= MOST_ITEMS_DRAWN:
        return Units(parts, often, unit, None)
    return Units(parts, often, unit, draw_weights(often))


def cluster_units(parts: Floats, clusters: Ints, unit: str, *, drawn: bool = True) -> Units:
    """Units that are clusters: ``clusters`` numbers each row of ``parts`` from 0 without gaps.

    ``drawn``: by the bootstrap where they are few; else always linearised, for many small figures.
    """
    size = int(clusters.max(initial=-1)) + 1
    columns = [np.bincount(clusters, weights=column, minlength=size) for column in parts.T]
    # Sets of which none has a member leave no column.
    together = np.column_stack([np.empty((size, 0)), *columns]).astype(np.float64)
    ones = np.ones(size, dtype=np.int64)
    return item_units(together, ones, unit) if drawn else Units(together, ones, unit, None)


def estimate(
    found: Units,
    value: Value,
    *,
    n: int,
    items: int | None = None,
    missing: str = NO_VARIATION,
    lowest: float = -1.0,
) -> Figure:
    """The value with its interval; null for the reason ``missing`` where there is none.

    ``n`` is the count, ``items`` (n by default) the number of items it rests on: few of them, or of
    clusters, give a ``doubt``. The ends lie between ``lowest`` and 1.
    """
    number = float(value(found.sums)[0])
    if np.isnan(number):
        return undefined(missing if n else TOO_FEW)
    low, high = limit_interval(number, *estimate_interval(found, value, number), lowest=lowest)
    result = figure(number, low=low, high=high, n=n, method=interval_method(found))
    return add_doubts(result, *found.doubts(n if items is None else items))


def estimate_share(
    found: Units, *, n: int, items: int | None = None, missing: str = NO_VARIATION
) -> Figure:
    """The first column over the second: a share, from 0 to 1; arguments as for ``estimate``.

    The interval is Wilson's, of the effective number where units count anything but 0 or 1.
    """
    parts: Any = found.parts[:, :2]
    part, whole = (parts.toarray() if scipy.sparse.issparse(parts) else parts).T
    single = found.unit == "items"
    if single and (np.isin(whole, (0, 1)) & np.isin(part, (0, 1))).all():
        sums = np.rint(found.sums[0, :2]).astype(np.int64).tolist()
        result = share(*sums, reason=missing if n else TOO_FEW)
    elif not whole.any():
        return undefined(missing if n else TOO_FEW)
    else:
        value = float(first_over_second(found.sums)[0])
        low, high = wilson_of_units(part, whole, found.often, few=not single)
        method = EFFECTIVE.format(unit=found.unit)
        result = figure(value, low=low, high=high, n=n, method=method)
    return add_doubts(result, *found.doubts(n if items is None else items))


def linearised_figure(number: float, error: float, *, n: int, unit: str, clusters: float) -> Figure:
    """A coefficient of ``n`` items with its interval by a linearised ``error`` over clusters."""
    half = error * student_t(max(clusters - 1, 1))
    wide = half if half >= FLAT else float("nan")
    low, high = limit_interval(number, number - wide, number + wide)
    result = figure(number, low=low, high=high, n=n, method=LINEARISED.format(unit=unit))
    return add_doubts(result, few_items_doubt(n), few_clusters_doubt(unit, clusters))


def share_over_clusters(
    number: float, error: float, *, n: int, unit: str, clusters: float
) -> Figure:
    """A share of ``n`` items with Wilson's interval by its linearised ``error`` over clusters."""
    low, high = effective_wilson(number, error**2, clusters, student_t(max(clusters - 1, 1)))
    result = figure(number, low=low, high=high, n=n, method=EFFECTIVE.format(unit=unit))
    return add_doubts(result, few_items_doubt(n), few_clusters_doubt(unit, clusters))


def limit_interval(number: float, low: float, high: float, *, lowest: float = -1.0) -> Interval:
    """The ends as plain numbers, not beyond ``lowest`` and 1, around ``number``; NaN stays.

    Draws of a few items may all lie on one side of the value: the interval is widened to hold it.
    """
    if np.isnan(low) or np.isnan(high):
        return Interval(float("nan"), float("nan"))
    # Chance is also taken from items with one label, so a kappa itself may lie below -1.
    floor = lowest if number >= lowest else low
    return Interval(float(min(max(low, floor), number)), float(max(min(high, 1.0), number)))


def add_doubts(found: Figure, *doubts: str | None) -> Figure:
    """The figure with ``doubts`` added to those it has; a null one stays as it is.

    Too few items take its interval away, and all other doubts about that.
    """
    known = [found.get("doubt"), *doubts]
    if found["value"] is None or not any(known):
        return found
    if FEW_ITEMS in known:
        return {**found, "low": None, "high": None, "doubt": FEW_ITEMS}
    return {**found, "doubt": "; ".join(dict.fromkeys(doubt for doubt in known if doubt))}


def few_items_doubt(items: int) -> str | None:
    """Why a figure of so few items has no interval; None where it has one."""
    return FEW_ITEMS if items < FEW else None


def withhold_interval(found: Figure) -> Figure:
    """The figure without its interval where it counts too few."""
    return add_doubts(found, few_items_doubt(found.get("n", FEW)))


def few_clusters_doubt(unit: str, clusters: float) -> str | None:
    """The doubt about an interval over so few clusters; None where the ``unit`` is the item."""
    few = unit != "items" and clusters < FEW_UNITS
    return FEW_CLUSTERS.format(unit=unit) if few else None


def estimate_interval(found: Units, value: Value, number: float) -> Interval:
    """At 95 %; NaN where nothing varies between units."""
    if found.draws is not None:
        return Interval(*percentile_ends(value(found.draws @ found.parts)))
    size = int(found.often.sum())
    if size < 2:
        return Interval(float("nan"), float("nan"))
    half = linearised_error(found, value) * student_t(size - 1)
    if half < FLAT:
        return Interval(float("nan"), float("nan"))
    return Interval(number - half, number + half)


def linearised_error(found: Units, value: Value) -> float:
    """Standard error by each unit's influence on the value (Gwet 2014, chapter 5; delta method)."""
    sums = found.sums[0]
    steps = np.maximum(np.abs(sums), 1.0) * STEP
    slopes, rows = np.empty(len(sums)), max(MOST_MOVED // max(len(sums), 1), 1)
    for start in range(0, len(sums), rows):
        some = slice(start, start + rows)
        moved = np.eye(len(steps[some]), len(sums), start) * steps
        slopes[some] = (value(sums + moved) - value(sums - moved)) / (2 * steps[some])
    influence = found.parts @ np.nan_to_num(slopes)
    n = int(found.often.sum())
    if n < 2:
        return float("nan")
    mean = float(found.often @ influence) / n
    spread = float(found.often @ (influence - mean) ** 2)
    return sqrt(spread * n / (n - 1))


def interval_method(found: Units) -> str:
    """How the interval was made, in words."""
    if found.draws is None:
        return LINEARISED.format(unit=found.unit)
    if found.unit == "items":
        return BOOTSTRAP
    return CLUSTERED.format(unit=found.unit, draws=DRAWS, seed=SEED)


def rare_categories_doubt(counts: Ints, often: Ints | None = None) -> str | None:
    """The doubt that few items lie outside the commonest category.

    ``counts``: of labels, shape (items, categories).

    ``often``: how many items each row represents, shape (items,); one by default.
    """
    items = np.ones(len(counts), dtype=np.int64) if often is None else often
    labels = items @ counts
    total, most = int(labels.sum()), int(labels.max(initial=0))
    rated = int(items[counts.any(axis=1)].sum())
    # Share outside the commonest category times items, in whole numbers.
    return FEW_WORDS if (total - most) * rated < FEW * total else None


def js_divergence(first: ArrayLike, second: ArrayLike) -> Floats:
    """Jensen-Shannon divergence of counted answers, shape (..., categories) (Lin 1991).

    With equal weights: mean KL of the shares of both to their middle. In bits, without direction
    and always finite: 0 for equals, 1 without anything shared. NaN without answers.
    """
    counts = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    totals = [np.broadcast_to(side.sum(axis=-1, keepdims=True), side.shape) for side in counts]
    p, q = map(divide, counts, totals)
    middle = (p + q) / 2
    both = (scipy.special.rel_entr(p, middle) + scipy.special.rel_entr(q, middle)).sum(axis=-1) / 2
    # Rounding may leave equals a hair below 0.
    return np.asarray(np.maximum(both, 0) / log(2))


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
        return js_divergence(*(np.maximum(sums[:, columns], 0) for columns in (first, second)))

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
    return add_doubts(result, *found.doubts(n if items is None else items))
