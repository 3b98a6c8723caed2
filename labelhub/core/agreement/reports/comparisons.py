"""Which kind is right more often than which, and whether that is more than chance.

The kinds answer the same items, so they are compared item by item: Cochran's Q says whether any
differs; every pair has an exact McNemar test, corrected for their number by Holm, and the
difference with a paired interval: both kinds of a draw are those of the same items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.majority import Ties, majority, majority_accuracy
from labelhub.core.agreement.cochran import cochran
from labelhub.core.agreement.coefficients.chance import divided
from labelhub.core.agreement.coefficients.sums import Patterns
from labelhub.core.agreement.estimation import clustered, estimated, units
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.doubts import clusters_ignored
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.agreement.significance import EXACT, LEVEL, mcnemar

#: A test needs right or wrong. Without the ties that hold the truth, those that do not would count
#: as wrong alone, against the kind with more labels an item.
TIES = f"ties broken by a draw, seed {SEED}"
COCHRAN = "Cochran's Q"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``difference``: accuracy of ``a`` less that of ``b`` on the ``items`` that both answered.

    A tie shares its weight there; for ``only_a`` and ``only_b``, which the test is of, one of the
    tied answers is drawn, and they count the items on which one kind alone is right.
    ``doubt``: why the test says too much, where it does.
    """

    a: str
    b: str
    items: int
    only_a: int
    only_b: int
    p: float
    p_holm: float
    difference: Figure
    doubt: str | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        told = {name: getattr(self, name) for name in self.__slots__}
        if self.doubt is None:
            del told["doubt"]
        return told | {"method": f"{EXACT}; {TIES}", "reliable": self.p_holm < LEVEL}


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of kinds, and the test over all of them on the items that all answered.

    ``q``: Cochran's; None where nothing tells the kinds apart.
    """

    kinds: Sequence[str]
    items: int
    q: float | None
    p: float | None
    pairs: Sequence[Comparison]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "kinds": list(self.kinds),
            "items": self.items,
            "cochran_q": self.q,
            "p": self.p,
            "method": f"{COCHRAN}; {TIES}",
            "pairs": [pair.to_json() for pair in self.pairs],
        }


def comparisons(sheet: Sheet, kinds: Sequence[str], truth: Ints) -> Comparisons | None:
    """Compare the most frequent answers of ``kinds``; None with fewer than two."""
    if len(kinds) < 2:
        return None
    rows = np.flatnonzero(truth >= 0)
    credit = {kind: _credit(sheet.patterns_of(kind), rows, truth[rows]) for kind in kinds}
    clusters = None if sheet.clusters is None else sheet.clusters[rows]
    right = np.column_stack([_right(sheet, kind, rows, truth[rows]) for kind in kinds])
    over_all = cochran(right)
    pairs = list(combinations(range(len(kinds)), 2))
    discordant = [_discordant(right[:, one], right[:, other]) for one, other in pairs]
    p_values = [mcnemar(*counts) for counts in discordant]
    found = [
        Comparison(
            a=kinds[one],
            b=kinds[other],
            items=int(_both(credit[kinds[one]], credit[kinds[other]]).sum()),
            only_a=only_one,
            only_b=only_other,
            p=p,
            p_holm=adjusted,
            difference=_difference(credit[kinds[one]], credit[kinds[other]], clusters, sheet.unit),
            doubt=clusters_ignored(sheet),
        )
        for (one, other), (only_one, only_other), p, adjusted in zip(
            pairs, discordant, p_values, holm(p_values), strict=True
        )
    ]
    return Comparisons(kinds, over_all.items, over_all.q.statistic, over_all.q.p, found)


def _credit(patterns: Patterns, rows: Ints, truth: Ints) -> Floats:
    return majority_accuracy(patterns.counts[patterns.of_item[rows]], truth).credit


def _right(sheet: Sheet, kind: str, rows: Ints, truth: Ints) -> Ints:
    """1 right, 0 wrong, -1 where there is no answer; of tied answers one is drawn."""
    said = majority(sheet.of_kind(kind), Ties.RANDOM, seed=SEED).labels[rows]
    return np.where(said < 0, -1, said == truth).astype(np.int64)


def _discordant(one: Ints, other: Ints) -> tuple[int, int]:
    return int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())


def _both(one: Floats, other: Floats) -> Any:
    return ~np.isnan(one) & ~np.isnan(other)


def _difference(one: Floats, other: Floats, clusters: Ints | None, unit: str) -> Figure:
    rows = np.flatnonzero(_both(one, other))
    if not len(rows):
        return undefined(reasons.NO_SHARED_ITEMS)
    apart = one[rows] - other[rows]
    if clusters is None:
        distinct, often = np.unique(apart, return_counts=True)
        found = units(np.column_stack([distinct, np.ones(len(distinct))]), often)
    else:
        _, numbers = np.unique(clusters[rows], return_inverse=True)
        found = clustered(np.column_stack([apart, np.ones(len(rows))]), numbers, unit)
    return estimated(found, lambda sums: divided(sums[:, 0], sums[:, 1]), n=len(rows))
