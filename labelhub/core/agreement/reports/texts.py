"""Figures of free texts, by the words that two texts share (token F1).

Two texts are the same or not for percent agreement; token F1 is the part that they share. Where
items have too many labels to compare all pairs, ``method`` has how many were compared.
"""

from collections.abc import Mapping

import numpy as np

from labelhub.core.agreement import texts
from labelhub.core.agreement.estimation import (
    LINEARISED,
    add_doubts,
    estimate,
    estimate_share,
    few_items_doubt,
    limit_interval,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import SEED, student_t
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, units_of
from labelhub.core.agreement.reports.reasons import ignored_clusters_doubt
from labelhub.core.agreement.texts import alpha_of_texts, alpha_parts, mean_distances

WITHIN = ("alpha_token_f1", "token_f1")
AGAINST = ("token_f1", "medoid_accuracy", "medoid_token_f1")
AT_MOST = "at most {labels} labels of an item compared, drawn with seed {seed}"
SAMPLED = "chance from {pairs} pairs of labels, drawn with seed {seed}"

Figures = dict[str, Figure]


def text_agreement(matrix: LabelMatrix, kind: str) -> Figures:
    """Mean token F1 of an item's pairs of labels, mean over items, and alpha by it."""
    if matrix.texts is None:
        return dict.fromkeys(WITHIN, undefined(reasons.NO_TEXTS))
    ratings = matrix.of_kind(kind)
    sizes = np.bincount(ratings.items, minlength=ratings.n_items)
    ratings = ratings.where(sizes[ratings.items] >= 2)
    if not len(ratings):
        return dict.fromkeys(WITHIN, undefined(reasons.NO_PAIR))
    rated, items = np.unique(ratings.items, return_inverse=True)
    alike = texts.within_items(matrix.texts, ratings.items, ratings.codes)
    numbers = matrix.texts.of(ratings.items, ratings.codes)
    found = mean_distances(matrix.texts.bags, numbers, matrix.texts.most_pairs)
    parts = alpha_parts(items, alike, found)
    near = 1 - parts[:, 0] / parts[:, 1]
    shares = estimate_share(units_of(matrix, _with_ones(near), rated), n=len(rated))
    alpha = estimate(units_of(matrix, parts, rated), alpha_of_texts(parts), n=len(rated))
    sampled = SAMPLED.format(pairs=found.sampled, seed=SEED) if found.sampled else ""
    return {
        "alpha_token_f1": _add_notes(alpha, _sampling_note(alike), sampled),
        "token_f1": _add_notes(shares, _sampling_note(alike)),
    }


def text_agreement_of_kinds(matrix: LabelMatrix, first: str, second: str) -> Figures:
    """Mean token F1 over all pairs of a label of the one kind and a label of the other.

    Both have labels of some item.
    """
    if not matrix.task.written:
        return {}
    if matrix.texts is None:
        return {"token_f1": undefined(reasons.NO_TEXTS)}
    mine, theirs = matrix.of_kind(first), matrix.of_kind(second)
    size = matrix.ratings.n_items
    sides = (mine.items, mine.codes), (theirs.items, theirs.codes)
    alike = texts.across_sides(matrix.texts, *sides, size)
    pairs = np.bincount(mine.items, minlength=size) * np.bincount(theirs.items, minlength=size)
    both = np.flatnonzero(pairs)
    compared = mine.items[alike.first]
    mean = np.bincount(compared, alike.f1, size)[both] / np.bincount(compared, minlength=size)[both]
    columns = np.column_stack([mean * pairs[both], pairs[both]])
    shown = estimate_share(units_of(matrix, columns, both), n=len(both))
    return {"token_f1": _add_notes(shown, _sampling_note(alike))}


def text_agreement_of_raters(
    matrix: LabelMatrix, ratings: Ratings
) -> Mapping[tuple[int, int], Figures]:
    """Mean token F1 of every two raters on the items of both, the lower number first.

    Linearised: draws for each of many pairs would take long. Raters without compared labels
    are not there.
    """
    if matrix.texts is None or not len(ratings):
        return {}
    alike = texts.within_items(matrix.texts, ratings.items, ratings.codes)
    first, second = ratings.raters[alike.first], ratings.raters[alike.second]
    keys = np.minimum(first, second) * ratings.n_raters + np.maximum(first, second)
    cells, place, often = np.unique(keys, return_inverse=True, return_counts=True)
    means = np.bincount(place, alike.f1) / often
    squares = np.bincount(place, (alike.f1 - means[place]) ** 2)
    ignored = ignored_clusters_doubt(matrix)
    found = {}
    for cell, n, mean, square in zip(
        cells.tolist(), often.tolist(), means.tolist(), squares.tolist(), strict=True
    ):
        shown = add_doubts(_mean_figure(mean, square, n), few_items_doubt(n), ignored)
        pair = divmod(cell, ratings.n_raters)
        found[pair] = {"token_f1": _add_notes(shown, _sampling_note(alike))}
    return found


def text_accuracy(matrix: LabelMatrix, kind: str, truth: Ints) -> Figures:
    """Token F1 of single labels, and of the text of each item that is most like its others.

    A tie is undecided: tied texts share the item's weight. ``truth``: as for ``measure_accuracy``.
    """
    if not matrix.task.written:
        return {}
    if matrix.texts is None:
        return dict.fromkeys(AGAINST, undefined(reasons.NO_TEXTS))
    ratings = matrix.of_kind(kind)
    ratings = ratings.where(truth[ratings.items] >= 0)
    rows, items = np.unique(ratings.items, return_inverse=True)
    if not len(rows):
        return dict.fromkeys(AGAINST, undefined(reasons.NO_SHARED_ITEMS))
    near = _similarity_to_truth(matrix.texts, ratings.items, ratings.codes, truth)
    columns = np.column_stack([np.bincount(items, near), np.bincount(items)])
    alike = texts.within_items(matrix.texts, ratings.items, ratings.codes)
    chosen = texts.medoids(items, ratings.codes, alike)
    of_item = rows[chosen.items]
    right = chosen.weight * (chosen.places == truth[of_item])
    nearest = chosen.weight * _similarity_to_truth(matrix.texts, of_item, chosen.places, truth)
    found = {
        "medoid_accuracy": _with_ones(np.bincount(chosen.items, right)),
        "medoid_token_f1": _with_ones(np.bincount(chosen.items, nearest)),
    }
    figures = {
        name: _add_notes(
            estimate_share(units_of(matrix, columns, rows), n=len(rows)), _sampling_note(alike)
        )
        for name, columns in found.items()
    }
    single = units_of(matrix, columns.astype(np.float64), rows)
    return {"token_f1": estimate_share(single, n=len(ratings), items=len(rows)), **figures}


def _similarity_to_truth(known: texts.Texts, items: Ints, places: Ints, truth: Ints) -> Floats:
    return texts.token_f1(known.bags, known.of(items, places), known.of(items, truth[items]))


def _with_ones(values: Floats | Ints) -> Floats:
    return np.column_stack([values, np.ones(len(values))])


def _mean_figure(mean: float, squares: float, n: int) -> Figure:
    """With Student's interval; ``squares``: sum of the squares about the mean."""
    half = float("nan")
    if n > 1 and squares:
        half = (squares / (n - 1) / n) ** 0.5 * student_t(n - 1)
    low, high = limit_interval(mean, mean - half, mean + half, lowest=0.0)
    return figure(mean, low=low, high=high, n=n, method=LINEARISED.format(unit="items"))


def _sampling_note(alike: texts.ComparedLabels) -> str:
    return AT_MOST.format(labels=alike.at_most, seed=SEED) if alike.at_most else ""


def _add_notes(shown: Figure, *notes: str) -> Figure:
    """The figure with notes added to its method; a null one as it is."""
    if shown["value"] is None:
        return shown
    return {**shown, "method": "; ".join(filter(None, [shown["method"], *notes]))}
