"""How right a vote of fewer labels would have been: what each further label buys.

Of an item with five labels, three could have been asked for. The mean over all choices of three is
exact: no draws, and the same items for every number of votes.
"""

import numpy as np
import scipy.special

from labelhub.core.agreement.aggregation.majority import check_known
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput

#: More votes than anybody asks for; the work grows with the fourth power.
MOST_VOTES = 15


def credit_of_votes(counts: Ints, truth: Ints, votes: int) -> Floats:
    """The chance that the majority of ``votes`` of an item's labels is the truth.

    Each choice of that many labels, without replacement, is as likely; a tie shares its weight
    evenly among the tied categories, as in ``majority_accuracy``.

    Args:
        counts: labels, shape (items, categories).
        truth: category numbers, shape (items,), -1 where unknown.
        votes: from 1 to ``MOST_VOTES``.

    Returns:
        Shape (items,); NaN where the truth is unknown or the labels are fewer than ``votes``.

    Raises:
        InvalidInput: another number of votes, or a truth of another shape.
    """
    check_known(truth, *counts.shape)
    if not 1 <= votes <= MOST_VOTES:
        raise InvalidInput(f"votes: from 1 to {MOST_VOTES}")
    found = np.full(len(counts), np.nan)
    rows = np.flatnonzero((truth >= 0) & (counts.sum(axis=1) >= votes))
    said, true = counts[rows], truth[rows]
    right = said[np.arange(len(rows)), true]
    wrong = said.copy()
    wrong[np.arange(len(rows)), true] = 0
    won = sum(
        (_choose(right, most) * _others(wrong, votes - most, most) for most in range(1, votes + 1)),
        start=np.zeros(len(rows)),
    )
    found[rows] = won / _choose(said.sum(axis=1), votes)
    return found


def _others(counts: Ints, votes: int, most: int) -> Floats:
    """Ways to draw ``votes`` labels, of no category more than ``most``; shape (items,).

    Each way counts one over the number of categories with the most votes, the true one included.
    """
    tied = votes // most
    ways = np.zeros((votes + 1, tied + 1, len(counts)))
    ways[0, 0] = 1
    for of_category in counts.T:
        longer = np.zeros_like(ways)
        for drawn in range(min(votes, most) + 1):
            more = int(drawn == most)
            fewer = ways[: votes + 1 - drawn, : tied + 1 - more]
            longer[drawn:, more:] += _choose(of_category, drawn) * fewer
        ways = longer
    shares = 1 / np.arange(1, tied + 2)
    return np.asarray(shares @ ways[votes])


def _choose(n: Ints, k: int) -> Floats:
    return np.asarray(scipy.special.comb(n, k))
