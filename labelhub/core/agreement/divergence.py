"""Answers as distributions: how divided an item is, and how far a source is from the humans.

Every function takes shares along the last axis and gives one number for each row: pass
(items, categories) for numbers by item, or the distribution of the summed counts for the data set
as one. Rows of NaN (items without answers) give NaN. Only options that are shared can be compared:
not those written anew for each item.
"""

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]


def distribution(counts: ArrayLike) -> Floats:
    """Shares of counted answers, shape (..., categories); a row of NaN without answers."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim == 0 or not (table >= 0).all():
        raise InvalidInput("Counts of answers are never negative.")
    return _normalised(table)


def js_divergence(one: ArrayLike, other: ArrayLike) -> Floats:
    """Jensen-Shannon (Lin 1991, equal weights): mean KL of both to their middle.

    In bits, without direction and always finite: 0 for equals, 1 without anything shared.
    """
    p, q = _pair(one, other)
    middle = (p + q) / 2
    both = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / 2
    # Rounding may leave equals a hair below 0.
    return np.asarray(np.maximum(both, 0) / log(2))


def _shares(given: ArrayLike) -> Floats:
    shares = np.asarray(given, dtype=np.float64)
    if shares.ndim == 0:
        raise InvalidInput("A distribution has at least one category.")
    total = shares.sum(axis=-1)
    if (shares < 0).any() or (np.abs(total - 1) > 1e-6).any():
        raise InvalidInput("Shares are never negative and sum to 1.")
    return shares


def _pair(one: ArrayLike, other: ArrayLike) -> tuple[Floats, Floats]:
    first, second = _shares(one), _shares(other)
    if first.shape[-1] != second.shape[-1]:
        raise InvalidInput("Only distributions over the same categories can be compared.")
    return first, second


def _normalised(table: Floats) -> Floats:
    total = table.sum(axis=-1, keepdims=True)
    shares = np.full_like(table, np.nan)
    np.divide(table, total, out=shares, where=total > 0)
    return shares
