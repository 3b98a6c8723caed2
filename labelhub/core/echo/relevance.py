"""The relevance of features downstream, learnt from rewards alone (paper 004, section 3.4.2).

The model of success is logistic: its log-odds are a base plus the weight of every shown feature
whose value was predicted rightly. Most weights are 0, so each feature has two beliefs: whether it
matters at all (``odds``, in logarithms), and how much if it does (a Gaussian). Each reward updates
the beliefs of the shown features, by assumed density filtering for a spike-and-slab prior
(Hernández-Lobato et al. 2013), credited by the probability that each was predicted right. Cost of a
reward: O(k) for the beliefs of the shown features, and three products of arrays over all features
for forgetting.

Exploration: the k features are chosen by a draw from the beliefs (Thompson 1933), shrunk half-way
to the expectation: full draws of 200 unknown features are mostly noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: The prior probability that a feature matters, and the mean and variance of its weight then.
PRIOR_MATTERS, PRIOR_WEIGHT, PRIOR_VARIANCE = 0.15, 0.4, 0.03
#: Prior log-odds of success without any help, by the kind of reward: mean and variance. A click has
#: about one in twenty, within a factor of three; the others are almost unknown.
PRIOR_BASES: Mapping[str, tuple[float, float]] = {"click": (-3.0, 1.0)}
ANY_BASE = (0.0, 4.0)
#: How far the choice follows the draw rather than the expectation.
DRAWN = 0.5
#: The largest absolute log-odds, so that a changed world can reverse a belief.
FIRMEST = 6.0
#: The half-life of beliefs, in rewards.
HALF_LIFE = 50_000.0
_LEAST = 1e-6


@dataclass(slots=True)
class Relevance:
    """The beliefs; all arrays (features,).

    odds: log-odds that a feature matters. weight, variance: of its weight if it does. prior_odds:
    log-odds before any reward. bases: by the kind of reward, mean and variance of the log-odds of
    success if no feature helps.
    """

    odds: Floats
    weight: Floats
    variance: Floats
    prior_odds: Floats
    bases: dict[str, tuple[float, float]] = field(default_factory=dict)

    def base(self, signal: str) -> tuple[float, float]:
        """Mean and variance of the log-odds of success if no feature helps."""
        return self.bases.get(signal) or PRIOR_BASES.get(signal, ANY_BASE)

    @property
    def matters(self) -> Floats:
        """The probability that each feature matters, 0 to 1: (features,)."""
        return _sigmoid(self.odds)

    @property
    def expected(self) -> Floats:
        """The relevance s: the expected help of a right prediction, in log-odds: (features,)."""
        return self.matters * self.weight

    @property
    def deviation(self) -> Floats:
        """Standard deviation of each relevance, (features,)."""
        matters = self.matters
        second = matters * (self.variance + self.weight**2)
        return np.sqrt(second - (matters * self.weight) ** 2)


def new_relevance(count: int) -> Relevance:
    """Beliefs about ``count`` features before any reward."""
    odds = np.full(count, np.log(PRIOR_MATTERS / (1 - PRIOR_MATTERS)))
    return Relevance(
        odds=odds,
        weight=np.full(count, PRIOR_WEIGHT),
        variance=np.full(count, PRIOR_VARIANCE),
        prior_odds=odds.copy(),
    )


def draw_relevance(relevance: Relevance, draws: np.random.Generator) -> Floats:
    """A draw of every feature's relevance, to choose the shown ones: (features,)."""
    count = len(relevance.odds)
    on = draws.random(count) < relevance.matters
    weight = relevance.weight + np.sqrt(relevance.variance) * draws.standard_normal(count)
    # Tiny noise, so that ties are not broken by position.
    ties = 1e-6 * draws.standard_normal(count)
    mixed: Floats = (1 - DRAWN) * relevance.expected + DRAWN * np.where(on, weight, 0.0) + ties
    return mixed


def expected_success(
    relevance: Relevance, shown: Ints | Sequence[int], right: Floats, signal: str
) -> float:
    """Probability of success before the outcome; the arguments are those of :func:`reward`."""
    mean, _ = relevance.base(signal)
    score = mean + (right * relevance.expected[np.asarray(shown, dtype=np.int64)]).sum()
    return float(np.clip(_sigmoid(score), _LEAST, 1 - _LEAST))


def reward(
    relevance: Relevance,
    shown: Ints | Sequence[int],
    right: Floats,
    value: float,
    signal: str,
    *,
    weight: float = 1.0,
) -> None:
    """Learn from one outcome, in place.

    Args:
        relevance: changed in place.
        shown: indices of the features that went downstream, (k,).
        right: probability that each was predicted rightly, (k,).
        value: the reward, 0 to 1; a fraction counts as that share of a success.
        signal: the kind of reward.
        weight: how much it counts, 0 to 1.
    """
    _forget(relevance)
    places = np.asarray(shown, dtype=np.int64)
    base, base_variance = relevance.base(signal)
    matters = _sigmoid(relevance.odds[places])
    gain, variance = relevance.weight[places], relevance.variance[places]
    mean = right * matters * gain
    spread = right**2 * (matters * (variance + gain**2) - (matters * gain) ** 2)
    total, doubt = base + mean.sum(), base_variance + spread.sum()
    others, others_doubt = total - mean, doubt - spread
    with_it, with_doubt = others + right * gain, others_doubt + right**2 * variance
    step, shrink = _update(with_it, with_doubt, value)
    relevance.weight[places] = gain + weight * variance * right * step
    relevance.variance[places] = variance - weight * (variance * right) ** 2 * shrink
    for_it = _likelihood(with_it, with_doubt, value) - _likelihood(others, others_doubt, value)
    relevance.odds[places] = np.clip(relevance.odds[places] + weight * for_it, -FIRMEST, FIRMEST)
    step, shrink = _update(total, doubt, value)
    relevance.bases[signal] = (
        base + weight * float(base_variance * step),
        base_variance - weight * float(base_variance**2 * shrink),
    )


def _forget(relevance: Relevance) -> None:
    """Move the beliefs a little back to the prior, because the world may change."""
    kept = 0.5 ** (1 / HALF_LIFE)
    relevance.odds[:] = relevance.prior_odds + kept * (relevance.odds - relevance.prior_odds)
    relevance.weight[:] = PRIOR_WEIGHT + kept * (relevance.weight - PRIOR_WEIGHT)
    relevance.variance[:] = PRIOR_VARIANCE + kept * (relevance.variance - PRIOR_VARIANCE)
    for signal, (mean, variance) in relevance.bases.items():
        _, begun = PRIOR_BASES.get(signal, ANY_BASE)
        # The mean stays: with a larger variance it follows new rewards.
        relevance.bases[signal] = (mean, variance + (1 - kept) * (begun - variance))


def _update(mean: Floats, doubt: Floats, value: float) -> tuple[Floats, Floats]:
    """The damped slope and curvature of the outcome's log-likelihood."""
    chance = _success(mean, doubt)
    steepness = np.maximum(chance * (1 - chance), 1e-4)
    damped = 1 / (1 + steepness * doubt)
    return (value - chance) * damped, steepness * damped


def _likelihood(mean: Floats, doubt: Floats, value: float) -> Floats:
    """The log-likelihood of the outcome."""
    chance = np.clip(_success(mean, doubt), 1e-9, 1 - 1e-9)
    likelihood: Floats = value * np.log(chance) + (1 - value) * np.log1p(-chance)
    return likelihood


def _success(mean: Floats, doubt: Floats) -> Floats:
    """Probability of success with Gaussian log-odds (MacKay 1992)."""
    return _sigmoid(mean / np.sqrt(1 + np.pi * doubt / 8))


def _sigmoid(value: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-value))
    return result


_USUAL = NormalDist()


def relevance_bounds(relevance: Relevance) -> tuple[Floats, Floats]:
    """The central 95 % interval of each relevance.

    The relevance is 0 with the probability that the feature does not matter, else Gaussian. So an
    interval often begins at 0, and is just 0 for a feature that almost certainly does not matter.

    Returns:
        Lower and upper bounds, (features,) each.
    """
    beliefs = list(
        zip(
            relevance.matters.tolist(),
            relevance.weight.tolist(),
            np.sqrt(relevance.variance).tolist(),
            strict=True,
        )
    )
    rest = (1 - 0.95) / 2
    return (
        np.array([_quantile(*belief, rest) for belief in beliefs]),
        np.array([_quantile(*belief, 1 - rest) for belief in beliefs]),
    )


def _quantile(matters: float, weight: float, deviation: float, share: float) -> float:
    """The quantile of a belief at ``share``; the spike at 0 has the mass 1 - matters."""
    below = matters * _USUAL.cdf(-weight / deviation)
    if share < below:
        return weight + deviation * _USUAL.inv_cdf(share / matters)
    if share <= below + 1 - matters:
        return 0.0
    return weight + deviation * _USUAL.inv_cdf((share - (1 - matters)) / matters)
