"""Answers as distributions: how divided an item is, and how far a source is from the humans.

Every function takes shares along the last axis and gives one number for each row: pass
(items, categories) for numbers by item, or the distribution of the summed counts for the data set
as one. Rows of NaN (items without answers) give NaN. Only options that are shared can be compared:
not those written anew for each item.
"""

from enum import StrEnum
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, rel_entr

from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]


class Unit(StrEnum):
    """What information is counted in: logarithms to base 2 or natural ones."""

    BITS = "bits"
    NATS = "nats"


def distribution(counts: ArrayLike, prior: float = 0.0) -> Floats:
    """Shares of counted answers, shape (..., categories).

    ``prior``: pseudo-answers added to every category, the posterior mean under a symmetric
    Dirichlet prior; 0 for the plain vote share. Without answers and prior a row is NaN.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim == 0 or not (table >= 0).all() or not prior >= 0:
        raise InvalidInput("Counts of answers and their prior are never negative.")
    return _normalised(table + prior)


def entropy(shares: ArrayLike, unit: Unit = Unit.BITS) -> Floats:
    """-sum p log p (Shannon 1948): 0 where all say the same, log of the categories at most."""
    return _in(entr(_shares(shares)).sum(axis=-1), unit)


def js_divergence(one: ArrayLike, other: ArrayLike, unit: Unit = Unit.BITS) -> Floats:
    """Jensen-Shannon (Lin 1991, equal weights): mean KL of both to their middle.

    Without direction and always finite: 0 for equals, 1 bit (0.693 nats) without anything shared.
    """
    p, q = _pair(one, other)
    middle = (p + q) / 2
    both = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / 2
    # Rounding may leave equals a hair below 0.
    return _in(np.maximum(both, 0), unit)


def overlap(one: ArrayLike, other: ArrayLike) -> Floats:
    """sum min(p, q): the part both share, 1 less the total variation; 1 just for equals.

    Some call this the soft accuracy; for a source of hard answers the two are the same.
    """
    p, q = _pair(one, other)
    return np.asarray(np.minimum(p, q).sum(axis=-1))


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


def _in(nats: Floats, unit: Unit) -> Floats:
    return np.asarray(nats / log(2) if unit is Unit.BITS else nats)
