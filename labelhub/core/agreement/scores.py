"""How well predictions match gold, all from one table: rows predicted, columns gold.

A prediction may be tied: each of its t labels then has a share of 1 / t, as if one of them were
drawn, so that every item counts once and no kind is scored on fewer items for its ties. Metrics
take sums over items, of shape (..., k), and give shape (...), NaN where undefined, so that one
function serves the table, every draw of a bootstrap and the linearised standard error. A draw takes
an item with all its shares, or a whole cluster of items.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.estimation import (
    NO_VARIATION,
    Units,
    add_doubts,
    estimate,
    estimate_interval,
    estimate_share,
    interval_method,
    item_units,
)
from labelhub.core.agreement.figures import Figure, Record, figure, undefined
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.errors import InvalidInput

NEVER_PREDICTED = "never_predicted"
NEVER_TRUE = "never_true"
NEITHER = "neither_predicted_nor_true"
MANY_ANSWERS = "too_many_different_answers"

#: Digits of a count that are kept: shares of ties do not always sum to whole numbers exactly.
DIGITS = 10
#: Units times different cells for a rank correlation, and cells of the tables of draws that are
#: held at once: 32 MB.
MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Confusion(Record):
    """On how many items one label was predicted and in gold; tied predictions count in part."""

    predicted_yes_gold_yes: float
    predicted_yes_gold_no: float
    predicted_no_gold_yes: float
    predicted_no_gold_no: float

    @property
    def n(self) -> float:
        """Items compared."""
        return self.predicted_yes + self.predicted_no_gold_yes + self.predicted_no_gold_no

    @property
    def predicted_yes(self) -> float:
        """Items for which the label was predicted."""
        return self.predicted_yes_gold_yes + self.predicted_yes_gold_no

    @property
    def gold_yes(self) -> float:
        """Items that have the label in gold."""
        return self.predicted_yes_gold_yes + self.predicted_no_gold_yes


@dataclass(frozen=True, slots=True)
class LabelScore(Record):
    """One label's counts and metrics."""

    label: str
    counts: Confusion
    precision: Figure
    recall: Figure
    f1: Figure
    accuracy: Figure


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionMatrix:
    """Items by predicted and gold label.

    ``predicted``, ``gold``: the shares of the labels in each row, sparse, shape (rows, k). A row is
    ``often`` items; ``of_item`` is the row of each. ``units``: what is drawn, its one part the
    number of items: the rows, or clusters of them, whose rows ``members`` names, sparse, shape
    (clusters, rows).
    """

    labels: Sequence[str]
    predicted: Any
    gold: Any
    often: Ints
    of_item: Ints
    units: Units
    members: Any = None

    @property
    def n(self) -> int:
        """Items compared."""
        return int(self.often.sum())

    @property
    def hits(self) -> Any:
        """The share that is right, by row and label: sparse, shape (rows, k)."""
        return self.predicted.multiply(self.gold).tocsr()

    @property
    def counts(self) -> Floats:
        """``counts[i, j]`` items were predicted ``labels[i]`` and are ``labels[j]`` in gold."""
        weighted = scipy.sparse.diags_array(self.often.astype(np.float64)) @ self.gold
        return np.asarray((self.predicted.T @ weighted).toarray())

    def sums(self, *columns: Any) -> Units:
        """The units to estimate from; ``columns``: of the rows, each of shape (rows, columns)."""
        parts = scipy.sparse.hstack(
            [scipy.sparse.csr_array(column) for column in columns], format="csr"
        )
        if self.members is not None:
            parts = self.members @ parts
        # What is not drawn may be too many rows for a full table.
        return self.units.with_parts(parts if self.units.draws is None else parts.toarray())

    def to_json(self, most: int) -> dict[str, float]:
        """Each cell by its meaning, so that no reader can mistake rows for columns.

        Of the ``most`` labels that are most frequent.
        """
        counts, chosen = self.counts, self.most_frequent(most)
        return {
            f"predicted {self.labels[i]}, gold {self.labels[j]}": plain_count(counts[i, j])
            for i in chosen
            for j in chosen
        }

    def most_frequent(self, most: int) -> list[int]:
        """The places of the labels that are predicted and true of most items, in their order."""
        times = self.often @ self.predicted + self.often @ self.gold
        return sorted(np.argsort(-times, kind="stable")[:most].tolist())


def plain_count(number: float) -> float:
    """A sum of shares: whole ones as whole numbers, without the last digits of rounding."""
    rounded = round(float(number), DIGITS)
    return int(rounded) if rounded.is_integer() else rounded


def tabulate(
    predicted: Any,
    gold: Any,
    labels: Sequence[str],
    *,
    often: Ints | None = None,
    of_item: Ints | None = None,
    clusters: Ints | None = None,
    unit: str = "items",
) -> ConfusionMatrix:
    """Compare predictions with gold.

    Args:
        predicted, gold: shares of the labels in each row, dense or sparse, of shape (rows, k).
        labels: their names, shape (k,).
        often: how many items each row is, shape (rows,); one by default.
        of_item: the row of each item, shape (items,); needed to compare two tables.
        clusters: the cluster of each row, shape (rows,), numbered from 0 without gaps, if items
            belong together; ``unit`` is then their name.

    Raises:
        InvalidInput: other shapes, or a label twice.
    """
    answers, true = (scipy.sparse.csr_array(side, dtype=np.float64) for side in (predicted, gold))
    rows, k = answers.shape
    if true.shape != (rows, k) or k != len(labels) or len(set(labels)) < k:
        raise InvalidInput("Predictions and gold are shares of the same different labels.")
    times = np.ones(rows, dtype=np.int64) if often is None else often
    numbers = np.repeat(np.arange(rows), times) if of_item is None else of_item
    if times.shape != (rows,) or (clusters is not None and clusters.shape != (rows,)):
        raise InvalidInput("Every item needs the number of its cluster.")
    if clusters is None:
        units = item_units(np.ones((rows, 1)), times)
        if often is None and units.draws is not None:
            # Items are drawn in the order of their labels, so that their own does not matter.
            sides = np.random.default_rng(SEED).random((2, k))
            order = np.argsort(answers @ sides[0] + true @ sides[1], kind="stable")
            units = replace(units, draws=units.draws[:, np.argsort(order)])
        return ConfusionMatrix(labels, answers, true, times, numbers, units)
    size = int(clusters.max(initial=-1)) + 1
    members = scipy.sparse.csr_array((times, (clusters, np.arange(rows))), shape=(size, rows))
    sizes = np.asarray(members.sum(axis=1), dtype=np.float64)[:, None]
    units = item_units(sizes, np.ones(size, dtype=np.int64), unit)
    return ConfusionMatrix(labels, answers, true, times, numbers, units, members)


def indicate(codes: ArrayLike, k: int) -> Any:
    """All of a row's share for the label ``codes[row]``: sparse, shape (rows, k)."""
    numbers = np.asarray(codes, dtype=np.int64)
    if numbers.ndim != 1 or numbers.min(initial=0) < 0 or numbers.max(initial=-1) >= k:
        raise InvalidInput("Predictions and gold are lists of known labels.")
    rows = np.arange(len(numbers) + 1)
    return scipy.sparse.csr_array((np.ones(len(numbers)), numbers, rows), shape=(len(numbers), k))


class Margins(NamedTuple):
    """Sums over items, by label, each of shape (..., k); tied predictions count in part."""

    hits: Floats
    predicted: Floats
    gold: Floats


Metric = Callable[[Margins], Floats]


def precision(sums: Margins) -> Floats:
    """Of each label, shape (..., k): the share of predictions that gold has."""
    return divide(sums.hits, sums.predicted)


def recall(sums: Margins) -> Floats:
    """Of each label, shape (..., k): the share of gold that was predicted."""
    return divide(sums.hits, sums.gold)


def f1(sums: Margins) -> Floats:
    """Of each label, shape (..., k): 2 hits / (predicted + gold), the harmonic mean of both."""
    return divide(2 * sums.hits, sums.predicted + sums.gold)


def macro_mean(by_label: Floats, among: NDArray[np.bool_] | None = None) -> Floats:
    """Mean over labels, each with the same weight.

    ``among``: which labels count, shape (k,): one without a value counts 0 (a label in gold that is
    never predicted has precision 0). By default the labels of which it is defined.
    """
    known = np.broadcast_to(~np.isnan(by_label) if among is None else among, by_label.shape)
    total = np.where(known, np.nan_to_num(by_label), 0).sum(axis=-1)
    return divide(np.asarray(total), np.asarray(known.sum(axis=-1), dtype=np.float64))


def matthews(sums: Margins) -> Floats:
    """Matthews' correlation for any number of labels (Gorodkin 2004): -1 to 1, 0 by chance.

    Undefined where a side is all one label.
    """
    n = sums.gold.sum(axis=-1)
    together = sums.hits.sum(axis=-1) * n - (sums.predicted * sums.gold).sum(axis=-1)
    sides = [n**2 - (side**2).sum(axis=-1) for side in (sums.predicted, sums.gold)]
    return divide(together, np.sqrt(np.maximum(sides[0] * sides[1], 0)))


def cohen_kappa(sums: Margins) -> Floats:
    """Cohen's kappa (1960); undefined where both sides are all the same label."""
    n = sums.gold.sum(axis=-1)
    by_chance = (sums.predicted * sums.gold).sum(axis=-1)
    return 1 - divide((n - sums.hits.sum(axis=-1)) * n, n**2 - by_chance)


def rank_correlation(tables: Floats) -> Floats:
    """Spearman's rho of tables (..., k, k), with average ranks; undefined without variation."""
    predicted, true = tables.sum(axis=-1), tables.sum(axis=-2)
    first, second = _middle_ranks(predicted), _middle_ranks(true)
    together = (first * (tables @ second[..., None])[..., 0]).sum(axis=-1)
    spread = (predicted * first**2).sum(axis=-1) * (true * second**2).sum(axis=-1)
    return divide(together, np.sqrt(spread))


def _middle_ranks(counts: Floats) -> Floats:
    """Average ranks less their mean, of values that occur ``counts`` times, in rising order."""
    whole = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.cumsum(counts, axis=-1) - (counts + whole) / 2)


def accuracy(matrix: ConfusionMatrix) -> Figure:
    """Share of items that are right; of single answers micro precision, recall and F1 too."""
    right = np.asarray(matrix.hits.sum(axis=1))
    return _share_of_sums(matrix, right, np.ones(len(right)))


def _share_of_sums(
    matrix: ConfusionMatrix, part: Floats, whole: Floats, missing: str = NO_VARIATION
) -> Figure:
    """``part`` of ``whole``, both by row."""
    found = matrix.sums(part[:, None], whole[:, None])
    return estimate_share(found, n=matrix.n, missing=missing)


def decision_scores(matrix: ConfusionMatrix) -> dict[str, Figure]:
    """Exact match of sets of labels, and scores that pool the decisions about all labels.

    A decision is whether one label is in the set of one item; ``accuracy`` is the share of right
    ones, ``hamming_loss`` of wrong ones (Schapire and Singer 1999). A tied label is right by a
    half, and a set by the product over its labels: as often as if each tie were drawn by itself.
    """
    hits, predicted, gold = (
        np.asarray(side.sum(axis=1)) for side in (matrix.hits, matrix.predicted, matrix.gold)
    )
    right = 1 - abs(matrix.predicted - matrix.gold).toarray()
    ones, decisions = np.ones(len(right)), np.full(len(right), float(right.shape[1]))
    shares = {
        "exact_match": (right.prod(axis=1), ones, NEITHER),
        "micro_precision": (hits, predicted, NEVER_PREDICTED),
        "micro_recall": (hits, gold, NEVER_TRUE),
        "micro_f1": (2 * hits, predicted + gold, NEITHER),
        "accuracy": (right.sum(axis=1), decisions, NEITHER),
        "hamming_loss": ((1 - right).sum(axis=1), decisions, NEITHER),
    }
    return {name: _share_of_sums(matrix, *found) for name, found in shares.items()}


def overall_scores(matrix: ConfusionMatrix) -> dict[str, Figure]:
    """The metrics of nominal labels over all of them.

    Macro precision and F1 are means over the labels that are predicted or in gold, 0 where a label
    is never predicted; macro recall, which is ``balanced_accuracy``, over those in gold. Draws of
    the bootstrap divide by as many labels.
    """
    found = matrix.sums(matrix.hits, matrix.predicted, matrix.gold)
    totals = Margins(*np.split(found.sums[0], 3))
    in_gold = totals.gold > 0
    used = in_gold | (totals.predicted > 0)
    shares: Mapping[str, Metric] = {
        "balanced_accuracy": lambda sums: macro_mean(recall(sums), in_gold),
        "macro_precision": lambda sums: macro_mean(precision(sums), used),
        "macro_f1": lambda sums: macro_mean(f1(sums), used),
    }
    correlations: Mapping[str, Metric] = {"matthews": matthews, "cohen_kappa": cohen_kappa}
    figures = {
        name: estimate(found, _on_margins(metric), n=matrix.n, lowest=lowest)
        for metrics, lowest in ((shares, 0.0), (correlations, -1.0))
        for name, metric in metrics.items()
    }
    return {**figures, "macro_recall": figures["balanced_accuracy"]}


def label_scores(matrix: ConfusionMatrix) -> list[LabelScore]:
    """Counts, precision, recall, F1 and accuracy of each label against all others."""
    columns = [side.tocsc() for side in (matrix.hits, matrix.predicted, matrix.gold)]
    items = [matrix.often @ (side != 0) for side in columns[1:]]
    return [
        _score_label(
            matrix,
            name,
            [side[:, [place]] for side in columns],
            [int(counted[place]) for counted in items],
        )
        for place, name in enumerate(matrix.labels)
    ]


def ordinal_scores(
    matrix: ConfusionMatrix, points: Sequence[float] | None = None
) -> dict[str, Figure]:
    """Metrics of labels in the order of a scale; ``points``: rising values (else 0, 1, ...).

    Quadratic kappa is Cohen's (1968), a difference of points counting by its square.
    """
    k, n = len(matrix.labels), matrix.n
    scale = np.asarray(range(k) if points is None else points, dtype=np.float64)
    if scale.shape != (k,) or not (np.diff(scale) > 0).all():
        raise InvalidInput("A scale has one point for each label, in rising order.")
    cells = matrix.predicted.tocoo()
    off = np.abs(scale[cells.col] - (matrix.gold @ scale)[cells.row])
    rows = len(matrix.often)
    distances, squares = (
        np.bincount(cells.row, cells.data * cost, minlength=rows)[:, None] for cost in (off, off**2)
    )
    found = _full(matrix.sums(distances, squares, matrix.predicted, matrix.gold))
    costs = (scale[:, None] - scale) ** 2

    def quadratic_kappa(sums: Floats) -> Floats:
        predicted, true = np.split(sums[:, 2:], 2, axis=1)
        expected = ((predicted @ costs) * true).sum(axis=1)
        return 1 - divide(sums[:, 1] * true.sum(axis=1), expected)

    def mean_cost(sums: Floats, column: int) -> Floats:
        return divide(sums[:, column], sums[:, 2 + k :].sum(axis=1))

    return {
        "mean_absolute_error": error_figure(found, lambda sums: mean_cost(sums, 0), n),
        "root_mean_squared_error": error_figure(
            found, lambda sums: np.sqrt(np.maximum(mean_cost(sums, 1), 0)), n
        ),
        "spearman": _spearman(matrix),
        "quadratic_kappa": estimate(found, quadratic_kappa, n=n),
    }


def _spearman(matrix: ConfusionMatrix) -> Figure:
    """It needs the whole table: a column for each cell that occurs."""
    k, cells = len(matrix.labels), matrix.predicted.tocoo()
    true = (matrix.gold @ np.arange(k)).astype(np.int64)
    used, place = np.unique(cells.col * k + true[cells.row], return_inverse=True)
    shape = (len(matrix.often), len(used))
    if max(len(used), len(matrix.units.often)) * len(used) > MOST_CELLS:
        return undefined(MANY_ANSWERS)
    step = max(MOST_CELLS // k**2, 1)

    def value(sums: Floats) -> Floats:
        found = []
        for start in range(0, len(sums), step):
            some = sums[start : start + step]
            tables = np.zeros((len(some), k * k))
            tables[:, used] = some
            found.append(rank_correlation(tables.reshape(-1, k, k)))
        return np.concatenate(found)

    columns = scipy.sparse.csr_array((cells.data, (cells.row, place)), shape=shape)
    return estimate(_full(matrix.sums(columns)), value, n=matrix.n)


def _full(found: Units) -> Units:
    """The units with a full table."""
    parts: Any = found.parts
    return found.with_parts(parts.toarray()) if scipy.sparse.issparse(parts) else found


def _on_margins(metric: Metric) -> Value:
    return lambda sums: metric(Margins(*np.split(sums, 3, axis=-1)))


def error_figure(found: Units, value: Value, n: int) -> Figure:
    """An error in points of the scale; it has no upper bound."""
    number = float(value(found.sums)[0])
    low, high = estimate_interval(found, value, number)
    low, high = max(min(low, number), 0.0), max(high, number)
    result = figure(number, low=low, high=high, n=n, method=interval_method(found))
    return add_doubts(result, *found.doubts(n))


def _score_label(
    matrix: ConfusionMatrix, name: str, columns: Sequence[Any], items: Sequence[int]
) -> LabelScore:
    """``columns``: hits, predicted and gold by row; ``items``: predicted and in gold, even in part.

    A share of predictions or of gold rests on so many items.
    """
    found = _full(matrix.sums(*columns))
    hits, predicted, gold = found.parts.T
    yes, given, true = (float(total) for total in found.sums[0])
    whole, right = matrix.units.parts[:, 0], matrix.units.parts[:, 0] + 2 * hits - predicted - gold

    def share(part: Floats, of: Floats, n: int, missing: str = NO_VARIATION) -> Figure:
        return (
            estimate_share(found.with_parts(np.column_stack([part, of])), n=n)
            if n
            else undefined(missing)
        )

    return LabelScore(
        name,
        Confusion(*map(plain_count, (yes, given - yes, true - yes, matrix.n - given - true + yes))),
        precision=share(hits, predicted, items[0], NEVER_PREDICTED),
        recall=share(hits, gold, items[1], NEVER_TRUE),
        f1=estimate(
            found,
            lambda sums: divide(2 * sums[:, 0], sums[:, 1] + sums[:, 2]),
            n=matrix.n,
            missing=NEITHER,
            lowest=0.0,
        ),
        accuracy=share(right, whole, matrix.n),
    )
