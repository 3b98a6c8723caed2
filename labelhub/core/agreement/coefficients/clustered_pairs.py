"""Standard errors for pairs of raters whose items belong together in clusters.

Percent agreement and kappa are linearised: what each item adds to the value is summed by cluster,
and the clusters are what varies (Gwet 2014, chapter 5; the sandwich estimator). A rater is compared
with many others at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.coefficients.chance import NIL, divided
from labelhub.core.agreement.coefficients.pairwise import observed_and_chance
from labelhub.core.agreement.ratings import Floats, Ints, Ratings

#: Items times raters, two bytes each: of more the table would not fit.
MOST_CELLS = 40_000_000
#: Cells that are summed at once.
BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredCodes:
    """What each rater said, shape (items, raters), -1 for nothing; items in order of ``clusters``.

    ``clusters``: of each item, shape (items,).
    """

    codes: NDArray[np.int16]
    clusters: Ints

    def spread(self, one: int, near: Floats) -> tuple[Floats, Floats]:
        """Standard errors of what ``near`` sums to between rater ``one`` and those after it.

        ``near``: what an item adds, by the other rater, by what ``one`` said and by what the other
        did, shape (others, categories, categories); it sums to 0 over a pair's items. Returns the
        errors and how many clusters each pair has, both of shape (others,); NaN of one cluster.
        """
        rows = np.flatnonzero(self.codes[:, one] >= 0)
        mine = self.codes[rows, one].astype(np.int64)
        starts = np.flatnonzero(np.diff(self.clusters[rows], prepend=-1))
        if not len(rows):
            return np.full(len(near), np.nan), np.zeros(len(near))
        # One more column: what was not said (-1) adds nothing.
        added = np.concatenate([near, np.zeros((*near.shape[:2], 1))], axis=2)
        step = max(BLOCK // len(rows), 1)
        parts = []
        for at in range(0, len(near), step):
            block = added[at : at + step]
            theirs = self.codes[rows, one + 1 + at : one + 1 + at + len(block)]
            each = block[np.arange(len(block)), mine[:, None], theirs]
            sums = np.add.reduceat(each, starts, axis=0)
            often = np.logical_or.reduceat(theirs >= 0, starts, axis=0).sum(axis=0)
            parts.append(np.stack([(sums**2).sum(axis=0), often]))
        squares, often = np.concatenate(parts, axis=1)
        return np.sqrt(divided(squares * often, np.maximum(often - 1, 0))), often


def clustered_codes(ratings: Ratings, clusters: Ints) -> ClusteredCodes | None:
    """``clusters``: of each item, shape (items,), numbers from 0.

    None where the table would be too large, or a rater rated an item more than once.
    """
    size = ratings.n_items * ratings.n_raters
    if size > MOST_CELLS or ratings.n_categories > np.iinfo(np.int16).max:
        return None
    codes = np.full((ratings.n_items, ratings.n_raters), -1, dtype=np.int16)
    codes[ratings.items, ratings.raters] = ratings.codes
    if np.count_nonzero(codes >= 0) != len(ratings):
        return None
    order = np.argsort(clusters, kind="stable")
    return ClusteredCodes(codes[order], clusters[order])


def percent_parts(tables: Ints) -> Floats:
    """What an item adds to percent agreement, by cell; tables of shape (..., q, q)."""
    counts = np.asarray(tables, dtype=np.float64)
    observed, _, _ = observed_and_chance(counts)
    n = counts.sum(axis=(-2, -1))[..., None, None]
    apart = np.eye(counts.shape[-1]) - observed[..., None, None]
    return divided(apart, np.broadcast_to(n, apart.shape))


def kappa_parts(tables: Ints, weights: Floats | None = None) -> Floats:
    """What an item adds to Cohen's kappa, by cell: the influence under ``pairwise.kappa_error``."""
    counts = np.asarray(tables, dtype=np.float64)
    table = np.eye(counts.shape[-1]) if weights is None else weights
    found = observed_and_chance(counts, weights)
    observed, chance = (each[..., None, None] for each in found[:2])
    apart = table * (1 - chance) - found[2] * (1 - observed)
    apart = apart - (observed * chance - 2 * chance + observed)
    n = counts.sum(axis=(-2, -1))[..., None, None]
    beyond = np.where(1 - chance > NIL, 1 - chance, 0.0)
    return divided(apart, np.broadcast_to(n * beyond**2, apart.shape))
