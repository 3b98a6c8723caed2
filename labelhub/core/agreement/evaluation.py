"""Predicted against gold: counts first, every metric derived from them.

The two sides are named in every key and heading ("predicted yes, gold no"): a false positive and a
false negative cannot be swapped by reading a column wrongly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelhub.core.agreement.estimation import NO_VARIATION, withhold_interval
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, bootstrap
from labelhub.core.agreement.ratings import Bools
from labelhub.core.agreement.scores import (
    NEITHER,
    NEVER_PREDICTED,
    NEVER_TRUE,
    LabelScore,
    decision_scores,
    label_scores,
    overall_scores,
    tabulate,
)
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
    Without pairs the accuracy is undefined; fewer than ten give values without intervals.
    """
    found = _evaluate(schema, pairs)
    labels = [
        replace(
            label,
            precision=withhold_interval(label.precision),
            recall=withhold_interval(label.recall),
            f1=withhold_interval(label.f1),
            accuracy=withhold_interval(label.accuracy),
        )
        for label in found.labels
    ]
    overall = {name: withhold_interval(figure) for name, figure in found.overall.items()}
    return replace(found, overall=overall, labels=labels)


def _evaluate(schema: Schema, pairs: Sequence[LabelledPair]) -> Evaluation:
    if not pairs:
        return Evaluation(
            0, {"accuracy": undefined(gettext_noop("no item has both a prediction and gold"))}
        )
    if not schema.task.labelled:
        hits = np.array([is_right(schema, pair.predicted, pair.gold) for pair in pairs])
        return Evaluation(len(pairs), {"accuracy": _share(hits)})
    predicted = _indicators(schema, (pair.predicted for pair in pairs), len(pairs))
    gold = _indicators(schema, (pair.gold for pair in pairs), len(pairs))
    table = tabulate(predicted, gold, schema.names)
    scores = [_in_words(score) for score in label_scores(table)]
    macro = _with_reason(overall_scores(table)["macro_f1"])
    if schema.task.several:
        found = {name: _with_reason(shown) for name, shown in decision_scores(table).items()}
        del found["hamming_loss"]  # 1 less the accuracy
        return Evaluation(len(pairs), {**found, "macro_f1": macro}, scores)
    overall = {"accuracy": _share((predicted == gold).all(axis=1)), "macro_f1": macro}
    if schema.task.ordered:
        errors = np.array([distance(pair.predicted, pair.gold) for pair in pairs])
        # Whole numbers, because the bootstrap groups equal rows.
        rows, n = np.round(errors * 1_000_000).astype(np.int64)[:, None], len(pairs)
        (low,), (high,) = bootstrap(rows, lambda sums: sums / n / 1_000_000).tolist()
        overall["mean_absolute_error"] = figure(
            float(errors.mean()), low=low, high=high, n=n, method=BOOTSTRAP
        )
    matrix = {
        row: dict(zip(schema.names, counts, strict=True))
        for row, counts in zip(schema.names, table.counts.astype(int).tolist(), strict=True)
    }
    return Evaluation(len(pairs), overall, scores, matrix)


#: Why a score has no value, in words.
REASONS = {
    NEVER_PREDICTED: gettext_noop("the label was never predicted"),
    NEVER_TRUE: gettext_noop("the label is never in gold"),
    NEITHER: gettext_noop("the label is neither predicted nor in gold"),
    NO_VARIATION: gettext_noop("no label is predicted or in gold"),
}


def _with_reason(found: Figure) -> Figure:
    return found if "reason" not in found else undefined(REASONS[found["reason"]])


def _in_words(score: LabelScore) -> LabelScore:
    return replace(
        score,
        precision=_with_reason(score.precision),
        recall=_with_reason(score.recall),
        f1=_with_reason(score.f1),
        accuracy=_with_reason(score.accuracy),
    )


def _indicators(schema: Schema, values: Iterable[Value], n: int) -> Bools:
    """Shape (items, labels): whether each label is in each value.

    A label of an older schema version that is no more in the schema counts for none of them.
    """
    names = schema.names
    column = {name: position for position, name in enumerate(names)}
    table = np.zeros((n, len(names)), dtype=bool)
    for row, value in enumerate(values):
        for name in schema.names_in(value):
            if name in column:
                table[row, column[name]] = True
    return table


def _share(hits: Bools) -> Figure:
    return share(int(hits.sum()), len(hits), reason=gettext_noop("no items"))
