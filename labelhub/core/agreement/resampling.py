"""One bootstrap for many figures of the same items, so that they can be set against each other.

Each draw gives every item a weight. All arms of an experiment share the draws: a difference of two
arms is then that of the same items drawn. What was said of an item in several passes goes together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, CONFIDENCE, DRAWS, weights

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.number[Any]]

FEW = 8
#: Draws that differ by less say the same.
SAME = 1e-12

CLUSTERED = f"{BOOTSTRAP}; the passes of an item go together"


@dataclass(frozen=True, slots=True)
class Resample:
    """Weights of ``items`` in each draw, shape (draws, items)."""

    items: int
    weights: Floats

    def sums(self, columns: Columns) -> Floats:
        """Of columns, shape (items, k), in each draw: shape (draws, k)."""
        table = columns.astype(np.float64)
        if table.shape[1] > FEW:
            return np.asarray(self.weights @ table)
        # A few columns one by one take a fraction of the time of a product with a thin matrix.
        return np.column_stack([self.weights @ np.ascontiguousarray(each) for each in table.T])


def resample(items: int) -> Resample:
    """Draw ``items`` with replacement, again and again, by the project's seed."""
    if items == 0:
        return Resample(0, np.empty((DRAWS, 0)))
    return Resample(items, weights(np.ones(items, dtype=np.int64)))


def ends(drawn: Floats) -> tuple[float, float]:
    """Percentile interval of one statistic's draws; NaN where all are undefined or the same."""
    known = drawn[~np.isnan(drawn)]
    # Sums of weights differ in their last digits where nothing varies.
    if known.size == 0 or known.max() - known.min() < SAME:
        return float("nan"), float("nan")
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return float(low), float(high)


def divided(part: Floats, whole: Floats) -> Floats:
    """Draw by draw; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def ratio(sample: Resample, part: Columns, whole: Columns, *, reason: str, n: int) -> Figure:
    """Sum of ``part`` over sum of ``whole``, both by item, with the bootstrap's interval.

    ``n`` is how many items the figure rests on; undefined for ``reason`` when ``whole`` sums to 0.
    """
    total = float(whole.sum())
    if total == 0:
        return undefined(reason)
    drawn = sample.sums(np.stack([part, whole], axis=1))
    low, high = ends(divided(drawn[:, 0], drawn[:, 1]))
    method = CLUSTERED if whole.max() > 1 else BOOTSTRAP
    return figure(float(part.sum()) / total, low=low, high=high, n=n, method=method)


def clustered_share(sample: Resample, part: Ints, whole: Ints, *, reason: str) -> Figure:
    """``part`` of ``whole`` passes of each item: Wilson where an item has one pass, else bootstrap.

    ``n`` counts items, never passes.
    """
    if whole.size == 0 or whole.max() <= 1:
        return share(int(part.sum()), int(whole.sum()), reason=reason)
    return ratio(sample, part, whole, reason=reason, n=int((whole > 0).sum()))
