"""The vote on each item: its winner, its ties, and its accuracy.

Also how right a vote of fewer labels would have been, and the vote in which raters weigh unequally.

The order of the categories never decides a tie. ``majority_accuracy`` shares it evenly, which is
right on average over all orders.
"""

import numpy as np
import scipy

from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput

UNDECIDED = -1
#: Numbers that differ by less, as a share of the highest, are a tie: sums differ in last digits.
SAME = 1e-9
#: Categories.
WIDE = 32


def majority_accuracy(counts: Ints | Floats | Bools, gold: Ints) -> Floats:
    """Credit of the majority: 1 or 0, and 1 / k where gold is one of k tied categories; (items,).

    The mean of the credit is the accuracy to expect when ties are broken at random (so Snow et
    al. 2008 score the majority).

    Args:
        counts: votes, shape (items, categories).
        gold: category numbers, shape (items,), -1 where unknown. An item without gold or without
            votes is not scored: its credit is NaN.

    Raises:
        InvalidInput: gold has another length than the counts, or numbers that are no category.
    """
    check_gold(gold, counts.shape[0], counts.shape[1])
    won = winners(counts)
    scored = np.flatnonzero((gold >= 0) & won.any(axis=1))
    credit = np.full(len(gold), np.nan)
    credit[scored] = won[scored, gold[scored]] / won[scored].sum(axis=1)
    return credit


def median_categories(counts: Ints) -> tuple[Ints, Ints]:
    """The middle labels of each item in the order of the categories, for ordinal scales.

    ``counts``: shape (items, categories). With an even number of labels the two in the middle may
    differ. Nothing on an ordinal scale lies between them, so both are given: the lower and the
    upper one, each of shape (items,); -1 where nobody voted.
    """
    upto = counts.cumsum(axis=1)
    if counts.shape[1] == 0:
        return np.full(len(counts), UNDECIDED), np.full(len(counts), UNDECIDED)
    votes = upto[:, -1:]
    voted = votes[:, 0] > 0
    low = np.where(voted, (2 * upto >= votes).argmax(axis=1), UNDECIDED)
    high = np.where(voted, (2 * upto > votes).argmax(axis=1), UNDECIDED)
    return low, high


def row_shares(table: Ints | Floats) -> Floats:
    """Each row divided by its sum, same shape; a row of NaN where the sum is 0."""
    sums = table.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(table, sums, out=np.full(table.shape, np.nan), where=sums > 0))


def winners(table: Ints | Floats | Bools) -> Bools:
    """Which columns of a row have its highest number, same shape; NaN and 0 or less never win."""
    # Along the last axis NumPy is ten times slower when it is short; a wide table costs a copy.
    if table.shape[1] < WIDE:
        highest = np.fmax.reduce(np.ascontiguousarray(table.T), axis=0, initial=0)[:, None]
    else:
        highest = np.fmax.reduce(table, axis=1, initial=0)[:, None]
    return np.asarray((highest > 0) & (table >= highest * (1 - SAME)))


def single_winner(won: Bools) -> Ints:
    """The one true column of each row, shape (rows,); -1 where none or several are true."""
    if won.shape[1] == 0:
        return np.full(won.shape[0], UNDECIDED)
    return np.where(won.sum(axis=1) == 1, won.argmax(axis=1), UNDECIDED)


def one_hot(labels: Ints, n_categories: int) -> Floats:
    """Weight 1 for each item's category, shape (items, categories); a row of 0 where it is -1."""
    return np.asarray(labels[:, None] == np.arange(n_categories), dtype=np.float64)


def check_gold(known: Ints, n_items: int, n_categories: int) -> None:
    """Refuse gold that is not one category number, or -1, for each item.

    Raises:
        InvalidInput: another shape than (items,), or numbers that are no category.
    """
    if known.shape != (n_items,):
        raise InvalidInput(f"gold needs one number for each of the {n_items} items")
    if known.size and (known.min() < UNDECIDED or known.max() >= n_categories):
        raise InvalidInput(f"gold must be -1 or a category below {n_categories}")


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
    check_gold(truth, *counts.shape)
    if not 1 <= votes <= MOST_VOTES:
        raise InvalidInput(f"votes: from 1 to {MOST_VOTES}")
    found = np.full(len(counts), np.nan)
    rows = np.flatnonzero((truth >= 0) & (counts.sum(axis=1) >= votes))
    right, wrong, of_row = _different_votes(counts[rows], truth[rows])
    won = sum(
        (
            _choose(right, most) * _ways_to_draw(wrong, votes - most, most)
            for most in range(1, votes + 1)
        ),
        start=np.zeros(len(right)),
    )
    found[rows] = (won / _choose(right + wrong.sum(axis=1), votes))[of_row]
    return found


def _different_votes(counts: Ints, truth: Ints) -> tuple[Ints, Ints, Ints]:
    """Labels for the truth, of each wrong category, the most first, and the number of each row.

    Which categories are wrong does not matter: few different rows of few columns are left of many.
    """
    rows, categories = np.nonzero(counts)
    often, is_wrong = counts[rows, categories], categories != truth[rows]
    rows, often = rows[is_wrong], often[is_wrong]
    order = np.lexsort((-often, rows))
    sizes = np.bincount(rows, minlength=len(counts))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.zeros((len(counts), 1 + int(sizes.max(initial=0))), dtype=np.int64)
    table[:, 0] = counts[np.arange(len(counts)), truth]
    table[rows, 1 + place] = often[order]
    found, of_row = np.unique(table, axis=0, return_inverse=True)
    return found[:, 0], found[:, 1:], of_row.reshape(-1)


def _ways_to_draw(counts: Ints, votes: int, most: int) -> Floats:
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


#: A rater's estimate is drawn towards that of all raters, as if by so many more ratings.
SHRINKAGE = 5.0


def weighted_vote(ratings: Ratings, weights: Floats) -> Floats:
    """Each category's share of an item's weight: shape (items, categories).

    NaN where no weight was cast.

    Args:
        ratings: repeated ratings count each time.
        weights: of each rater, shape (raters,), 0 or more; 0 leaves a rater out.

    Raises:
        InvalidInput: not one weight for each rater, or one below 0 or not finite.
    """
    if weights.shape != (ratings.n_raters,):
        raise InvalidInput(f"weights need one number for each of the {ratings.n_raters} raters")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise InvalidInput("weights must be 0 or more")
    size = ratings.n_items * ratings.n_categories
    cells = ratings.items * ratings.n_categories + ratings.codes
    # Without any ratings bincount gives whole numbers, weights or not.
    sums = np.bincount(cells, weights[ratings.raters], minlength=size).astype(np.float64)
    table = sums.reshape(ratings.n_items, ratings.n_categories)
    return row_shares(table)


def agreement_with_others(ratings: Ratings) -> Floats:
    """How often others give the same answer as a rater: shape (raters,), from 0 to 1.

    The share that agrees of all pairs of a rating by this rater and one of the same item by another
    rater. Like the worker agreement with aggregate ("Wawa") of crowdsourcing platforms, but a
    rater's own votes are left out, so that nobody agrees with themselves.

    Args:
        ratings: repeated ratings all count.

    Returns:
        NaN nowhere: a rater whom no other rater met has the agreement of all; 1 where no two met.
    """
    alike = _count_pairs(ratings, ratings.codes, ratings.n_categories)
    all_pairs = _count_pairs(ratings, np.zeros_like(ratings.codes), 1)
    together = alike.sum() / all_pairs.sum() if all_pairs.sum() > 0 else 1.0
    return np.asarray((alike + SHRINKAGE * together) / (all_pairs + SHRINKAGE))


def _count_pairs(ratings: Ratings, groups: Ints, n_groups: int) -> Floats:
    """Pairs of a rater's rating and another rater's of the same item and group: shape (raters,)."""
    cells = ratings.items * n_groups + groups
    everybody = np.bincount(cells, minlength=ratings.n_items * n_groups)
    # Duplicates are summed: an entry is how often one rater gave the item this answer.
    shape = (ratings.n_raters, ratings.n_items * n_groups)
    own = scipy.sparse.csr_array((np.ones(len(ratings)), (ratings.raters, cells)), shape=shape)
    return np.asarray(own @ everybody - own.power(2).sum(axis=1))
