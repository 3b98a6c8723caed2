"""The choice of features to ask about, with the propensity of each candidate.

Worth of a question: the information in its answer × the relevance of the feature × the probability
of an answer, minus the burden on the author. The information is the uncertainty, discounted by the
answers that the feature has had. A share of the surveys asks at random instead, so that no feature
is left out for ever and every question has a known propensity (echo.md, "Asking").
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Share of surveys that ask at random.
EXPLORE = 0.1
#: Answers after which another one has 1/√2 of the information of the first.
HALF_TAUGHT = 30.0
#: The least relevance that counts: even an irrelevant feature is worth a little.
LEAST_RELEVANCE = 0.01


@dataclass(frozen=True, slots=True)
class Asking:
    """The chosen questions, best first, and the propensities of all candidates.

    chosen: places in the list of candidates. propensities: (candidates,). explored: whether the
    choice was random. worth: (candidates,).
    """

    chosen: Ints
    propensities: Floats
    explored: bool
    worth: Floats


def worth(
    relevance: Floats, sigma: Floats, answers: Floats, *, answered: float = 1.0, burden: float = 0.0
) -> Floats:
    """The worth of a question about each candidate, (candidates,).

    Args:
        relevance: optimistic: the expectation, or one deviation more.
        sigma: probability that the prediction is wrong.
        answers: number of answers that the feature has had.
        answered: probability that this author answers now.
        burden: cost of a question, in the same unit.
    """
    taught = sigma / np.sqrt(1 + answers / HALF_TAUGHT)
    value: Floats = np.maximum(relevance, LEAST_RELEVANCE) * taught * answered - burden
    return value


def choose(
    values: Floats, most: int, draws: np.random.Generator, explore: float = EXPLORE
) -> Asking:
    """Choose at most ``most`` of the candidates with a positive worth."""
    worthy = np.flatnonzero(values > 0)
    count = min(most, len(worthy))
    best = worthy[np.argsort(-values[worthy], kind="stable")[:count]]
    propensities = np.zeros(len(values))
    if count:
        propensities[worthy] = explore * count / len(worthy)
        propensities[best] += 1 - explore
    explored = bool(draws.random() < explore)
    chosen = draws.permutation(worthy)[:count] if explored else best
    return Asking(chosen.astype(np.int64), propensities, explored, values)
