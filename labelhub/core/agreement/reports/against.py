"""How often a kind of annotators says what a truth says: gold, or the author of the text.

The unit of every figure is named by its key: ``accuracy`` is of single labels, all others that end
in ``accuracy`` of items, after the labels of an item were put together. A tie shares its weight
evenly among the tied answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import median_categories
from labelhub.core.agreement.alt_test import mean_leads
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.estimation import (
    FEW_CLUSTERS,
    FEW_UNITS,
    FLAT,
    LINEARISED,
    Units,
    add_doubts,
    cluster_units,
    estimate,
    estimate_interval,
    few_clusters_doubt,
    few_items_doubt,
    interval_method,
    item_units,
    limit_interval,
)
from labelhub.core.agreement.evaluation import LabelScore
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, t_quantile
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.compared import (
    ScoredItems,
    VotesAccuracy,
    accuracy_by_votes,
    winner_credit,
)
from labelhub.core.agreement.reports.pooled import WAYS, AggregatedLabels
from labelhub.core.agreement.reports.reasons import score_with_code
from labelhub.core.agreement.reports.sets import (
    OF_SETS,
    decision_accuracy,
    majority_labels,
    set_figures,
    set_label_scores,
    set_members,
)
from labelhub.core.agreement.reports.sheet import KINDS, LabelMatrix
from labelhub.core.agreement.reports.texts import text_accuracy
from labelhub.core.agreement.scores import ItemClusters, number_clusters

HALVES = "of two labels in the middle each counts half"
#: Items (or different ones) times cells of the table of median and truth, and cells of the tables
#: of draws that are held at once: 32 MB.
MOST_CELLS = 1 << 22

Metric = Callable[[Floats], Floats]


def median_figures(sheet: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> dict[str, Figure]:
    """Accuracy, mean absolute and root mean squared error (in points), Spearman and weighted kappa.

    ``truth``: category numbers of the items ``rows``, both of shape (rows,); all have labels of the
    kind. Nothing where answers lie on no scale.
    """
    if sheet.scores is None:
        return {}
    points = np.asarray(sheet.scores, dtype=np.float64)
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
    found = _median_units(sheet, *_cells(sheet, kind, truth, rows), rows)
    if found is None:
        return dict.fromkeys((*shares, *errors), undefined(reasons.MANY_ANSWERS))
    drawn, used = found
    q, n = len(points), len(rows)
    figures = {
        name: _share(drawn, _on_cells(metric, used, q), name, n) for name, metric in shares.items()
    }
    figures |= {
        name: _error(drawn, _on_cells(metric, used, q), n) for name, metric in errors.items()
    }
    return {name: _halves(result) for name, result in figures.items()}


def _cells(sheet: LabelMatrix, kind: str, truth: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The places of lower and upper median and truth in a table of both: each of shape (rows,)."""
    patterns = sheet.patterns_of(kind)
    low, high = (side[patterns.of_item[rows]] for side in median_categories(patterns.counts))
    q = patterns.counts.shape[1]
    return low * q + truth, high * q + truth


def _median_units(
    sheet: LabelMatrix, low: Ints, high: Ints, rows: Ints
) -> tuple[Units, Ints] | None:
    """What is drawn, its columns the cells that occur, and which these are; None if too large."""
    used, place = np.unique(np.concatenate([low, high]), return_inverse=True)
    pairs, place = len(low), place.reshape(2, -1)
    keys, of_pair, often = np.unique(
        place[0] * len(used) + place[1], return_inverse=True, return_counts=True
    )
    many = len(keys) if sheet.clusters is None else pairs
    if many * len(used) > MOST_CELLS:
        return None
    ones = np.eye(len(used)) / 2
    table = ones[keys // len(used)] + ones[keys % len(used)]
    if sheet.clusters is None:
        return item_units(table, often), used
    _, numbers = np.unique(sheet.clusters[rows], return_inverse=True)
    return cluster_units(table[of_pair], numbers, sheet.unit), used


def _on_cells(metric: Metric, used: Ints, q: int) -> Value:
    """The metric of sums of the cells ``used`` of a table of q times q, some draws at a time."""

    step = max(MOST_CELLS // q**2, 1)

    def value(sums: Floats) -> Floats:
        found = []
        for start in range(0, len(sums), step):
            some = sums[start : start + step]
            tables = np.zeros((len(some), q * q))
            tables[:, used] = some
            found.append(metric(tables.reshape(-1, q, q)))
        return np.concatenate(found)

    return value


def _share(found: Units, value: Value, name: str, n: int) -> Figure:
    return estimate(found, value, n=n, lowest=0.0 if name == "median_accuracy" else -1.0)


def _error(found: Units, value: Value, n: int) -> Figure:
    """In points of the scale: no upper bound."""
    number = float(value(found.sums)[0])
    low, high = estimate_interval(found, value, number)
    low, high = max(min(low, number), 0.0), max(high, number)
    result = figure(number, low=low, high=high, n=n, method=interval_method(found))
    return add_doubts(result, few_items_doubt(n), few_clusters_doubt(found))


def _halves(shown: Figure) -> Figure:
    return shown if shown["value"] is None else {**shown, "method": f"{shown['method']}; {HALVES}"}


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
    ``matrix``: single most frequent answers against the truth, None without shared categories.
    """

    kind: str
    items: int
    labels: int
    ties: int
    own: int
    figures: dict[str, Figure]
    by_agreeing: Sequence[AgreementLevel] = ()
    annotators: Sequence[RaterScore] = ()
    matrix: scores.ConfusionMatrix | None = None
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
            "confusion": self.matrix.to_json() if self.matrix else None,
            "per_label": [label.to_json() for label in self.per_label],
        }


def measure_accuracy(
    sheet: LabelMatrix,
    kind: str,
    truth: Ints,
    pooled: AggregatedLabels,
    *,
    missing: str = reasons.NO_GOLD,
) -> KindAccuracy:
    """Measure ``kind`` by ``truth``, category numbers of shape (items,), -1 where unknown."""
    patterns = sheet.patterns_of(kind)
    rows = np.flatnonzero((truth >= 0) & (patterns.totals > 0)[patterns.of_item])
    if not len(rows):
        reason = reasons.NO_SHARED_ITEMS if (truth >= 0).any() else missing
        nothing = dict.fromkeys(("accuracy", "majority_accuracy"), undefined(reason))
        return KindAccuracy(kind, 0, 0, 0, 0, nothing)
    compared = ScoredItems(sheet, patterns, truth[rows], rows)
    figures = {
        "accuracy": compared.accuracy(),
        "majority_accuracy": compared.mean(compared.credit),
    }
    figures |= _aggregated_accuracies(compared, kind, pooled)
    figures |= compared.beyond_chance() | text_accuracy(sheet, kind, truth)
    figures |= median_figures(sheet, kind, truth[rows], rows)
    of_sets, per_label = _set_figures(sheet, kind, truth, rows, pooled)
    figures |= of_sets
    matrix = _confusion_matrix(sheet, compared.single, truth[rows], _item_clusters(sheet, rows))
    if matrix is not None:
        figures |= _single_answer_scores(matrix, sheet)
        per_label = scores.label_scores(matrix) if matrix.n else []
    decided = KINDS.index(kind)
    return KindAccuracy(
        kind,
        len(rows),
        compared.labels,
        compared.ties,
        int((sheet.gold_kind[rows] == decided).sum()) if truth is sheet.gold else 0,
        figures,
        _accuracy_by_level(compared),
        _annotator_accuracies(sheet, kind, truth),
        matrix,
        _report_labels(per_label),
        accuracy_by_votes(compared),
    )


def _aggregated_accuracies(
    compared: ScoredItems, kind: str, pooled: AggregatedLabels
) -> dict[str, Figure]:
    """Accuracy of the labels of an item in every way of putting them together."""
    found = {}
    for way in WAYS:
        refused = pooled.refused(kind, way)
        if refused:
            found[f"{way}_accuracy"] = undefined(refused)
            continue
        won = pooled.winners(kind, way)[compared.rows]
        found[f"{way}_accuracy"] = compared.mean(
            winner_credit(won, compared.truth[compared.of_row])
        )
    return found


def _set_figures(
    sheet: LabelMatrix, kind: str, truth: Ints, rows: Ints, pooled: AggregatedLabels
) -> tuple[dict[str, Figure], list[LabelScore]]:
    """Figures of sets and of each label in them; nothing where answers are none."""
    if sheet.sets is None:
        return {}, []
    names, members = set_members(sheet.sets)
    if len(names) > MOST_LABELS:
        return dict.fromkeys(OF_SETS, undefined(reasons.MANY_ANSWERS)), []
    predicted, true = majority_labels(sheet.of_kind(kind), members)[rows], members[truth[rows]]
    refused = pooled.labels_refused(kind)
    figures = set_figures(sheet, rows, predicted, true)
    figures["label_dawid_skene_accuracy"] = (
        undefined(refused)
        if refused
        else decision_accuracy(sheet, rows, pooled.labels(kind)[rows], true)
    )
    return figures, set_label_scores(names, predicted, true, _item_clusters(sheet, rows))


def _accuracy_by_level(compared: ScoredItems) -> list[AgreementLevel]:
    """Accuracy by how many labels agree (paper 004, Table 2); single labels are left out."""
    agreeing, credit = compared.agreeing, compared.credit
    found = []
    for number in np.flatnonzero(np.bincount(agreeing + 1)[1:])[::-1].tolist():
        these = agreeing == number
        accuracy = compared.mean(np.where(these, credit, np.nan))
        found.append(AgreementLevel(number, int(these.sum()), accuracy))
    return found


def _annotator_accuracies(sheet: LabelMatrix, kind: str, truth: Ints) -> list[RaterScore]:
    if kind == "author":  # no name to be shown
        return []
    ratings = sheet.of_kind(kind)
    scored = ratings.where(truth[ratings.items] >= 0)
    right = scored.codes == truth[scored.items]
    hits = np.bincount(scored.raters[right], minlength=len(sheet.raters))
    whole = np.bincount(scored.raters, minlength=len(sheet.raters))
    together = _clustered_accuracies(sheet, scored, right)
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
        for position, rater in enumerate(sheet.raters)
        if whole[position]
    ]


def _clustered_accuracies(sheet: LabelMatrix, scored: Ratings, right: Bools) -> dict[int, Figure]:
    """Accuracy of each rater where items belong together; nothing where they do not.

    Linearised, and of all raters at once: draws or a pass for each of many would take long.
    """
    if sheet.clusters is None:
        return {}
    _, clusters = np.unique(sheet.clusters, return_inverse=True)
    hits = right.astype(np.int64)
    summed = mean_leads(scored.raters, hits, len(sheet.raters), clusters[scored.items])
    raters = np.flatnonzero(summed.n)
    own = summed.of(summed.n > 0)
    halves = own.error * t_quantile(0.5 + CONFIDENCE / 2, np.maximum(own.units - 1, 1))
    columns = (raters, own.n.astype(np.int64), own.total / own.n, halves, own.units)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {rater: _clustered_share(sheet.unit, *row) for rater, *row in rows}


def _clustered_share(unit: str, n: int, number: float, half: float, clusters: float) -> Figure:
    wide = half if half >= FLAT else float("nan")
    low, high = limit_interval(number, number - wide, number + wide, lowest=0.0)
    result = figure(number, low=low, high=high, n=n, method=LINEARISED.format(unit=unit))
    few_units = FEW_CLUSTERS.format(unit=unit) if clusters < FEW_UNITS else None
    return add_doubts(result, few_items_doubt(n), few_units)


def _report_labels(found: Sequence[LabelScore]) -> list[LabelScore]:
    """Each label's scores; a share rests on the items it is a share of."""

    def told(shown: Figure) -> Figure:
        return score_with_code(shown, shown.get("n", 0))

    return [
        replace(
            label,
            precision=told(label.precision),
            recall=told(label.recall),
            f1=told(label.f1),
            accuracy=told(label.accuracy),
        )
        for label in found
    ]


def _item_clusters(sheet: LabelMatrix, rows: Ints) -> ItemClusters | None:
    """The clusters of the items ``rows``, where there are any."""
    return number_clusters(None if sheet.clusters is None else sheet.clusters[rows], sheet.unit)


def _confusion_matrix(
    sheet: LabelMatrix, predicted: Ints, truth: Ints, together: ItemClusters | None
) -> scores.ConfusionMatrix | None:
    if sheet.sets is not None or not sheet.shares_categories:
        return None
    if len(sheet.categories) > MOST_LABELS:
        return None
    return scores.tabulate(predicted, truth, sheet.categories, together)


def _single_answer_scores(matrix: scores.ConfusionMatrix, sheet: LabelMatrix) -> dict[str, Figure]:
    """Scores of the most frequent answers; items with a tie are not among them."""
    names = {
        "cohen_kappa": "majority_kappa",
        "macro_precision": "macro_precision",
        "macro_recall": "macro_recall",
        "macro_f1": "macro_f1",
        "balanced_accuracy": "balanced_accuracy",
        "matthews": "mcc",
    }
    overall = scores.overall_scores(matrix)
    found = {new: overall[old] for old, new in names.items()}
    if sheet.scores is not None:
        found |= scores.ordinal_scores(matrix, sheet.scores)
    return {name: score_with_code(result, matrix.n) for name, result in found.items()}
