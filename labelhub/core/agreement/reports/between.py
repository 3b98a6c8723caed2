"""How far two kinds of annotators, or two annotators, agree with each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.aggregation.majority import one_hot, single_winner, winners
from labelhub.core.agreement.coefficients import chance, pairwise, sums
from labelhub.core.agreement.coefficients.alpha import quadratic_weights
from labelhub.core.agreement.coefficients.pairwise import (
    ClusteredCodes,
    clustered_codes,
    kappa_parts,
    percent_parts,
)
from labelhub.core.agreement.coefficients.sums import Patterns
from labelhub.core.agreement.estimation import (
    FEW_CLUSTERS,
    FEW_UNITS,
    FLAT,
    LINEARISED,
    MOST_DRAWN,
    Units,
    add_doubts,
    cluster_units,
    estimate,
    estimate_share,
    few_items_doubt,
    item_units,
    limit_interval,
)
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, t_quantile
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.divergences import estimate_divergence
from labelhub.core.agreement.reports.reasons import ignored_clusters_doubt
from labelhub.core.agreement.reports.sheet import AUTHORS, LabelMatrix
from labelhub.core.agreement.reports.texts import (
    missing_text_agreement,
    text_agreement_of_kinds,
    text_agreement_of_raters,
)


@dataclass(frozen=True, slots=True, eq=False)
class PairIntervals:
    """What gives the figures of pairs their intervals.

    ``codes``: None where nothing belongs together, or (``doubt``) where there is too much for it.
    """

    codes: ClusteredCodes | None
    weights: Mapping[str, Floats | None]
    unit: str
    doubt: str | None

    def of(
        self, rater: int, tables: Ints, found: Sequence[Mapping[str, Figure]]
    ) -> list[dict[str, Figure]]:
        """``found`` for ``rater`` and each that follows, with their ``tables``, by cluster."""
        rows = [dict(figures) for figures in found]
        if self.codes is None:
            return [
                {name: add_doubts(fig, self.doubt) for name, fig in figures.items()}
                for figures in rows
            ]
        parts = {"percent": percent_parts(tables)}
        parts |= {name: kappa_parts(tables, weights) for name, weights in self.weights.items()}
        for name, near in parts.items():
            errors, clusters = self.codes.spread(rater, near)
            halves = errors * t_quantile(0.5 + CONFIDENCE / 2, np.maximum(clusters - 1, 1))
            for figures, half, often in zip(rows, halves.tolist(), clusters.tolist(), strict=True):
                figures[name] = self._figure(
                    figures[name], half, often, 0.0 if name == "percent" else -1
                )
        return rows

    def _figure(self, plain: Figure, half: float, clusters: float, lowest: float) -> Figure:
        number = plain["value"]
        if number is None:
            return plain
        wide = half if half >= FLAT else float("nan")
        low, high = limit_interval(number, number - wide, number + wide, lowest=lowest)
        method = LINEARISED.format(unit=self.unit)
        result = figure(number, low=low, high=high, n=plain["n"], method=method)
        few = FEW_CLUSTERS.format(unit=self.unit) if clusters < FEW_UNITS else None
        return add_doubts(result, plain.get("doubt"), few)


def kappa_weights(sheet: LabelMatrix) -> dict[str, Floats | None]:
    """The kappas of two annotators by name, with their weights of agreement."""
    kappas: dict[str, Floats | None] = {"cohen_kappa": None}
    if sheet.task.ordered and sheet.scores is not None:
        kappas["weighted_kappa"] = quadratic_weights(sheet.scores)
    return kappas


def pair_intervals(sheet: LabelMatrix, ratings: Ratings) -> PairIntervals:
    """``ratings``: the labels of the annotators that are compared, numbered in their order."""
    codes = None
    if sheet.clusters is not None:
        _, numbers = np.unique(sheet.clusters, return_inverse=True)
        codes = clustered_codes(ratings, numbers)
    weights = kappa_weights(sheet) if sheet.shares_categories else {}
    return PairIntervals(codes, weights, sheet.unit, ignored_clusters_doubt(sheet))


#: Pairs of the annotators with most labels; a table of more cannot be read.
MOST_RATERS = 40
LARGE_SAMPLE = "large-sample standard error (Fleiss, Cohen and Everitt 1969)"
#: Half of a 95 % interval in standard errors.
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a kind, or an annotator (``id``)."""

    name: str
    kind: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What two sides say of the ``items`` that both labelled.

    Kinds: ``figures`` are over all pairs of a label of the one and a label of the other on the same
    item; ``majority_*`` over the items on which each kind has a single most frequent answer.
    """

    a: Side
    b: Side
    items: int
    figures: dict[str, Figure]

    @property
    def level(self) -> str:
        """``kind`` or ``annotator``."""
        return "kind" if self.a.id is None else "annotator"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        sides = {"a": self.a.name, "b": self.b.name, "level": self.level}
        if self.a.id is not None:
            sides |= {"a_kind": self.a.kind, "b_kind": self.b.kind}
            sides |= {"a_id": self.a.id, "b_id": self.b.id}  # type: ignore[dict-item]  # numbers too
        return {**sides, "items": self.items, **self.figures}


def kind_pairs(sheet: LabelMatrix) -> list[Pair]:
    """Every two kinds that labelled."""
    kinds = [kind for kind in sheet.kinds if len(sheet.of_kind(kind))]
    return [_compare_kinds(sheet, first, second) for first, second in combinations(kinds, 2)]


def annotator_pairs(sheet: LabelMatrix) -> list[Pair]:
    """Every two of the ``MOST_RATERS`` annotators with most labels that share an item.

    Of fewer annotators where there are so many categories that the tables would not fit.
    """
    chosen = busiest_raters(
        sheet, min(MOST_RATERS, pairwise.most_raters(sheet.ratings.n_categories))
    )
    if len(chosen) < 2:
        return []
    ratings = _select_raters(sheet.ratings, chosen)
    tables, alike, nothing = (
        pairwise.all_pairs(ratings),
        text_agreement_of_raters(sheet, ratings),
        missing_text_agreement(sheet),
    )
    sides, errors = [_side(sheet, rater) for rater in chosen], pair_intervals(sheet, ratings)
    found = []
    for first in range(len(sides) - 1):
        # One against all that follow: of all pairs at once the shares would take much memory.
        others = tables[first, first + 1 :]
        figures = errors.of(first, others, _table_figures(sheet, others))
        found += [
            Pair(
                sides[first],
                sides[partner],
                int(table.sum()),
                row | alike.get((first, partner), nothing),
            )
            for partner, (table, row) in enumerate(zip(others, figures, strict=True), first + 1)
            if table.any()
        ]
    return found


def busiest_raters(sheet: LabelMatrix, most: int) -> list[int]:
    """Numbers of the annotators with most labels, by kind and then in the ledger's order.

    Authors are not among them: each is the one authority on a few texts, and no name to be shown.
    """
    labelled = np.flatnonzero((sheet.labels_of > 0) & (sheet.kind_of != AUTHORS))
    kept = labelled[np.argsort(-sheet.labels_of[labelled], kind="stable")][:most]
    return sorted(kept.tolist(), key=lambda rater: (sheet.kind_of[rater], rater))


def _side(sheet: LabelMatrix, rater: int) -> Side:
    known = sheet.raters[rater]
    return Side(known.name, known.kind, known.id)


def _select_raters(ratings: Ratings, chosen: Sequence[int]) -> Ratings:
    """Only the chosen raters, numbered anew in that order."""
    number = np.full(ratings.n_raters, -1)
    number[list(chosen)] = np.arange(len(chosen))
    raters = number[ratings.raters]
    kept = raters >= 0
    if not kept.all():
        ratings, raters = ratings.where(kept), raters[kept]
    return replace(ratings, raters=raters, n_raters=len(chosen))


def _table_figures(sheet: LabelMatrix, tables: Ints) -> list[dict[str, Figure]]:
    refused = _refusal(sheet)
    found = [{"percent": _percent(table)} for table in tables]
    for name, weights in kappa_weights(sheet).items():
        if refused:
            drawn = [undefined(refused)] * len(tables)
        else:
            values = pairwise.cohen_kappa(tables, weights)
            errors = pairwise.kappa_error(tables, weights)
            rows = zip(tables, values, errors, strict=True)
            drawn = [_kappa(table, value, error) for table, value, error in rows]
        for figures, kappa in zip(found, drawn, strict=True):
            figures[name] = kappa
    return found


def _refusal(sheet: LabelMatrix) -> str | None:
    if sheet.shares_categories:
        return None
    return reasons.OWN_OPTIONS if sheet.task.item_options else reasons.FREE_TEXT


def _percent(table: Ints) -> Figure:
    n = int(table.sum())
    return add_doubts(
        share(int(np.trace(table)), n, reason=reasons.NO_SHARED_ITEMS), few_items_doubt(n)
    )


def _kappa(table: Ints, value: float, error: float) -> Figure:
    n = int(table.sum())
    if np.isnan(value):
        return undefined(reasons.NO_VARIATION if n else reasons.NO_SHARED_ITEMS)
    number, half = float(value), Z * float(error) or float("nan")
    low, high = limit_interval(number, number - half, number + half)
    return add_doubts(
        figure(number, low=low, high=high, n=n, method=LARGE_SAMPLE), few_items_doubt(n)
    )


def _compare_kinds(sheet: LabelMatrix, first: str, second: str) -> Pair:
    mine, theirs = sheet.patterns_of(first), sheet.patterns_of(second)
    both = (mine.totals > 0)[mine.of_item] & (theirs.totals > 0)[theirs.of_item]
    items = int(both.sum())
    a, b = Side(first, first), Side(second, second)
    if not items:
        nothing = undefined(reasons.NO_SHARED_ITEMS)
        return Pair(a, b, 0, {"percent": nothing, "cohen_kappa": nothing})
    found = _pair_units(sheet, mine, theirs, both)
    figures = {"percent": estimate_share(found, n=items)}
    refused = _refusal(sheet)
    if refused:
        figures |= dict.fromkeys(("cohen_kappa", "js_divergence"), undefined(refused))
        if sheet.options is not None:
            figures["s_q"] = estimate(found, chance.s_q, n=items)
    else:
        q = mine.counts.shape[1]
        apart = estimate_divergence(found, slice(2, 2 + q), slice(2 + q, None), n=items)
        figures |= {"cohen_kappa": estimate(found, _pooled_kappa, n=items), "js_divergence": apart}
    figures |= text_agreement_of_kinds(sheet, first, second)
    return Pair(a, b, items, figures | _majority_figures(sheet, mine, theirs))


def _pair_units(
    sheet: LabelMatrix, mine: Patterns, theirs: Patterns, both: NDArray[np.bool_]
) -> Units:
    """The items in ``both``, ready to be estimated from; those alike on both sides are one row."""
    first, second = mine.of_item[both], theirs.of_item[both]
    options = None if sheet.options is None else sheet.options[both]
    if sheet.clusters is not None:
        _, numbers = np.unique(sheet.clusters[both], return_inverse=True)
        columns = _pair_parts(mine.counts[first], theirs.counts[second], options)
        return cluster_units(columns, numbers, sheet.unit)
    if options is not None:
        columns = _pair_parts(mine.counts[first], theirs.counts[second], options)
        return item_units(columns, np.ones(len(first), dtype=np.int64))
    width = len(theirs.counts)
    cells, often, _ = sums.number_keys(first * width + second, len(mine.counts) * width)
    columns = _pair_parts(mine.counts[cells // width], theirs.counts[cells % width], None)
    # Of many items there are too many different pairs of rows for draws.
    return (
        item_units(columns, often)
        if len(first) <= MOST_DRAWN
        else Units(columns, often, "items", None)
    )


def _majority_figures(sheet: LabelMatrix, mine: Patterns, theirs: Patterns) -> dict[str, Figure]:
    """Of the items on which both kinds have a single most frequent answer."""
    refused = _refusal(sheet)
    first = single_winner(winners(mine.counts))[mine.of_item]
    second = single_winner(winners(theirs.counts))[theirs.of_item]
    both = np.flatnonzero((first >= 0) & (second >= 0))
    if not len(both):
        percent, kappa = [undefined(reasons.NO_SINGLE_ANSWER)] * 2
    elif sheet.clusters is not None:
        percent, kappa = _clustered_figures(sheet, first[both], second[both], both)
    else:
        table = pairwise.contingency(first, second, mine.counts.shape[1])
        value, error = pairwise.cohen_kappa(table[None])[0], pairwise.kappa_error(table[None])[0]
        percent, kappa = _percent(table), _kappa(table, value, error)
    return {
        "majority_percent": percent,
        "majority_kappa": undefined(refused) if refused else kappa,
    }


def _clustered_figures(sheet: LabelMatrix, first: Ints, second: Ints, rows: Ints) -> list[Figure]:
    """Percent agreement and kappa of one answer a side, on the items ``rows``; clusters go
    together."""
    q, clusters = sheet.ratings.n_categories, np.asarray(sheet.clusters)
    _, numbers = np.unique(clusters[rows], return_inverse=True)
    columns = _pair_parts(one_hot(first, q), one_hot(second, q), None)
    found = cluster_units(columns, numbers, sheet.unit)
    return [estimate_share(found, n=len(rows)), estimate(found, _pooled_kappa, n=len(rows))]


def _pair_parts(mine: Ints | Floats, theirs: Ints | Floats, options: Ints | None) -> Floats:
    """Agreeing pairs of labels, pairs; then of each category, how often either side says it.

    Of items with their own options the third column is what chance gives.
    """
    first, second = mine.astype(np.float64), theirs.astype(np.float64)
    per_one, per_other = first.sum(axis=1, keepdims=True), second.sum(axis=1, keepdims=True)
    pairs = per_one * per_other
    alike = (first * second).sum(axis=1, keepdims=True)
    if options is not None:
        return np.hstack([alike, pairs, pairs / np.maximum(options, 1)[:, None]])
    return np.hstack([alike, pairs, first * per_other, second * per_one])


def _pooled_percent(sums: Floats) -> Floats:
    return chance.divided(sums[:, 0], sums[:, 1])


def _pooled_kappa(sums: Floats) -> Floats:
    """Cohen's kappa of the table that all pairs of labels make."""
    q = (sums.shape[1] - 2) // 2
    margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
    return chance.correct_for_chance(
        _pooled_percent(sums), chance.divided(margins, sums[:, 1] ** 2)
    )
