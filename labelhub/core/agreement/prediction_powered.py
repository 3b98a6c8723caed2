"""Means from few labels and many predictions: the labels correct the model, the rest sharpen it.

The mean of an LLM's predictions is biased by its errors. Labels of a random subset say by how much;
the estimate is right however bad the model is, and the better it is the shorter the interval.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.student import t_quantile
from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]

POWERED = "prediction-powered, Student's t"
LABELS = "labels only, Student's t"
#: With fewer labels the mean is too far from normal for its interval.
FEW = 50
FEW_WORDS = f"interval_unreliable: fewer than {FEW} labels"
TOO_FEW_LABELS = "too_few_labels"


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean in the unit of the labels, beside what the labels alone would say.

    ``tuning`` is how far the predictions were trusted: 0 not at all, 1 fully; None where undefined.
    The ``n`` of both figures counts labels.
    """

    mean: Figure
    tuning: float | None
    labels_only: Figure


def ppi_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
    *,
    tuning: float | None = None,
    confidence: float = CONFIDENCE,
) -> PoweredMean:
    """Prediction-powered mean, the labelled items being a simple random sample of all.

    mean(labels) - tuning x (mean(predictions) - mean(unlabelled)). With ``tuning`` 1 it is that of
    Angelopoulos et al. 2023 ("Prediction-powered inference"); by default the tuning with the least
    variance, kept within [0, 1] (PPI++, Angelopoulos, Duchi and Zrnic 2023). Undefined
    (``too_few_labels``) below two labels. The interval is Student's with n - 1 degrees of freedom,
    and in doubt below fifty labels; where all labels are 0 or 1 nothing lies outside 0 to 1.

    Args:
        labels: shape (n,), numbers, 0 and 1 for a share.
        predictions: shape (n,), of the same items.
        unlabelled: shape (N,), predictions of the items without a label; without any the labels
            alone decide.
    """
    truth, said = _pairs(labels, predictions)
    rest = _finite(unlabelled)
    n = truth.size
    if n < 2:
        return _too_few(n)
    alone = _figure(truth.mean(), float(np.var(truth, ddof=1)) / n, truth, confidence, LABELS)
    if rest.size == 0:
        return PoweredMean(alone, 0.0, alone)
    trust = _power_tuning(truth, said, rest) if tuning is None else _trust(tuning)
    mean = truth.mean() - trust * (said.mean() - rest.mean())
    of_labels = float(np.var(truth - trust * said, ddof=1)) / n
    of_rest = trust**2 * float(np.var(rest)) / rest.size
    return PoweredMean(_figure(mean, of_labels + of_rest, truth, confidence, POWERED), trust, alone)


def _power_tuning(truth: Floats, said: Floats, rest: Floats) -> float:
    """Covariance with the labels over the variance of all predictions, less for a small rest."""
    covariance = float(np.mean((truth - truth.mean()) * (said - said.mean())))
    spread = float(np.var(np.concatenate([said, rest]))) * (1 + said.size / rest.size)
    return _slope(covariance, spread)


def _slope(covariance: float, spread: float) -> float:
    """Within [0, 1]; 0 where the predictions do not vary."""
    return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0


def _trust(tuning: float) -> float:
    if not 0 <= tuning <= 1:
        raise InvalidInput("The tuning lies between 0 (labels only) and 1 (full trust).")
    return tuning


def _figure(mean: float, variance: float, truth: Floats, confidence: float, method: str) -> Figure:
    """A mean with its interval; null ends where nothing varied. ``truth``: all labels."""
    n = truth.size
    half = float(t_quantile(0.5 + confidence / 2, n - 1)) * sqrt(variance) or float("nan")
    low, value, high = float(mean) - half, float(mean), float(mean) + half
    if np.isin(truth, (0, 1)).all():
        low, value, high = (float(np.clip(each, 0, 1)) for each in (low, value, high))
    told = figure(value, low=low, high=high, n=n, method=method)
    if n < FEW:
        told["doubt"] = FEW_WORDS
    return told


def _too_few(n: int) -> PoweredMean:
    missing = undefined(TOO_FEW_LABELS)
    missing["n"] = n
    return PoweredMean(missing, None, missing)


def _pairs(labels: ArrayLike, predictions: ArrayLike) -> tuple[Floats, Floats]:
    truth, said = _finite(labels), _finite(predictions)
    if truth.shape != said.shape:
        raise InvalidInput("Every labelled item needs one label and one prediction.")
    return truth, said


def _finite(given: ArrayLike) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInput("Labels and predictions are finite numbers in one row.")
    return values
