"""Intervals for other annotators like these: a bootstrap over items and one over annotators.

An interval over items says how far a figure would move on other items, labelled by the very same
annotators. Where the annotators are a sample too, as a crowd is, both are drawn. In a draw of
annotators a label counts as often as its annotator, and a pair of labels as often as both; an
annotator that is drawn twice is never compared with itself. The variances of the two bootstraps
add (Cameron, Gelbach and Miller 2011): what single labels add is in both, so the sum is rather too
large. The interval is the value, and Student's t times the root of the sum to either side; t has
one degree of freedom less than the effective number of annotators, (sum n)² / sum n² for n labels
each (Kish 1965).

How often it covers the value that is expected over annotators and items is measured in
``tests/core/agreement/test_two_way.py``. The pigeonhole bootstrap (Owen 2007), which draws both at
once, covers 82 to 93 % by its percentiles with three to five annotators, and with t up to 100 %
with twenty: it counts what single labels add three times.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from labelhub.core.agreement.aggregation.majority import one_hot, single_winner, winners
from labelhub.core.agreement.coefficients.sums import Layout, Value
from labelhub.core.agreement.intervals import DRAWS, SEED, UPPER
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, divide

#: With fewer annotators there is no interval.
FEWEST = 3
#: Items times categories; of more items a sample is drawn, which makes intervals rather too wide.
MOST_CELLS = 20_000
LEAST_ITEMS = 300
#: Numbers that are held at once.
BLOCK = 1 << 20
#: With a smaller share of defined draws there is no interval.
MOSTLY = 0.9
#: Variances and numbers of pairs below this are rounding.
NIL = 1e-12


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of each item in some draws of annotators, or in a single one for all draws.

    ``counts``: how often each category counts, shape (draws, items, categories). ``squares``: the
    sum of squares of what each single label counts, shape (draws, items).
    """

    counts: Floats
    squares: Floats

    @property
    def total(self) -> Floats:
        """Shape (draws, items)."""
        return np.asarray(self.counts.sum(axis=2))


#: What each item adds to the sums of a figure, shape (draws, items, columns).
Parts = Callable[..., Floats]


class Side:
    """The labels of some annotators of the items at ``items``."""

    def __init__(self, ratings: Ratings, items: Ints, stream: int = 0) -> None:
        """``stream``: draws the annotators, independently of other streams; 0 never does."""
        self.q, self._n, self._stream = ratings.n_categories, len(items), stream
        place = np.full(ratings.n_items, -1)
        place[items] = np.arange(len(items))
        own = ratings.where(place[ratings.items] >= 0)
        present, raters = np.unique(own.raters, return_inverse=True)
        self._often = np.bincount(raters, minlength=len(present))
        ones, rows = np.ones(len(own)), place[own.items]
        self._answers, self._items = (
            sparse.csr_array((ones, (cells, raters)), shape=(size, len(present)))
            for cells, size in ((rows * self.q + own.codes, self._n * self.q), (rows, self._n))
        )

    @property
    def effective(self) -> float:
        """How many annotators with equally many labels say as much; infinite where none is drawn
        and 0 where they are too few."""
        if not self._stream:
            return np.inf
        if len(self._often) < FEWEST:
            return 0.0
        return float(self._often.sum()) ** 2 / float((self._often.astype(np.float64) ** 2).sum())

    def weights(self) -> Floats | None:
        """How often each annotator is drawn, shape (draws, annotators); None where none is."""
        return _draw(self._stream, len(self._often)) if self._stream else None

    def labels(self, weights: Floats | None = None) -> Labels:
        """Weighted as in these draws of annotators; every label once, in one draw, by default."""
        given = np.ones((1, len(self._often))) if weights is None else weights
        counts = (self._answers @ given.T).reshape(self._n, self.q, -1).transpose(2, 0, 1)
        return Labels(np.ascontiguousarray(counts), (self._items @ given.T**2).T)


def _draw(stream: int, size: int) -> Floats:
    generator = np.random.default_rng((SEED, stream))
    return generator.multinomial(size, np.full(size, 1 / size), DRAWS).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Sums of some parts in draws of items and of annotators, each of shape (draws, columns).

    ``units``: the effective number of annotators or, where they are fewer, the number of items or
    clusters; ``shrink``: the share of all items that was drawn from.
    """

    by_items: Floats
    by_annotators: Floats
    units: float
    shrink: float

    def half(self, value: Value) -> float:
        """Half of the interval of a figure; NaN where nothing varies or draws are undefined."""
        variance = self.shrink * _variance(value(self.by_items))
        variance += _variance(value(self.by_annotators))
        if self.units <= 1 or not variance > NIL:
            return float("nan")
        return float(special.stdtrit(self.units - 1, UPPER) * np.sqrt(variance))


def _variance(drawn: Floats) -> float:
    known = drawn[~np.isnan(drawn)]
    return float(known.var(ddof=1)) if len(known) >= MOSTLY * len(drawn) else float("nan")


def sample_items(items: Ints, q: int) -> Ints:
    """The items, or as many of them by lot as their tables may have cells."""
    most = max(MOST_CELLS // max(q, 1), LEAST_ITEMS)
    if len(items) <= most:
        return items
    return np.sort(np.random.default_rng(SEED).choice(items, most, replace=False))


def draw_both(
    sides: Sequence[Side], parts: Parts, clusters: Ints | None = None, shrink: float = 1.0
) -> TwoWay:
    """Draw the items, or their ``clusters``, and then the annotators of all sides.

    ``clusters``: a number for each of the items of the sides.
    """
    (once,) = parts(*(side.labels() for side in sides))
    if clusters is not None:
        _, numbers = np.unique(clusters, return_inverse=True)
        together = np.zeros((int(numbers.max(initial=-1)) + 1, once.shape[1]))
        np.add.at(together, numbers, once)
    else:
        together = once
    by_items = _draw(0, len(together)) @ together
    weights, step = [side.weights() for side in sides], max(BLOCK // max(once.size, 1), 1)
    by_annotators = np.empty((DRAWS, once.shape[1]))
    for some in (slice(start, start + step) for start in range(0, DRAWS, step)):
        drawn = (None if of_side is None else of_side[some] for of_side in weights)
        labels = (side.labels(given) for side, given in zip(sides, drawn, strict=True))
        by_annotators[some] = parts(*labels).sum(axis=1)
    units = min(len(together), *(side.effective for side in sides))
    return TwoWay(by_items, by_annotators, units, shrink)


def agreement_parts(found: Labels, weights: Floats | None = None) -> Floats:
    """As ``coefficients.sums.agreement_parts``, of weighted labels."""
    counts, total = found.counts, found.total
    layout = Layout(counts.shape[2])
    agreeing, pairs = _pairs(found, weights)
    parts = np.zeros((*total.shape, 4 + 2 * layout.q))
    parts[..., layout.agree] = np.nan_to_num(divide(agreeing, pairs))
    pairable = np.asarray(pairs > 0)
    parts[..., layout.pairable] = pairable
    parts[..., layout.rated] = total > 0
    parts[..., layout.pairs] = parts[..., layout.agree] * total
    parts[..., layout.shares] = counts / np.maximum(total, NIL)[..., None]
    parts[..., layout.margins] = counts * pairable[..., None]
    return parts


def _pairs(found: Labels, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Agreeing pairs of labels by two annotators, and all such pairs: shape (draws, items)."""
    near = found.counts if weights is None else found.counts @ weights
    agreeing = (found.counts * near).sum(axis=2) - found.squares
    return agreeing, found.total**2 - found.squares


def distance_parts(found: Labels, distances: Floats) -> Floats:
    """As ``coefficients.alpha.distance_parts``, of weighted labels."""
    apart = ((found.counts @ distances) * found.counts).sum(axis=2)
    _, pairs = _pairs(found)
    observed = np.nan_to_num(divide(apart * found.total, pairs))
    return np.concatenate([observed[..., None], found.counts * (pairs > 0)[..., None]], axis=2)


def coincidence_parts(found: Labels) -> Floats:
    """As ``coefficients.alpha.coincidences``, of weighted labels, without pairs of a label with
    itself; for metrics by which a category is at no distance from itself."""
    draws, items, q = found.counts.shape
    _, pairs = _pairs(found)
    scaled = found.counts * np.nan_to_num(divide(found.total, pairs))[..., None]
    table = scaled[..., :, None] * found.counts[..., None, :]
    diagonal = np.arange(q)
    margins = found.counts * (pairs > 0)[..., None]
    # So that each row sums to what the category counts.
    table[..., diagonal, diagonal] += margins - table.sum(axis=3)
    return table.reshape(draws, items, q * q)


def pair_parts(first: Labels, second: Labels) -> Floats:
    """Agreeing pairs of a label of each side, pairs; how often either side has each category."""
    mine, theirs = first.total[..., None], second.total[..., None]
    alike = (first.counts * second.counts).sum(axis=2, keepdims=True)
    columns = [alike, mine * theirs, first.counts * theirs, second.counts * mine]
    return np.concatenate(columns, axis=2)


def majority_pair_parts(first: Labels, second: Labels) -> Floats:
    """The same of single most frequent answers, of the items on which both sides have one."""
    mine, theirs = (_majority(side.counts) for side in (first, second))
    both = mine.any(axis=2, keepdims=True) & theirs.any(axis=2, keepdims=True)
    alike = (mine * theirs).sum(axis=2, keepdims=True)
    return np.concatenate([alike, both, mine * both, theirs * both], axis=2)


def _majority(counts: Floats) -> Floats:
    """1 for the single most frequent answer, shape as ``counts``."""
    q = counts.shape[2]
    best = single_winner(winners(counts.reshape(-1, q)))
    return one_hot(best, q).reshape(counts.shape)


def majority_parts(found: Labels, truth: Labels) -> Floats:
    """How far the majority is right, a tie in part, and whether there is one."""
    won = winners(found.counts.reshape(-1, found.counts.shape[2])).reshape(found.counts.shape)
    right = (won * (truth.counts > 0)).sum(axis=2)
    credit = np.nan_to_num(divide(right, won.sum(axis=2)))
    return np.stack([credit, found.total > 0], axis=2)


def ratio(sums: Floats) -> Floats:
    """The first column over the second."""
    return divide(sums[:, 0], sums[:, 1])
