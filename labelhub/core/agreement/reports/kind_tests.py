"""Tests whether one kind is right more often than another.

The kinds answer the same items, so they are compared item by item: Cochran's Q tests whether any
differs; every pair has an exact McNemar test, corrected for their number by Holm, and the
difference with a paired interval: a draw takes both kinds on the same items. Where items belong
together, whole clusters are permuted instead, and the p-value of items is given beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from labelhub.core.agreement.aggregation.majority import draw_winner, majority_accuracy, winners
from labelhub.core.agreement.estimation import estimate
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, mean_units
from labelhub.core.agreement.significance import (
    EXACT,
    FLIPPED,
    LEVEL,
    SHUFFLED,
    cochran_q,
    column_shuffle,
    holm,
    mcnemar,
    sign_flip,
    sum_by_cluster,
)

#: A test needs right or wrong. Without the ties that hold the truth, those that do not would count
#: as wrong alone, against the kind with more labels an item.
TIES = f"ties broken by a draw, seed {SEED}"
COCHRAN = "Cochran's Q"


@dataclass(frozen=True, slots=True)
class KindPairTest:
    """``difference``: accuracy of ``a`` less that of ``b`` on the ``items`` that both answered.

    A tie shares its weight there; for ``only_a`` and ``only_b``, which the test is of, one of the
    tied answers is drawn, and they count the items on which one kind alone is right.
    ``p_items``: p were the items independent, where they are not.
    """

    a: str
    b: str
    items: int
    only_a: int
    only_b: int
    p: float
    p_holm: float
    difference: Figure
    method: str
    p_items: float | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        if self.p_items is None:
            del fields["p_items"]
        return fields | {"reliable": self.p_holm < LEVEL}


@dataclass(frozen=True, slots=True)
class KindTests:
    """All pairs of kinds, and the test over all of them on the items that all answered.

    ``q``: Cochran's; None where the kinds never differ. ``p_items`` as of a pair.
    """

    kinds: Sequence[str]
    items: int
    q: float | None
    p: float | None
    pairs: Sequence[KindPairTest]
    method: str
    p_items: float | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        fields = {
            "kinds": list(self.kinds),
            "items": self.items,
            "cochran_q": self.q,
            "p": self.p,
            "method": self.method,
            "pairs": [pair.to_json() for pair in self.pairs],
        }
        return fields | ({} if self.p_items is None else {"p_items": self.p_items})


def compare_kinds(matrix: LabelMatrix, kinds: Sequence[str], truth: Ints) -> KindTests | None:
    """Compare the most frequent answers of ``kinds``; None with fewer than two."""
    if len(kinds) < 2:
        return None
    rows = np.flatnonzero(truth >= 0)
    scores, rights = [], []
    for kind in kinds:
        patterns = matrix.patterns_of(kind)
        counts = patterns.counts[patterns.of_item[rows]]
        scores.append(majority_accuracy(counts, truth[rows]).credit)
        answers = draw_winner(winners(counts), SEED)
        rights.append(np.where(answers < 0, -1, answers == truth[rows]).astype(np.int64))
    right = np.column_stack(rights)
    clusters = None if matrix.clusters is None else matrix.clusters[rows]
    pairs = list(combinations(range(len(kinds)), 2))
    tests = [_test_pair(right[:, pair], clusters, matrix.unit) for pair in pairs]
    found = []
    for (first, second), test, p_holm in zip(
        pairs, tests, holm([test.p for test in tests]), strict=True
    ):
        both = np.flatnonzero(~np.isnan(scores[first]) & ~np.isnan(scores[second]))
        difference = _difference(matrix, rows[both], (scores[first] - scores[second])[both])
        found.append(
            KindPairTest(
                a=kinds[first],
                b=kinds[second],
                items=len(both),
                p_holm=p_holm,
                difference=difference,
                **test._asdict(),
            )
        )
    return _test_all(kinds, right, found, clusters, matrix.unit)


class _PairTest(NamedTuple):
    """The parts of a ``KindPairTest`` that are known before the adjustment."""

    only_a: int
    only_b: int
    p: float
    method: str
    p_items: float | None = None


def _test_pair(right: Ints, clusters: Ints | None, unit: str) -> _PairTest:
    """Two kinds on the items that both answered.

    ``right``: 1 right, 0 wrong, -1 without an answer; shape (items, 2).
    """
    answered = (right >= 0).all(axis=1)
    lead = right[answered, 0] - right[answered, 1]
    only_a, only_b = int((lead > 0).sum()), int((lead < 0).sum())
    p_items = mcnemar(only_a, only_b)
    if clusters is None:
        return _PairTest(only_a, only_b, p_items, f"{EXACT}; {TIES}")
    found = sign_flip(sum_by_cluster(lead, clusters[answered]))
    method = f"{FLIPPED.format(unit=unit)}{found.how}; {TIES}"
    return _PairTest(only_a, only_b, found.p, method, p_items)


def _test_all(
    kinds: Sequence[str],
    right: Ints,
    pairs: Sequence[KindPairTest],
    clusters: Ints | None,
    unit: str,
) -> KindTests:
    """All kinds on the items that all answered, with clusters by permutation of whole ones."""
    by_item = cochran_q(right)
    q, p, items = by_item.q.statistic, by_item.q.p, by_item.items
    if clusters is None or p is None:
        return KindTests(kinds, items, q, p, pairs, f"{COCHRAN}; {TIES}")
    answered = (right >= 0).all(axis=1)
    found = column_shuffle(sum_by_cluster(right[answered], clusters[answered]))
    method = f"{COCHRAN} by {SHUFFLED.format(unit=unit)}{found.how}; {TIES}"
    return KindTests(kinds, items, q, found.p, pairs, method, p_items=p)


def _difference(matrix: LabelMatrix, rows: Ints, differences: Floats) -> Figure:
    """Mean of ``differences`` of credit on the items ``rows``, both of shape (rows,)."""
    if not len(rows):
        return undefined(reasons.NO_SHARED_ITEMS)
    found = mean_units(matrix, differences, rows)
    return estimate(found, lambda sums: divide(sums[:, 0], sums[:, 1]), n=len(rows))
