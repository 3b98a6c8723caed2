"""Which of the selected features to ask about, and how likely each was to be asked.

Worth of a question: what its answer teaches × how much the feature matters × the chance that it is
answered, less what asking costs the author. What an answer teaches is the uncertainty, less and
less with every answer the feature has had. A share of the surveys asks at random instead, so that
nothing is left out for ever and that every question has a known chance (echo.md, "Asking").
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Share of surveys that ask at random.
EXPLORE = 0.1
#: Answers after which another one teaches 1/√2 of what the first one did.
HALF_TAUGHT = 30.0
#: Even a feature that is thought not to matter is worth a little.
LEAST_RELEVANCE = 0.01


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, best first, and how likely each of all candidates was to be asked.

    chosen: places in the list of candidates. propensities: (candidates,). explored: whether chance
    chose. worth: (candidates,).
    """

    chosen: Ints
    propensities: Floats
    explored: bool
    worth: Floats


def worth(
    relevance: Floats, sigma: Floats, answers: Floats, *, answered: float = 1.0, burden: float = 0.0
) -> Floats:
    """What it is worth to ask about each candidate, (candidates,).

    Args:
        relevance: optimistic: what is expected, or a deviation more.
        sigma: chance that the prediction is wrong.
        answers: how many the feature has had.
        answered: chance that this author answers now.
        burden: what a question costs, in the same unit.
    """
    taught = sigma / np.sqrt(1 + answers / HALF_TAUGHT)
    value: Floats = np.maximum(relevance, LEAST_RELEVANCE) * taught * answered - burden
    return value


def choose(
    values: Floats, most: int, draws: np.random.Generator, explore: float = EXPLORE
) -> Asking:
    """At most ``most`` of the candidates that are worth asking about."""
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
