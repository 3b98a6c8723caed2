"""Agreement of annotators with themselves on items that they answer more than once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labelhub.core.agreement.coefficients import sums
from labelhub.core.agreement.estimation import Units, cluster_units, estimate_share
from labelhub.core.agreement.figures import Figure, Record, undefined
from labelhub.core.agreement.ratings import Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.kind_agreement import figure_names, kind_agreement
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix, Rater

MOST_ANNOTATORS = 40
#: Reported beside the recommended coefficient where ``kind_agreement`` has them.
BESIDE = ("token_f1", "percent_with_abstentions", "alpha_with_abstentions")


@dataclass(frozen=True, slots=True)
class AnnotatorRepeats(Record):
    """One annotator: on ``items`` items it answered ``repeats`` times more than once."""

    id: int
    annotator: str
    percent: Figure
    items: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Repeats(Record):
    """A kind: ``figures`` count each annotator's answers to an item, ``n`` such sets of answers.

    ``repeats``: answers beyond the first of an annotator to an item.
    """

    figures: Mapping[str, Figure]
    annotators: int
    items: int
    repeats: int
    by_annotator: Sequence[AnnotatorRepeats]


def no_repeats(matrix: LabelMatrix) -> Repeats:
    """What is reported of a kind in which nobody answers an item again."""
    names = _names(matrix)
    return Repeats(dict.fromkeys(names, undefined(reasons.NO_REPEATS)), 0, 0, 0, [])


def _names(matrix: LabelMatrix) -> list[str]:
    known = figure_names(matrix)
    first = ("percent", matrix.task.coefficients[0])
    return [*first, *(name for name in BESIDE if name in known and name not in first)]


def measure_repeats(matrix: LabelMatrix) -> dict[str, Repeats]:
    """Kind → its annotators' agreement with themselves; empty where nobody answers again.

    ``matrix``: all answers that count, with all of an annotator's answers to an item, in any order.
    Percent agreement and the recommended coefficient are those of ``kind_agreement``, with the
    answers of one annotator to one item in place of an item. Items are drawn, or the matrix's
    clusters: several annotators may have answered the same item again.
    """
    found = {kind: _kind_repeats(matrix, kind) for kind in matrix.kinds}
    return {kind: result for kind, result in found.items() if result is not None}


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Pairs of an item and an annotator with two answers or more, abstentions among them.

    ``matrix``: the cells in place of items, their answers in order in place of annotators.
    ``items``, ``raters``, ``answers``: of each cell, shape (cells,).
    """

    matrix: LabelMatrix
    items: Ints
    raters: Ints
    answers: Ints


def _kind_repeats(matrix: LabelMatrix, kind: str) -> Repeats | None:
    cells = _repeated_cells(matrix, kind)
    if not len(cells.items):
        return None
    names, figures = _names(cells.matrix), kind_agreement(cells.matrix, kind)
    if not (cells.matrix.patterns_of(kind).totals > 1).any():
        figures |= dict.fromkeys(names[:2], undefined(reasons.NO_PAIR))
    return Repeats(
        figures={name: figures[name] for name in names},
        annotators=len(np.unique(cells.raters)),
        items=len(np.unique(cells.items)),
        repeats=int((cells.answers - 1).sum()),
        # Reports name no author: they are kept, and an author may have everything erased.
        by_annotator=[] if kind == "author" else _annotator_repeats(matrix.raters, cells, kind),
    )


def _annotator_repeats(raters: Sequence[Rater], cells: _Cells, kind: str) -> list[AnnotatorRepeats]:
    """Figures of the annotators with most repeats; linearised, as they are many and small."""
    patterns = cells.matrix.patterns_of(kind)
    shares = sums.agreement_parts(patterns.counts)[:, [sums.Layout.agree, sums.Layout.pairable]]
    again = np.bincount(cells.raters, cells.answers - 1, len(raters)).astype(np.int64)
    order = np.argsort(-again, kind="stable")[:MOST_ANNOTATORS]
    found = []
    for rater in order[again[order] > 0]:
        own = np.flatnonzero(cells.raters == rater)
        parts = shares[patterns.of_item[own]]
        items = int(parts[:, 1].sum())
        # An annotator has one cell an item, so cells are drawn unless items belong together.
        clusters = None if cells.matrix.unit == "items" else cells.matrix.clusters_of(own)
        if clusters is None:
            drawn = Units(parts, np.ones(len(own), dtype=np.int64), "items", None)
        else:
            drawn = cluster_units(parts, clusters, cells.matrix.unit, drawn=False)
        percent = estimate_share(drawn, n=items) if items else undefined(reasons.NO_PAIR)
        by = raters[rater]
        counts = len(own), int(again[rater])
        found.append(AnnotatorRepeats(by.id, by.name, percent, *counts))
    return found


def _repeated_cells(matrix: LabelMatrix, kind: str) -> _Cells:
    ratings = matrix.of_kind(kind)
    unsure = matrix.abstained[matrix.kind_of[matrix.abstained[:, 1]] == KINDS.index(kind)]
    keys = np.concatenate([ratings.items, unsure[:, 0]]) * ratings.n_raters
    keys += np.concatenate([ratings.raters, unsure[:, 1]])
    found, often, of = sums.number_keys(keys, ratings.n_items * ratings.n_raters)
    several = often > 1
    kept = np.flatnonzero(several[of])
    cell = (np.cumsum(several) - 1)[of[kept]]
    occasion, labels = _number_occasions(cell), kept < len(ratings)
    items, raters = np.divmod(found[several], ratings.n_raters)
    times = int(often[several].max(initial=0))
    codes = ratings.codes[kept[labels]]
    by_cell = Ratings(
        cell[labels], occasion[labels], codes, len(items), times, ratings.n_categories
    )
    unsure = np.column_stack([cell[~labels], occasion[~labels]])
    return _Cells(
        _matrix_of_cells(matrix, kind, by_cell, unsure, items), items, raters, often[several]
    )


def _matrix_of_cells(
    matrix: LabelMatrix, kind: str, ratings: Ratings, unsure: Ints, items: Ints
) -> LabelMatrix:
    """The matrix with cells for items; ``items``: of each cell, shape (cells,)."""
    # Cells of the same item or cluster are drawn together.
    found, clusters = np.unique(
        items if matrix.clusters is None else matrix.clusters[items], return_inverse=True
    )
    alone = matrix.clusters is None and len(found) == len(items)
    return replace(
        matrix,
        ratings=ratings,
        raters=[
            Rater(occasion, f"answer {occasion + 1}", kind) for occasion in range(ratings.n_raters)
        ],
        abstained=unsure,
        gold=matrix.gold[items],
        gold_kind=matrix.gold_kind[items],
        author=matrix.author[items],
        item_ids=matrix.item_ids[items],
        options=None if matrix.options is None else matrix.options[items],
        texts=None if matrix.texts is None else matrix.texts.on(items),
        clusters=None if alone else clusters,
    )


def _number_occasions(cell: Ints) -> Ints:
    """The position of each answer among those of its cell, from 0."""
    order = np.argsort(cell, kind="stable")
    inside = cell[order]
    found = np.empty(len(cell), dtype=np.int64)
    found[order] = np.arange(len(cell)) - np.searchsorted(inside, inside)
    return found
