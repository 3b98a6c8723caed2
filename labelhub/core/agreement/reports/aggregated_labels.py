"""The labels of a kind aggregated into one answer an item, in every way that is reported."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene, takes_shrinkage
from labelhub.core.agreement.aggregation.mace import mace
from labelhub.core.agreement.aggregation.majority import (
    agreement_with_others,
    weighted_vote,
    winners,
)
from labelhub.core.agreement.coefficients import alpha
from labelhub.core.agreement.ratings import Bools, Floats, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix

#: Items by categories: their tables of floats take 200 MB.
MOST_CELLS = 25_000_000
#: MACE starts several times, and passes over labels and a table of raters by categories: some
#: seconds.
MOST_STEPS = 500_000
#: Labels times the different answers to their items, where Dawid-Skene is shrunken: 1.5 GB.
MOST_PAIRS = 20_000_000
#: With more labels than this Dawid-Skene stops before it has converged: at a gain in log
#: likelihood an item of less than the tolerance, or after so many iterations.
MOST_EXACT = 100_000
TOLERANCE = 1e-5
ITERATIONS = 100
#: Sets times labels, each put together by itself: some seconds.
MOST_DECISIONS = 20_000_000
#: Of a label that is in fewer sets of an annotator than this nobody's hits can be known apart.
FEW_SETS = 20

#: Scores of each category, shape (items, categories): the highest wins, equal ones are tied.
Scores = Floats


class AggregatedLabels:
    """The aggregates of every kind; each is computed once, at the first use."""

    def __init__(self, matrix: LabelMatrix) -> None:
        self._matrix = matrix
        self._known: dict[tuple[str, str], Bools] = {}
        self._labels: dict[str, Floats] = {}

    def refusal(self, kind: str, way: str) -> str | None:
        """The reason why a way cannot be used; None where it can."""
        matrix = self._matrix
        if matrix.chance_refusal:
            return matrix.chance_refusal
        if matrix.ratings.n_items * len(matrix.categories) > MOST_CELLS:
            return reasons.MANY_ANSWERS
        lacking = self._lacking(kind)
        steps = len(matrix.of_kind(kind)) + len(matrix.raters) * len(matrix.categories)
        if lacking is None and way == "mace" and steps > MOST_STEPS:
            return reasons.TOO_MANY_LABELS
        if lacking is None and way == "dawid_skene" and takes_shrinkage(matrix.of_kind(kind)):
            found = matrix.patterns_of(kind)
            pairs = found.items @ (found.totals * np.count_nonzero(found.counts, axis=1))
            return reasons.TOO_MANY_LABELS if pairs > MOST_PAIRS else None
        return lacking

    def _lacking(self, kind: str) -> str | None:
        """The reason why there is nothing to aggregate."""
        if self._matrix.raters_of(kind) < 2:
            return reasons.ONE_ANNOTATOR
        if not (self._matrix.patterns_of(kind).totals > 1).any():
            return reasons.NO_PAIR
        return None

    def label_refusal(self, kind: str) -> str | None:
        """The reason why ``labels`` cannot be used; None where it can. Answers must be sets."""
        names = frozenset().union(*self._matrix.sets or ())
        if len(names) * len(self._matrix.of_kind(kind)) > MOST_DECISIONS:
            return reasons.TOO_MANY_LABELS
        return self._lacking(kind)

    def labels(self, kind: str) -> Floats:
        """How likely each label is in an item's set, by Dawid and Skene with each label alone.

        Shape (items, labels), the labels as ``set_members`` has them; NaN where the kind gave
        no label. Only without ``label_refusal``.
        """
        if kind not in self._labels:
            names, members = alpha.set_members(self._matrix.sets or ())
            ratings, enough = self._matrix.of_kind(kind), FEW_SETS * self._matrix.raters_of(kind)
            decisions = len(names) * len(ratings)
            chances = [
                _by_dawid_skene(of_label, decisions, shrunken=int(of_label.codes.sum()) < enough)[
                    :, 1
                ]
                for of_label in split_by_label(ratings, members)
            ]
            empty = np.empty((self._matrix.ratings.n_items, 0))
            self._labels[kind] = np.column_stack([empty, *chances])
        return self._labels[kind]

    def winners(self, kind: str, way: str) -> Bools:
        """Which categories have an item's highest score, shape (items, categories).

        Several in a tie; only without ``refusal``.
        """
        if (kind, way) not in self._known:
            self._known[kind, way] = winners(WAYS[way](self._matrix.of_kind(kind)))
        return self._known[kind, way]


def split_by_label(ratings: Ratings, members: Bools) -> list[Ratings]:
    """The ratings of each label: 1 where the set has it, else 0. ``members``: (sets, labels)."""
    return [
        replace(ratings, codes=has[ratings.codes].astype(np.int64), n_categories=2)
        for has in members.T
    ]


def majority_labels(ratings: Ratings, members: Bools) -> Floats:
    """How far the majority gives each label to an item: 1 where more than half of its sets have it,
    a half in a tie, else 0.

    Shape (items, labels).
    """
    found = np.zeros((ratings.n_items, members.shape[1]))
    for column, votes in enumerate(split_by_label(ratings, members)):
        counts = votes.counts()
        found[:, column] = (1 + np.sign(counts[:, 1] - counts[:, 0])) / 2
    return found


def _by_dawid_skene(
    ratings: Ratings, size: int | None = None, *, shrunken: bool | None = None
) -> Scores:
    """EM until it has converged for up to ``MOST_EXACT`` labels; with more it stops earlier.

    Then the answers to up to 6 of 1,000 items are others than at convergence, mostly near ties, and
    accuracy moves by less than .001 (simulated data of 2 to 10 categories and 20 to 2,000 raters).
    ``size``: of these and all others that are put together with them.
    """
    if (size or len(ratings)) <= MOST_EXACT:
        return dawid_skene(ratings, shrunken=shrunken).posterior
    return dawid_skene(
        ratings, tolerance=TOLERANCE, iterations=ITERATIONS, shrunken=shrunken
    ).posterior


WAYS: dict[str, Callable[[Ratings], Scores]] = {
    "dawid_skene": _by_dawid_skene,
    "mace": lambda ratings: mace(ratings).posterior,
    "weighted": lambda ratings: weighted_vote(ratings, agreement_with_others(ratings)),
}
