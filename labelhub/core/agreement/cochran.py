"""Several sources on the same items: does any differ (Cochran's Q), and then which (McNemar).

The pairs are only of interest where Q says that there is a difference. They are tested exactly on
the items that Q was computed of, and corrected for their number by Holm.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import ChiSquare, chi_square, mcnemar
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Source ``one`` against ``other`` (their columns): items that only one of them gets right."""

    one: int
    other: int
    only_one: int
    only_other: int
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class CochranQ:
    """The test over all sources, then every pair; ``items`` were used, ``dropped`` were not."""

    q: ChiSquare
    items: int
    dropped: int
    pairs: list[Pairwise]


def cochran(right: ArrayLike) -> CochranQ:
    """Cochran's Q (1950) with exact McNemar tests of all pairs of sources.

    Args:
        right: shape (items, sources): 1 right, 0 wrong, negative where the source did not answer.

    Items that a source did not answer are dropped and counted. Q is undefined where no item tells
    the sources apart. Raises InvalidInput for fewer than two sources or other numbers.
    """
    table = _checked(right)
    complete = table[(table >= 0).all(axis=1)]
    return CochranQ(
        q=_q(complete),
        items=len(complete),
        dropped=len(table) - len(complete),
        pairs=_pairs(complete),
    )


def _q(table: Ints) -> ChiSquare:
    """(k - 1) (k sum of C_j^2 - N^2) / (k N - sum of R_i^2): C of sources, R of items, N of all."""
    k = table.shape[1]
    by_source, by_item, total = table.sum(axis=0), table.sum(axis=1), int(table.sum())
    spread = k * total - int((by_item**2).sum())
    if spread == 0:
        return chi_square(None, k - 1)
    return chi_square((k - 1) * (k * int((by_source**2).sum()) - total**2) / spread, k - 1)


def _pairs(table: Ints) -> list[Pairwise]:
    # Floats take the fast matrix product; the counts stay whole.
    right = table.astype(np.float64)
    only = (right.T @ (1 - right)).astype(np.int64)
    pairs = list(combinations(range(table.shape[1]), 2))
    counts = [(int(only[one, other]), int(only[other, one])) for one, other in pairs]
    p_values = [mcnemar(b, c) for b, c in counts]
    return [
        Pairwise(one, other, only_one=b, only_other=c, p=p, p_holm=adjusted)
        for (one, other), (b, c), p, adjusted in zip(
            pairs, counts, p_values, holm(p_values), strict=True
        )
    ]


def _checked(right: ArrayLike) -> Ints:
    given = np.asarray(right)
    if given.ndim != 2 or given.shape[1] < 2:
        raise InvalidInput("Cochran's Q takes a table of items by at least two sources.")
    table = given.astype(np.int64)
    if (table != given).any() or (table > 1).any():
        raise InvalidInput("Each cell is 1 (right), 0 (wrong) or negative (no answer).")
    return table
