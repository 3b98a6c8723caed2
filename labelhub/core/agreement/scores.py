"""How well predictions match gold, all from one table: rows predicted, columns gold.

Metrics take tables of shape (..., k, k) and give shape (...), NaN where undefined, so that one
function serves the table and every draw of its bootstrap. ``overall_scores``, ``label_scores`` and
``ordinal_scores`` put them into figures with n and interval. Where items belong together in
clusters, whole clusters are drawn, for shares too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.estimation import CLUSTERED, FEW_CLUSTERS, FEW_UNITS, add_doubts
from labelhub.core.agreement.evaluation import Confusion, LabelScore
from labelhub.core.agreement.figures import (
    Figure,
    figure,
    percentile_ends,
    share,
    undefined,
)
from labelhub.core.agreement.intervals import BOOTSTRAP, DRAWS, SEED, draw_weights
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.errors import InvalidInput

#: More clusters than these are drawn in groups.
MOST_GROUPS = 1000
#: Draws whose whole tables are held at once.
CHUNK = 100


@dataclass(frozen=True, eq=False)
class ItemClusters:
    """``numbers``: the cluster of each item, shape (items,), from 0 without gaps."""

    numbers: Ints
    unit: str

    @cached_property
    def draws(self) -> Floats:
        """How often each group is drawn: shape (draws, groups); the same for all tables."""
        size = min(int(self.numbers.max(initial=-1)) + 1, MOST_GROUPS)
        return draw_weights(np.ones(size, dtype=np.int64)) if size else np.empty((DRAWS, 0))

    @property
    def method(self) -> str:
        """How an interval by these draws was made, in words."""
        return CLUSTERED.format(unit=self.unit, draws=DRAWS, seed=SEED)

    def sums(self, cells: Ints, size: int) -> Iterator[Floats]:
        """Counts of ``size`` cells in each draw, some draws at a time: shape (some, size).

        ``cells``: the cell of each item, shape (items,), negative where it is in none.
        """
        counted = np.flatnonzero(cells >= 0)
        # Most cells of a large table are empty in all draws.
        used, column = np.unique(cells[counted], return_inverse=True)
        groups = self.draws.shape[1]
        cell = (self.numbers[counted] % MOST_GROUPS) * len(used) + column
        table = np.bincount(cell, minlength=groups * len(used)).reshape(groups, len(used))
        summed = self.draws @ table.astype(np.float64)
        for first in range(0, DRAWS, CHUNK):
            drawn = np.zeros((min(CHUNK, DRAWS - first), size))
            drawn[:, used] = summed[first : first + CHUNK]
            yield drawn

    def doubt(self, cells: Ints) -> str | None:
        """That few clusters have any item in a cell."""
        filled = np.count_nonzero(np.bincount(self.numbers[cells >= 0]))
        return FEW_CLUSTERS.format(unit=self.unit) if filled < FEW_UNITS else None


def number_clusters(clusters: ArrayLike | None, unit: str) -> ItemClusters | None:
    """``clusters``: a number of each item, in any order and with gaps; None without any."""
    if clusters is None:
        return None
    given = np.asarray(clusters)
    if given.ndim != 1:
        raise InvalidInput("Every item needs the number of its cluster.")
    return ItemClusters(np.unique(given, return_inverse=True)[1].astype(np.int64), unit)


Metric = Callable[[Floats], Floats]

NO_ITEMS = "no item has both a prediction and gold"
#: The metrics of each label, and the reason where one is undefined.
LABEL_METRICS = {
    "precision": "the label was never predicted",
    "recall": "the label is never in gold",
    "f1": "the label is neither predicted nor in gold",
    "accuracy": NO_ITEMS,
}


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionMatrix:
    """``counts[i, j]`` items were predicted ``labels[i]`` and are ``labels[j]`` in gold.

    ``dropped`` items lack a prediction or gold and are not among them. ``together``: the clusters
    of all items, ``cells``: of each its place in ``counts`` read row by row, -1 if dropped.
    """

    counts: Ints
    labels: Sequence[str]
    dropped: int = 0
    together: ItemClusters | None = None
    cells: Ints | None = None

    def __post_init__(self) -> None:
        k = len(self.labels)
        if self.counts.shape != (k, k) or len(set(self.labels)) < k or (self.counts < 0).any():
            raise InvalidInput(
                "A confusion matrix has a row and a column of counts for each label."
            )

    @property
    def n(self) -> int:
        """Items compared."""
        return int(self.counts.sum())

    def to_json(self) -> dict[str, int]:
        """Each cell by its meaning, so that no reader can mistake rows for columns."""
        return {
            f"predicted {row}, gold {column}": int(self.counts[i, j])
            for i, row in enumerate(self.labels)
            for j, column in enumerate(self.labels)
        }


def tabulate(
    predicted: ArrayLike,
    gold: ArrayLike,
    labels: Sequence[str],
    together: ItemClusters | None = None,
) -> ConfusionMatrix:
    """Count codes (places in ``labels``), both of shape (items,); a negative one is missing.

    ``together``: the clusters of these items; every item for itself by default.
    """
    rows, columns = np.asarray(predicted, dtype=np.int64), np.asarray(gold, dtype=np.int64)
    k, top = len(labels), max(rows.max(initial=-1), columns.max(initial=-1))
    if rows.ndim != 1 or rows.shape != columns.shape or top >= k:
        raise InvalidInput("Predictions and gold are lists of the same length of known labels.")
    if together is not None and together.numbers.shape != rows.shape:
        raise InvalidInput("Every item needs the number of its cluster.")
    both = (rows >= 0) & (columns >= 0)
    cells = np.where(both, rows * k + columns, -1)
    counts = np.bincount(cells[both], minlength=k * k).reshape(k, k)
    return ConfusionMatrix(counts, labels, int((~both).sum()), together, cells)


def accuracy(tables: Floats) -> Floats:
    """Share of items on the diagonal; of single answers micro precision, recall and F1 too."""
    return divide(_hits(tables).sum(axis=-1), tables.sum(axis=(-2, -1)))


def precision(tables: Floats) -> Floats:
    """Of each label, shape (..., k): the share of predictions that gold has."""
    return divide(_hits(tables), tables.sum(axis=-1))


def recall(tables: Floats) -> Floats:
    """Of each label, shape (..., k): the share of gold that was predicted."""
    return divide(_hits(tables), tables.sum(axis=-2))


def f1(tables: Floats) -> Floats:
    """Of each label, shape (..., k): 2 hits / (predicted + gold), the harmonic mean of both."""
    return divide(2 * _hits(tables), tables.sum(axis=-1) + tables.sum(axis=-2))


def macro_mean(by_label: Floats, among: NDArray[np.bool_] | None = None) -> Floats:
    """Mean over labels, each with the same weight.

    ``among``: which labels count, shape (k,): one without a value counts 0 (a label in gold that is
    never predicted has precision 0). By default the labels of which it is defined.
    """
    known = np.broadcast_to(~np.isnan(by_label) if among is None else among, by_label.shape)
    total = np.where(known, np.nan_to_num(by_label), 0).sum(axis=-1)
    return divide(np.asarray(total), np.asarray(known.sum(axis=-1), dtype=np.float64))


def matthews(tables: Floats) -> Floats:
    """Matthews' correlation for any number of labels (Gorodkin 2004): -1 to 1, 0 by chance.

    Undefined where a side is all one label.
    """
    n = tables.sum(axis=(-2, -1))
    predicted, true = tables.sum(axis=-1), tables.sum(axis=-2)
    together = _hits(tables).sum(axis=-1) * n - (predicted * true).sum(axis=-1)
    spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (true**2).sum(axis=-1))
    return divide(together, np.sqrt(spread))


def cohen_kappa(tables: Floats) -> Floats:
    """Cohen's kappa (1960); undefined where both sides are all the same label."""
    return _kappa(tables, 1 - np.eye(tables.shape[-1]))


def quadratic_kappa(tables: Floats, points: Floats) -> Floats:
    """Weighted kappa (Cohen 1968), a difference of points counting by its square."""
    return _kappa(tables, (points[:, None] - points) ** 2)


def mean_absolute_error(tables: Floats, points: Floats) -> Floats:
    """Mean distance of prediction and gold, in points of the scale."""
    return _mean_cost(tables, np.abs(points[:, None] - points))


def root_mean_squared_error(tables: Floats, points: Floats) -> Floats:
    """Root of the mean squared distance, in points of the scale."""
    return np.sqrt(_mean_cost(tables, (points[:, None] - points) ** 2))


def rank_correlation(tables: Floats) -> Floats:
    """Spearman's rho with average ranks; undefined where a side is all the same."""
    predicted, true = tables.sum(axis=-1), tables.sum(axis=-2)
    first, second = _middle_ranks(predicted), _middle_ranks(true)
    together = (first * (tables @ second[..., None])[..., 0]).sum(axis=-1)
    spread = (predicted * first**2).sum(axis=-1) * (true * second**2).sum(axis=-1)
    return divide(together, np.sqrt(spread))


def overall_scores(matrix: ConfusionMatrix) -> dict[str, Figure]:
    """Accuracy with Wilson's interval, the other metrics of nominal labels with the bootstrap's.

    ``micro_f1`` is the accuracy: each item has one prediction and one gold label. Macro precision
    and F1 are means over the labels that are predicted or in gold, 0 where a label is never
    predicted; macro recall, which is ``balanced_accuracy``, over those in gold. Draws of the
    bootstrap divide by as many labels. Of clusters the accuracy has the bootstrap's interval too.
    """
    in_gold = matrix.counts.sum(axis=0) > 0
    used = in_gold | (matrix.counts.sum(axis=1) > 0)
    metrics: dict[str, Metric] = {
        "balanced_accuracy": lambda tables: macro_mean(recall(tables), in_gold),
        "macro_precision": lambda tables: macro_mean(precision(tables), used),
        "macro_recall": lambda tables: macro_mean(recall(tables), in_gold),
        "macro_f1": lambda tables: macro_mean(f1(tables), used),
        "matthews": matthews,
        "cohen_kappa": cohen_kappa,
    }
    if matrix.together is not None:
        metrics = {"accuracy": accuracy, "micro_f1": accuracy, **metrics}
        return _figures(matrix, metrics)
    right = share(int(np.trace(matrix.counts)), matrix.n, reason=NO_ITEMS)
    return {"accuracy": right, "micro_f1": right, **_figures(matrix, metrics)}


def label_scores(matrix: ConfusionMatrix) -> list[LabelScore]:
    """Counts, precision, recall, F1 and accuracy of each label against all others."""
    size = len(matrix.labels)
    drawn = _draw(matrix, _by_label) if matrix.n else np.empty((0, size, len(LABEL_METRICS)))
    return [_score_label(matrix, column, drawn[:, column]) for column in range(size)]


def ordinal_scores(
    matrix: ConfusionMatrix, points: Sequence[float] | None = None
) -> dict[str, Figure]:
    """Metrics of labels in the order of a scale; ``points``: rising values (else 0, 1, ...)."""
    scale = np.asarray(range(len(matrix.labels)) if points is None else points, dtype=np.float64)
    if scale.shape != (len(matrix.labels),) or not (np.diff(scale) > 0).all():
        raise InvalidInput("A scale has one point for each label, in rising order.")
    metrics: dict[str, Metric] = {
        "mean_absolute_error": lambda tables: mean_absolute_error(tables, scale),
        "root_mean_squared_error": lambda tables: root_mean_squared_error(tables, scale),
        "spearman": rank_correlation,
        "quadratic_kappa": lambda tables: quadratic_kappa(tables, scale),
    }
    return _figures(matrix, metrics)


def _hits(tables: Floats) -> Floats:
    return np.asarray(np.diagonal(tables, axis1=-2, axis2=-1))


def _mean_cost(tables: Floats, costs: Floats) -> Floats:
    return divide((tables * costs).sum(axis=(-2, -1)), tables.sum(axis=(-2, -1)))


def _kappa(tables: Floats, costs: Floats) -> Floats:
    """1 less the costs there are over those that the margins lead one to expect."""
    predicted, true = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = ((predicted @ costs) * true).sum(axis=-1)
    return 1 - divide((tables * costs).sum(axis=(-2, -1)) * predicted.sum(axis=-1), expected)


def _middle_ranks(counts: Floats) -> Floats:
    """Average ranks less their mean, of values that occur ``counts`` times, in rising order."""
    whole = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.cumsum(counts, axis=-1) - (counts + whole) / 2)


def _draw(matrix: ConfusionMatrix, metric: Metric) -> Floats:
    """The metric in each draw: items drawn with replacement are cells drawn by their counts."""
    generator, k = np.random.default_rng(SEED), len(matrix.labels)
    draws: Iterable[Floats]
    if matrix.together is not None and matrix.cells is not None:
        draws = matrix.together.sums(matrix.cells, k * k)
    else:
        chances = (matrix.counts / matrix.n).ravel()
        draws = (
            generator.multinomial(matrix.n, chances, size=CHUNK).astype(np.float64)
            for _ in range(DRAWS // CHUNK)
        )
    return np.concatenate([metric(table.reshape(-1, k, k)) for table in draws])


def _by_label(tables: Floats) -> Floats:
    """``LABEL_METRICS`` of each label, shape (..., k, metrics)."""
    n = tables.sum(axis=(-2, -1))[..., None]
    apart = tables.sum(axis=-1) + tables.sum(axis=-2) - 2 * _hits(tables)
    right = divide(n - apart, np.broadcast_to(n, apart.shape))
    return np.stack([precision(tables), recall(tables), f1(tables), right], axis=-1)


def _figures(matrix: ConfusionMatrix, metrics: Mapping[str, Metric]) -> dict[str, Figure]:
    if matrix.n == 0:
        return dict.fromkeys(metrics, undefined(NO_ITEMS))
    table, functions = matrix.counts.astype(np.float64), list(metrics.values())
    # All metrics of one draw at once: they can be set against each other.
    drawn = _draw(
        matrix, lambda tables: np.stack([metric(tables) for metric in functions], axis=-1)
    )
    return {
        name: _figure(matrix, float(metric(table)), drawn[:, column], matrix.n)
        for column, (name, metric) in enumerate(metrics.items())
    }


def _figure(matrix: ConfusionMatrix, value: float, drawn: Floats, n: int) -> Figure:
    if np.isnan(value):
        return undefined("predictions or gold do not vary")
    low, high = percentile_ends(drawn)
    if matrix.together is None or matrix.cells is None:
        return figure(value, low=low, high=high, n=n, method=BOOTSTRAP)
    result = figure(value, low=low, high=high, n=n, method=matrix.together.method)
    return add_doubts(result, matrix.together.doubt(matrix.cells))


def _score_label(matrix: ConfusionMatrix, column: int, drawn: Floats) -> LabelScore:
    """``drawn``: ``LABEL_METRICS`` of the label, shape (draws, metrics)."""
    yes, n = int(matrix.counts[column, column]), matrix.n
    wrong, missed = (
        int(matrix.counts[column].sum()) - yes,
        int(matrix.counts[:, column].sum()) - yes,
    )
    rest, whole = n - yes - wrong - missed, 2 * yes + wrong + missed

    def label_figure(name: str, part: int, of: int) -> Figure:
        if of == 0:
            return undefined(LABEL_METRICS[name])
        if name != "f1" and matrix.together is None:
            return share(part, of, reason=LABEL_METRICS[name])
        draws = drawn[:, list(LABEL_METRICS).index(name)]
        return _figure(matrix, part / of, draws, n if name == "f1" else of)

    return LabelScore(
        matrix.labels[column],
        Confusion(yes, wrong, missed, rest),
        precision=label_figure("precision", yes, yes + wrong),
        recall=label_figure("recall", yes, yes + missed),
        f1=label_figure("f1", 2 * yes, whole),
        accuracy=label_figure("accuracy", yes + rest, n),
    )
