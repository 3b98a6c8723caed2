"""Predicted against gold: counts first, every metric derived from them.

The two sides are named in every key and heading ("predicted yes, gold no"): a false positive and a
false negative cannot be swapped by reading a column wrongly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, bootstrap
from labelhub.core.agreement.ratings import Bools, Floats, divide
from labelhub.core.schema import Schema, Value
from labelhub.core.texts import gettext_noop


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One item's predicted and gold value, both canonical."""

    item_id: int
    predicted: Value
    gold: Value


def is_right(schema: Schema, predicted: Value, gold: Value) -> bool:
    """Whether the whole prediction is the answer of gold, as exact match and accuracy count it."""
    return schema.task.answer_key(schema, predicted) == schema.task.answer_key(schema, gold)


def distance(first: Value, second: Value) -> float:
    """The distance of two points of an ordinal scale.

    Raises:
        TypeError: one of them is no number.
    """
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second)
    raise TypeError(f"only points of a scale have a distance, not {first!r} and {second!r}")


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often one label was predicted and in gold, over items."""

    predicted_yes_gold_yes: int
    predicted_yes_gold_no: int
    predicted_no_gold_yes: int
    predicted_no_gold_no: int

    @property
    def n(self) -> int:
        """Items compared."""
        return self.predicted_yes + self.predicted_no_gold_yes + self.predicted_no_gold_no

    @property
    def predicted_yes(self) -> int:
        """Items for which the label was predicted."""
        return self.predicted_yes_gold_yes + self.predicted_yes_gold_no

    @property
    def gold_yes(self) -> int:
        """Items that have the label in gold."""
        return self.predicted_yes_gold_yes + self.predicted_no_gold_yes

    def to_json(self) -> dict[str, int]:
        """The four counts by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label's counts and metrics."""

    label: str
    confusion: Confusion
    precision: Figure
    recall: Figure
    f1: Figure
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        metrics = {name: getattr(self, name) for name in ("precision", "recall", "f1", "accuracy")}
        return {"label": self.label, "counts": self.confusion.to_json(), **metrics}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Overall metrics, a score per label, and the matrix of single-choice labels.

    ``matrix[predicted][gold]`` counts items; None where a value is a set or free text.
    """

    n: int
    overall: Mapping[str, Figure]
    labels: Sequence[LabelScore] = ()
    matrix: Mapping[str, Mapping[str, int]] | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "n": self.n,
            "overall": dict(self.overall),
            "labels": [score.to_json() for score in self.labels],
            "matrix": self.matrix,
        }


def evaluate(schema: Schema, pairs: Sequence[LabelledPair]) -> Evaluation:
    """Compare predictions with gold as the schema's task asks.

    multi: per label and micro, macro, exact match; single and ordinal: also the matrix, ordinal the
    mean absolute error; text and per_item: the same answer or not.
    Without pairs the accuracy is undefined.
    """
    if not pairs:
        return Evaluation(
            0, {"accuracy": undefined(gettext_noop("no item has both a prediction and gold"))}
        )
    if not schema.task.labelled:
        hits = np.array([is_right(schema, pair.predicted, pair.gold) for pair in pairs])
        return Evaluation(len(pairs), {"accuracy": _share(hits)})
    names = schema.names
    predicted = _indicators(schema, names, (pair.predicted for pair in pairs), len(pairs))
    gold = _indicators(schema, names, (pair.gold for pair in pairs), len(pairs))
    scores, macro = _scores(names, predicted, gold)
    exact = (predicted == gold).all(axis=1)
    if schema.task.several:
        overall = {"exact_match": _share(exact), **_micro(predicted, gold), "macro_f1": macro}
        return Evaluation(len(pairs), overall, scores)
    overall = {"accuracy": _share(exact), "macro_f1": macro}
    if schema.task.ordered:
        errors = np.array([distance(pair.predicted, pair.gold) for pair in pairs])
        # Whole numbers, because the bootstrap groups equal rows.
        rows, n = np.round(errors * 1_000_000).astype(np.int64)[:, None], len(pairs)
        (low,), (high,) = bootstrap(rows, lambda sums: sums / n / 1_000_000).tolist()
        overall["mean_absolute_error"] = figure(
            float(errors.mean()), low=low, high=high, n=n, method=BOOTSTRAP
        )
    table = predicted.astype(np.int64).T @ gold.astype(np.int64)
    matrix = {
        row: dict(zip(names, counts, strict=True))
        for row, counts in zip(names, table.tolist(), strict=True)
    }
    return Evaluation(len(pairs), overall, scores, matrix)


def _indicators(schema: Schema, names: Sequence[str], values: Iterable[Value], n: int) -> Bools:
    """Shape (items, labels): whether each label is in each value.

    A label of an older schema version that is no more in ``names`` counts for none of them.
    """
    column = {name: position for position, name in enumerate(names)}
    table = np.zeros((n, len(names)), dtype=bool)
    for row, value in enumerate(values):
        for name in schema.names_in(value):
            if name in column:
                table[row, column[name]] = True
    return table


def _scores(names: Sequence[str], predicted: Bools, gold: Bools) -> tuple[list[LabelScore], Figure]:
    both, only_predicted, only_gold = predicted & gold, predicted & ~gold, ~predicted & gold
    yes, fp, fn = (table.sum(axis=0) for table in (both, only_predicted, only_gold))
    n, size = predicted.shape
    ends = bootstrap(np.hstack([both, only_predicted, only_gold]), _f1_and_macro(size))
    scores = []
    for column, name in enumerate(names):
        tp, wrong, missed = int(yes[column]), int(fp[column]), int(fn[column])
        confusion = Confusion(tp, wrong, missed, n - tp - wrong - missed)
        f1 = undefined(gettext_noop("the label is neither predicted nor in gold"))
        if tp + wrong + missed:
            low, high = ends[:, column].tolist()
            value = 2 * tp / (2 * tp + wrong + missed)
            f1 = figure(value, low=low, high=high, n=n, method=BOOTSTRAP)
        scores.append(
            LabelScore(
                name,
                confusion,
                precision=share(
                    tp, tp + wrong, reason=gettext_noop("the label was never predicted")
                ),
                recall=share(tp, tp + missed, reason=gettext_noop("the label is never in gold")),
                f1=f1,
                accuracy=share(
                    tp + confusion.predicted_no_gold_no, n, reason=gettext_noop("no items")
                ),
            )
        )
    return scores, _macro(scores, ends[0, size], ends[1, size], n)


def _f1_and_macro(size: int) -> Any:
    """The statistic that the bootstrap draws: F1 of each label, then their mean where defined."""

    def statistic(sums: Floats) -> Floats:
        yes, fp, fn = sums[:, :size], sums[:, size : 2 * size], sums[:, 2 * size :]
        f1 = divide(2 * yes, 2 * yes + fp + fn)
        defined = ~np.isnan(f1)
        macro = divide(np.where(defined, f1, 0).sum(axis=1), defined.sum(axis=1))
        return np.hstack([f1, macro[:, None]])

    return statistic


def _macro(scores: Sequence[LabelScore], low: float, high: float, n: int) -> Figure:
    values = [score.f1["value"] for score in scores if score.f1["value"] is not None]
    if not values:
        return undefined(gettext_noop("no label is predicted or in gold"))
    mean = sum(values) / len(values)
    return figure(
        mean,
        low=float(low),
        high=float(high),
        n=n,
        method=f"mean over {len(values)} labels; {BOOTSTRAP}",
    )


def _micro(predicted: Bools, gold: Bools) -> dict[str, Figure]:
    """Over all (item, label) decisions; the bootstrap draws items, whose decisions go together."""
    columns = np.stack(
        [
            (predicted & gold).sum(axis=1),
            (predicted & ~gold).sum(axis=1),
            (~predicted & gold).sum(axis=1),
        ],
        axis=1,
    )
    yes, fp, fn = (int(total) for total in columns.sum(axis=0))
    n, decisions = len(predicted), predicted.size

    def statistic(sums: Floats) -> Floats:
        tp, wrong, missed = sums[:, 0], sums[:, 1], sums[:, 2]
        return np.stack(
            [
                divide(tp, tp + wrong),
                divide(tp, tp + missed),
                divide(2 * tp, 2 * tp + wrong + missed),
                1 - (wrong + missed) / decisions,
            ],
            axis=1,
        )

    ends = bootstrap(columns, statistic)
    wholes = (yes + fp, yes + fn, 2 * yes + fp + fn, decisions)
    parts = (yes, yes, 2 * yes, decisions - fp - fn)
    names = ("micro_precision", "micro_recall", "micro_f1", "accuracy")
    return {
        name: figure(
            part / whole,
            low=float(ends[0, column]),
            high=float(ends[1, column]),
            n=n,
            method=BOOTSTRAP,
        )
        if whole
        else undefined(gettext_noop("no label is predicted or in gold"))
        for column, (name, part, whole) in enumerate(zip(names, parts, wholes, strict=True))
    }


def _share(hits: Bools) -> Figure:
    return share(int(hits.sum()), len(hits), reason=gettext_noop("no items"))
