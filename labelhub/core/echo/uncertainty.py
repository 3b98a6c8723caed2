"""σ, the probability that a prediction is wrong, learnt from answers (paper 004, section 3.4.1).

One logistic model for all features of a site, over signs of a prediction and of the feature's last
ones. Each answer is first predicted and then learnt from: 0 for a match, 1 for none, the cosine
distance for free text. Rewards are not used.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.models import dot

Floats: TypeAlias = NDArray[np.float64]

#: The inputs of σ: see :func:`prediction_signs`.
SIGNS = ("base", "log_odds", "margin", "disagreement", "mismatches", "few_answers")
#: The prior weights: a prediction's own probability is right.
_PRIOR = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
_PRIOR_VARIANCE = np.array([0.25, 0.25, 0.5, 0.5, 1.0, 0.5])
#: The growth of the variance with each answer, which forgets old ones, and its limit as a multiple
#: of the prior variance.
_DOUBT_GROWS, _MOST_DOUBT = 1.0005, 16.0
#: The window of the recent mismatch rate in answers, and its prior number of answers.
_RECENT, _BEGUN = 40.0, 4.0
#: The prior mismatch rate.
BEGUN_RATE = 0.4
_LEAST = 1e-3
#: The largest absolute score, against overflow; long before it σ is at its bounds.
_FARTHEST = 500.0


@dataclass(slots=True)
class Uncertainty:
    """The belief about the weights of signs, and the record of each feature.

    signs: their weights, (signs,). covariance: of these, (signs, signs). mismatches: (features,),
    recent rates of wrong predictions. answers: (features,), the sums of their weights.
    """

    signs: Floats
    covariance: Floats
    mismatches: Floats
    answers: Floats


def new_uncertainty(count: int) -> Uncertainty:
    """Beliefs about ``count`` features before any answer."""
    return Uncertainty(
        signs=_PRIOR.copy(),
        covariance=np.diag(_PRIOR_VARIANCE),
        mismatches=np.full(count, BEGUN_RATE),
        answers=np.zeros(count),
    )


def prediction_signs(
    uncertainty: Uncertainty,
    places: int | slice,
    top: Floats | float,
    margin: Floats | float,
    disagreement: Floats | float = 0.0,
) -> Floats:
    """The signs of predictions, (…, signs); the other numbers are (…,).

    Args:
        uncertainty: the features' records.
        places: of the predicted features.
        top: probability of the likeliest value.
        margin: its lead over the next one.
        disagreement: between the models that were blended, 0 to 1.
    """
    sure = np.clip(top, _LEAST, 1 - _LEAST)
    rate = np.clip(uncertainty.mismatches[places], 0.02, 0.98)
    columns = (
        np.ones_like(sure),
        np.log(sure / (1 - sure)),
        margin - 0.5,
        np.full_like(sure, disagreement),
        np.log(rate / (1 - rate)),
        1 / np.sqrt(1 + uncertainty.answers[places]),
    )
    return np.stack(columns, axis=-1)


def sigma(uncertainty: Uncertainty, signs: Floats) -> Floats:
    """The probability that each prediction is wrong, strictly between 0 and 1: (…,)."""
    score = dot(signs, uncertainty.signs)
    doubt = dot(dot(uncertainty.covariance, signs[..., None, :]), signs)
    score = np.clip(score / np.sqrt(1 + np.pi * doubt / 8), -_FARTHEST, _FARTHEST)
    chance = 1 / (1 + np.exp(-score))
    bounded: Floats = np.clip(chance, _LEAST, 1 - _LEAST)
    return bounded


def learn_mismatch(
    uncertainty: Uncertainty, feature: int, signs: Floats, loss: float, weight: float = 1.0
) -> None:
    """Learn, in place, from one answer: ``loss`` 0 for a match, 1 for none, or between.

    ``signs``, (signs,), are those of the prediction at its time. ``weight``: 0 to 1, how much
    the answer counts.
    """
    chance = float(sigma(uncertainty, signs))
    step = dot(uncertainty.covariance, signs)
    spread = float(dot(step, signs))
    steepness = weight * chance * (1 - chance)
    shrink = 1 / (1 + steepness * spread)
    uncertainty.signs += step * (weight * (loss - chance) * shrink)
    uncertainty.covariance -= np.outer(step, step) * (steepness * shrink)
    # The variance grows within a limit: that of a constant sign would grow for ever.
    uncertainty.covariance *= _DOUBT_GROWS
    most = _MOST_DOUBT * _PRIOR_VARIANCE
    kept = np.sqrt(np.minimum(1.0, most / uncertainty.covariance.diagonal()))
    # Scale rows and columns alike, so that it stays a covariance; by exactly 1 below the limit.
    uncertainty.covariance *= np.outer(kept, kept)
    uncertainty.answers[feature] += weight
    seen = min(uncertainty.answers[feature] + _BEGUN, _RECENT)
    uncertainty.mismatches[feature] += weight * (loss - uncertainty.mismatches[feature]) / seen


Bools: TypeAlias = NDArray[np.bool_]

BINS = 10


def bin_doubts(bins: Floats, doubts: Floats, wrong: Bools) -> None:
    """Count predictions, in place, by their σ; ``doubts`` and ``wrong`` are (predictions,).

    ``bins``, (3, BINS), begin with 0: counts, sums of σ, wrong predictions.
    """
    rows = np.minimum((doubts * BINS).astype(int), BINS - 1)
    np.add.at(bins.T, rows, np.stack([np.ones(len(rows)), doubts, wrong], axis=-1))


def calibration_error(bins: Floats) -> float:
    """Expected calibration error of σ (Naeini 2015)."""
    counts, foretold, wrong = bins
    return float(np.abs(foretold - wrong).sum() / counts.sum())
