"""Predicted against gold: counts first, every metric derived from them.

The two sides are named in every key and heading ("predicted yes, gold no"): a false positive and a
false negative cannot be swapped by reading a column wrongly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelhub.core.agreement.coefficients.sums import first_over_second
from labelhub.core.agreement.estimation import NO_VARIATION, item_units, withhold_interval
from labelhub.core.agreement.figures import Figure, Record, share, undefined
from labelhub.core.agreement.ratings import Bools
from labelhub.core.agreement.scores import (
    NEITHER,
    NEVER_PREDICTED,
    NEVER_TRUE,
    LabelScore,
    decision_scores,
    error_figure,
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


@dataclass(frozen=True, slots=True)
class Evaluation(Record):
    """Overall metrics, a score per label, and the matrix of single-choice labels.

    ``matrix[predicted][gold]`` counts items; None where a value is a set or free text.
    """

    n: int
    overall: Mapping[str, Figure]
    labels: Sequence[LabelScore] = ()
    matrix: Mapping[str, Mapping[str, int]] | None = None


def evaluate(schema: Schema, pairs: Sequence[LabelledPair]) -> Evaluation:
    """Compare predictions with gold as the schema's task asks.

    multi: per label and micro, macro, exact match; single and ordinal: also the matrix, ordinal the
    mean absolute error; text and per_item: the same answer or not.
    Without pairs the accuracy is undefined; fewer than ten give values without intervals.
    """
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
        # Points of an ordinal scale are numbers.
        sides = [(pair.predicted, pair.gold) for pair in pairs]
        errors = np.abs(np.diff(np.array(sides, dtype=np.float64)))
        different, often = np.unique(errors, return_counts=True)
        units = item_units(np.column_stack([different, np.ones(len(different))]), often)
        overall["mean_absolute_error"] = error_figure(units, first_over_second, len(pairs))
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
    names = ("precision", "recall", "f1", "accuracy")
    metrics: dict[str, Any] = {name: _with_reason(getattr(score, name)) for name in names}
    return replace(score, **metrics)


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
    return withhold_interval(share(int(hits.sum()), len(hits), reason=gettext_noop("no items")))
