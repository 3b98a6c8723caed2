"""The vote: how many said what of an item, who won, and what becomes of a tie.

A tie is undecided unless the caller names another policy; the order of the categories never
decides. ``majority_accuracy`` shares a tie evenly, which is right on average over all orders.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput

Bools = NDArray[np.bool_]

UNDECIDED = -1
#: Numbers that differ by less, as a share of the highest, are a tie: sums differ in last digits.
SAME = 1e-9


class Ties(Enum):
    """What becomes of an item on which several categories have the most votes."""

    UNDECIDED = "undecided"  #: no answer
    SPLIT = "split"  #: no single answer; the tied categories share the item's weight evenly
    RANDOM = "random"  #: one of the tied, each as likely, by the given seed
    PREFER = "prefer"  #: the tied category the caller prefers; no answer where that ties as well


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """The vote on each item.

    ``shares``: of the item's votes, shape (items, categories); a row of NaN where nobody voted.
    ``winners``: which categories have the most votes, shape (items, categories); several in a tie.
    ``weights``: the answer as weights that sum to 1, or all 0 where undecided; same shape.
    ``labels``: the answer's category or -1 where there is no single one, shape (items,).
    """

    shares: Floats
    winners: Bools
    weights: Floats
    labels: Ints


class Scored(NamedTuple):
    """``credit`` of each item, shape (items,), NaN where not scored; ``ties`` among the scored."""

    credit: Floats
    ties: int


class Median(NamedTuple):
    """Lower and upper median category of each item, shape (items,); -1 where nobody voted."""

    low: Ints
    high: Ints


def majority(
    ratings: Ratings,
    ties: Ties = Ties.UNDECIDED,
    *,
    seed: int | None = None,
    preference: Floats | Ints | None = None,
) -> Majority:
    """The category that most ratings of an item name; every rating counts, repeated ones too.

    Args:
        ratings: an item without any is undecided and has no shares.
        ties: what becomes of items with several winners.
        seed: for ``Ties.RANDOM``; the same seed and items give the same answers.
        preference: for ``Ties.PREFER``; the tied category with the highest number above 0 wins.
            Shape (categories,) for a prior, or (items, categories), as the counts of one rater.

    Raises:
        InvalidInput: the policy lacks its seed or preference, or the preference has another shape.
    """
    counts = ratings.counts()
    won = winners(counts)
    if ties is Ties.SPLIT:
        weights = won / np.maximum(won.sum(axis=1, keepdims=True), 1)
        return Majority(shares(counts), won, weights, only(won))
    decided = only(_preferred_winners(won, ties, seed, preference))
    return Majority(shares(counts), won, one_hot(decided, ratings.n_categories), decided)


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


def median(ratings: Ratings) -> Median:
    """The middle of an item's ratings in the order of the categories, for ordinal scales.

    With an even number of ratings the two in the middle may differ. Nothing on an ordinal scale
    lies between them, so both are given: where they differ, the median is undecided.
    """
    return middle(ratings.counts())


def middle(counts: Ints) -> Median:
    """``median`` of a table of counts, shape (items, categories)."""
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
    return only(_preferred_winners(won, Ties.RANDOM, seed, None))


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


def _preferred_winners(
    won: Bools, ties: Ties, seed: int | None, preference: Floats | Ints | None
) -> Bools:
    """The winners the policy leaves; several where it does not decide."""
    if ties is Ties.UNDECIDED:
        return won
    if ties is Ties.RANDOM:
        if seed is None:
            raise InvalidInput("ties at random need a seed")
        preference = np.random.default_rng(seed).random(won.shape)
    if preference is None or preference.shape not in (won.shape, won.shape[1:]):
        raise InvalidInput("a preference needs a number for each category, or one for each item's")
    # A single winner stays one even where nothing is preferred.
    alone = won.sum(axis=1, keepdims=True) == 1
    return np.where(alone, won, winners(np.where(won, preference, 0)))
