"""The vote on each item: who won, what becomes of a tie, and how right the vote is.

The order of the categories never decides a tie. ``majority_accuracy`` shares it evenly, which is
right on average over all orders; ``drawn`` picks one of the tied answers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput

Bools = NDArray[np.bool_]

UNDECIDED = -1
#: Numbers that differ by less, as a share of the highest, are a tie: sums differ in last digits.
SAME = 1e-9


class Scored(NamedTuple):
    """``credit`` of each item, shape (items,), NaN where not scored; ``ties`` among the scored."""

    credit: Floats
    ties: int


class Median(NamedTuple):
    """Lower and upper median category of each item, shape (items,); -1 where nobody voted."""

    low: Ints
    high: Ints


def majority_accuracy(counts: Ints | Floats, gold: Ints) -> Scored:
    """How far the majority is right: 1 or 0, and 1 / k where gold is one of k tied categories.

    The mean of the credit is the accuracy to expect when ties are broken at random (so Snow et
    al. 2008 score the majority).

    Args:
        counts: votes, shape (items, categories).
        gold: category numbers, shape (items,), -1 where unknown. An item without gold or without
            votes is not scored: its credit is NaN and it is no tie.

    Raises:
        InvalidInput: gold has another length than the counts, or numbers that are no category.
    """
    check_known(gold, counts.shape[0], counts.shape[1])
    won = winners(counts)
    scored = np.flatnonzero((gold >= 0) & won.any(axis=1))
    tied = won[scored].sum(axis=1)
    credit = np.full(len(gold), np.nan)
    credit[scored] = won[scored, gold[scored]] / tied
    return Scored(credit, int((tied > 1).sum()))


def middle(counts: Ints) -> Median:
    """The middle labels of each item in the order of the categories, for ordinal scales.

    ``counts``: shape (items, categories). With an even number of labels the two in the middle may
    differ. Nothing on an ordinal scale lies between them, so both are given.
    """
    upto = counts.cumsum(axis=1)
    if counts.shape[1] == 0:
        return Median(np.full(len(counts), UNDECIDED), np.full(len(counts), UNDECIDED))
    votes = upto[:, -1:]
    voted = votes[:, 0] > 0
    low = np.where(voted, (2 * upto >= votes).argmax(axis=1), UNDECIDED)
    high = np.where(voted, (2 * upto > votes).argmax(axis=1), UNDECIDED)
    return Median(low, high)


def shares(table: Ints | Floats) -> Floats:
    """Each row divided by its sum, same shape; a row of NaN where the sum is 0."""
    sums = table.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(table, sums, out=np.full(table.shape, np.nan), where=sums > 0))


def winners(table: Ints | Floats) -> Bools:
    """Which columns of a row have its highest number, same shape; NaN and 0 or less never win."""
    # Along the last axis NumPy is ten times slower when it is short.
    highest = np.fmax.reduce(np.ascontiguousarray(table.T), axis=0, initial=0)[:, None]
    return np.asarray((highest > 0) & (table >= highest * (1 - SAME)))


def only(won: Bools) -> Ints:
    """The one true column of each row, shape (rows,); -1 where none or several are true."""
    if won.shape[1] == 0:
        return np.full(won.shape[0], UNDECIDED)
    return np.where(won.sum(axis=1) == 1, won.argmax(axis=1), UNDECIDED)


def drawn(won: Bools, seed: int) -> Ints:
    """One of the true columns of each row, each as likely, shape (rows,); -1 where none is true."""
    chances = np.random.default_rng(seed).random(won.shape)
    # A single winner stays one, whatever was drawn.
    alone = won.sum(axis=1, keepdims=True) == 1
    return only(np.where(alone, won, winners(np.where(won, chances, 0))))


def one_hot(labels: Ints, n_categories: int) -> Floats:
    """Weight 1 for each item's category, shape (items, categories); a row of 0 where it is -1."""
    return np.asarray(labels[:, None] == np.arange(n_categories), dtype=np.float64)


def check_known(known: Ints, n_items: int, n_categories: int) -> None:
    """Refuse gold that is not one category number, or -1, for each item.

    Raises:
        InvalidInput: another shape than (items,), or numbers that are no category.
    """
    if known.shape != (n_items,):
        raise InvalidInput(f"gold needs one number for each of the {n_items} items")
    if known.size and (known.min() < UNDECIDED or known.max() >= n_categories):
        raise InvalidInput(f"gold must be -1 or a category below {n_categories}")
