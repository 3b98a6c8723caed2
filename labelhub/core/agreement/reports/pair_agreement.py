"""How far two kinds of annotators, or two annotators, agree with each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy

from labelhub.core.agreement.coefficients import chance, pairwise, sums
from labelhub.core.agreement.coefficients.alpha import quadratic_weights
from labelhub.core.agreement.coefficients.pairwise import (
    ClusteredCodes,
    clustered_codes,
    kappa_parts,
    percent_parts,
)
from labelhub.core.agreement.estimation import (
    MOST_DRAWN,
    Units,
    add_doubts,
    estimate,
    estimate_divergence,
    estimate_share,
    limit_interval,
    linearised_figure,
    share_over_clusters,
    withhold_interval,
)
from labelhub.core.agreement.figures import Figure, Record, figure, share, undefined
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import (
    AUTHORS,
    LabelMatrix,
    sparse_units,
    units_of,
)
from labelhub.core.agreement.reports.reasons import ignored_clusters_doubt
from labelhub.core.agreement.reports.texts import (
    text_agreement_of_kinds,
    text_agreement_of_raters,
)
from labelhub.core.schema import LabelType


def kappa_weights(matrix: LabelMatrix) -> dict[str, Floats | None]:
    """The kappas of two annotators by name, with their weights of agreement."""
    kappas: dict[str, Floats | None] = {"cohen_kappa": None}
    if matrix.scores is not None:
        kappas["weighted_kappa"] = quadratic_weights(matrix.scores)
    return kappas


def _intervals_by_cluster(
    matrix: LabelMatrix, codes: ClusteredCodes | None, rater: int, tables: Ints
) -> list[dict[str, Figure]]:
    """The figures of ``rater`` and each that follows, with their ``tables``, over clusters.

    ``codes``: None without clusters, or where there are too many ratings for them: a doubt.
    """
    rows = _table_figures(matrix, tables)
    if codes is None:
        doubt = ignored_clusters_doubt(matrix)
        return [
            {name: add_doubts(plain, doubt) for name, plain in figures.items()} for figures in rows
        ]
    parts = {"percent": percent_parts(tables)}
    if matrix.shares_categories:
        kappas = kappa_weights(matrix).items()
        parts |= {name: kappa_parts(tables, weights) for name, weights in kappas}
    for name, near in parts.items():
        errors, clusters = codes.spread(rater, near)
        over_clusters = share_over_clusters if name == "percent" else linearised_figure
        for figures, error, count in zip(rows, errors.tolist(), clusters.tolist(), strict=True):
            plain = figures[name]
            if plain["value"] is not None:
                figures[name] = over_clusters(
                    plain["value"], error, n=plain["n"], unit=matrix.unit, clusters=count
                )
    return rows


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
class Pair(Record):
    """The agreement of two sides on the ``items`` that both labelled.

    Kinds: ``figures`` are over all pairs of a label of the one and a label of the other on the same
    item; ``majority_*`` over the most frequent answers of each, of which tied ones share the item.
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


def pair_names(task: LabelType, level: str) -> tuple[str, ...]:
    """The figures of two kinds, or of two annotators, whatever their labels are."""
    names: tuple[str, ...] = ("percent", "cohen_kappa")
    if level == "annotator":
        names += ("weighted_kappa",) if task.ordered else ()
    else:
        names += ("js_divergence", "majority_percent", "majority_kappa")
        names += ("s_q",) if not task.labelled and not task.written else ()
    return names + (("token_f1",) if task.written else ())


def kind_pairs(matrix: LabelMatrix) -> list[Pair]:
    """The agreement of every two kinds that labelled."""
    return [_compare_kinds(matrix, *kinds) for kinds in combinations(matrix.labelled_kinds, 2)]


def annotator_pairs(matrix: LabelMatrix) -> list[Pair]:
    """The agreement of every two of the ``MOST_RATERS`` busiest annotators that share an item.

    Fewer annotators are compared where the tables of all categories would not fit.
    """
    chosen = busiest_raters(
        matrix, min(MOST_RATERS, pairwise.most_raters(matrix.ratings.n_categories))
    )
    if len(chosen) < 2:
        return []
    ratings = _select_raters(matrix.ratings, chosen)
    tables, codes = pairwise.all_pairs(ratings), None
    if matrix.clusters is not None:
        codes = clustered_codes(ratings, np.unique(matrix.clusters, return_inverse=True)[1])
    texts = text_agreement_of_raters(matrix, ratings)
    reason = reasons.NO_TEXTS if matrix.texts is None else reasons.NOT_COMPARED
    start = dict.fromkeys(pair_names(matrix.task, "annotator"), undefined(reason))
    raters = [matrix.raters[number] for number in chosen]
    sides = [Side(rater.name, rater.kind, rater.id) for rater in raters]
    found = []
    for first in range(len(sides) - 1):
        # One rater with all that follow: the shares of all pairs at once would take much memory.
        others = tables[first, first + 1 :]
        rows = _intervals_by_cluster(matrix, codes, first, others)
        for second, (table, figures) in enumerate(zip(others, rows, strict=True), first + 1):
            if table.any():
                shown = start | figures | texts.get((first, second), {})
                found.append(Pair(sides[first], sides[second], int(table.sum()), shown))
    return found


def busiest_raters(matrix: LabelMatrix, most: int) -> list[int]:
    """Numbers of the annotators with most labels, by kind and then in the ledger's order.

    Authors are left out: each is the authority on a few texts, and their names are not shown.
    """
    labelled = np.flatnonzero((matrix.labels_of > 0) & (matrix.kind_of != AUTHORS))
    kept = labelled[np.argsort(-matrix.labels_of[labelled], kind="stable")][:most]
    return sorted(kept.tolist(), key=lambda rater: (matrix.kind_of[rater], rater))


def _select_raters(ratings: Ratings, chosen: Sequence[int]) -> Ratings:
    """The ratings of the chosen raters, numbered anew in that order."""
    number = np.full(ratings.n_raters, -1)
    number[list(chosen)] = np.arange(len(chosen))
    raters = number[ratings.raters]
    kept = raters >= 0
    if not kept.all():
        ratings, raters = ratings.where(kept), raters[kept]
    return replace(ratings, raters=raters, n_raters=len(chosen))


def _table_figures(matrix: LabelMatrix, tables: Ints) -> list[dict[str, Figure]]:
    refused = matrix.chance_refusal
    found = [{"percent": _percent(table)} for table in tables]
    for name, weights in kappa_weights(matrix).items():
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


def _percent(table: Ints) -> Figure:
    n = int(table.sum())
    return withhold_interval(share(int(np.trace(table)), n, reason=reasons.NO_SHARED_ITEMS))


def _kappa(table: Ints, value: float, error: float) -> Figure:
    n = int(table.sum())
    if np.isnan(value):
        return undefined(reasons.NO_VARIATION if n else reasons.NO_SHARED_ITEMS)
    number, half = float(value), Z * float(error) or float("nan")
    low, high = limit_interval(number, number - half, number + half)
    return withhold_interval(figure(number, low=low, high=high, n=n, method=LARGE_SAMPLE))


#: Different answers of a kind, shape (answers, categories), and the number of each item's.
_Answers = tuple[Ints | Floats, Ints]


def _compare_kinds(matrix: LabelMatrix, first: str, second: str) -> Pair:
    mine, theirs = matrix.patterns_of(first), matrix.patterns_of(second)
    rows = np.flatnonzero((mine.totals > 0)[mine.of_item] & (theirs.totals > 0)[theirs.of_item])
    items = len(rows)
    start = dict.fromkeys(pair_names(matrix.task, "kind"), undefined(reasons.NO_SHARED_ITEMS))
    a, b = Side(first, first), Side(second, second)
    if not items:
        return Pair(a, b, 0, start)
    found = _pair_units(matrix, (mine.counts, mine.of_item), (theirs.counts, theirs.of_item), rows)
    figures = start | {"percent": estimate_share(found, n=items)}
    refused = _margins_refusal(matrix, items)
    if refused:
        figures |= dict.fromkeys(("cohen_kappa", "js_divergence"), undefined(refused))
        if matrix.options is not None:
            figures["s_q"] = estimate(found, chance.s_q, n=items)
    else:
        q = mine.counts.shape[1]
        apart = estimate_divergence(found, slice(2, 2 + q), slice(2 + q, None), n=items)
        kappa = estimate(found, chance.pooled_kappa, n=items)
        figures |= {"cohen_kappa": kappa, "js_divergence": apart}
    figures |= text_agreement_of_kinds(matrix, first, second)
    return Pair(a, b, items, figures | _majority_figures(matrix, first, second, rows))


def _margins_refusal(matrix: LabelMatrix, items: int) -> str | None:
    """Why kappa and divergence of so many items are not computed; None where they are."""
    long = items > MOST_DRAWN and len(matrix.categories) > reasons.MOST_MARGINS
    return matrix.chance_refusal or (reasons.MANY_ANSWERS if long else None)


def _pair_units(matrix: LabelMatrix, mine: _Answers, theirs: _Answers, rows: Ints) -> Units:
    """The items ``rows`` ready to be estimated from; items with equal answers are one row."""
    first, second = mine[1][rows], theirs[1][rows]
    if matrix.options is not None:
        columns = _option_parts(mine[0][first], theirs[0][second], matrix.options[rows])
        return units_of(matrix, columns, rows)
    width = len(theirs[0])
    cells, often, of_row = sums.number_keys(first * width + second, len(mine[0]) * width)
    # Sparse, as a table of many items and categories would not fit.
    parts = _pair_parts(
        scipy.sparse.csr_array(mine[0])[cells // width],
        scipy.sparse.csr_array(theirs[0])[cells % width],
    )
    return sparse_units(matrix, parts, often, of_row, rows)


def _majority_figures(
    matrix: LabelMatrix, first: str, second: str, rows: Ints
) -> dict[str, Figure]:
    """Figures of the most frequent answers to the items ``rows``; tied ones share their item."""
    mine, theirs = matrix.votes_of(first), matrix.votes_of(second)
    found = _pair_units(matrix, (mine.shares, mine.of_item), (theirs.shares, theirs.of_item), rows)
    refused = _margins_refusal(matrix, len(rows))
    return {
        "majority_percent": estimate_share(found, n=len(rows)),
        "majority_kappa": undefined(refused)
        if refused
        else estimate(found, chance.pooled_kappa, n=len(rows)),
    }


def _pair_parts(mine: Any, theirs: Any) -> Any:
    """Agreeing pairs of labels, pairs; then how often either side has each category: sparse."""
    per_first, per_second = (side.sum(axis=1)[:, None] for side in (mine, theirs))
    alike = mine.multiply(theirs).sum(axis=1)[:, None]
    columns = [alike, per_first * per_second, mine.multiply(per_second), theirs.multiply(per_first)]
    return scipy.sparse.hstack(
        [scipy.sparse.csr_array(column) for column in columns], format="csr", dtype=float
    )


def _option_parts(mine: Ints | Floats, theirs: Ints | Floats, options: Ints) -> Floats:
    """Agreeing pairs of labels, pairs, and agreement by chance of items with their own options."""
    pairs = (mine.sum(axis=1) * theirs.sum(axis=1)).astype(np.float64)
    return np.column_stack([(mine * theirs).sum(axis=1), pairs, pairs / np.maximum(options, 1)])
