"""Whether any of several sources on the same items is right more often: Cochran's Q."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.significance import ChiSquare, chi_square
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CochranQ:
    """The test over all sources; ``items`` were used, ``dropped`` were not."""

    q: ChiSquare
    items: int
    dropped: int


def cochran(right: ArrayLike) -> CochranQ:
    """Cochran's Q (1950).

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
    )


def _q(table: Ints) -> ChiSquare:
    """(k - 1) (k sum of C_j^2 - N^2) / (k N - sum of R_i^2): C of sources, R of items, N of all."""
    k = table.shape[1]
    by_source, by_item, total = table.sum(axis=0), table.sum(axis=1), int(table.sum())
    spread = k * total - int((by_item**2).sum())
    if spread == 0:
        return chi_square(None, k - 1)
    return chi_square((k - 1) * (k * int((by_source**2).sum()) - total**2) / spread, k - 1)


def _checked(right: ArrayLike) -> Ints:
    given = np.asarray(right)
    if given.ndim != 2 or given.shape[1] < 2:
        raise InvalidInput("Cochran's Q takes a table of items by at least two sources.")
    table = given.astype(np.int64)
    if (table != given).any() or (table > 1).any():
        raise InvalidInput("Each cell is 1 (right), 0 (wrong) or negative (no answer).")
    return table
