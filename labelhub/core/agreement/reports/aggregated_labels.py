"""The labels of a kind aggregated into one answer an item, in every way that is reported."""

from collections.abc import Callable

import numpy as np

from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene
from labelhub.core.agreement.aggregation.mace import mace
from labelhub.core.agreement.aggregation.majority import (
    agreement_with_others,
    weighted_vote,
    winners,
)
from labelhub.core.agreement.ratings import Bools, Floats, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.sets import set_members, split_by_label

#: Tables of raters by categories squared: with more categories there is too little for each cell.
MOST_CATEGORIES = 60
#: Raters by categories squared: their tables take long where there are many of both.
MOST_CELLS = 1_000_000
#: MACE starts several times; with more labels than this people would wait for it.
MOST_LABELS = 20_000
#: With more labels than this Dawid-Skene stops before it has converged: at a gain in log
#: likelihood an item of less than the tolerance, or after so many iterations.
MOST_EXACT = 100_000
TOLERANCE = 1e-5
ITERATIONS = 100
#: Sets times labels, each put together by itself: some seconds.
MOST_DECISIONS = 2_000_000

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
        if len(matrix.categories) > MOST_CATEGORIES:
            return reasons.MANY_ANSWERS
        lacking = self._lacking(kind)
        if lacking is None and way in MODELS and self._takes_long(kind, way):
            return reasons.TOO_MANY_LABELS
        return lacking

    def _takes_long(self, kind: str, way: str) -> bool:
        cells = self._matrix.raters_of(kind) * len(self._matrix.categories) ** 2
        return cells > MOST_CELLS or (
            way == "mace" and len(self._matrix.of_kind(kind)) > MOST_LABELS
        )

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
        if len(names) > MOST_CATEGORIES:
            return reasons.MANY_ANSWERS
        if len(names) * len(self._matrix.of_kind(kind)) > MOST_DECISIONS:
            return reasons.TOO_MANY_LABELS
        return self._lacking(kind)

    def labels(self, kind: str) -> Floats:
        """How likely each label is in an item's set, by Dawid and Skene with each label alone.

        Shape (items, labels), the labels as ``set_members`` has them; NaN where the kind gave
        no label. Only without ``label_refusal``.
        """
        if kind not in self._labels:
            _, members = set_members(self._matrix.sets or ())
            chances = [
                _by_dawid_skene(ratings)[:, 1]
                for ratings in split_by_label(self._matrix.of_kind(kind), members)
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


def _by_dawid_skene(ratings: Ratings) -> Scores:
    """EM until it has converged for up to ``MOST_EXACT`` labels; with more it stops earlier.

    Then the answers to up to 6 of 1,000 items are others than at convergence, mostly near ties, and
    accuracy moves by less than .001 (simulated data of 2 to 10 categories and 20 to 2,000 raters).
    """
    if len(ratings) <= MOST_EXACT:
        return dawid_skene(ratings).posterior
    return dawid_skene(ratings, tolerance=TOLERANCE, iterations=ITERATIONS).posterior


#: Ways that learn a table of every rater.
MODELS = ("dawid_skene", "mace")
WAYS: dict[str, Callable[[Ratings], Scores]] = {
    "dawid_skene": _by_dawid_skene,
    "mace": lambda ratings: mace(ratings).posterior,
    "weighted": lambda ratings: weighted_vote(ratings, agreement_with_others(ratings)),
}
