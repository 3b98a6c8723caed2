"""Two raters: tables of what both said of the same items, and the kappas of those tables.

Everything takes tables of counts of shape (..., categories, categories), rows by the one rater,
columns by the other, and works on all pairs of raters at once. Only items that both rated count, so
every pair has an n of its own.
"""

import numpy as np
from scipy import sparse

from labelhub.core.agreement.coefficients.chance import NIL, corrected, divided
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput


def contingency(one: Ints, other: Ints, q: int) -> Ints:
    """Counts of two aligned lists of category numbers; a negative number is no rating.

    A number from ``q`` on would fall into a cell of another pair: raises ``InvalidInput``.
    """
    if one.shape != other.shape or max(one.max(initial=-1), other.max(initial=-1)) >= q:
        raise InvalidInput("Two raters need lists of the same length, of numbers below q.")
    both = (one >= 0) & (other >= 0)
    cells = one[both] * q + other[both]
    return np.bincount(cells, minlength=q * q).reshape(q, q).astype(np.int64)


def all_pairs(ratings: Ratings) -> Ints:
    """Tables of every two raters: shape (raters, raters, categories, categories).

    One sparse product. A rater's table with itself holds what it said, off the diagonal only where
    it rated an item more than once.
    """
    said = ratings.raters * ratings.n_categories + ratings.codes
    size = (ratings.n_items, ratings.n_raters * ratings.n_categories)
    # Ratings mostly come item by item; then the rows of the matrix stand ready.
    order = ratings.items[1:] >= ratings.items[:-1]
    if not order.all():
        by_item = np.argsort(ratings.items, kind="stable")
        items, said = ratings.items[by_item], said[by_item]
    else:
        items = ratings.items
    starts = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=ratings.n_items))])
    ones = np.ones(len(said), dtype=np.int32)
    matrix = sparse.csr_matrix((ones, said.astype(np.int32), starts.astype(np.int32)), shape=size)
    product = (matrix.T @ matrix).toarray().astype(np.int64)
    shape = (ratings.n_raters, ratings.n_categories) * 2
    return np.asarray(product.reshape(shape).transpose(0, 2, 1, 3))


def percent(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Share on the diagonal, or with weights the mean of them; NaN of an empty table."""
    counts = np.asarray(tables, dtype=np.float64)
    table = np.eye(counts.shape[-1]) if weights is None else weights
    return divided((counts * table).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def cohen_kappa(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Cohen 1960; with weights of agreement Cohen 1968. NaN where nothing varies."""
    observed, chance, _ = _observed(tables, weights)
    return corrected(observed, chance)


def scott_pi(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Scott 1955: chance from what both raters said together."""
    _, rows, columns, table = _shares(tables, weights)
    both = (rows + columns) / 2
    return corrected(percent(tables, weights), ((both @ table) * both).sum(axis=-1))


def kappa_error(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Standard error of Cohen's kappa for an interval (Fleiss, Cohen and Everitt 1969)."""
    observed, chance, mixed = _observed(tables, weights)
    shares, _, _, table = _shares(tables, weights)
    o, c = observed[..., None, None], chance[..., None, None]
    inside = (shares * (table * (1 - c) - mixed * (1 - o)) ** 2).sum(axis=(-2, -1))
    spread = inside - (observed * chance - 2 * chance + observed) ** 2
    n = np.asarray(tables).sum(axis=(-2, -1))
    return np.sqrt(divided(np.maximum(spread, 0), n * _beyond(chance) ** 4))


def kappa_error_by_chance(tables: Ints | Floats, weights: Floats | None = None) -> Floats:
    """Standard error if there were no agreement beyond chance: for a test, never for an interval.

    Fleiss, Cohen and Everitt 1969.
    """
    _, chance, mixed = _observed(tables, weights)
    _, rows, columns, table = _shares(tables, weights)
    expected = rows[..., :, None] * columns[..., None, :]
    spread = (expected * (table - mixed) ** 2).sum(axis=(-2, -1)) - chance**2
    n = np.asarray(tables).sum(axis=(-2, -1))
    return np.sqrt(divided(np.maximum(spread, 0), n * _beyond(chance) ** 2))


def _beyond(chance: Floats) -> Floats:
    return np.where(1 - chance > NIL, 1 - chance, 0.0)


def _shares(tables: Ints | Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Shares of the cells, of rows and of columns, and the weights."""
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1), keepdims=True)
    shares = divided(counts, np.broadcast_to(n, counts.shape))
    table = np.eye(counts.shape[-1]) if weights is None else weights
    return shares, shares.sum(axis=-1), shares.sum(axis=-2), table


def _observed(tables: Ints | Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Observed and chance agreement, and the mean weights of a cell's row and column together."""
    _, rows, columns, table = _shares(tables, weights)
    observed = percent(tables, weights)
    chance = ((rows @ table) * columns).sum(axis=-1)
    mixed = (columns @ table)[..., :, None] + (rows @ table)[..., None, :]
    return observed, chance, mixed
