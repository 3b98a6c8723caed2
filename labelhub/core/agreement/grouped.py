"""Draws of items in whole clusters, for statistics of a table of counts.

The table of every cluster is drawn instead of items. Clusters beyond some number go together in
groups of whole ones (random groups, Wolter 2007): the draws then cost the same for any number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.estimation import CLUSTERED, FEW_CLUSTERS, FEW_UNITS
from labelhub.core.agreement.intervals import DRAWS, SEED, weights
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput

#: More clusters than these are drawn in groups.
MOST_GROUPS = 1000
#: Draws whose whole tables are held at once.
CHUNK = 100


@dataclass(frozen=True, eq=False)
class Grouped:
    """``numbers``: the cluster of each item, shape (items,), from 0 without gaps."""

    numbers: Ints
    unit: str

    @cached_property
    def draws(self) -> Floats:
        """How often each group is drawn: shape (draws, groups); the same for all tables."""
        size = min(int(self.numbers.max(initial=-1)) + 1, MOST_GROUPS)
        return weights(np.ones(size, dtype=np.int64)) if size else np.empty((DRAWS, 0))

    @property
    def method(self) -> str:
        """How an interval by these draws was made, in words."""
        return CLUSTERED.format(unit=self.unit, draws=DRAWS, seed=SEED)

    def sums(self, cells: Ints, size: int) -> Iterator[Floats]:
        """Counts of ``size`` cells in each draw, some draws at a time: shape (some, size).

        ``cells``: the cell of each item, shape (items,), negative where it is in none.
        """
        counted = np.flatnonzero(cells >= 0)
        # Most cells of a large table are empty in all draws.
        used, column = np.unique(cells[counted], return_inverse=True)
        groups = self.draws.shape[1]
        at = (self.numbers[counted] % MOST_GROUPS) * len(used) + column
        table = np.bincount(at, minlength=groups * len(used)).reshape(groups, len(used))
        summed = self.draws @ table.astype(np.float64)
        for first in range(0, DRAWS, CHUNK):
            drawn = np.zeros((min(CHUNK, DRAWS - first), size))
            drawn[:, used] = summed[first : first + CHUNK]
            yield drawn

    def doubt(self, cells: Ints) -> str | None:
        """That few clusters have any item in a cell."""
        filled = np.count_nonzero(np.bincount(self.numbers[cells >= 0]))
        return FEW_CLUSTERS.format(unit=self.unit) if filled < FEW_UNITS else None


def grouped(clusters: ArrayLike | None, unit: str) -> Grouped | None:
    """``clusters``: a number of each item, in any order and with gaps; None without any."""
    if clusters is None:
        return None
    given = np.asarray(clusters)
    if given.ndim != 1:
        raise InvalidInput("Every item needs the number of its cluster.")
    return Grouped(np.unique(given, return_inverse=True)[1].astype(np.int64), unit)
