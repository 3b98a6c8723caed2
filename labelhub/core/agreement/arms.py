"""One arm of an experiment against gold: counts by item, and their figures.

An arm answers each item once or, with replicates, several times. An item counts once whatever the
number of passes. A debate without a usable answer counts as wrong: silence about hard items must
not look better. Failed debates (no answer from the endpoint) do not count at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.estimation import withhold_interval
from labelhub.core.agreement.figures import (
    SAME,
    Columns,
    Figure,
    Resample,
    clustered_share,
    figure,
    percentile_ends,
    ratio,
    undefined,
)
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.agreement.scores import Confusion, macro_mean
from labelhub.core.agreement.significance import EXACT, LEVEL, holm, mcnemar, mcnemar_mid_p
from labelhub.core.schema import Schema, Value
from labelhub.core.texts import gettext_noop

NOTHING = -1


class Codes:
    """Numbers values in the order in which they are met; ``NOTHING`` stands for no answer.

    Tens of thousands of answers are seldom more than a few dozen values: each is read only once.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._by_raw: dict[object, int] = {}
        self._by_key: dict[object, int] = {}
        self._names: list[frozenset[str]] = []

    def __len__(self) -> int:
        return len(self._names)

    def of(self, value: Value | None) -> int:
        """The number of ``value``."""
        if value is None:
            return NOTHING
        raw = tuple(value) if isinstance(value, list) else (type(value), value)
        code = self._by_raw.get(raw)
        if code is None:
            code = self._by_raw[raw] = self._new(value)
        return code

    def all_of(self, values: Iterable[Value | None]) -> Ints:
        """The numbers of ``values``."""
        return np.fromiter(map(self.of, values), dtype=np.int64)

    def has_labels(self) -> bool:
        """Whether values are made of the schema's labels, which can be counted one by one."""
        return self._schema.task.labelled

    def indicators(self) -> NDArray[np.bool_]:
        """Shape (values + 1, labels): whether a label is in a value; the last row is NOTHING."""
        names = self._schema.names if self.has_labels() else ()
        table = np.zeros((len(self._names) + 1, len(names)), dtype=bool)
        for row, named in enumerate(self._names):
            table[row] = [name in named for name in names]
        return table

    def _new(self, value: Value) -> int:
        key = self._schema.task.answer_key(self._schema, value)
        if key not in self._by_key:
            self._by_key[key] = len(self._names)
            self._names.append(key if isinstance(key, frozenset) else frozenset())
        return self._by_key[key]


NEVER_PREDICTED = gettext_noop("the label was never predicted")
NEVER_TRUE = gettext_noop("the label is never in gold")
NO_ANSWER_YET = gettext_noop("no debate has ended yet")


@dataclass(frozen=True, slots=True)
class ArmTally:
    """Counts of an arm's answers by item; shape (items,), those of labels (items, labels)."""

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
    """The quality of an arm."""

    accuracy: Figure
    macro_f1: Figure
    unparsed: Figure
    labels: Sequence[LabelFigures]


def count_answers(codes: Codes, gold: Ints, rows: Ints, answers: Ints) -> ArmTally:
    """Count the ``answers`` about the items at ``rows`` against ``gold``.

    Args:
        codes: what the numbers mean.
        gold: shape (items,): each item's decided value.
        rows: shape (answers,): which item each answer is about.
        answers: shape (answers,): their numbers, ``NOTHING`` where there is none.
    """
    items = len(gold)
    table = codes.indicators()
    predicted, decided = table[answers], table[gold[rows]]
    return ArmTally(
        passes=_count(rows, items),
        right=_count(rows[answers == gold[rows]], items),
        unparsed=_count(rows[answers == NOTHING], items),
        tp=_sum_by_item(rows, predicted & decided, items),
        fp=_sum_by_item(rows, predicted & ~decided, items),
        fn=_sum_by_item(rows, ~predicted & decided, items),
    )


def score_arm(sample: Resample, counts: ArmTally, names: Sequence[str]) -> ArmScores:
    """Figures of an arm; ``names`` are the labels, none where values are not made of labels."""
    labels, macro = _label_figures(sample, counts, names)
    passes = counts.passes
    return ArmScores(
        accuracy=_share(sample, counts.right, passes, NO_ANSWER_YET),
        macro_f1=macro,
        unparsed=_share(sample, counts.unparsed, passes, NO_ANSWER_YET),
        labels=labels,
    )


def mean_per_pass(sample: Resample, sums: Columns, passes: Ints) -> Figure:
    """The mean of an item in one pass: cost, seconds, calls."""
    n = int((passes > 0).sum())
    return withhold_interval(ratio(sample, sums, passes, reason=NO_ANSWER_YET, n=n))


def _share(sample: Resample, part: Ints, whole: Ints, reason: str) -> Figure:
    return withhold_interval(clustered_share(sample, part, whole, reason=reason))


def _label_figures(
    sample: Resample, counts: ArmTally, names: Sequence[str]
) -> tuple[list[LabelFigures], Figure]:
    if not names:
        return [], undefined(gettext_noop("answers of this kind have no labels to average over"))
    if counts.items == 0:
        return [], undefined(NO_ANSWER_YET)
    sums, size = sample.sums(np.hstack([counts.tp, counts.fp, counts.fn])), len(names)
    drawn = _DrawnCounts(
        sample,
        sums[:, :size],
        sums[:, size : 2 * size],
        sums[:, 2 * size :],
        sample.method(counts.passes),
    )
    labels = [_score_label(counts, drawn, label, name) for label, name in enumerate(names)]
    values = [label.f1["value"] for label in labels if label.f1["value"] is not None]
    if not values:
        return labels, undefined(gettext_noop("no label is predicted or in gold"))
    low, high = percentile_ends(macro_mean(drawn.f1()))
    method = f"mean over {len(values)} labels; {drawn.method}"
    mean = sum(values) / len(values)
    shown = figure(mean, low=low, high=high, n=counts.items, method=method)
    return labels, withhold_interval(shown)


@dataclass(frozen=True, slots=True)
class _DrawnCounts:
    """Sums of the counts in each draw, shape (draws, labels)."""

    sample: Resample
    tp: Floats
    fp: Floats
    fn: Floats
    method: str

    def f1(self) -> Floats:
        return divide(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def _score_label(counts: ArmTally, drawn: _DrawnCounts, label: int, name: str) -> LabelFigures:
    tp, fp, fn = (counted[:, label] for counted in (counts.tp, counts.fp, counts.fn))
    yes, wrong, missed = (int(counted.sum()) for counted in (tp, fp, fn))
    rest = int(counts.passes.sum()) - yes - wrong - missed
    if yes + wrong + missed:
        low, high = percentile_ends(drawn.f1()[:, label])
        value = 2 * yes / (2 * yes + wrong + missed)
        shown = figure(value, low=low, high=high, n=counts.items, method=drawn.method)
        f1 = withhold_interval(shown)
    else:
        f1 = undefined(gettext_noop("the label is neither predicted nor in gold"))
    return LabelFigures(
        name,
        Confusion(yes, wrong, missed, rest),
        precision=_share(drawn.sample, tp, tp + fp, NEVER_PREDICTED),
        recall=_share(drawn.sample, tp, tp + fn, NEVER_TRUE),
        f1=f1,
    )


def _count(rows: Ints, items: int) -> Ints:
    return np.bincount(rows, minlength=items).astype(np.int64)


def _sum_by_item(rows: Ints, table: Any, items: int) -> Ints:
    """Sums of the rows of ``table`` by item, shape (items, labels)."""
    counted = np.zeros((items, table.shape[1]), dtype=np.int64)
    for label in range(table.shape[1]):
        counted[:, label] = np.bincount(rows[table[:, label]], minlength=items)
    return counted


NO_COMMON = gettext_noop("no item was answered by both")
FLIPS = 9999
FLIPPED = f"sign-flip permutation test of rates by item, two-sided, {FLIPS} flips, seed {SEED}"
#: Signs that are held at once.
BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class ArmPair:
    """Arm ``first`` against arm ``second`` (their places) on ``items`` that both answered.

    ``b``: items that only ``first`` gets right, or more often; ``c``: that only ``second`` does.
    ``p`` is that of ``method``, and ``p_holm`` adjusted for all pairs; ``mid_p`` is McNemar's of b
    and c, where an item has one pass, else ``p`` again. ``difference`` is the accuracy of
    ``first`` less that of ``second``.
    """

    first: int
    second: int
    items: int
    b: int
    c: int
    p: float
    mid_p: float
    p_holm: float
    difference: Figure
    method: str = EXACT

    @property
    def winner(self) -> int | None:
        """The arm that is reliably better, at 5 % after the adjustment; None where neither is."""
        gap = self.difference["value"]
        if self.p_holm >= LEVEL or not gap:
            return None
        return self.first if gap > 0 else self.second

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, the arms by their places."""
        names = ("items", "b", "c", "p", "mid_p", "p_holm", "difference", "method")
        return {name: getattr(self, name) for name in names}


def compare_arms(sample: Resample, arms: Sequence[ArmTally]) -> list[ArmPair]:
    """Every two arms, adjusted for their number by Holm."""
    places = list(combinations(range(len(arms)), 2))
    tested = [_test_pair(sample, arms[first], arms[second]) for first, second in places]
    adjusted = holm([test.p for test in tested])
    return [
        ArmPair(
            first=first,
            second=second,
            p_holm=p_holm,
            difference=accuracy_difference(sample, arms[first], arms[second]),
            **test._asdict(),
        )
        for (first, second), test, p_holm in zip(places, tested, adjusted, strict=True)
    ]


def sign_flip(differences: Floats) -> float:
    """Two-sided p-value of the mean of ``differences``, shape (items,), being 0.

    Each sign is as likely, item by item, by the project's seed: the share of sums at least as large
    among the flips and the observed sum (Good 2005, section 3.2; Phipson and Smyth 2010 for the one
    added). Exact where the arms could change places, and right for many items where only the means
    are equal. 1 without items that differ; at least 1 / (flips + 1).
    """
    apart = differences[np.abs(differences) > SAME]
    if not len(apart):
        return 1.0
    generator = np.random.default_rng(SEED)
    least = abs(float(apart.sum())) - SAME * len(apart)
    as_large, step = 0, max(BLOCK // len(apart), 1)
    for start in range(0, FLIPS, step):
        shape = (min(step, FLIPS - start), len(apart))
        signs = generator.integers(2, size=shape, dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ apart) >= least).sum())
    return (1 + as_large) / (1 + FLIPS)


def accuracy_difference(sample: Resample, first: ArmTally, second: ArmTally) -> Figure:
    """Accuracy of ``first`` less that of ``second`` on the items that both answered."""
    common = (first.passes > 0) & (second.passes > 0)
    if not common.any():
        return undefined(NO_COMMON)
    columns = [
        column * common for column in (first.right, first.passes, second.right, second.passes)
    ]
    sums = sample.sums(np.stack(columns, axis=1))
    drawn = divide(sums[:, 0], sums[:, 1]) - divide(sums[:, 2], sums[:, 3])
    whole = [int(column.sum()) for column in columns]
    low, high = percentile_ends(drawn)
    gap = whole[0] / whole[1] - whole[2] / whole[3]
    method = f"paired {sample.method(np.maximum(first.passes, second.passes) * common)}"
    return withhold_interval(figure(gap, low=low, high=high, n=int(common.sum()), method=method))


class _PairTest(NamedTuple):
    """The parts of a ``Pair`` that are known before the adjustment."""

    items: int
    b: int
    c: int
    p: float
    mid_p: float
    method: str


def _test_pair(sample: Resample, first: ArmTally, second: ArmTally) -> _PairTest:
    """Items both answered; those either gets right more often; whether that is chance."""
    common = (first.passes > 0) & (second.passes > 0)
    ours, theirs = first.right * second.passes, second.right * first.passes
    items = int(common.sum())
    b, c = int((common & (ours > theirs)).sum()), int((common & (ours < theirs)).sum())
    if sample.simple(np.maximum(first.passes, second.passes) * common):
        return _PairTest(items, b, c, mcnemar(b, c), mcnemar_mid_p(b, c), EXACT)
    # Whole numbers first, so that equal rates differ by nothing.
    passes = (first.passes * second.passes)[common]
    differences = (ours - theirs)[common] / passes
    if sample.authors is not None:
        by_author = np.zeros(sample.authors.max() + 1)
        np.add.at(by_author, sample.authors[common], differences)
        p = sign_flip(by_author)
        return _PairTest(items, b, c, p, p, FLIPPED.replace("item", "author"))
    p = sign_flip(differences)
    return _PairTest(items, b, c, p, p, FLIPPED)


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places of the (cost, quality) points that no other dominates, by rising cost.

    A point dominates another when it costs no more and is no worse, and differs in one of both;
    equal points are all on the front.
    """
    best: list[int] = []
    highest: float | None = None
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    for place in order:
        quality = points[place][1]
        equal = best and points[place] == points[best[-1]]
        if highest is None or quality > highest or equal:
            best.append(place)
            highest = quality
    return best
