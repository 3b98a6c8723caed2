"""Gold labels that are probably wrong: confident learning.

Northcutt, Jiang and Chuang 2021, "Confident Learning: Estimating Uncertainty in Dataset Labels".
The probabilities must come from texts that the classifier did not learn from. Of each label the
mean probability among the items that have it is its threshold: an item is as a label's own when it
reaches that. Gold is suspected where an item is as some other label's own, and that one is likelier
than gold's. Thresholds differ by label, so a label of which the classifier is never sure
suspects and is suspected on its own terms. One thing is added: where the classifier is so sure of a
label's own that few reach their mean, nine in ten is enough.
"""

from typing import NamedTuple

import numpy as np

from labelhub.core.learning.heads import Floats, Marks
from labelhub.core.learning.shapes import Shape

#: As a label's own, however sure the classifier is of its others.
SURE = 0.9


class Suspicion(NamedTuple):
    """Of each item: how far the likelier label is ahead of gold's, 0 to 1 (NaN: not suspected),
    and what the item's labels would be instead."""

    ahead: Floats
    instead: Marks


def suspect(shape: Shape, probabilities: Floats, gold: Marks) -> Suspicion:
    """Which gold is probably wrong; of several labels each is judged by itself.

    Args:
        shape: what an answer looks like.
        probabilities: items x labels, out of fold.
        gold: items x labels.
    """
    if shape is Shape.MULTI:
        return _each(probabilities, gold)
    return _one(probabilities, gold)


def thresholds(probabilities: Floats, gold: Marks) -> Floats:
    """The mean probability of each label among the items that have it; infinite without any."""
    n = gold.sum(axis=0)
    total = (probabilities * gold).sum(axis=0)
    means: Floats = np.divide(total, n, out=np.full(n.shape, np.inf), where=n > 0)
    return means


def _one(probabilities: Floats, gold: Marks) -> Suspicion:
    as_own = (probabilities >= np.minimum(thresholds(probabilities, gold), SURE)) & ~gold
    rivals = np.where(as_own, probabilities, -1.0)
    rival = rivals.argmax(axis=1)
    ahead = rivals.max(axis=1) - (probabilities * gold).sum(axis=1)
    suspected = as_own.any(axis=1) & (ahead > 0)
    instead = gold.copy()
    instead[suspected] = False
    instead[suspected, rival[suspected]] = True
    return Suspicion(np.where(suspected, ahead, np.nan), instead)


def _each(probabilities: Floats, gold: Marks) -> Suspicion:
    ahead = np.full(gold.shape, np.nan)
    for at in range(gold.shape[1]):
        pair = np.column_stack([1 - probabilities[:, at], probabilities[:, at]])
        ahead[:, at] = _one(pair, np.column_stack([~gold[:, at], gold[:, at]])).ahead
    flipped = ~np.isnan(ahead)
    worst = np.where(flipped, ahead, -1.0).max(axis=1)
    return Suspicion(np.where(flipped.any(axis=1), worst, np.nan), gold ^ flipped)
