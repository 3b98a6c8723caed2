"""The choice of features to show and to ask about, with the propensity of each question.

The k features of the largest expected help go downstream: relevance times the probability of a
right prediction. The candidates for questions are these, and the most relevant ones outside, which
may be left out because they are predicted badly: answers let them recover. Worth of a question: the
probability that the prediction is wrong times the root mean square of the feature's help times the
probability of an answer, minus the burden on the author. The root mean square prefers, of two
features of the same relevance, the one about which less is known: an answer also tells which
features a reward is due to. A share of the surveys asks at random instead, so that every candidate
has a known propensity.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: Share of surveys that ask at random.
EXPLORE = 0.1
#: Candidates outside the features that go downstream.
OUTSIDE = 2


def select_features(relevance: Floats, right: Floats, k: int) -> tuple[Ints, Ints]:
    """The places of the ``k`` features that go downstream, and of the candidates for questions.

    Args:
        relevance: draws of each, (…, features).
        right: probability that each is predicted rightly, (features,).
        k: how many go downstream.

    Returns:
        Shapes (…, k) and (…, k + OUTSIDE), or as many as there are.
    """
    shown = np.argsort(-relevance * right, axis=-1, kind="stable")[..., :k]
    others = relevance.copy()
    np.put_along_axis(others, shown, -np.inf, axis=-1)
    outside = max(0, min(OUTSIDE, relevance.shape[-1] - k))
    near = np.argsort(-others, axis=-1, kind="stable")[..., :outside]
    return shown, np.concatenate([shown, near], axis=-1)


def worth(
    magnitude: Floats, sigma: Floats, *, answered: float = 1.0, burden: float = 0.0
) -> Floats:
    """The worth of a question about each candidate, (candidates,).

    Args:
        magnitude: the root mean square of its help, above 0.
        sigma: probability that the prediction is wrong.
        answered: probability that this author answers now.
        burden: cost of a question, in the same unit.
    """
    value: Floats = magnitude * sigma * answered - burden
    return value


def choose(
    values: Floats, most: int, draws: np.random.Generator, explore: float = EXPLORE
) -> tuple[Ints, bool]:
    """Choose at most ``most`` of the candidates with a positive worth, (candidates,).

    Returns:
        Their places, best first, and whether they were drawn at random.
    """
    worthy = np.flatnonzero(values > 0)
    best = worthy[np.argsort(-values[worthy], kind="stable")]
    explored = bool(draws.random() < explore)
    return (draws.permutation(worthy) if explored else best)[:most], explored


def question_propensities(values: Floats, most: int, explore: float = EXPLORE) -> Floats:
    """The probability that :func:`choose` asks about each candidate; both (…, candidates)."""
    worthy = values > 0
    rank = np.argsort(np.argsort(-values, axis=-1, kind="stable"), axis=-1)
    count = worthy.sum(axis=-1, keepdims=True)
    at_random = np.minimum(most, count) / np.maximum(count, 1)
    asked: Floats = np.where(worthy, explore * at_random + (1 - explore) * (rank < most), 0.0)
    return asked


#: Draws from which the propensities of a selection are estimated.
TIMES = 200


def selection_propensities(
    relevance: Floats, right: Floats, values: Floats, *, k: int, most: int, explore: float
) -> tuple[Floats, Floats]:
    """How often each feature goes downstream, and how often it is asked about, over the draws.

    A Monte Carlo estimate: with the draw that was used among the rows of ``relevance``, a feature
    that was selected or asked about never has a propensity of 0.

    Args:
        relevance: draws, (draws, features).
        right: as of :func:`select_features`.
        values: the worth of a question about each, (features,).
        k: how many go downstream.
        most: how many questions at most.
        explore: share of the surveys that ask at random.

    Returns:
        Shapes (features,) each.
    """
    shown, candidates = select_features(relevance, right, k)
    selected, asked = np.zeros_like(relevance), np.zeros_like(relevance)
    np.put_along_axis(selected, shown, 1.0, axis=-1)
    chances = question_propensities(values[candidates], most, explore)
    np.put_along_axis(asked, candidates, chances, axis=-1)
    return selected.mean(axis=0), asked.mean(axis=0)
