"""One arm of an experiment against gold: counts by item, and their figures.

An arm answers each item once or, with replicates, several times. An item counts once whatever the
number of passes. A debate without a usable answer counts as wrong: silence about hard items must
not look better. Failed debates (no answer from the endpoint) do not count at all.

Opinions in a debate are counted too: changes for better or worse, and the agreement of voters.
Agreement that rises with the rounds shows conformity, not truth (paper 001): a change of mind says
something only against gold.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np

from labelhub.core.agreement.coefficients.chance import fleiss_kappa
from labelhub.core.agreement.coefficients.sums import Layout, agreement_parts
from labelhub.core.agreement.estimation import withhold_interval
from labelhub.core.agreement.figures import (
    CLUSTERED,
    SAME,
    Columns,
    Figure,
    Record,
    Resample,
    clustered_share,
    figure,
    percentile_ends,
    ratio,
    undefined,
)
from labelhub.core.agreement.intervals import BOOTSTRAP, SEED
from labelhub.core.agreement.ratings import Bools, Floats, Ints, divide
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

    def indicators(self) -> Bools:
        """Shape (values + 1, labels): whether a label is in a value; the last row is NOTHING."""
        # Only labels of the schema can be counted one by one.
        names = self._schema.names if self._schema.task.labelled else ()
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
class LabelFigures(Record):
    """One label of one arm; counts are passes."""

    label: str
    counts: Confusion
    precision: Figure
    recall: Figure
    f1: Figure


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


def _share(sample: Resample, part: Columns, whole: Columns, reason: str) -> Figure:
    return withhold_interval(clustered_share(sample, part, whole, reason=reason))


def _label_figures(
    sample: Resample, counts: ArmTally, names: Sequence[str]
) -> tuple[list[LabelFigures], Figure]:
    if not names:
        return [], undefined(gettext_noop("answers of this kind have no labels to average over"))
    if counts.items == 0:
        return [], undefined(NO_ANSWER_YET)
    sums = sample.sums(np.hstack([counts.tp, counts.fp, counts.fn]))
    tp, fp, fn = np.split(sums, 3, axis=1)
    drawn, method = divide(2 * tp, 2 * tp + fp + fn), sample.method(counts.passes)
    labels = [
        _score_label(sample, counts, label, name, drawn[:, label])
        for label, name in enumerate(names)
    ]
    values = [label.f1["value"] for label in labels if label.f1["value"] is not None]
    if not values:
        return labels, undefined(gettext_noop("no label is predicted or in gold"))
    low, high = percentile_ends(macro_mean(drawn))
    method = f"mean over {len(values)} labels; {method}"
    mean = sum(values) / len(values)
    shown = figure(mean, low=low, high=high, n=counts.items, method=method)
    return labels, withhold_interval(shown)


def _score_label(
    sample: Resample, counts: ArmTally, label: int, name: str, drawn: Floats
) -> LabelFigures:
    """``drawn``: the label's F1 in each draw, shape (draws,)."""
    tp, fp, fn = (counted[:, label] for counted in (counts.tp, counts.fp, counts.fn))
    yes, wrong, missed = (int(counted.sum()) for counted in (tp, fp, fn))
    rest = int(counts.passes.sum()) - yes - wrong - missed
    f1 = undefined(gettext_noop("the label is neither predicted nor in gold"))
    if yes + wrong + missed:
        low, high = percentile_ends(drawn)
        value, method = 2 * yes / (2 * yes + wrong + missed), sample.method(counts.passes)
        shown = figure(value, low=low, high=high, n=counts.items, method=method)
        f1 = withhold_interval(shown)
    return LabelFigures(
        name,
        Confusion(yes, wrong, missed, rest),
        precision=_share(sample, tp, tp + fp, NEVER_PREDICTED),
        recall=_share(sample, tp, tp + fn, NEVER_TRUE),
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
class ArmPair(Record):
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
    difference: Figure
    method: str = EXACT
    p_holm: float = nan

    @property
    def winner(self) -> int | None:
        """The arm that is reliably better, at 5 % after the adjustment; None where neither is."""
        gap = self.difference["value"]
        if self.p_holm >= LEVEL or not gap:
            return None
        return self.first if gap > 0 else self.second

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, the arms by their places."""
        found = Record.to_json(self)
        del found["first"], found["second"]
        return found


def compare_arms(sample: Resample, arms: Sequence[ArmTally]) -> list[ArmPair]:
    """Every two arms, adjusted for their number by Holm."""
    places = combinations(range(len(arms)), 2)
    found = [_compare_pair(sample, arms, first, second) for first, second in places]
    adjusted = holm([pair.p for pair in found])
    return [replace(pair, p_holm=p) for pair, p in zip(found, adjusted, strict=True)]


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


def _compare_pair(sample: Resample, arms: Sequence[ArmTally], first: int, second: int) -> ArmPair:
    """Before the adjustment for other pairs."""
    arm, other = arms[first], arms[second]
    common = (arm.passes > 0) & (other.passes > 0)
    ours, theirs = arm.right * other.passes, other.right * arm.passes
    b, c = int((common & (ours > theirs)).sum()), int((common & (ours < theirs)).sum())
    if sample.simple(np.maximum(arm.passes, other.passes) * common):
        p, mid_p, method = mcnemar(b, c), mcnemar_mid_p(b, c), EXACT
    else:
        # Whole numbers first, so that equal rates differ by nothing.
        passes = (arm.passes * other.passes)[common]
        differences, method = (ours - theirs)[common] / passes, FLIPPED
        if sample.authors is not None:
            differences = np.bincount(sample.authors[common], differences)
            method = FLIPPED.replace("item", "author")
        p = mid_p = sign_flip(differences)
    gap = accuracy_difference(sample, arm, other)
    return ArmPair(first, second, int(common.sum()), b, c, p, mid_p, gap, method)


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


NEVER_WRONG = gettext_noop("nothing was wrong before")
NEVER_RIGHT = gettext_noop("nothing was right before")


@dataclass(frozen=True, slots=True)
class OpinionChanges(Record):
    """Debates by whether the opinion before and the one after are right.

    ``mended``: the share of answers wrong before that are right after; ``spoilt``: the reverse.
    """

    right_right: int
    right_wrong: int
    wrong_right: int
    wrong_wrong: int
    mended: Figure
    spoilt: Figure

    @property
    def n(self) -> int:
        """Debates counted."""
        return self.right_right + self.right_wrong + self.wrong_right + self.wrong_wrong

    @property
    def gain(self) -> int:
        """Debates that are right only after, less those that are right only before."""
        return self.wrong_right - self.right_wrong


def count_changes(sample: Resample, rows: Ints, before: Bools, after: Bools) -> OpinionChanges:
    """Count debates about the items at ``rows`` by ``before`` and ``after`` being right."""
    masks = (before & after, before & ~after, ~before & after, ~before & ~after)
    stayed, lost, won, failed = (
        np.bincount(rows[mask], minlength=sample.items).astype(np.int64) for mask in masks
    )
    return OpinionChanges(
        right_right=int(stayed.sum()),
        right_wrong=int(lost.sum()),
        wrong_right=int(won.sum()),
        wrong_wrong=int(failed.sum()),
        mended=_share(sample, won, won + failed, NEVER_WRONG),
        spoilt=_share(sample, lost, lost + stayed, NEVER_RIGHT),
    )


TOO_FEW = gettext_noop("no debate has two answers to compare")
NO_VARIATION = gettext_noop("all answers are the same, so chance agreement cannot be removed")
OPTIONS_DIFFER = gettext_noop(
    "the options differ from item to item, so there is no chance agreement to remove"
)


@dataclass(frozen=True, slots=True)
class VoterAgreement(Record):
    """Of the voters of some debates; ``debates`` is how many have two answers."""

    debates: int
    percent: Figure
    fleiss: Figure


def voter_agreement(
    sample: Resample, rows: Ints, votes: Ints, *, same_options: bool = True
) -> VoterAgreement:
    """Of ``votes``, shape (debates, categories), about the items at ``rows``.

    ``same_options``: a category means the same in every debate; else there is no kappa.
    """
    voters = votes.sum(axis=1)
    kept = voters >= 2
    if not kept.any():
        return VoterAgreement(0, undefined(TOO_FEW), undefined(TOO_FEW))
    q, debates = votes.shape[1], int(kept.sum())
    columns = agreement_parts(votes)
    by_item = np.zeros((sample.items, columns.shape[1]))
    np.add.at(by_item, rows, columns)
    share = _share(sample, by_item[:, Layout.agree], by_item[:, Layout.pairable], TOO_FEW)
    if not same_options:
        return VoterAgreement(debates, share, undefined(OPTIONS_DIFFER))
    value, n = fleiss_kappa(q), len(np.unique(rows[kept]))
    number = float(value(by_item.sum(axis=0, keepdims=True))[0])
    if np.isnan(number):
        return VoterAgreement(debates, share, undefined(NO_VARIATION))
    low, high = percentile_ends(value(sample.sums(by_item)))
    method = CLUSTERED if n < debates else BOOTSTRAP
    kappa = figure(number, low=low, high=high, n=n, method=method)
    return VoterAgreement(debates, share, withhold_interval(kappa))
