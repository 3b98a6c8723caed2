"""How near two categories are: weights of agreement, and Krippendorff's squared distances.

Weights are 1 for the same category and fall to 0 (Cohen 1968; Gwet 2014, chapter 3). Distances are
0 for the same category (Krippendorff 2019, section 12.3.3). Both are symmetric (categories,
categories) tables. Gwet's ordinal weights and Krippendorff's ordinal distance are different things
with one name, and give different numbers: always say which.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from labelhub.core.agreement.ratings import Floats


def quadratic(scores: Sequence[float]) -> Floats:
    """1 less the squared distance over the widest (Fleiss and Cohen 1973)."""
    gap = interval_distance(scores)
    widest = float(gap.max(initial=0))
    return np.asarray(1 - gap / widest) if widest else np.ones_like(gap)


def interval_distance(scores: Sequence[float]) -> Floats:
    """Squared difference of the scores."""
    values = np.asarray(scores, dtype=float)
    return np.asarray((values[:, None] - values[None, :]) ** 2)


def ratio_distance(scores: Sequence[float]) -> Floats:
    """Squared difference over squared sum; 0 where both are 0."""
    values = np.asarray(scores, dtype=float)
    total = values[:, None] + values[None, :]
    gap = values[:, None] - values[None, :]
    ratio: Floats = np.divide(gap, total, out=np.zeros_like(gap), where=total != 0)
    return ratio**2


def ordinal_distance(margins: Floats) -> Floats:
    """Squared number of ratings between two ranks (Krippendorff's ordinal metric).

    ``margins``: how often each category occurs, in rank order, shape (..., categories); the
    distances of each row of it, shape (..., categories, categories).
    """
    upto = np.cumsum(margins, axis=-1) - margins / 2
    return np.asarray((upto[..., :, None] - upto[..., None, :]) ** 2)


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Shared over all members (Jaccard 1901): 0 to 1; 1 for two empty sets. Less it: a distance."""
    return len(one & other) / len(one | other) if one or other else 1.0


def masi(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Similarity of two sets: Jaccard times how they lie (Passonneau 2006); 1 less it: a distance.

    1 for equal sets, 2/3 where one holds the other, 1/3 where they overlap, 0 where nothing is
    shared. An empty set is held by every other one but shares nothing with it.
    """
    if one == other:
        return 1.0
    monotonicity = 2 / 3 if one <= other or other <= one else 1 / 3
    return monotonicity * jaccard(one, other)


def jaccard_distance(sets: Sequence[AbstractSet[str]]) -> Floats:
    """1 less ``jaccard`` of every two sets: shape (sets, sets)."""
    return np.array([[1 - jaccard(one, other) for other in sets] for one in sets])


def masi_distance(sets: Sequence[AbstractSet[str]]) -> Floats:
    """1 less ``masi`` of every two sets: shape (sets, sets)."""
    return np.array([[1 - masi(one, other) for other in sets] for one in sets])
