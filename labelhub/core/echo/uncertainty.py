"""How likely a prediction is wrong, learnt from what authors answered (paper 004, section 3.4.1).

One logistic model for all features of a site, over what a prediction says of itself and what
became of the feature's last ones. Each answer is first predicted and then learnt from: 0 where it
matched, 1 where not, the cosine distance for free text. Rewards never come here.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.models import dot

Floats: TypeAlias = NDArray[np.float64]

#: What σ is told by: see :func:`prediction_signs`.
SIGNS = ("base", "log_odds", "margin", "disagreement", "mismatches", "few_answers")
#: Before any answer a prediction's own probability is believed.
_PRIOR = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
_PRIOR_VARIANCE = np.array([0.25, 0.25, 0.5, 0.5, 1.0, 0.5])
#: What is not learnt from any more loses its weight: doubt grows by this share with each answer,
#: up to so many times what it was before any.
_DOUBT_GROWS, _MOST_DOUBT = 1.0005, 16.0
#: Answers that the recent mismatch rate looks back at, and those it is begun with.
_RECENT, _BEGUN = 40.0, 4.0
#: And the rate they had.
BEGUN_RATE = 0.4
_LEAST = 1e-3
#: Scores beyond which the exponential would overflow; long before, σ is at its bounds.
_FARTHEST = 500.0


@dataclass(slots=True)
class Uncertainty:
    """What is believed of the signs, and the record of each feature.

    weight: (signs,). covariance: (signs, signs). mismatches: (features,), the recent rate at which
    predictions were wrong. answers: (features,), how many there were, each by how much it counts.
    """

    weight: Floats
    covariance: Floats
    mismatches: Floats
    answers: Floats


def new_uncertainty(count: int) -> Uncertainty:
    """Beliefs about ``count`` features before any answer."""
    return Uncertainty(
        weight=_PRIOR.copy(),
        covariance=np.diag(_PRIOR_VARIANCE),
        mismatches=np.full(count, BEGUN_RATE),
        answers=np.zeros(count),
    )


def prediction_signs(
    top: Floats, margin: Floats, disagreement: Floats, mismatches: Floats, answers: Floats
) -> Floats:
    """The signs of predictions, (predictions, signs).

    Args:
        top: probability of the likeliest value.
        margin: how far it is ahead of the next.
        disagreement: between the models that were blended, 0 to 1.
        mismatches: recent rate of wrong predictions of the feature.
        answers: how many answers the feature has had.
    """
    sure = np.clip(top, _LEAST, 1 - _LEAST)
    rate = np.clip(mismatches, 0.02, 0.98)
    columns = (
        np.ones_like(sure),
        np.log(sure / (1 - sure)),
        margin - 0.5,
        disagreement,
        np.log(rate / (1 - rate)),
        1 / np.sqrt(1 + answers),
    )
    return np.stack(columns, axis=-1)


def sigma(uncertainty: Uncertainty, signs: Floats) -> Floats:
    """Chance that each prediction is wrong, strictly between 0 and 1: (predictions,)."""
    score = dot(signs, uncertainty.weight)
    doubt = dot(dot(uncertainty.covariance, signs[..., None, :]), signs)
    score = np.clip(score / np.sqrt(1 + np.pi * doubt / 8), -_FARTHEST, _FARTHEST)
    chance = 1 / (1 + np.exp(-score))
    bounded: Floats = np.clip(chance, _LEAST, 1 - _LEAST)
    return bounded


def learn_mismatch(
    uncertainty: Uncertainty, feature: int, signs: Floats, loss: float, weight: float = 1.0
) -> None:
    """Learn, in place, from one answer: ``loss`` 0 where it matched, 1 where not, or between.

    ``signs``, (signs,), are those of the prediction when it was made. ``weight``: 0 to 1, how much
    the answer counts.
    """
    chance = float(sigma(uncertainty, signs[None, :])[0])
    step = dot(uncertainty.covariance, signs)
    spread = float(dot(step, signs))
    steepness = weight * chance * (1 - chance)
    shrink = 1 / (1 + steepness * spread)
    uncertainty.weight += step * (weight * (loss - chance) * shrink)
    uncertainty.covariance -= np.outer(step, step) * (steepness * shrink)
    # Doubt grows, within bounds: of a sign that never varies it would grow for ever.
    uncertainty.covariance *= _DOUBT_GROWS
    most = _MOST_DOUBT * _PRIOR_VARIANCE
    kept = np.sqrt(np.minimum(1.0, most / uncertainty.covariance.diagonal()))
    # Rows and columns alike, so that it stays a covariance; exactly 1 where nothing is too much.
    uncertainty.covariance *= np.outer(kept, kept)
    uncertainty.answers[feature] += weight
    seen = min(uncertainty.answers[feature] + _BEGUN, _RECENT)
    uncertainty.mismatches[feature] += weight * (loss - uncertainty.mismatches[feature]) / seen


Bools: TypeAlias = NDArray[np.bool_]

BINS = 10


def new_bins() -> Floats:
    """Bins with nothing in them."""
    return np.zeros((3, BINS))


def bin_doubts(bins: Floats, doubts: Floats, wrong: Bools) -> None:
    """Count predictions, in place, by their σ."""
    rows = np.minimum((doubts * BINS).astype(int), BINS - 1)
    np.add.at(bins[0], rows, 1)
    np.add.at(bins[1], rows, doubts)
    np.add.at(bins[2], rows, wrong)


def calibration_error(bins: Floats) -> float:
    """Expected calibration error of σ (Naeini 2015)."""
    counts, foretold, wrong = bins
    return float(np.abs(foretold - wrong).sum() / counts.sum())
