"""The relevance of features downstream, learnt from rewards alone (paper 004, section 3.4.2).

The model of success is logistic: its log-odds are a base plus the weight of every shown feature
whose value was predicted rightly. Most weights are 0, so each feature has two beliefs: whether it
matters at all (``odds``, in logarithms), and how much if it does (a Gaussian). Each reward updates
the beliefs of the shown features, by assumed density filtering for a spike-and-slab prior
(Hernández-Lobato et al. 2013), credited by the probability that each was predicted right. Cost of a
reward: O(k) for the beliefs of the shown features, and three products of arrays over all features
for forgetting.

Rewards of several kinds teach the same weights: each kind has its own base rate, and its own slope
by which the weights count in it, both learnt. Clicks have the slope 1, which defines the unit. An
author who says which feature mattered most gives direct evidence (:func:`learn_named`).

Exploration: the k features are chosen by a draw from the beliefs (Thompson 1933), shrunk half-way
to the expectation: full draws of 200 unknown features are mostly noise.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: The prior probability that a feature matters, and the mean and variance of its weight then.
PRIOR_MATTERS, PRIOR_WEIGHT, PRIOR_VARIANCE = 0.15, 0.4, 0.03
PRIOR_ODDS = math.log(PRIOR_MATTERS / (1 - PRIOR_MATTERS))


class Signal(NamedTuple):
    """The belief about a kind of reward, all in log-odds of success.

    base: if no feature helps. slope: how much the weights count, 1 for clicks. Each with variance.
    """

    base: float = 0.0
    base_variance: float = 4.0
    slope: float = 1.0
    slope_variance: float = 0.5


#: The prior of each kind of reward. A click has a base rate of about one in twenty, within a factor
#: of three. A dismissed offer rather had features that do not matter.
PRIOR_SIGNALS: Mapping[str, Signal] = {
    "click": Signal(-3.0, 1.0, 1.0, 0.0),
    "dismissed": Signal(slope=-0.5),
}
ANY_SIGNAL = Signal()
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
    log-odds before any reward. signals: the belief about each kind of reward.
    """

    odds: Floats
    weight: Floats
    variance: Floats
    prior_odds: Floats
    signals: dict[str, Signal] = field(default_factory=dict)

    def signal(self, kind: str) -> Signal:
        """The belief about a kind of reward."""
        return self.signals.get(kind) or PRIOR_SIGNALS.get(kind, ANY_SIGNAL)

    @property
    def matters(self) -> Floats:
        """The probability that each feature matters, 0 to 1: (features,)."""
        return _sigmoid(self.odds)

    @property
    def expected(self) -> Floats:
        """The relevance s: the expected help of a right prediction, in log-odds: (features,)."""
        return self.matters * self.weight

    @property
    def magnitude(self) -> Floats:
        """The root mean square of the help of a right prediction, in log-odds: (features,)."""
        squares: Floats = self.matters * (self.weight**2 + self.variance)
        return np.sqrt(squares)


def new_relevance(count: int) -> Relevance:
    """Beliefs about ``count`` features before any reward."""
    return Relevance(
        odds=np.full(count, PRIOR_ODDS),
        weight=np.full(count, PRIOR_WEIGHT),
        variance=np.full(count, PRIOR_VARIANCE),
        prior_odds=np.full(count, PRIOR_ODDS),
    )


def draw_relevance(
    relevance: Relevance, draws: np.random.Generator, times: tuple[int, ...] = ()
) -> Floats:
    """A draw of every feature's relevance, to choose the shown ones: (*times, features)."""
    shape = (*times, len(relevance.odds))
    on = draws.random(shape) < relevance.matters
    weight = relevance.weight + np.sqrt(relevance.variance) * draws.standard_normal(shape)
    # Tiny noise, so that ties are not broken by position.
    ties = 1e-6 * draws.standard_normal(shape)
    mixed: Floats = (1 - DRAWN) * relevance.expected + DRAWN * np.where(on, weight, 0.0) + ties
    return mixed


def expected_success(
    relevance: Relevance, shown: Ints | Sequence[int], right: Floats, signal: str
) -> float:
    """Probability of success before the outcome; the arguments are those of :func:`reward`."""
    known = relevance.signal(signal)
    help_ = (right * relevance.expected[np.asarray(shown, dtype=np.int64)]).sum()
    score = known.base + known.slope * help_
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
    known = relevance.signal(signal)
    matters = _sigmoid(relevance.odds[places])
    gain, variance = relevance.weight[places], relevance.variance[places]
    felt = known.slope * right
    mean = felt * matters * gain
    spread = felt**2 * (matters * (variance + gain**2) - (matters * gain) ** 2)
    help_ = float((right * matters * gain).sum())
    total = known.base + mean.sum()
    doubt = known.base_variance + known.slope_variance * help_**2 + spread.sum()
    others, others_doubt = total - mean, doubt - spread
    with_it, with_doubt = others + felt * gain, others_doubt + felt**2 * variance
    step, shrink = _update(with_it, with_doubt, value)
    relevance.weight[places] = gain + weight * variance * felt * step
    relevance.variance[places] = variance - weight * (variance * felt) ** 2 * shrink
    for_it = _likelihood(with_it, with_doubt, value) - _likelihood(others, others_doubt, value)
    _shift_odds(relevance, places, weight * for_it)
    rise, curved = (weight * float(part) for part in _update(total, doubt, value))
    of_base, of_slope = known.base_variance, known.slope_variance * help_
    relevance.signals[signal] = Signal(
        known.base + of_base * rise,
        known.base_variance - of_base**2 * curved,
        known.slope + of_slope * rise,
        known.slope_variance - of_slope**2 * curved,
    )


#: The probability that an author who names a feature names one that matters.
HONEST = 0.8


def learn_named(
    relevance: Relevance,
    shown: Ints | Sequence[int],
    right: Floats,
    named: int | None,
    *,
    weight: float = 1.0,
) -> None:
    """Learn, in place, from an author's answer to what mattered most for an offer.

    Either the author names, with the probability :data:`HONEST`, any of the shown features that
    matter and were predicted rightly, or any shown one or none by chance.

    Args:
        relevance: changed in place.
        shown: indices of the features that were on offer in the question, (k,).
        right: probability that each was predicted rightly, (k,).
        named: the place in ``shown`` of the named one; None for "none of these".
        weight: how much it counts, 0 to 1.
    """
    places = np.asarray(shown, dtype=np.int64)
    likely = relevance.matters[places] * right
    rivals = likely.sum() - likely
    by_chance = (1 - HONEST) / (len(places) + 1)
    if_matters = HONEST * right / (1 + rivals) + by_chance
    evidence = np.log1p(-if_matters) - np.log1p(-by_chance)
    if named is not None:
        evidence[named] = np.log(if_matters[named] / by_chance)
    _shift_odds(relevance, places, weight * evidence)


def _shift_odds(relevance: Relevance, places: Ints, evidence: Floats) -> None:
    relevance.odds[places] = np.clip(relevance.odds[places] + evidence, -FIRMEST, FIRMEST)


def _forget(relevance: Relevance) -> None:
    """Move the beliefs a little back to the prior, because the world may change."""
    kept = 0.5 ** (1 / HALF_LIFE)
    relevance.odds[:] = relevance.prior_odds + kept * (relevance.odds - relevance.prior_odds)
    relevance.weight[:] = PRIOR_WEIGHT + kept * (relevance.weight - PRIOR_WEIGHT)
    relevance.variance[:] = PRIOR_VARIANCE + kept * (relevance.variance - PRIOR_VARIANCE)
    for kind, known in relevance.signals.items():
        begun = PRIOR_SIGNALS.get(kind, ANY_SIGNAL)
        # The means stay: with a larger variance they follow new rewards.
        relevance.signals[kind] = known._replace(
            base_variance=begun.base_variance + kept * (known.base_variance - begun.base_variance),
            slope_variance=begun.slope_variance
            + kept * (known.slope_variance - begun.slope_variance),
        )


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


def relevance_bounds(relevance: Relevance) -> tuple[Floats, Floats]:
    """The central 95 % interval of each relevance.

    The relevance is 0 with the probability that the feature does not matter, else Gaussian. So an
    interval often begins at 0, and is just 0 for a feature that almost certainly does not matter.

    Returns:
        Lower and upper bounds, (features,) each.
    """
    matters, deviation = relevance.matters, np.sqrt(relevance.variance)
    below = matters * scipy.special.ndtr(-relevance.weight / deviation)
    # Of the whole belief, the spike at 0 holds the shares from ``below`` to this.
    through = below + 1 - matters
    low, high = (
        np.where(
            (below <= share) & (share <= through),
            0.0,
            relevance.weight
            + deviation
            * scipy.special.ndtri(np.where(share < below, share, share - 1 + matters) / matters),
        )
        for share in (0.025, 0.975)
    )
    return low, high


def click_gains(relevance: Relevance, log_odds: Floats) -> Floats:
    """What relevances of ``log_odds`` add to the probability of a click, same shape.

    Compared with an offer that no feature helps, at its expected rate.
    """
    base = relevance.signal("click").base
    gains: Floats = _sigmoid(base + log_odds) - _sigmoid(np.array(base))
    return gains
