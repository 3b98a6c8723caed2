"""How often a kind of annotators says what a truth says: gold, or the author of the text.

The unit of every figure is named by its key: ``accuracy`` is of single labels, all others that end
in ``accuracy`` of items, after the labels of an item were put together. A tie shares its weight
evenly among the tied answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import majority_accuracy, only, winners
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.divergence import js_divergence
from labelhub.core.agreement.estimation import Units, clustered, estimated, units
from labelhub.core.agreement.evaluation import LabelScore
from labelhub.core.agreement.figures import Figure, share, undefined
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.pooled import WAYS, Pooled
from labelhub.core.agreement.reports.sheet import KINDS, Sheet

#: Of tables with more labels only the overall scores are given.
MOST_LABELS = 60


@dataclass(frozen=True, slots=True)
class Agreeing:
    """Items on which exactly ``agreeing`` labels of the kind are the same; 0: all differ."""

    agreeing: int
    items: int
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"agreeing": self.agreeing, "items": self.items, "accuracy": self.accuracy}


@dataclass(frozen=True, slots=True)
class RaterScore:
    """One annotator against the truth."""

    id: int
    name: str
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"id": self.id, "annotator": self.name, "accuracy": self.accuracy}


@dataclass(frozen=True, slots=True)
class Against:
    """A kind against a truth.

    ``items`` have both; ``own``: on how many of them the truth is a decision by this very kind.
    ``matrix``: single most frequent answers against the truth, None without shared categories.
    """

    kind: str
    items: int
    labels: int
    ties: int
    own: int
    figures: dict[str, Figure]
    by_agreeing: Sequence[Agreeing] = ()
    annotators: Sequence[RaterScore] = ()
    matrix: scores.ConfusionMatrix | None = None
    per_label: Sequence[LabelScore] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "items": self.items,
            "labels": self.labels,
            "ties": self.ties,
            "own_decisions": self.own,
            **self.figures,
            "by_agreeing": [group.to_json() for group in self.by_agreeing],
            "annotators": [rater.to_json() for rater in self.annotators],
            "confusion": self.matrix.to_json() if self.matrix else None,
            "per_label": [label.to_json() for label in self.per_label],
        }


def against(
    sheet: Sheet, kind: str, truth: Ints, pooled: Pooled, *, missing: str = reasons.NO_GOLD
) -> Against:
    """Measure ``kind`` by ``truth``, category numbers of shape (items,), -1 where unknown."""
    counts = sheet.of_kind(kind).counts()
    rows = np.flatnonzero((truth >= 0) & (counts.sum(axis=1) > 0))
    if not len(rows):
        reason = reasons.NO_SHARED_ITEMS if (truth >= 0).any() else missing
        nothing = dict.fromkeys(("accuracy", "majority_accuracy"), undefined(reason))
        return Against(kind, 0, 0, 0, 0, nothing)
    compared = _Compared(sheet, counts, truth, rows)
    scored = majority_accuracy(counts, truth)
    figures = {
        "accuracy": compared.accuracy(),
        "majority_accuracy": compared.mean(scored.credit[rows]),
    }
    for way in WAYS:
        refused = pooled.refused(kind, way)
        figures[f"{way}_accuracy"] = (
            undefined(refused)
            if refused
            else compared.mean(majority_accuracy(pooled.scores(kind, way), truth).credit[rows])
        )
    figures |= compared.beyond_chance()
    matrix = _matrix(sheet, counts[rows], truth[rows])
    if matrix is not None:
        figures |= _single_answers(matrix, sheet)
    decided = KINDS.index(kind)
    return Against(
        kind,
        len(rows),
        int(counts[rows].sum()),
        scored.ties,
        int((sheet.gold_kind[rows] == decided).sum()) if truth is sheet.gold else 0,
        figures,
        _by_agreeing(counts[rows], scored.credit[rows]),
        _annotators(sheet, kind, truth),
        matrix,
        scores.per_class(matrix) if matrix is not None and matrix.n else [],
    )


class _Compared:
    """The items of a kind that have a truth, ready to be estimated from."""

    def __init__(self, sheet: Sheet, counts: Ints, truth: Ints, rows: Ints) -> None:
        self.sheet, self.rows = sheet, rows
        self.counts = counts[rows]
        self.truth = truth[rows]
        self.total = self.counts.sum(axis=1)
        self.right = self.counts[np.arange(len(rows)), self.truth]

    def accuracy(self) -> Figure:
        """Of single labels; items are what is drawn, as the labels of one go together."""
        if self.sheet.clusters is None and self.total.max() == 1:
            return share(int(self.right.sum()), len(self.rows), reason=reasons.NO_GOLD)
        found = self._units(np.column_stack([self.right, self.total]).astype(np.float64))
        labels = int(self.total.sum())
        return estimated(found, lambda sums: chance.divided(sums[:, 0], sums[:, 1]), n=labels)

    def mean(self, credit: Floats) -> Figure:
        """Of items; NaN is an item without an answer."""
        known = ~np.isnan(credit)
        if not known.any():
            return undefined(reasons.NO_SHARED_ITEMS)
        if self.sheet.clusters is None and np.isin(credit[known], (0.0, 1.0)).all():
            return share(int(credit[known].sum()), int(known.sum()), reason=reasons.NO_GOLD)
        columns = np.column_stack([np.where(known, credit, 0), known])
        return estimated(
            self._units(columns),
            lambda sums: chance.divided(sums[:, 0], sums[:, 1]),
            n=int(known.sum()),
        )

    def beyond_chance(self) -> dict[str, Figure]:
        """What is left of accuracy once guessing is taken off, and how the answers lie."""
        options = self.sheet.options
        if options is not None:
            guess = self.total / np.maximum(options[self.rows], 1)
            found = self._units(np.column_stack([self.right, self.total, guess]).astype(float))
            lift = estimated(found, _lift, n=int(self.total.sum()))
            refused = undefined(reasons.OWN_OPTIONS)
            return {"lift_over_guessing": lift, "cohen_kappa": refused, "js_divergence": refused}
        if not self.sheet.shares_categories:
            refused = undefined(reasons.FREE_TEXT)
            return {"cohen_kappa": refused, "js_divergence": refused}
        q = self.counts.shape[1]
        true = np.zeros_like(self.counts)
        true[np.arange(len(true)), self.truth] = self.total
        columns = np.column_stack([self.right, self.total, self.counts, true]).astype(np.float64)
        found = self._units(columns)
        labels = int(self.total.sum())
        return {
            "cohen_kappa": estimated(found, _kappa(q), n=labels),
            "js_divergence": estimated(found, _divergence(q), n=labels),
        }

    def _units(self, columns: Floats) -> Units:
        if self.sheet.clusters is not None:
            _, numbers = np.unique(self.sheet.clusters[self.rows], return_inverse=True)
            return clustered(columns, numbers, self.sheet.unit)
        distinct, often = np.unique(columns, axis=0, return_counts=True)
        return units(distinct, often)


def _lift(sums: Floats) -> Floats:
    """Accuracy less that of guessing among each item's own options."""
    return chance.divided(sums[:, 0] - sums[:, 2], sums[:, 1])


def _kappa(q: int) -> Any:
    def value(sums: Floats) -> Floats:
        margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
        expected = chance.divided(margins, sums[:, 1] ** 2)
        return chance.corrected(chance.divided(sums[:, 0], sums[:, 1]), expected)

    return value


def _divergence(q: int) -> Any:
    """Jensen-Shannon, in bits, between how often each answer is given and is true."""

    def value(sums: Floats) -> Floats:
        whole = np.maximum(sums[:, 1:2], 1e-300)
        return js_divergence(
            np.maximum(sums[:, 2 : 2 + q], 0) / whole, np.maximum(sums[:, 2 + q :], 0) / whole
        )

    return value


def _by_agreeing(counts: Ints, credit: Floats) -> list[Agreeing]:
    """Accuracy by how many labels agree (paper 004, Table 2); single labels are left out."""
    several = counts.sum(axis=1) >= 2
    most = counts.max(axis=1)[several]
    agreeing = np.where(most > 1, most, 0)
    found = []
    for number in np.unique(agreeing)[::-1].tolist():
        of_these = credit[several][agreeing == number]
        found.append(Agreeing(number, len(of_these), _mean_credit(of_these)))
    return found


def _mean_credit(credit: Floats) -> Figure:
    if np.isin(credit, (0.0, 1.0)).all():
        return share(int(credit.sum()), len(credit), reason=reasons.NO_GOLD)
    distinct, often = np.unique(credit, return_counts=True)
    columns = np.column_stack([distinct, np.ones(len(distinct))])
    return estimated(
        units(columns, often), lambda sums: chance.divided(sums[:, 0], sums[:, 1]), n=len(credit)
    )


def _annotators(sheet: Sheet, kind: str, truth: Ints) -> list[RaterScore]:
    if kind == "author":  # no name to be shown
        return []
    ratings = sheet.of_kind(kind)
    scored = truth[ratings.items] >= 0
    right = (ratings.codes == truth[ratings.items]) & scored
    hits = np.bincount(ratings.raters[right], minlength=len(sheet.raters))
    whole = np.bincount(ratings.raters[scored], minlength=len(sheet.raters))
    return [
        RaterScore(
            rater.id, rater.name, share(int(hits[at]), int(whole[at]), reason=reasons.NO_GOLD)
        )
        for at, rater in enumerate(sheet.raters)
        if whole[at]
    ]


def _matrix(sheet: Sheet, counts: Ints, truth: Ints) -> scores.ConfusionMatrix | None:
    if not sheet.shares_categories or len(sheet.categories) > MOST_LABELS:
        return None
    return scores.tabulate(only(winners(counts)), truth, sheet.categories)


def _single_answers(matrix: scores.ConfusionMatrix, sheet: Sheet) -> dict[str, Figure]:
    """Scores of the most frequent answers; items with a tie are not among them."""
    names = {
        "cohen_kappa": "majority_kappa",
        "macro_precision": "macro_precision",
        "macro_recall": "macro_recall",
        "macro_f1": "macro_f1",
        "balanced_accuracy": "balanced_accuracy",
        "matthews": "mcc",
    }
    overall = scores.overall(matrix)
    found = {new: overall[old] for old, new in names.items()}
    if sheet.scores is not None:
        found |= scores.ordinal(matrix, sheet.scores)
    return found
