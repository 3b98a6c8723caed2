"""Figures that tables share: of one label over several passes, shares of debates, differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.agreement.papers.answers import Answers, Said
from labelhub.core.agreement.arms import NO_ANSWER_YET, Tally
from labelhub.core.agreement.coding import NOTHING
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.pairs import compare
from labelhub.core.agreement.resampling import (
    CLUSTERED,
    Floats,
    Ints,
    Resample,
    clustered_share,
    divided,
    ends,
)
from labelhub.core.agreement.significance import EXACT

COUNTS = ("tp", "fp", "fn", "tn")
Bools = NDArray[np.bool_]
#: Why a metric is not there: nothing to divide by in any pass.
REASONS = {
    "accuracy": NO_ANSWER_YET,
    "precision": "the label was never predicted",
    "recall": "the label is never in gold",
    "f1": "the label is neither predicted nor in gold",
}


@dataclass(frozen=True, slots=True)
class _Passes:
    """Sums by pass, shape (…, passes): of all items, or of each draw."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    ended: Floats

    def parts(self, name: str) -> tuple[Floats, Floats]:
        """Numerator and denominator of a metric."""
        tp = self.tp
        return {
            "accuracy": (tp + self.tn, self.ended),
            "precision": (tp, tp + self.fp),
            "recall": (tp, tp + self.fn),
            "f1": (2 * tp, 2 * tp + self.fp + self.fn),
        }[name]

    def mean(self, name: str) -> Floats:
        """The metric, averaged over the passes in which it is defined; NaN where in none."""
        part, whole = self.parts(name)
        return _mean(divided(part, whole))


def label_figures(answers: Answers, said: Said, label: str) -> Mapping[str, Figure]:
    """``accuracy``, ``precision``, ``recall``, ``f1`` and the four counts of one label.

    As in paper 000 metrics are computed for each pass and then averaged, counts too. A pass without
    usable answer is wrong for accuracy and, where gold has the label, a miss.
    """
    columns = _columns(answers, said, label)
    if not columns:
        return dict.fromkeys((*REASONS, *COUNTS), undefined(NO_ANSWER_YET))
    sample, size = answers.sample, len(columns)
    table = np.hstack(columns)
    found = _Found(
        whole=_by_pass(table.sum(axis=0, keepdims=True).astype(np.float64), size),
        drawn=_by_pass(sample.sums(table), size),
        by_item=_by_pass(table.astype(np.float64), size),
        n=len(np.unique(said.rows)),
    )
    told = {name: found.metric(name) for name in REASONS}
    return told | {name: found.count(name) for name in COUNTS}


def _columns(answers: Answers, said: Said, label: str) -> list[Ints]:
    """For each pass a table of items by (tp, fp, fn, tn, ended)."""
    has = answers.codes.indicators()[:, answers.schema.names.index(label)]
    gold, predicted = has[answers.gold[said.rows]], has[said.said]
    read = said.said != NOTHING
    masks = (
        predicted & gold,
        predicted & ~gold,
        ~predicted & gold,
        ~predicted & ~gold & read,
        np.ones_like(read),
    )
    return [
        np.stack([_bin(said.rows[mask & (said.replicates == at)], answers.items) for mask in masks])
        .astype(np.int64)
        .T
        for at in sorted(set(said.replicates.tolist()))
    ]


def _by_pass(sums: Floats, passes: int) -> _Passes:
    shaped = sums.reshape(len(sums), passes, 5)
    return _Passes(*(shaped[:, :, at] for at in range(5)))


@dataclass(frozen=True, slots=True)
class _Found:
    """Sums of all items, of each draw, and of each item."""

    whole: _Passes
    drawn: _Passes
    by_item: _Passes
    n: int

    @property
    def passes(self) -> int:
        return int(self.whole.ended.shape[1])

    def metric(self, name: str) -> Figure:
        """Averaged over the passes; where all items of all passes are alike, Wilson says how sure
        as many items make it."""
        value = float(self.whole.mean(name)[0])
        part, of = self.whole.parts(name)
        if np.isnan(value):
            return undefined(REASONS[name])
        if self.passes == 1 and name != "f1":
            return share(int(part[0, 0]), int(of[0, 0]), reason=REASONS[name])
        if value in {0.0, 1.0} and name != "f1":
            items = int(self.by_item.parts(name)[1].any(axis=1).sum())
            return share(items if value else 0, items, reason=REASONS[name])
        low, high = ends(self.drawn.mean(name))
        return figure(value, low=low, high=high, n=self.n, method=self._method())

    def count(self, name: str) -> Figure:
        """Items in one of the four cells, averaged over the passes."""
        counted = getattr(self.whole, name)
        if self.passes == 1 or not counted.any():
            return times(share(int(counted[0, 0]), self.n, reason=NO_ANSWER_YET), self.n)
        low, high = ends(getattr(self.drawn, name).mean(axis=1))
        value = float(counted.mean())
        return figure(value, low=low, high=high, n=self.n, method=self._method())

    def _method(self) -> str:
        return f"mean over passes; {CLUSTERED}" if self.passes > 1 else BOOTSTRAP


def _mean(values: Floats) -> Floats:
    """Over the last axis, where defined."""
    known = ~np.isnan(values)
    return divided(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


def times(shown: Figure, size: float) -> Figure:
    """A share as a number of ``size`` things."""
    if shown["value"] is None:
        return shown
    low, high = (
        float("nan") if end is None else end * size for end in (shown["low"], shown["high"])
    )
    return figure(shown["value"] * size, low=low, high=high, n=shown["n"], method=shown["method"])


def share_where(sample: Resample, rows: Ints, hit: Bools, *, reason: str) -> Figure:
    """The share of the debates about the items at ``rows`` that ``hit`` says."""
    part, whole = _bin(rows[hit], sample.items), _bin(rows, sample.items)
    return clustered_share(sample, part, whole, reason=reason)


def number_where(sample: Resample, rows: Ints, hit: Bools) -> Figure:
    """How many of the debates it is, with the share's interval."""
    return times(share_where(sample, rows, hit, reason="no debate got so far"), len(rows))


def tally_of(rows: Ints, right: Bools, items: int) -> Tally:
    """Opinions about the items at ``rows``, to be compared with others; no labels are counted."""
    nothing = np.zeros((items, 0), dtype=np.int64)
    passes, hits = _bin(rows, items), _bin(rows[right], items)
    return Tally(passes, hits, np.zeros(items, dtype=np.int64), nothing, nothing, nothing)


def accuracy(sample: Resample, counts: Tally) -> Figure:
    """Right passes of all passes."""
    return clustered_share(sample, counts.right, counts.passes, reason=NO_ANSWER_YET)


@dataclass(frozen=True, slots=True)
class Compared:
    """One arm less a baseline: the difference, its p by ``test``, items won and lost.

    The exact McNemar test where an item has one pass; of several, rates by item are compared.
    """

    difference: Figure
    p: float
    won: int
    lost: int
    test: str

    @property
    def told(self) -> dict[str, Any]:
        """What stands beside the difference in ``--json``."""
        return {"p": self.p, "won": self.won, "lost": self.lost, "test": self.test}


def compared(sample: Resample, one: Tally, baseline: Tally) -> Compared:
    """On the items that both answered."""
    (pair,) = compare(sample, [one, baseline])
    return Compared(pair.difference, pair.p, pair.b, pair.c, pair.method)


def tests_of(found: Iterable[Compared]) -> str:
    """The test of all of them in words; with each of their names, should they differ."""
    return " or ".join(dict.fromkeys(each.test for each in found)) or EXACT


def mean_of(figures: Sequence[Figure], drawn: Sequence[Floats]) -> Figure:
    """The mean over several files, whose items were drawn apart; undefined if one is."""
    values = [value for each in figures if (value := each["value"]) is not None]
    if len(values) < len(figures):
        return undefined("not known for all files")
    # Files of one size have the same draws; shifted against each other they are independent.
    shifted = [np.roll(each, at) for at, each in enumerate(drawn)]
    low, high = ends(np.mean(np.stack(shifted), axis=0))
    n = sum(each["n"] for each in figures)
    method = f"mean over {len(values)} files; {BOOTSTRAP}"
    return figure(sum(values) / len(values), low=low, high=high, n=n, method=method)


def drawn_accuracy(sample: Resample, counts: Tally) -> Floats:
    """Accuracy in each draw, for :func:`mean_of`."""
    sums = sample.sums(np.stack([counts.right, counts.passes], axis=1))
    return divided(sums[:, 0], sums[:, 1])


def _bin(rows: Ints, items: int) -> Ints:
    return np.bincount(rows, minlength=items).astype(np.int64)
