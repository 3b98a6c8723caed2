"""A vote in which some raters count for more, and weights from how right or alike they were.

A rater's weight is their agreement with the other raters.
"""

import numpy as np
from scipy import sparse

from labelhub.core.agreement.aggregation.majority import shares
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput

#: A rater's estimate is mixed with that of all raters as if from so many ratings more.
SHRINKAGE = 5.0


def weighted_vote(ratings: Ratings, weights: Floats) -> Floats:
    """Each category's share of an item's weight: shape (items, categories).

    NaN where no weight was cast.

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
    return shares(table)


def agreement_with_others(ratings: Ratings) -> Floats:
    """How often others say what a rater says: shape (raters,), from 0 to 1.

    The share that agrees of all pairs of a rating by this rater and one of the same item by another
    rater. Like the worker agreement with aggregate ("Wawa") of crowdsourcing platforms, but a
    rater's own votes are left out, so that nobody agrees with themselves.

    Args:
        ratings: repeated ratings all count.

    Returns:
        NaN nowhere: a rater whom no other rater met has the agreement of all; 1 where no two met.
    """
    alike = _pairs(ratings, ratings.codes, ratings.n_categories)
    all_pairs = _pairs(ratings, np.zeros_like(ratings.codes), 1)
    return _shrunk(alike, all_pairs)


def _shrunk(part: Floats, whole: Floats) -> Floats:
    """``part`` of ``whole`` for each rater, drawn towards that of all raters together."""
    together = part.sum() / whole.sum() if whole.sum() > 0 else 1.0
    return np.asarray((part + SHRINKAGE * together) / (whole + SHRINKAGE))


def _pairs(ratings: Ratings, groups: Ints, n_groups: int) -> Floats:
    """Pairs of a rater's rating and another rater's of the same item and group: shape (raters,)."""
    cells = ratings.items * n_groups + groups
    everybody = np.bincount(cells, minlength=ratings.n_items * n_groups)
    # Duplicates are summed: each entry is how often one rater said this of the item.
    shape = (ratings.n_raters, ratings.n_items * n_groups)
    own = sparse.csr_array((np.ones(len(ratings)), (ratings.raters, cells)), shape=shape)
    return np.asarray(own @ everybody - own.power(2).sum(axis=1))
