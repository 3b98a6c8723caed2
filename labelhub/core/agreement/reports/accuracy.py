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
import scipy

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import (
    check_gold,
    credit_of_votes,
    majority_accuracy,
    median_categories,
    one_hot,
    winners,
)
from labelhub.core.agreement.alt_test import mean_leads
from labelhub.core.agreement.coefficients import alpha, chance
from labelhub.core.agreement.coefficients.sums import number_keys
from labelhub.core.agreement.estimation import (
    Units,
    estimate,
    estimate_divergence,
    estimate_share,
    item_units,
    share_over_clusters,
    withhold_interval,
)
from labelhub.core.agreement.figures import Figure, Record, share, undefined
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.aggregated_labels import (
    WAYS,
    AggregatedLabels,
    majority_labels,
)
from labelhub.core.agreement.reports.label_matrix import (
    KINDS,
    LabelMatrix,
    Votes,
    confusion_of,
    mean_units,
    sparse_units,
    units_of,
)
from labelhub.core.agreement.reports.texts import AGAINST, text_accuracy
from labelhub.core.schema import LabelType

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
        true = scipy.sparse.csr_array((self.total, (cells, self.truth)), shape=shape)
        if not sparsely:
            columns = np.column_stack([self.right, self.total, self.counts, true.toarray()])
            return self._units(columns.astype(np.float64))
        first = np.column_stack([self.right, self.total])
        parts = [scipy.sparse.csr_array(part) for part in (first, self.counts)]
        columns = scipy.sparse.hstack([*parts, true], format="csr", dtype=np.float64)
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
class VotesAccuracy(Record):
    """How often a majority of ``votes`` labels is right."""

    votes: int
    accuracy: Figure


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
class AgreementLevel(Record):
    """Items on which exactly ``agreeing`` labels of the kind are the same; 0: all differ."""

    agreeing: int
    items: int
    accuracy: Figure


@dataclass(frozen=True, slots=True)
class RaterScore(Record):
    """One annotator against the truth."""

    id: int
    annotator: str
    accuracy: Figure


@dataclass(frozen=True, slots=True)
class KindAccuracy(Record):
    """A kind against a truth.

    ``items`` have both; ``own_decisions``: on how many of them this very kind decided the truth.
    ``confusion``: single most frequent answers against the truth, None without shared categories.
    """

    items: int
    labels: int
    ties: int
    own_decisions: int
    figures: dict[str, Figure]
    by_agreeing: Sequence[AgreementLevel] = ()
    annotators: Sequence[RaterScore] = ()
    confusion: scores.ConfusionMatrix | None = None
    per_label: Sequence[scores.LabelScore] = field(default_factory=list)
    by_votes: Sequence[VotesAccuracy] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; of the matrix the most frequent labels, and how many others."""
        found = Record.to_json(self)
        if self.confusion is None:
            return found
        labels = self.confusion.labels
        shown = [labels[place] for place in self.confusion.most_frequent(MOST_CONFUSED)]
        return {
            **found,
            "confusion": self.confusion.to_json(MOST_CONFUSED),
            "confusion_labels": shown,
            "confusion_left_out": len(labels) - len(shown),
        }


OF_LABELS = ("accuracy", "majority_accuracy", *(f"{way}_accuracy" for way in WAYS))
BEYOND_CHANCE = ("cohen_kappa", "js_divergence")
OF_OPTIONS = ("lift_over_guessing",)
OF_SINGLE_ANSWERS = (
    "majority_kappa",
    "macro_precision",
    "macro_recall",
    "macro_f1",
    "balanced_accuracy",
    "mcc",
)
OF_SETS = (
    "exact_match",
    "hamming_loss",
    "label_majority_accuracy",
    "label_dawid_skene_accuracy",
    "micro_precision",
    "micro_recall",
    "micro_f1",
    "macro_f1",
)
OF_POINTS = (
    "median_accuracy",
    "median_spearman",
    "median_quadratic_kappa",
    "median_mean_absolute_error",
    "median_root_mean_squared_error",
    "mean_absolute_error",
    "root_mean_squared_error",
    "spearman",
    "quadratic_kappa",
)


def accuracy_names(task: LabelType) -> tuple[str, ...]:
    """The figures of a kind against a truth, whatever its labels are."""
    names = OF_LABELS + BEYOND_CHANCE
    if task.written:
        return names + AGAINST
    if not task.labelled:
        return names + OF_OPTIONS
    if task.several:
        return names + OF_SETS
    return names + OF_SINGLE_ANSWERS + (OF_POINTS if task.ordered else ())


def measure_accuracy(
    matrix: LabelMatrix,
    kind: str,
    truth: Ints,
    aggregated: AggregatedLabels,
    *,
    missing: str = reasons.NO_GOLD,
) -> KindAccuracy:
    """Measure ``kind`` by ``truth``, category numbers of shape (items,), -1 where unknown."""
    patterns, names = matrix.patterns_of(kind), accuracy_names(matrix.task)
    rows = np.flatnonzero((truth >= 0) & (patterns.totals > 0)[patterns.of_item])
    if not len(rows):
        reason = reasons.NO_SHARED_ITEMS if (truth >= 0).any() else missing
        return KindAccuracy(0, 0, 0, 0, dict.fromkeys(names, undefined(reason)))
    scored = ScoredItems(matrix, kind, truth[rows], rows)
    # Which figures there are never depends on the labels: of too many different ones some are null.
    figures = dict.fromkeys(names, undefined(reasons.MANY_ANSWERS))
    figures |= {"accuracy": scored.accuracy(), "majority_accuracy": scored.mean(scored.credit)}
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
    names, members = alpha.set_members(matrix.sets)
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
    if matrix.clusters is None:
        counts = zip(hits.tolist(), whole.tolist(), strict=True)
        figures = [withhold_interval(share(*part, reason=reasons.NO_GOLD)) for part in counts]
    else:
        figures = _clustered_accuracies(matrix, matrix.clusters, scored, right)
    return [
        RaterScore(rater.id, rater.name, figure)
        for rater, figure, labels in zip(matrix.raters, figures, whole, strict=True)
        if labels
    ]


def _clustered_accuracies(
    matrix: LabelMatrix, clusters: Ints, scored: Ratings, right: Bools
) -> list[Figure]:
    """Accuracy of each rater where items belong together.

    Of all raters at once: a pass for each of many would take long.
    """
    _, numbers = np.unique(clusters, return_inverse=True)
    hits = right.astype(np.int64)
    summed = mean_leads(scored.raters, hits, len(matrix.raters), numbers[scored.items])
    columns = (summed.total, summed.n.astype(np.int64), summed.error, summed.units)
    return [
        share_over_clusters(total / n, error, n=n, unit=matrix.unit, clusters=units)
        if n
        else undefined(reasons.NO_GOLD)
        for total, n, error, units in zip(*(column.tolist() for column in columns), strict=True)
    ]


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


def set_figures(found: scores.ConfusionMatrix) -> dict[str, Figure]:
    """Exact match, Hamming loss, micro and macro F1 of sets, and the accuracy of single decisions.

    Macro F1 is the mean over the labels that are predicted or true of any item.
    """
    figures, macro = scores.decision_scores(found), scores.overall_scores(found)["macro_f1"]
    return {
        "label_majority_accuracy": figures.pop("accuracy"),
        **figures,
        "macro_f1": undefined(reasons.NEITHER) if macro["value"] is None else macro,
    }


def decision_accuracy(matrix: LabelMatrix, rows: Ints, likely: Floats, true: Bools) -> Figure:
    """Share of right decisions; ``likely``: the chance of each label; a tie counts half.

    Both of shape (rows, labels).
    """
    won = winners(np.stack([1 - likely, likely], axis=-1).reshape(-1, 2))
    credit = won[np.arange(len(won)), true.reshape(-1).astype(np.int64)] / won.sum(axis=1)
    whole = np.full(len(rows), true.shape[1])
    columns = np.column_stack([credit.reshape(true.shape).sum(axis=1), whole])
    return estimate_share(units_of(matrix, columns, rows), n=len(rows), missing=reasons.NEITHER)
