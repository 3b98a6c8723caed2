"""Which kind is right more often than which, and whether that is more than chance.

The kinds answer the same items, so they are compared item by item: Cochran's Q says whether any
differs; every pair has an exact McNemar test, corrected for their number by Holm, and the
difference with a paired interval: both kinds of a draw are those of the same items. Where items
belong together whole clusters are permuted instead, and the p-value of items stays beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from labelhub.core.agreement.aggregation.majority import draw_winner, majority_accuracy, winners
from labelhub.core.agreement.coefficients.sums import Patterns
from labelhub.core.agreement.estimation import cluster_units, estimate, item_units
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.significance import (
    EXACT,
    FLIPPED,
    LEVEL,
    SHUFFLED,
    CochranQ,
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

    ``q``: Cochran's; None where nothing tells the kinds apart. ``p_items`` as of a pair.
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
    credit = {kind: _credit(matrix.patterns_of(kind), rows, truth[rows]) for kind in kinds}
    clusters = None if matrix.clusters is None else matrix.clusters[rows]
    right = np.column_stack([_right(matrix.patterns_of(kind), rows, truth[rows]) for kind in kinds])
    pairs = list(combinations(range(len(kinds)), 2))
    tested = [
        _test_pair(right[:, [first, second]], clusters, matrix.unit) for first, second in pairs
    ]
    found = [
        KindPairTest(
            a=kinds[first],
            b=kinds[second],
            items=int(_answered_by_both(credit[kinds[first]], credit[kinds[second]]).sum()),
            p_holm=adjusted,
            difference=_difference(
                credit[kinds[first]], credit[kinds[second]], clusters, matrix.unit
            ),
            **test._asdict(),
        )
        for (first, second), test, adjusted in zip(
            pairs, tested, holm([test.p for test in tested]), strict=True
        )
    ]
    return _over_all(
        kinds, cochran_q(right), found, _permutation_test(right, clusters, matrix.unit)
    )


class _Test(NamedTuple):
    """The parts of a ``KindPairTest`` that are known before the adjustment."""

    only_a: int
    only_b: int
    p: float
    method: str
    p_items: float | None = None


def _test_pair(right: Ints, clusters: Ints | None, unit: str) -> _Test:
    """Two kinds on the items that both answered: ``right`` has shape (items, 2)."""
    answered = (right >= 0).all(axis=1)
    lead = right[answered, 0] - right[answered, 1]
    only_a, only_b = int((lead > 0).sum()), int((lead < 0).sum())
    p_items = mcnemar(only_a, only_b)
    if clusters is None:
        return _Test(only_a, only_b, p_items, f"{EXACT}; {TIES}")
    found = sign_flip(sum_by_cluster(lead, clusters[answered]))
    method = f"{FLIPPED.format(unit=unit)}{found.how}; {TIES}"
    return _Test(only_a, only_b, found.p, method, p_items)


def _permutation_test(right: Ints, clusters: Ints | None, unit: str) -> tuple[float, str] | None:
    """p and method of the test over all kinds by cluster; None without clusters."""
    answered = (right >= 0).all(axis=1)
    if clusters is None:
        return None
    found = column_shuffle(sum_by_cluster(right[answered], clusters[answered]))
    return found.p, f"{COCHRAN} by {SHUFFLED.format(unit=unit)}{found.how}; {TIES}"


def _over_all(
    kinds: Sequence[str],
    plain: CochranQ,
    pairs: Sequence[KindPairTest],
    shuffled: tuple[float, str] | None,
) -> KindTests:
    q, p = plain.q.statistic, plain.q.p
    if shuffled is None or p is None:
        return KindTests(kinds, plain.items, q, p, pairs, f"{COCHRAN}; {TIES}")
    by_cluster, method = shuffled
    return KindTests(kinds, plain.items, q, by_cluster, pairs, method, p_items=p)


def _credit(patterns: Patterns, rows: Ints, truth: Ints) -> Floats:
    return majority_accuracy(patterns.counts[patterns.of_item[rows]], truth).credit


def _right(patterns: Patterns, rows: Ints, truth: Ints) -> Ints:
    """1 right, 0 wrong, -1 where there is no answer; of tied answers one is drawn."""
    answers = draw_winner(winners(patterns.counts)[patterns.of_item[rows]], SEED)
    return np.where(answers < 0, -1, answers == truth).astype(np.int64)


def _answered_by_both(first: Floats, second: Floats) -> Any:
    return ~np.isnan(first) & ~np.isnan(second)


def _difference(first: Floats, second: Floats, clusters: Ints | None, unit: str) -> Figure:
    rows = np.flatnonzero(_answered_by_both(first, second))
    if not len(rows):
        return undefined(reasons.NO_SHARED_ITEMS)
    apart = first[rows] - second[rows]
    if clusters is None:
        distinct, often = np.unique(apart, return_counts=True)
        found = item_units(np.column_stack([distinct, np.ones(len(distinct))]), often)
    else:
        _, numbers = np.unique(clusters[rows], return_inverse=True)
        found = cluster_units(np.column_stack([apart, np.ones(len(rows))]), numbers, unit)
    return estimate(found, lambda sums: divide(sums[:, 0], sums[:, 1]), n=len(rows))
