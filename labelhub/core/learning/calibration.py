"""Probabilities that mean what they say: a temperature, and how far off they still are."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from labelhub.core.learning.heads import Floats, Head, Marks, chosen, probability_of
from labelhub.core.learning.shapes import Shape

#: Hotter or colder than this means that there was nothing to learn.
COLDEST, HOTTEST = 0.1, 10.0
BINS = 10
_LEAST = 1e-12


def temperature_of(head: Head, shape: Shape, scores: Floats, marks: Marks) -> float:
    """The temperature at which ``scores``, of texts they were not learnt from, are likeliest.

    One number over all labels (Guo et al. 2017): it needs few examples and leaves their order. As
    with Platt's targets (1999), one of n + 2 is taken to be wrong, or else few examples without a
    mistake would make it sure of everything.
    """
    doubt = 1 / (len(marks) + 2)

    def loss(log_temperature: float) -> float:
        found = head.probabilities(scores, float(np.exp(log_temperature)))
        right, wrong = _both(shape, found, marks)
        return -float((1 - doubt) * _log(right).mean() + doubt * _log(wrong).mean())

    bounds = (np.log(COLDEST), np.log(HOTTEST))
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(best.x))


def _both(shape: Shape, found: Floats, marks: Marks) -> tuple[Floats, Floats]:
    """How likely gold is, and the likeliest mistake."""
    if shape is Shape.MULTI:
        right = np.where(marks, found, 1 - found)
        return right, 1 - right
    return found[marks], np.where(marks, 0.0, found).max(axis=1)


def _log(likely: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(likely, _LEAST)))


def calibration_error(shape: Shape, probabilities: Floats, marks: Marks) -> float:
    """Expected calibration error of what is said, ten bins of equal width, 0 is perfect: the mean
    gap between how sure the classifier is and how often it is right."""
    said = chosen(shape, probabilities)
    sure = probability_of(shape, probabilities, said)
    right = (said == marks).all(axis=1)
    bins: NDArray[np.intp] = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(sure))
