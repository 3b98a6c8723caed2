"""Quality of a classifier on texts that it did not learn from, next to guessing and the debates.

Intervals are Wilson's for shares, the bootstrap for F1 and Student's t for means. A temperature
calibrates the probabilities.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from labelhub.core.learning.classifier import (
    Classifier,
    Floats,
    Marks,
    choose_labels,
    probability_of,
)
from labelhub.core.learning.lessons import Shape
from labelhub.core.wilson import wilson_bounds

CONFIDENCE = 0.95
DRAWS = 500
#: Given with each figure.
WILSON = "Wilson, five-fold cross-validation"
BOOTSTRAP = f"percentile bootstrap over items, {DRAWS} draws, five-fold cross-validation"
STUDENT = "Student's t over random orders"

#: ``{"value", "low", "high", "n", "method"}``.
Figure = dict[str, float | int | str | None]


def share(successes: int, n: int, method: str = WILSON) -> Figure:
    """A share with its score interval (Wilson 1927); without a number where ``n`` is 0."""
    if n == 0:
        return {"value": None, "reason": "there is nothing to count"}
    rate = successes / n
    low, high = wilson_bounds(rate, n, float(scipy.stats.norm.ppf(0.5 + CONFIDENCE / 2)))
    return {"value": rate, "low": low, "high": high, "n": n, "method": method}


def bootstrap_figure(
    value: float | None, n: int, statistic: Callable[[Floats], Floats], *, seed: int
) -> Figure:
    """A figure with its percentile interval over draws of items.

    Args:
        value: the figure itself; None where it is not defined.
        n: how many items it is of.
        statistic: weights (draws x items) to figures; those that are not defined are NaN.
        seed: the same seed draws the same items.
    """
    if value is None:
        return {"value": None, "reason": "no item has or is given this label"}
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    for _ in range(DRAWS // 50):  # in parts: many items times many draws do not fit
        weights = np.array(rng.multinomial(n, np.full(n, 1 / n), size=50), dtype=np.float64)
        found.append(statistic(weights))
    drawn = np.concatenate(found)
    drawn = drawn[~np.isnan(drawn)]
    half = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [half, 1 - half]) if len(drawn) else (value, value)
    ends = {"low": min(float(low), value), "high": max(float(high), value)}
    return {"value": value, **ends, "n": n, "method": BOOTSTRAP}


def mean_figure(values: Floats) -> Figure:
    """The mean over random orders; no interval for a single one."""
    n = len(values)
    middle = float(values.mean())
    if n < 2:
        return {"value": middle, "low": None, "high": None, "n": n, "method": STUDENT}
    half = float(scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * values.std(ddof=1) / sqrt(n))
    return {"value": middle, "low": middle - half, "high": middle + half, "n": n, "method": STUDENT}


#: Hotter or colder than this means that there was nothing to learn.
COLDEST, HOTTEST = 0.1, 10.0
BINS = 10
_LEAST = 1e-12


def fit_temperature(head: Classifier, shape: Shape, scores: Floats, marks: Marks) -> float:
    """The temperature at which ``scores``, of texts they were not learnt from, are likeliest.

    One number over all labels (Guo et al. 2017): it needs few examples and leaves their order. As
    with Platt's targets (1999), one of n + 2 is taken to be wrong, or else few examples without a
    mistake would make it sure of everything.
    """
    doubt = 1 / (len(marks) + 2)

    def loss(log_temperature: float) -> float:
        found = head.probabilities(scores, float(np.exp(log_temperature)))
        if shape is Shape.MULTI:
            right = np.where(marks, found, 1 - found)
            wrong = 1 - right
        else:
            right, wrong = found[marks], np.where(marks, 0.0, found).max(axis=1)
        return -float((1 - doubt) * _log(right).mean() + doubt * _log(wrong).mean())

    bounds = (np.log(COLDEST), np.log(HOTTEST))
    best = scipy.optimize.minimize_scalar(
        loss, bounds=bounds, method="bounded", options={"xatol": 1e-3}
    )
    return float(np.exp(best.x))


def _log(likely: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(likely, _LEAST)))


def calibration_error(shape: Shape, probabilities: Floats, marks: Marks) -> float:
    """Expected calibration error over ten bins of equal width; 0 is perfect. The mean gap between
    the confidence of the classifier and its accuracy."""
    predicted = choose_labels(shape, probabilities)
    sure = probability_of(shape, probabilities, predicted)
    right = (predicted == marks).all(axis=1)
    bins: NDArray[np.intp] = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(sure))


def scores(
    names: Sequence[str], truth: Marks, predicted: Marks, *, seed: int = 0
) -> dict[str, Any]:
    """Accuracy (all labels of an item as in gold), macro F1 and a row for each label.

    Macro F1 is the plain mean over the labels that gold has, so that rare ones count as much.

    Args:
        names: of the labels, in the order of the columns.
        truth: items x labels of gold; at least one item.
        predicted: the same of the predictions.
        seed: of the intervals.
    """
    hits, extra, missed = truth & predicted, predicted & ~truth, truth & ~predicted
    columns = tuple(part.astype(np.float64) for part in (hits, extra, missed))
    in_gold = truth.any(axis=0)
    n = len(truth)

    def f1_of(weights: Floats) -> Floats:
        tp, fp, fn = (weights @ part for part in columns)
        whole = 2 * tp + fp + fn
        return np.asarray(
            np.divide(2 * tp, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
        )

    def macro(weights: Floats) -> Floats:
        found = f1_of(weights)[:, in_gold]
        # A label that a draw lacks is left out of its mean.
        known = ~np.isnan(found)
        total = np.where(known, found, 0).sum(axis=1)
        labels = known.sum(axis=1)
        return np.asarray(np.divide(total, labels, out=np.zeros(len(found)), where=labels > 0))

    whole = np.ones((1, n))
    value = float(macro(whole)[0]) if in_gold.any() else None
    return {
        "accuracy": share(int((truth == predicted).all(axis=1).sum()), n),
        "macro_f1": bootstrap_figure(value, n, macro, seed=seed),
        "labels": _labels(names, (hits, extra, missed), f1_of(whole)[0]),
    }


def _labels(
    names: Sequence[str], counts: tuple[Marks, Marks, Marks], f1: Floats
) -> list[dict[str, Any]]:
    tp, fp, fn = (part.sum(axis=0) for part in counts)
    return [
        {
            "name": name,
            "n": int(tp[column] + fn[column]),
            "said": int(tp[column] + fp[column]),
            "precision": _rate(int(tp[column]), int(tp[column] + fp[column]), "it is never given"),
            "recall": _rate(int(tp[column]), int(tp[column] + fn[column]), "gold does not have it"),
            "f1": None if np.isnan(f1[column]) else float(f1[column]),
        }
        for column, name in enumerate(names)
    ]


def _rate(hits: int, n: int, reason: str) -> Figure:
    return share(hits, n, WILSON) if n else {"value": None, "reason": reason}


def majority_baseline(truth: Marks) -> Marks:
    """The answers of a baseline that always gives the most frequent answer of gold."""
    answers, counts = np.unique(truth, axis=0, return_counts=True)
    return np.repeat(answers[counts.argmax()][None, :], len(truth), axis=0)


def compare_predictions(
    names: Sequence[str],
    truth: Marks,
    predicted: Marks,
    beside: tuple[Marks, Marks],
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Scores of the classifier and of somebody else on the items that the latter labelled.

    Args:
        names: of the labels.
        truth: items x labels of gold.
        predicted: the same of the classifier.
        beside: (which items somebody else labelled, one column; their labels of each item).
        seed: of the intervals.
    """
    here = beside[0][:, 0]
    if not here.any():
        return {"n": 0}
    theirs = scores(names, truth[here], beside[1][here], seed=seed)
    ours = scores(names, truth[here], predicted[here], seed=seed)
    return {
        "n": int(here.sum()),
        "accuracy": theirs["accuracy"],
        "macro_f1": theirs["macro_f1"],
        "model_accuracy": ours["accuracy"],
        "model_macro_f1": ours["macro_f1"],
    }


def mean_steps_off(shape: Shape, truth: Marks, predicted: Marks) -> float | None:
    """Mean distance of the classifier's answers from gold in points; None without a scale."""
    if shape is not Shape.ORDINAL:
        return None
    return float(np.abs(truth.argmax(axis=1) - predicted.argmax(axis=1)).mean())
