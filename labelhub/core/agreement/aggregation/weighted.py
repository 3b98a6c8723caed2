"""A vote in which some raters count for more, and weights from how right or alike they were.

Where there is gold, a rater's weight is their accuracy on it, else their agreement with the other
raters. ``log_odds`` turns either into the weight that suits raters who err independently.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from labelhub.core.agreement.aggregation.majority import only, shares, winners
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput

#: No accuracy is taken for higher when it is made a weight.
SUREST = 0.99
#: A rater's estimate is mixed with that of all raters as if from so many ratings more.
SHRINKAGE = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class WeightedVote:
    """The weighted vote on each item.

    ``shares``: of the item's weight, shape (items, categories); NaN where no weight was cast.
    ``labels``: the category of the highest share, shape (items,); -1 where tied or none.
    """

    shares: Floats
    labels: Ints


def weighted_vote(ratings: Ratings, weights: Floats) -> WeightedVote:
    """The category with the highest sum of its raters' weights; a tie is undecided.

    Args:
        ratings: who said what; repeated ratings count each time.
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
    return WeightedVote(shares(table), only(winners(table)))


def agreement_with_others(ratings: Ratings, *, shrinkage: float = SHRINKAGE) -> Floats:
    """How often others say what a rater says: shape (raters,), from 0 to 1.

    The share that agrees of all pairs of a rating by this rater and one of the same item by another
    rater. Like the worker agreement with aggregate ("Wawa") of crowdsourcing platforms, but a
    rater's own votes are left out, so that nobody agrees with themselves.

    Args:
        ratings: repeated ratings all count.
        shrinkage: so many pairs with the agreement of all raters together are added for each.

    Returns:
        NaN nowhere: a rater whom no other rater met has the agreement of all; 1 where no two met.

    Raises:
        InvalidInput: the shrinkage is below 0 or not finite.
    """
    alike = _pairs(ratings, ratings.codes, ratings.n_categories)
    all_pairs = _pairs(ratings, np.zeros_like(ratings.codes), 1)
    return _shrunk(alike, all_pairs, shrinkage)


def log_odds(accuracy: Floats, n_categories: int) -> Floats:
    """Weight of a rater of this accuracy, same shape: 0 for one no better than chance.

    The logarithm of the odds that an answer is right rather than a given wrong one; the best weight
    where raters err independently and all wrong answers are as likely (Nitzan and Paroush 1982 for
    two categories). Below chance it would be negative: such raters are left out with 0. Accuracies
    are kept away from 0 and 1, where no other rater could outweigh them.
    """
    inside = np.clip(accuracy, 1 - SUREST, SUREST)
    odds = inside * max(n_categories - 1, 1) / (1 - inside)
    return np.asarray(np.maximum(np.log(odds), 0.0))


def _shrunk(part: Floats, whole: Floats, shrinkage: float) -> Floats:
    """``part`` of ``whole`` for each rater, drawn towards that of all raters together."""
    if not 0 <= shrinkage < np.inf:
        raise InvalidInput("the shrinkage must be 0 or more")
    together = part.sum() / whole.sum() if whole.sum() > 0 else 1.0
    out = np.full(len(whole), together)
    mixed = part + shrinkage * together
    return np.asarray(np.divide(mixed, whole + shrinkage, out=out, where=whole + shrinkage > 0))


def _pairs(ratings: Ratings, groups: Ints, n_groups: int) -> Floats:
    """Pairs of a rater's rating and another rater's of the same item and group: shape (raters,)."""
    cells = ratings.items * n_groups + groups
    everybody = np.bincount(cells, minlength=ratings.n_items * n_groups)
    # Duplicates are summed: each entry is how often one rater said this of the item.
    shape = (ratings.n_raters, ratings.n_items * n_groups)
    own = sparse.csr_array((np.ones(len(ratings)), (ratings.raters, cells)), shape=shape)
    return np.asarray(own @ everybody - own.power(2).sum(axis=1))
