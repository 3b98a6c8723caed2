"""Two raters: tables of their answers to the same items, and the kappas of those tables.

Everything takes tables of counts of shape (..., categories, categories), rows by the one rater,
columns by the other, and works on all pairs of raters at once. Only items that both rated count, so
every pair has an n of its own.
"""

from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from labelhub.core.agreement.coefficients.chance import NIL, correct_for_chance
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, divide
from labelhub.core.errors import InvalidInput

#: Tables of all pairs have at most so many cells: 200 MB.
MOST_CELLS = 25_000_000
#: Cells that are added in the time a sparse product takes for a pair of ratings.
CHEAP_CELLS = 4
FEW_CELLS = 1 << 16
#: Ratings whose pairs are counted at once: so few that they stay in the processor's cache.
IN_CACHE = 1 << 15
#: Cells of a large table that are multiplied at once.
BLOCK = 1 << 20


class Estimate(NamedTuple):
    """A coefficient and its standard error; None where undefined."""

    value: float | None
    error: float | None


def contingency(first: Ints, second: Ints, q: int) -> Ints:
    """Counts of two aligned lists of category numbers; a negative number is no rating.

    A number from ``q`` on would fall into a cell of another pair: raises ``InvalidInput``.
    """
    if first.shape != second.shape or max(first.max(initial=-1), second.max(initial=-1)) >= q:
        raise InvalidInput("Two raters need lists of the same length, of numbers below q.")
    both = (first >= 0) & (second >= 0)
    cells = first[both] * q + second[both]
    return np.bincount(cells, minlength=q * q).reshape(q, q).astype(np.int64)


def all_pairs(ratings: Ratings) -> Ints:
    """Tables of every two raters: shape (raters, raters, categories, categories).

    A rater's table with itself holds its answers, off the diagonal only where it rated an item
    more than once.

    Raises:
        InvalidInput: more raters than ``most_raters`` of the categories; the tables would not fit.
    """
    q, raters = ratings.n_categories, ratings.n_raters
    if raters > most_raters(q):
        raise InvalidInput(f"The tables of {raters} raters and {q} categories are too large.")
    answers, starts = _group_by_item(ratings)
    often = np.bincount(np.diff(starts))
    columns = np.arange(len(often))
    pairs = int((often * columns * (columns - 1)).sum()) // 2
    added = (raters * q) ** 2 * int(columns[often > 0].sum())
    # A table is added for each distance of two ratings: only where that is less than the pairs.
    cheap = added <= CHEAP_CELLS * pairs + FEW_CELLS
    cells = (
        _count_pairs(answers, starts, raters * q)
        if cheap
        else _multiply_pairs(answers, starts, raters * q)
    )
    return cells.reshape(raters, q, raters, q).transpose(0, 2, 1, 3)


def most_raters(q: int) -> int:
    """Of how many raters with ``q`` categories the tables still fit into 200 MB."""
    return isqrt(MOST_CELLS) // max(q, 1)


def _group_by_item(ratings: Ratings) -> tuple[Ints, Ints]:
    """Rater and answer as one number, item by item, and where each item starts (and ends)."""
    answers = ratings.raters * ratings.n_categories + ratings.codes
    starts = np.zeros(ratings.n_items + 1, dtype=np.int64)
    np.cumsum(np.bincount(ratings.items, minlength=ratings.n_items), out=starts[1:])
    # Ratings mostly come item by item.
    if (ratings.items[1:] < ratings.items[:-1]).any():
        answers = answers[np.argsort(ratings.items, kind="stable")]
    return answers, starts


def _count_pairs(answers: Ints, starts: Ints, size: int) -> Ints:
    """Pairs of answers to the same item, shape (size, size), by counting.

    Items with as many ratings as each other make a table; its columns are paired by distance.
    """
    sizes = np.diff(starts)
    cells = np.zeros((size, size), dtype=np.int64)
    for ratings in np.flatnonzero(np.bincount(sizes)[2:]) + 2:
        first = starts[:-1][sizes == ratings]
        step = max(IN_CACHE, size**2) // int(ratings) + 1
        for start in range(0, len(first), step):
            block = answers[first[start : start + step] + np.arange(ratings)[:, None]]
            rows = block * size
            for apart in range(1, ratings):
                pairs = (rows[:-apart] + block[apart:]).ravel()
                cells += np.bincount(pairs, minlength=size**2).reshape(size, size)
    cells += cells.T.copy()
    cells[np.diag_indices(size)] += np.bincount(answers, minlength=size)
    return cells


def _multiply_pairs(answers: Ints, starts: Ints, size: int) -> Ints:
    """The same by a sparse product, a few of its rows at a time: few pairs in a large table."""
    ones = np.ones(len(answers), dtype=np.int32)
    shape = (len(starts) - 1, size)
    matrix = scipy.sparse.csr_matrix(
        (ones, answers.astype(np.int32), starts.astype(np.int32)), shape=shape
    )
    by_answer = matrix.T.tocsr()
    cells = np.empty((size, size), dtype=np.int64)
    step = max(BLOCK // max(size, 1), 1)
    for start in range(0, size, step):
        cells[start : start + step] = (by_answer[start : start + step] @ matrix).toarray()
    return cells


def percent(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Share on the diagonal, or with weights the mean of them; NaN of an empty table."""
    counts = np.asarray(tables, dtype=np.float64)
    table = np.eye(counts.shape[-1]) if weights is None else weights
    return divide((counts * table).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def cohen_kappa(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Cohen 1960; with weights of agreement Cohen 1968. NaN where nothing varies."""
    observed, chance, _ = observed_and_chance(tables, weights)
    return correct_for_chance(observed, chance)


def kappa_error(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Standard error of Cohen's kappa for an interval (Fleiss, Cohen and Everitt 1969)."""
    observed, chance, mixed = observed_and_chance(tables, weights)
    shares, _, _, table = _shares(tables, weights)
    o, c = observed[..., None, None], chance[..., None, None]
    inside = (shares * (table * (1 - c) - mixed * (1 - o)) ** 2).sum(axis=(-2, -1))
    spread = inside - (observed * chance - 2 * chance + observed) ** 2
    n = np.asarray(tables).sum(axis=(-2, -1))
    beyond = np.where(1 - chance > NIL, 1 - chance, 0.0)
    return np.sqrt(divide(np.maximum(spread, 0), n * beyond**4))


def cohen(counts: Ints) -> Estimate:
    """Cohen's kappa of one table and its error."""
    value, error = float(cohen_kappa(counts)), float(kappa_error(counts))
    known = None if np.isnan(value) else value
    return Estimate(known, None if known is None or np.isnan(error) else error)


def _shares(tables: Ints | Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Shares of the cells, of rows and of columns, and the weights."""
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1), keepdims=True)
    shares = divide(counts, np.broadcast_to(n, counts.shape))
    table = np.eye(counts.shape[-1]) if weights is None else weights
    return shares, shares.sum(axis=-1), shares.sum(axis=-2), table


def observed_and_chance(
    tables: Ints | Floats, weights: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Observed and chance agreement, and the mean weights of a cell's row and column together."""
    _, rows, columns, table = _shares(tables, weights)
    observed = percent(tables, weights)
    chance = ((rows @ table) * columns).sum(axis=-1)
    mixed = (columns @ table)[..., :, None] + (rows @ table)[..., None, :]
    return observed, chance, mixed


#: Items times raters, two bytes each: of more the table would not fit.
MOST_CODES = 40_000_000
#: Cells that are summed at once.
CLUSTERED_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredCodes:
    """The answers of each rater, shape (items, raters), -1 for none; ordered by ``clusters``.

    ``clusters``: of each item, shape (items,).
    """

    codes: NDArray[np.int16]
    clusters: Ints

    def spread(self, rater: int, near: Floats) -> tuple[Floats, Floats]:
        """Standard errors of what ``near`` sums to between ``rater`` and those after it.

        ``near``: what an item adds, by the other rater and by the answers of ``rater`` and the
        other, shape (others, categories, categories); it sums to 0 over a pair's items. Returns the
        errors and how many clusters each pair has, both of shape (others,); NaN of one cluster.
        """
        rows = np.flatnonzero(self.codes[:, rater] >= 0)
        mine = self.codes[rows, rater].astype(np.int64)
        starts = np.flatnonzero(np.diff(self.clusters[rows], prepend=-1))
        if not len(rows):
            return np.full(len(near), np.nan), np.zeros(len(near))
        # One more column: a missing answer (-1) adds nothing.
        added = np.concatenate([near, np.zeros((*near.shape[:2], 1))], axis=2)
        step = max(CLUSTERED_BLOCK // len(rows), 1)
        parts = []
        for start in range(0, len(near), step):
            block = added[start : start + step]
            theirs = self.codes[rows, rater + 1 + start : rater + 1 + start + len(block)]
            influence = block[np.arange(len(block)), mine[:, None], theirs]
            sums = np.add.reduceat(influence, starts, axis=0)
            often = np.logical_or.reduceat(theirs >= 0, starts, axis=0).sum(axis=0)
            parts.append(np.stack([(sums**2).sum(axis=0), often]))
        squares, often = np.concatenate(parts, axis=1)
        return np.sqrt(divide(squares * often, np.maximum(often - 1, 0))), often


def clustered_codes(ratings: Ratings, clusters: Ints) -> ClusteredCodes | None:
    """``clusters``: of each item, shape (items,), numbers from 0.

    None where the table would be too large, or a rater rated an item more than once.
    """
    size = ratings.n_items * ratings.n_raters
    if size > MOST_CODES or ratings.n_categories > np.iinfo(np.int16).max:
        return None
    codes = np.full((ratings.n_items, ratings.n_raters), -1, dtype=np.int16)
    codes[ratings.items, ratings.raters] = ratings.codes
    if np.count_nonzero(codes >= 0) != len(ratings):
        return None
    order = np.argsort(clusters, kind="stable")
    return ClusteredCodes(codes[order], clusters[order])


def percent_parts(tables: Ints) -> Floats:
    """The part of an item in percent agreement, by cell; tables of shape (..., q, q)."""
    counts = np.asarray(tables, dtype=np.float64)
    observed, _, _ = observed_and_chance(counts)
    n = counts.sum(axis=(-2, -1))[..., None, None]
    apart = np.eye(counts.shape[-1]) - observed[..., None, None]
    return divide(apart, np.broadcast_to(n, apart.shape))


def kappa_parts(tables: Ints, weights: Floats | None = None) -> Floats:
    """The part of an item in Cohen's kappa, by cell: the influence under ``kappa_error``."""
    counts = np.asarray(tables, dtype=np.float64)
    table = np.eye(counts.shape[-1]) if weights is None else weights
    found = observed_and_chance(counts, weights)
    observed, chance = (values[..., None, None] for values in found[:2])
    apart = table * (1 - chance) - found[2] * (1 - observed)
    apart = apart - (observed * chance - 2 * chance + observed)
    n = counts.sum(axis=(-2, -1))[..., None, None]
    beyond = np.where(1 - chance > NIL, 1 - chance, 0.0)
    return divide(apart, np.broadcast_to(n * beyond**2, apart.shape))
