"""Mean differences of many raters at once, each tested from one side, by items or by clusters.

The sums under the alternative annotator test: a difference is -1, 0 or 1 for each comparison.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.student import t_cdf

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class MeanLeads:
    """Of every rater, all of shape (raters,); ``of`` narrows to some.

    ``n`` comparisons, the ``total`` of their differences, the ``error`` of the mean difference by
    ``units`` (comparisons, or where ``clustered`` clusters of them); ``alike``: all differences
    are the same.
    """

    n: Floats
    total: Floats
    error: Floats
    units: Floats
    alike: Bools
    clustered: bool

    def of(self, raters: Bools) -> "MeanLeads":
        """Those of some raters."""
        return MeanLeads(
            self.n[raters],
            self.total[raters],
            self.error[raters],
            self.units[raters],
            self.alike[raters],
            self.clustered,
        )

    def p_values(self, bound: float) -> Floats:
        """Of one-sided t-tests that the mean difference lies below ``bound``; NaN where undefined.

        Where all differences are the same no test says so, but the verdict is plain: 0 below the
        bound, 1 above it. Undefined at the bound, of one unit, and where clusters do not vary
        though their items do.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (self.total / self.n - bound) / self.error
        usable = (self.units > 1) & ((self.error > 0) | self.alike)
        return np.where(usable, t_cdf(t, np.maximum(self.units - 1, 1)), np.nan)


def mean_leads(
    raters: Ints, differences: Ints, n_raters: int, clusters: Ints | None = None
) -> MeanLeads:
    """Sum up comparisons: whose each is, its difference, and the number of its cluster, (n,).

    With ``clusters`` the error is linearised, G / (G - 1) x sum over G clusters of (their total -
    mean x their size)^2 / n^2 under the root; of clusters of one that is the usual one.
    """
    n, total, squares = (
        np.bincount(raters, each, n_raters).astype(np.float64)
        for each in (None, differences, differences**2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (n * squares - total**2) / (n * (n - 1))
        error, units = np.sqrt(variance / n), n
        # Sums of whole numbers: without variation this is exactly 0.
        alike = n * squares == total**2
        if clusters is not None:
            units, apart = _by_cluster(raters, differences, clusters, (n, total))
            error = np.sqrt(units / (units - 1) * apart) / n**2
    return MeanLeads(n, total, error, units, alike, clusters is not None)


def _by_cluster(
    raters: Ints, differences: Ints, clusters: Ints, whole: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """How many clusters each rater has, and the sum of their squared influence, times n^2."""
    n, total = whole
    width = int(clusters.max(initial=0)) + 1
    keys, cells = np.unique(raters * width + clusters, return_inverse=True)
    sizes = np.bincount(cells, minlength=len(keys))
    sums = np.bincount(cells, differences, len(keys))
    owners = keys // width
    # In whole numbers, so that clusters that do not vary give exactly 0.
    influence = n[owners] * sums - total[owners] * sizes
    units = np.bincount(owners, minlength=len(n)).astype(np.float64)
    return units, np.bincount(owners, influence**2, len(n)).astype(np.float64)
