"""The small linear model behind each feature: learns online, and knows how unsure it still is.

A head gives every value of a feature a score, linear in the message's vector, and probabilities by
softmax. Weights are a Gaussian belief with independent parts, moved by each answer as assumed
density filtering does for the logistic likelihood (MacKay 1992, "The evidence framework applied to
classification networks": scores are divided by how uncertain they are; Graepel et al. 2010 for
the online form). It needs no learning rate: what it has seen often it changes little.

Arrays have the values on the last axis but one and the vector's places on the last; any axes before
are models side by side. Of a sparse vector only its places need be given, of the weights the same.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def dot(rows: Floats, vector: Floats) -> Floats:
    """``rows @ vector``, (…, places) by (…, places): the sums over the last axis.

    Added up in pairs, in the same order on every processor and however the rows lie in memory.
    ``@`` is left to a linear algebra library that adds up in another order on another processor,
    and a state is compared with its log bit by bit.
    """
    products: Floats = np.multiply(rows, vector, order="C")
    sums: Floats = products.sum(axis=-1)
    return sums


#: An author's slip or mischief: with this chance an answer says nothing of the message.
LAPSE = 0.03


class OnlineClassifier(NamedTuple):
    """What is believed of the weights: ``mean`` and ``var``, both (…, values, places)."""

    mean: Floats
    var: Floats


def probabilities(head: OnlineClassifier, vector: Floats) -> Floats:
    """How likely each value is, (…, values); what is unsure is nearer to equal shares."""
    scores = dot(head.mean, vector)
    spread = dot(head.var, vector * vector)
    return _softmax(scores / np.sqrt(1 + np.pi * spread / 8))


def learn(head: OnlineClassifier, vector: Floats, value: int, weight: float = 1.0) -> None:
    """Move the belief of one head, (values, places), in place towards the answer ``value``.

    ``weight``: 0 to 1, how much the answer counts.
    """
    likely = probabilities(head, vector)
    values = len(likely)
    # What a slip explains as well teaches less.
    honest = (1 - LAPSE) * likely[value]
    weight *= float(honest / (honest + LAPSE / values))
    step = head.var * vector
    spread = dot(step, vector)
    steepness = weight * likely * (1 - likely)
    shrink = 1 / (1 + steepness * spread)
    error = -weight * likely
    error[value] += weight
    head.mean[...] += step * (error * shrink)[:, None]
    head.var[...] -= step * step * (steepness * shrink)[:, None]


def _softmax(scores: Floats) -> Floats:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return shares
