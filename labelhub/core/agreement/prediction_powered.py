"""Means from few labels and many predictions: the labels correct the model, the rest sharpen it.

The mean of an LLM's predictions is biased by its errors. Labels of a random subset say by how much;
the estimate is right however bad the model is, and the better it is the shorter the interval.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, t_quantile
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

POWERED = "prediction-powered, Student's t"
LABELS = "labels only, Student's t"
#: With fewer labels the mean is too far from normal for its interval.
FEW = 50
FEW_WORDS = f"interval_unreliable: fewer than {FEW} labels"
TOO_FEW_LABELS = "too_few_labels"


def ppi_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
) -> Figure:
    """Prediction-powered mean, the labelled items being a simple random sample of all.

    mean(labels) - tuning x (mean(predictions) - mean(unlabelled)) with the tuning of least
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
        return undefined(TOO_FEW_LABELS) | {"n": n}
    if rest.size == 0:
        return _figure(truth.mean(), float(np.var(truth, ddof=1)) / n, truth, LABELS)
    trust = _power_tuning(truth, said, rest)
    mean = truth.mean() - trust * (said.mean() - rest.mean())
    of_labels = float(np.var(truth - trust * said, ddof=1)) / n
    of_rest = trust**2 * float(np.var(rest)) / rest.size
    return _figure(mean, of_labels + of_rest, truth, POWERED)


def _power_tuning(truth: Floats, said: Floats, rest: Floats) -> float:
    """Covariance with the labels over the variance of all predictions, less for a small rest.

    Within [0, 1]; 0 where the predictions do not vary.
    """
    covariance = float(np.mean((truth - truth.mean()) * (said - said.mean())))
    spread = float(np.var(np.concatenate([said, rest]))) * (1 + said.size / rest.size)
    return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0


def _figure(mean: float, variance: float, truth: Floats, method: str) -> Figure:
    """A mean with its interval; null ends where nothing varied. ``truth``: all labels."""
    n = truth.size
    half = float(t_quantile(0.5 + CONFIDENCE / 2, n - 1)) * sqrt(variance) or float("nan")
    low, value, high = float(mean) - half, float(mean), float(mean) + half
    if np.isin(truth, (0, 1)).all():
        low, value, high = (float(np.clip(each, 0, 1)) for each in (low, value, high))
    told = figure(value, low=low, high=high, n=n, method=method)
    if n < FEW:
        told["doubt"] = FEW_WORDS
    return told


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
