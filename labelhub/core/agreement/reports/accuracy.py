"""How often a kind of annotators gives the answer of a truth: gold, or the author of the text.

The unit of every figure is named by its key: ``accuracy`` is of single labels, all others that end
in ``accuracy`` of items, after the labels of an item were put together. A tie shares its weight
evenly among the tied answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import (
    check_gold,
    credit_of_votes,
    majority_accuracy,
    median_categories,
    one_hot,
)
from labelhub.core.agreement.alt_test import mean_leads
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.coefficients.sums import number_keys
from labelhub.core.agreement.estimation import (
    Units,
    add_doubts,
    estimate,
    estimate_share,
    few_items_doubt,
    item_units,
    share_over_clusters,
)
from labelhub.core.agreement.figures import Figure, share, undefined
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.aggregated_labels import WAYS, AggregatedLabels
from labelhub.core.agreement.reports.divergences import estimate_divergence
from labelhub.core.agreement.reports.label_matrix import (
    KINDS,
    LabelMatrix,
    Votes,
    confusion_of,
    mean_units,
    sparse_units,
    units_of,
)
from labelhub.core.agreement.reports.sets import (
    decision_accuracy,
    majority_labels,
    set_figures,
    set_members,
)
from labelhub.core.agreement.reports.texts import text_accuracy

#: Items by categories: two tables of them, 160 MB; more are sparse.
MOST_TABLE_CELLS = 10_000_000


class ScoredItems:
    """The items of a kind that have a truth, ready to be estimated from."""

    def __init__(self, matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> None:
        self.matrix, self.rows = matrix, rows
        self.votes, patterns = matrix.votes_of(kind), matrix.patterns_of(kind)
        q = patterns.counts.shape[1]
        check_gold(truth, len(rows), q)
        #: How far the majority is right, by item.
        self.credit = self.votes.credit(truth, rows)
        keys = patterns.of_item[rows] * q + truth
        cells, self.often, self.of_row = number_keys(keys, len(patterns.counts) * q)
        self.counts, self.truth = patterns.counts[cells // q], cells % q
        self.total = self.counts.sum(axis=1)
        self.right = self.counts[np.arange(len(cells)), self.truth]
        self.labels = int(self.often @ self.total)

    @property
    def ties(self) -> int:
        """Items without a single most frequent answer."""
        tied = (self.votes.shares > 0).sum(axis=1) > 1
        return int(tied[self.votes.of_item[self.rows]].sum())

    @cached_property
    def agreeing(self) -> Ints:
        """How many labels of an item are the same, 0 where all differ; -1 of a single label."""
        most = self.counts.max(axis=1)
        return np.where(self.total < 2, -1, np.where(most > 1, most, 0))[self.of_row]

    def accuracy(self) -> Figure:
        """Accuracy of single labels; items are drawn, as the labels of one go together."""
        found = self._units(np.column_stack([self.right, self.total]).astype(np.float64))
        return estimate_share(found, n=self.labels, items=len(self.rows))

    def mean(self, credit: Floats) -> Figure:
        """Mean credit of the items; NaN is an item without an answer."""
        known = ~np.isnan(credit)
        if not known.any():
            return undefined(reasons.NO_SHARED_ITEMS)
        found = mean_units(self.matrix, credit[known], self.rows[known])
        return estimate_share(found, n=int(known.sum()))

    def beyond_chance(self) -> dict[str, Figure]:
        """Accuracy corrected for chance, and the divergence of answers and truth."""
        q = self.counts.shape[1]
        rows = len(self.counts) if self.matrix.clusters is None else len(self.rows)
        refusal, large = self.matrix.chance_refusal, rows * q > MOST_TABLE_CELLS
        if refusal is None and large and q > reasons.MOST_MARGINS:
            refusal = reasons.MANY_ANSWERS
        if refusal:
            found = dict.fromkeys(("cohen_kappa", "js_divergence"), undefined(refusal))
            if self.matrix.options is not None:
                options = self.matrix.options[self.rows]
                found = {"lift_over_guessing": self._lift_over_guessing(options), **found}
            return found
        units, labels, items = self._margins(sparsely=large), self.labels, len(self.rows)
        kappa = estimate(units, chance.pooled_kappa, n=labels, items=items)
        apart = estimate_divergence(
            units, slice(2, 2 + q), slice(2 + q, None), n=labels, items=items
        )
        return {"cohen_kappa": kappa, "js_divergence": apart}

    def _margins(self, *, sparsely: bool) -> Units:
        """Right labels, all labels, and how often each answer was given and was right to give."""
        cells, shape = np.arange(len(self.truth)), self.counts.shape
        true = sparse.csr_array((self.total, (cells, self.truth)), shape=shape)
        if not sparsely:
            columns = np.column_stack([self.right, self.total, self.counts, true.toarray()])
            return self._units(columns.astype(np.float64))
        first = np.column_stack([self.right, self.total])
        parts = [sparse.csr_array(part) for part in (first, self.counts)]
        columns = sparse.hstack([*parts, true], format="csr", dtype=np.float64)
        return sparse_units(self.matrix, columns, self.often, self.of_row, self.rows)

    def _lift_over_guessing(self, options: Ints) -> Figure:
        """``options``: how many each item has, shape (items,)."""
        right, total = self.right[self.of_row], self.total[self.of_row]
        columns = np.column_stack([right, total, total / np.maximum(options, 1)])
        if self.matrix.clusters is not None:
            found = units_of(self.matrix, columns, self.rows)
        else:
            found = item_units(*np.unique(columns, axis=0, return_counts=True))
        return estimate(
            found,
            lambda sums: divide(sums[:, 0] - sums[:, 2], sums[:, 1]),
            n=self.labels,
            items=len(self.rows),
        )

    def _units(self, columns: Floats) -> Units:
        """``columns``: of the different pairs of counts and truth, shape (pairs, k)."""
        if self.matrix.clusters is not None:
            return units_of(self.matrix, columns[self.of_row], self.rows)
        distinct, numbers = np.unique(columns, axis=0, return_inverse=True)
        often = np.bincount(numbers.reshape(-1), self.often, minlength=len(distinct))
        return item_units(distinct, often.astype(np.int64))


LEAST_VOTES, MOST_VOTES = 3, 9
#: With fewer items a vote of three cannot be distinguished from a single label.
FEWEST_VOTED_ITEMS = 10


@dataclass(frozen=True, slots=True)
class VotesAccuracy:
    """How often a majority of ``votes`` labels is right."""

    votes: int
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"votes": self.votes, "accuracy": self.accuracy}


def accuracy_by_votes(scored: ScoredItems) -> Sequence[VotesAccuracy]:
    """Accuracy from one vote to as many as half of the items have; empty below three.

    Every choice of an item's labels is as likely, and a tie shares its weight.
    """
    totals = scored.total[scored.of_row]
    enough = max(FEWEST_VOTED_ITEMS, (len(totals) + 1) // 2)
    if len(totals) < enough:
        return []
    most = min(int(np.sort(totals)[-enough]), MOST_VOTES)
    if most < LEAST_VOTES:
        return []
    these = totals >= most
    found = []
    for votes in range(1, most + 1, 2):
        credit = credit_of_votes(scored.counts, scored.truth, votes)[scored.of_row]
        accuracy = scored.mean(np.where(these, credit, np.nan))
        found.append(VotesAccuracy(votes, accuracy))
    return found


HALVES = "of two labels in the middle each counts half"


def median_figures(matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> dict[str, Figure]:
    """Accuracy, mean absolute and root mean squared error (in points), Spearman and weighted kappa.

    ``truth``: category numbers of the items ``rows``, both of shape (rows,); all have labels of the
    kind. Nothing where answers lie on no scale.
    """
    if matrix.scores is None:
        return {}
    patterns = matrix.patterns_of(kind)
    middle = [one_hot(side, len(matrix.scores)) for side in median_categories(patterns.counts)]
    medians = Votes((middle[0] + middle[1]) / 2, patterns.of_item)
    confusion = confusion_of(matrix, medians, truth, rows)
    found = {
        "accuracy": scores.accuracy(confusion),
        **scores.ordinal_scores(confusion, matrix.scores),
    }
    for result in found.values():
        if result["value"] is not None:
            result["method"] += f"; {HALVES}"
    return {f"median_{name}": result for name, result in found.items()}


#: Labels of a confusion matrix that is written out; scores are of all.
MOST_CONFUSED = 60


@dataclass(frozen=True, slots=True)
class AgreementLevel:
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
class KindAccuracy:
    """A kind against a truth.

    ``items`` have both; ``own``: on how many of them the truth is a decision by this very kind.
    ``confusion``: single most frequent answers against the truth, None without shared categories.
    """

    kind: str
    items: int
    labels: int
    ties: int
    own: int
    figures: dict[str, Figure]
    by_agreeing: Sequence[AgreementLevel] = ()
    annotators: Sequence[RaterScore] = ()
    confusion: scores.ConfusionMatrix | None = None
    per_label: Sequence[scores.LabelScore] = field(default_factory=list)
    by_votes: Sequence[VotesAccuracy] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "items": self.items,
            "labels": self.labels,
            "ties": self.ties,
            "own_decisions": self.own,
            **self.figures,
            "by_agreeing": [group.to_json() for group in self.by_agreeing],
            "by_votes": [vote.to_json() for vote in self.by_votes],
            "annotators": [rater.to_json() for rater in self.annotators],
            **self._confusion(),
            "per_label": [label.to_json() for label in self.per_label],
        }

    def _confusion(self) -> dict[str, Any]:
        """The matrix of the labels that are most frequent, their names, and how many are not."""
        if self.confusion is None:
            return {"confusion": None}
        labels = self.confusion.labels
        shown = [labels[place] for place in self.confusion.most_frequent(MOST_CONFUSED)]
        return {
            "confusion": self.confusion.to_json(MOST_CONFUSED),
            "confusion_labels": shown,
            "confusion_left_out": len(labels) - len(shown),
        }


def measure_accuracy(
    matrix: LabelMatrix,
    kind: str,
    truth: Ints,
    aggregated: AggregatedLabels,
    *,
    missing: str = reasons.NO_GOLD,
) -> KindAccuracy:
    """Measure ``kind`` by ``truth``, category numbers of shape (items,), -1 where unknown."""
    patterns = matrix.patterns_of(kind)
    rows = np.flatnonzero((truth >= 0) & (patterns.totals > 0)[patterns.of_item])
    if not len(rows):
        reason = reasons.NO_SHARED_ITEMS if (truth >= 0).any() else missing
        nothing = dict.fromkeys(("accuracy", "majority_accuracy"), undefined(reason))
        return KindAccuracy(kind, 0, 0, 0, 0, nothing)
    scored = ScoredItems(matrix, kind, truth[rows], rows)
    figures = {
        "accuracy": scored.accuracy(),
        "majority_accuracy": scored.mean(scored.credit),
    }
    figures |= _aggregated_accuracies(scored, kind, aggregated)
    figures |= scored.beyond_chance() | text_accuracy(matrix, kind, truth)
    figures |= median_figures(matrix, kind, truth[rows], rows)
    table = answer_confusion(matrix, kind, truth[rows], rows)
    if table and matrix.sets is None:
        figures |= _majority_scores(table, matrix)
    elif table:
        figures |= set_figures(table)
        figures["label_dawid_skene_accuracy"] = _decision_figure(scored, kind, table, aggregated)
    return KindAccuracy(
        kind,
        len(rows),
        scored.labels,
        scored.ties,
        own_decisions(matrix, kind, truth, rows),
        figures,
        _accuracy_by_level(scored),
        _annotator_accuracies(matrix, kind, truth),
        table if matrix.sets is None else None,
        scores.label_scores(table) if table else [],
        accuracy_by_votes(scored),
    )


def _aggregated_accuracies(
    scored: ScoredItems, kind: str, aggregated: AggregatedLabels
) -> dict[str, Figure]:
    """Accuracy of the labels of an item in every way of putting them together."""
    found = {}
    for way in WAYS:
        refusal = aggregated.refusal(kind, way)
        if refusal:
            found[f"{way}_accuracy"] = undefined(refusal)
            continue
        won = aggregated.winners(kind, way)[scored.rows]
        found[f"{way}_accuracy"] = scored.mean(majority_accuracy(won, scored.truth[scored.of_row]))
    return found


def answer_confusion(
    matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints
) -> scores.ConfusionMatrix | None:
    """The most frequent answers to the items ``rows`` by ``truth``, both of shape (rows,).

    Of sets each label by itself. None where items have no labels in common.
    """
    if matrix.sets is None:
        votes = matrix.votes_of(kind)
        return confusion_of(matrix, votes, truth, rows) if matrix.shares_categories else None
    names, members = set_members(matrix.sets)
    predicted = majority_labels(matrix.of_kind(kind), members)[rows]
    clusters = matrix.clusters_of(rows)
    return scores.tabulate(predicted, members[truth], names, clusters=clusters, unit=matrix.unit)


def own_decisions(matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> int:
    """On how many of the items ``rows`` the kind decided the truth itself."""
    decided = matrix.gold_kind[rows] == KINDS.index(kind)
    return int(decided.sum()) if truth is matrix.gold else 0


def _decision_figure(
    scored: ScoredItems,
    kind: str,
    table: scores.ConfusionMatrix,
    aggregated: AggregatedLabels,
) -> Figure:
    """Accuracy of single decisions about a label, with the labels of each set by a model."""
    refusal = aggregated.label_refusal(kind)
    if refusal:
        return undefined(refusal)
    likely, true = aggregated.labels(kind)[scored.rows], table.gold.toarray() > 0
    return decision_accuracy(scored.matrix, scored.rows, likely, true)


def _accuracy_by_level(scored: ScoredItems) -> list[AgreementLevel]:
    """Accuracy by how many labels agree (paper 004, Table 2); single labels are left out."""
    agreeing, credit = scored.agreeing, scored.credit
    found = []
    for number in np.flatnonzero(np.bincount(agreeing + 1)[1:])[::-1].tolist():
        these = agreeing == number
        accuracy = scored.mean(np.where(these, credit, np.nan))
        found.append(AgreementLevel(number, int(these.sum()), accuracy))
    return found


def _annotator_accuracies(matrix: LabelMatrix, kind: str, truth: Ints) -> list[RaterScore]:
    if kind == "author":  # no name to be shown
        return []
    ratings = matrix.of_kind(kind)
    scored = ratings.where(truth[ratings.items] >= 0)
    right = scored.codes == truth[scored.items]
    hits = np.bincount(scored.raters[right], minlength=len(matrix.raters))
    whole = np.bincount(scored.raters, minlength=len(matrix.raters))
    together = _clustered_accuracies(matrix, scored, right)
    return [
        RaterScore(
            rater.id,
            rater.name,
            together[position]
            if together
            else add_doubts(
                share(int(hits[position]), int(whole[position]), reason=reasons.NO_GOLD),
                few_items_doubt(int(whole[position])),
            ),
        )
        for position, rater in enumerate(matrix.raters)
        if whole[position]
    ]


def _clustered_accuracies(matrix: LabelMatrix, scored: Ratings, right: Bools) -> dict[int, Figure]:
    """Accuracy of each rater where items belong together; nothing where they do not.

    Of all raters at once: a pass for each of many would take long.
    """
    if matrix.clusters is None:
        return {}
    _, numbers = np.unique(matrix.clusters, return_inverse=True)
    hits = right.astype(np.int64)
    summed = mean_leads(scored.raters, hits, len(matrix.raters), numbers[scored.items])
    raters = np.flatnonzero(summed.n)
    own = summed.of(summed.n > 0)
    columns = (raters, own.n.astype(np.int64), own.total / own.n, own.error, own.units)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        rater: share_over_clusters(number, error, n=n, unit=matrix.unit, clusters=clusters)
        for rater, n, number, error, clusters in rows
    }


def _majority_scores(confusion: scores.ConfusionMatrix, matrix: LabelMatrix) -> dict[str, Figure]:
    """Scores of the most frequent answers; tied ones share their item."""
    names = {
        "cohen_kappa": "majority_kappa",
        "macro_precision": "macro_precision",
        "macro_recall": "macro_recall",
        "macro_f1": "macro_f1",
        "balanced_accuracy": "balanced_accuracy",
        "matthews": "mcc",
    }
    overall = scores.overall_scores(confusion)
    found = {new: overall[old] for old, new in names.items()}
    return (
        found if matrix.scores is None else found | scores.ordinal_scores(confusion, matrix.scores)
    )
