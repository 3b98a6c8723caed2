"""How often a kind of annotators gives the answer of a truth: gold, or the author of the text.

The unit of every figure is named by its key: ``accuracy`` is of single labels, all others that end
in ``accuracy`` of items, after the labels of an item were put together. A tie shares its weight
evenly among the tied answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import (
    check_gold,
    credit_of_votes,
    majority_accuracy,
    median_categories,
    single_winner,
    winners,
)
from labelhub.core.agreement.alt_test import mean_leads
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.coefficients.sums import Patterns, Value, number_keys
from labelhub.core.agreement.estimation import (
    Units,
    add_doubts,
    estimate,
    estimate_interval,
    estimate_share,
    few_clusters_doubt,
    few_items_doubt,
    interval_method,
    item_units,
    linearised_figure,
)
from labelhub.core.agreement.evaluation import LabelScore
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, t_quantile
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.aggregated_labels import WAYS, AggregatedLabels
from labelhub.core.agreement.reports.divergences import estimate_divergence
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix, mean_units, units_of
from labelhub.core.agreement.reports.reasons import score_with_code
from labelhub.core.agreement.reports.sets import (
    OF_SETS,
    decision_accuracy,
    majority_labels,
    set_figures,
    set_label_scores,
    set_members,
)
from labelhub.core.agreement.reports.texts import text_accuracy
from labelhub.core.agreement.scores import ItemClusters, number_clusters

#: Items by categories: two tables of them, 160 MB.
MOST_TABLE_CELLS = 10_000_000


class ScoredItems:
    """The items of a kind that have a truth, ready to be estimated from."""

    def __init__(self, matrix: LabelMatrix, patterns: Patterns, truth: Ints, rows: Ints) -> None:
        self.matrix, self.rows = matrix, rows
        q = patterns.counts.shape[1]
        check_gold(truth, len(rows), q)
        keys = patterns.of_item[rows] * q + truth
        cells, self.often, self.of_row = number_keys(keys, len(patterns.counts) * q)
        self.counts, self.truth = patterns.counts[cells // q], cells % q
        self.total = self.counts.sum(axis=1)
        self.right = self.counts[np.arange(len(cells)), self.truth]
        self.labels = int(self.often @ self.total)
        self.won = winners(self.counts)

    @cached_property
    def credit(self) -> Floats:
        """How far the majority is right, by item."""
        return winner_credit(self.won, self.truth)[self.of_row]

    @cached_property
    def single(self) -> Ints:
        """The one most frequent answer of each item; -1 in a tie."""
        return single_winner(self.won)[self.of_row]

    @property
    def ties(self) -> int:
        """Items without a single most frequent answer."""
        return int(self.often[self.won.sum(axis=1) > 1].sum())

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
        refusal = self.matrix.chance_refusal
        if refusal is None and rows * q > MOST_TABLE_CELLS:
            refusal = reasons.MANY_ANSWERS
        if refusal:
            found = dict.fromkeys(("cohen_kappa", "js_divergence"), undefined(refusal))
            if self.matrix.options is not None:
                options = self.matrix.options[self.rows]
                found = {"lift_over_guessing": self._lift_over_guessing(options), **found}
            return found
        true = np.zeros_like(self.counts)
        true[np.arange(len(true)), self.truth] = self.total
        columns = np.column_stack([self.right, self.total, self.counts, true]).astype(np.float64)
        units, labels, items = self._units(columns), self.labels, len(self.rows)
        kappa = estimate(units, chance.pooled_kappa, n=labels, items=items)
        apart = estimate_divergence(
            units, slice(2, 2 + q), slice(2 + q, None), n=labels, items=items
        )
        return {"cohen_kappa": kappa, "js_divergence": apart}

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


def winner_credit(won: Bools, truth: Ints) -> Floats:
    """Of rows with a truth: 1, 0, or a part in a tie; NaN where nothing won."""
    return majority_accuracy(won.astype(np.int64), truth).credit


LEAST_VOTES, MOST_VOTES = 3, 9
#: With fewer items a vote of three cannot be distinguished from a single label.
FEWEST_VOTED_ITEMS = 10
#: With more categories the counting would take long.
MOST_VOTE_CATEGORIES = 60


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
    if len(totals) < enough or scored.counts.shape[1] > MOST_VOTE_CATEGORIES:
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
#: Items (or different ones) times cells of the table of median and truth, and cells of the tables
#: of draws that are held at once: 32 MB.
MOST_MEDIAN_CELLS = 1 << 22

Metric = Callable[[Floats], Floats]


def median_figures(matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> dict[str, Figure]:
    """Accuracy, mean absolute and root mean squared error (in points), Spearman and weighted kappa.

    ``truth``: category numbers of the items ``rows``, both of shape (rows,); all have labels of the
    kind. Nothing where answers lie on no scale.
    """
    if matrix.scores is None:
        return {}
    points = np.asarray(matrix.scores, dtype=np.float64)
    shares: dict[str, Metric] = {
        "median_accuracy": scores.accuracy,
        "median_spearman": scores.rank_correlation,
        "median_quadratic_kappa": lambda tables: scores.quadratic_kappa(tables, points),
    }
    errors: dict[str, Metric] = {
        "median_mean_absolute_error": lambda tables: scores.mean_absolute_error(tables, points),
        "median_root_mean_squared_error": lambda tables: scores.root_mean_squared_error(
            tables, points
        ),
    }
    units = _median_units(matrix, kind, truth, rows)
    if units is None:
        return dict.fromkeys((*shares, *errors), undefined(reasons.MANY_ANSWERS))
    found, used = units
    q, n = len(points), len(rows)
    figures = {}
    for name, metric in shares.items():
        lowest = 0.0 if name == "median_accuracy" else -1.0
        figures[name] = estimate(found, _on_cells(metric, used, q), n=n, lowest=lowest)
    for name, metric in errors.items():
        figures[name] = _error_figure(found, _on_cells(metric, used, q), n)
    for result in figures.values():
        if result["value"] is not None:
            result["method"] += f"; {HALVES}"
    return figures


def _median_units(
    matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints
) -> tuple[Units, Ints] | None:
    """Units of items, with a column for each cell of median and truth that occurs, and the cells.

    None where there are too many.
    """
    patterns = matrix.patterns_of(kind)
    q = patterns.counts.shape[1]
    low, high = (
        side[patterns.of_item[rows]] * q + truth for side in median_categories(patterns.counts)
    )
    used, place = np.unique(np.concatenate([low, high]), return_inverse=True)
    pairs, place = len(low), place.reshape(2, -1)
    keys, of_pair, often = np.unique(
        place[0] * len(used) + place[1], return_inverse=True, return_counts=True
    )
    many = len(keys) if matrix.clusters is None else pairs
    if many * len(used) > MOST_MEDIAN_CELLS:
        return None
    ones = np.eye(len(used)) / 2
    table = ones[keys // len(used)] + ones[keys % len(used)]
    if matrix.clusters is None:
        return item_units(table, often), used
    return units_of(matrix, table[of_pair], rows), used


def _on_cells(metric: Metric, used: Ints, q: int) -> Value:
    """The metric of sums of the cells ``used`` of a table of q times q, some draws at a time."""

    step = max(MOST_MEDIAN_CELLS // q**2, 1)

    def value(sums: Floats) -> Floats:
        found = []
        for start in range(0, len(sums), step):
            some = sums[start : start + step]
            tables = np.zeros((len(some), q * q))
            tables[:, used] = some
            found.append(metric(tables.reshape(-1, q, q)))
        return np.concatenate(found)

    return value


def _error_figure(found: Units, value: Value, n: int) -> Figure:
    """An error in points of the scale; it has no upper bound."""
    number = float(value(found.sums)[0])
    low, high = estimate_interval(found, value, number)
    low, high = max(min(low, number), 0.0), max(high, number)
    result = figure(number, low=low, high=high, n=n, method=interval_method(found))
    return add_doubts(result, few_items_doubt(n), few_clusters_doubt(found))


#: Of tables with more labels only the overall scores are given.
MOST_LABELS = 60


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
    per_label: Sequence[LabelScore] = field(default_factory=list)
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
            "confusion": self.confusion.to_json() if self.confusion else None,
            "per_label": [label.to_json() for label in self.per_label],
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
    scored = ScoredItems(matrix, patterns, truth[rows], rows)
    figures = {
        "accuracy": scored.accuracy(),
        "majority_accuracy": scored.mean(scored.credit),
    }
    figures |= _aggregated_accuracies(scored, kind, aggregated)
    figures |= scored.beyond_chance() | text_accuracy(matrix, kind, truth)
    figures |= median_figures(matrix, kind, truth[rows], rows)
    of_sets, per_label = _set_figures(matrix, kind, truth, rows, aggregated)
    figures |= of_sets
    confusion = None
    if matrix.sets is None and matrix.shares_categories and len(matrix.categories) <= MOST_LABELS:
        together = _item_clusters(matrix, rows)
        confusion = scores.tabulate(scored.single, truth[rows], matrix.categories, together)
        figures |= _single_answer_scores(confusion, matrix)
        per_label = scores.label_scores(confusion) if confusion.n else []
    decided = KINDS.index(kind)
    return KindAccuracy(
        kind,
        len(rows),
        scored.labels,
        scored.ties,
        int((matrix.gold_kind[rows] == decided).sum()) if truth is matrix.gold else 0,
        figures,
        _accuracy_by_level(scored),
        _annotator_accuracies(matrix, kind, truth),
        confusion,
        _report_labels(per_label),
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
        found[f"{way}_accuracy"] = scored.mean(winner_credit(won, scored.truth[scored.of_row]))
    return found


def _set_figures(
    matrix: LabelMatrix, kind: str, truth: Ints, rows: Ints, aggregated: AggregatedLabels
) -> tuple[dict[str, Figure], list[LabelScore]]:
    """Figures of sets and of each label in them; nothing where answers are none."""
    if matrix.sets is None:
        return {}, []
    names, members = set_members(matrix.sets)
    if len(names) > MOST_LABELS:
        return dict.fromkeys(OF_SETS, undefined(reasons.MANY_ANSWERS)), []
    predicted, true = majority_labels(matrix.of_kind(kind), members)[rows], members[truth[rows]]
    refusal = aggregated.label_refusal(kind)
    figures = set_figures(matrix, rows, predicted, true)
    figures["label_dawid_skene_accuracy"] = (
        undefined(refusal)
        if refusal
        else decision_accuracy(matrix, rows, aggregated.labels(kind)[rows], true)
    )
    return figures, set_label_scores(names, predicted, true, _item_clusters(matrix, rows))


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

    Linearised, and of all raters at once: draws or a pass for each of many would take long.
    """
    if matrix.clusters is None:
        return {}
    _, numbers = np.unique(matrix.clusters, return_inverse=True)
    hits = right.astype(np.int64)
    summed = mean_leads(scored.raters, hits, len(matrix.raters), numbers[scored.items])
    raters = np.flatnonzero(summed.n)
    own = summed.of(summed.n > 0)
    halves = own.error * t_quantile(0.5 + CONFIDENCE / 2, np.maximum(own.units - 1, 1))
    columns = (raters, own.n.astype(np.int64), own.total / own.n, halves, own.units)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        rater: linearised_figure(
            number,
            half,
            n=n,
            unit=matrix.unit,
            clusters=clusters,
            lowest=0.0,
            doubt=few_items_doubt(n),
        )
        for rater, n, number, half, clusters in rows
    }


def _report_labels(found: Sequence[LabelScore]) -> list[LabelScore]:
    """Each label's scores; a share rests on the items it is a share of."""

    def with_code(score: Figure) -> Figure:
        return score_with_code(score, score.get("n", 0))

    return [
        replace(
            label,
            precision=with_code(label.precision),
            recall=with_code(label.recall),
            f1=with_code(label.f1),
            accuracy=with_code(label.accuracy),
        )
        for label in found
    ]


def _item_clusters(matrix: LabelMatrix, rows: Ints) -> ItemClusters | None:
    """The clusters of the items ``rows``, where there are any."""
    return number_clusters(None if matrix.clusters is None else matrix.clusters[rows], matrix.unit)


def _single_answer_scores(
    confusion: scores.ConfusionMatrix, matrix: LabelMatrix
) -> dict[str, Figure]:
    """Scores of the most frequent answers; items with a tie are not among them."""
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
    if matrix.scores is not None:
        found |= scores.ordinal_scores(confusion, matrix.scores)
    return {name: score_with_code(result, confusion.n) for name, result in found.items()}
