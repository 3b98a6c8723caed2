"""One arm of an experiment against gold: counts by item, and what is told of them.

An arm answers each item once or, with replicates, several times. An item counts once whatever the
number of passes. A debate without usable answer counts as wrong: who stays silent about hard items
must not look better for it. Failed debates (no answer from the endpoint) do not count at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.coding import NOTHING, Codes
from labelhub.core.agreement.evaluation import Confusion
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.resampling import (
    Columns,
    Floats,
    Ints,
    Resample,
    clustered_share,
    divided,
    ends,
    ratio,
)

NO_ANSWER_YET = "no debate has ended yet"


@dataclass(frozen=True, slots=True)
class Tally:
    """What an arm said, by item; each array has shape (items,), those of labels (items, labels)."""

    passes: Ints
    right: Ints
    unparsed: Ints
    tp: Ints
    fp: Ints
    fn: Ints

    @property
    def items(self) -> int:
        """Items with at least one pass that ended."""
        return int((self.passes > 0).sum())


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """One label of one arm; counts are passes."""

    label: str
    confusion: Confusion
    precision: Figure
    recall: Figure
    f1: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        metrics = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return {"label": self.label, "counts": self.confusion.to_json(), **metrics}


@dataclass(frozen=True, slots=True)
class ArmScores:
    """How good an arm is."""

    accuracy: Figure
    macro_f1: Figure
    unparsed: Figure
    labels: Sequence[LabelFigures]


def tally(codes: Codes, gold: Ints, rows: Ints, said: Ints) -> Tally:
    """Count the answers ``said`` about the items at ``rows`` against ``gold``.

    Args:
        codes: what the numbers mean.
        gold: shape (items,): each item's decided value.
        rows: shape (answers,): which item each answer is about.
        said: shape (answers,): the answers, ``NOTHING`` where there is none.
    """
    items = len(gold)
    table = codes.indicators()
    predicted, decided = table[said], table[gold[rows]]
    return Tally(
        passes=_count(rows, items),
        right=_count(rows[said == gold[rows]], items),
        unparsed=_count(rows[said == NOTHING], items),
        tp=_by_item(rows, predicted & decided, items),
        fp=_by_item(rows, predicted & ~decided, items),
        fn=_by_item(rows, ~predicted & decided, items),
    )


def scores(sample: Resample, counts: Tally, names: Sequence[str]) -> ArmScores:
    """Figures of an arm; ``names`` are the labels, none where values are not made of labels."""
    labels, macro = _label_figures(sample, counts, names)
    passes = counts.passes
    return ArmScores(
        accuracy=clustered_share(sample, counts.right, passes, reason=NO_ANSWER_YET),
        macro_f1=macro,
        unparsed=clustered_share(sample, counts.unparsed, passes, reason=NO_ANSWER_YET),
        labels=labels,
    )


def mean_per_pass(sample: Resample, sums: Columns, passes: Ints) -> Figure:
    """What an item takes on average, in one pass: cost, seconds, calls."""
    return ratio(sample, sums, passes, reason=NO_ANSWER_YET, n=int((passes > 0).sum()))


def _label_figures(
    sample: Resample, counts: Tally, names: Sequence[str]
) -> tuple[list[LabelFigures], Figure]:
    if not names:
        return [], undefined("answers of this kind have no labels to average over")
    if counts.items == 0:
        return [], undefined(NO_ANSWER_YET)
    drawn = _drawn(sample, counts, len(names))
    told = [_of_label(counts, drawn, at, name) for at, name in enumerate(names)]
    return told, _macro(told, drawn, counts)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Sums of the counts in each draw, shape (draws, labels)."""

    sample: Resample
    tp: Floats
    fp: Floats
    fn: Floats
    method: str

    def f1(self) -> Floats:
        return divided(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def _drawn(sample: Resample, counts: Tally, size: int) -> _Drawn:
    sums = sample.sums(np.hstack([counts.tp, counts.fp, counts.fn]))
    method = sample.method(counts.passes)
    return _Drawn(sample, sums[:, :size], sums[:, size : 2 * size], sums[:, 2 * size :], method)


def _of_label(counts: Tally, drawn: _Drawn, at: int, name: str) -> LabelFigures:
    tp, fp, fn = (each[:, at] for each in (counts.tp, counts.fp, counts.fn))
    yes, wrong, missed = (int(each.sum()) for each in (tp, fp, fn))
    rest = int(counts.passes.sum()) - yes - wrong - missed
    said, held = drawn.tp + drawn.fp, drawn.tp + drawn.fn
    never = "the label was never predicted"
    return LabelFigures(
        name,
        Confusion(yes, wrong, missed, rest),
        precision=_share(tp, tp + fp, drawn, divided(drawn.tp, said)[:, at], never),
        recall=_share(
            tp, tp + fn, drawn, divided(drawn.tp, held)[:, at], "the label is never in gold"
        ),
        f1=_f1(2 * yes, wrong + missed, drawn, at, counts.items),
    )


def _share(part: Ints, whole: Ints, drawn: _Drawn, draws: Floats, reason: str) -> Figure:
    """As ``clustered_share``, with draws that are there already."""
    if drawn.sample.simple(whole) or not whole.any():
        return share(int(part.sum()), int(whole.sum()), reason=reason)
    low, high = ends(draws)
    value, n = int(part.sum()) / int(whole.sum()), int((whole > 0).sum())
    return figure(value, low=low, high=high, n=n, method=drawn.method)


def _f1(both: int, differing: int, drawn: _Drawn, at: int, n: int) -> Figure:
    if both + differing == 0:
        return undefined("the label is neither predicted nor in gold")
    low, high = ends(drawn.f1()[:, at])
    return figure(both / (both + differing), low=low, high=high, n=n, method=drawn.method)


def _macro(found: Sequence[LabelFigures], drawn: _Drawn, counts: Tally) -> Figure:
    values = [each.f1["value"] for each in found if each.f1["value"] is not None]
    if not values:
        return undefined("no label is predicted or in gold")
    f1 = drawn.f1()
    known = ~np.isnan(f1)
    mean = divided(np.where(known, f1, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    low, high = ends(mean)
    words = f"mean over {len(values)} labels; {drawn.method}"
    return figure(sum(values) / len(values), low=low, high=high, n=counts.items, method=words)


def _count(rows: Ints, items: int) -> Ints:
    return np.bincount(rows, minlength=items).astype(np.int64)


def _by_item(rows: Ints, table: Any, items: int) -> Ints:
    """Sums of the rows of ``table`` by item, shape (items, labels)."""
    counted = np.zeros((items, table.shape[1]), dtype=np.int64)
    for label in range(table.shape[1]):
        counted[:, label] = np.bincount(rows[table[:, label]], minlength=items)
    return counted
