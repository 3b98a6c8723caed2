"""How good a classifier is on texts that it did not learn from, beside guessing and the debates."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelhub.core.learning.heads import Floats, Marks
from labelhub.core.learning.intervals import WILSON, Figure, resampled, share
from labelhub.core.learning.shapes import Shape


def scores(names: Sequence[str], truth: Marks, said: Marks, *, seed: int = 0) -> dict[str, Any]:
    """Accuracy (all labels of an item as in gold), macro F1 and a row for each label.

    Macro F1 is the plain mean over the labels that gold has, so that rare ones count as much.

    Args:
        names: of the labels, in the order of the columns.
        truth: items x labels of gold; at least one item.
        said: the same of whoever is measured.
        seed: of the intervals.
    """
    hits, extra, missed = truth & said, said & ~truth, truth & ~said
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
        "accuracy": share(int((truth == said).all(axis=1).sum()), n),
        "macro_f1": resampled(value, n, macro, seed=seed),
        "labels": _labels(names, (hits, extra, missed), f1_of(whole)[0]),
    }


def _labels(
    names: Sequence[str], counts: tuple[Marks, Marks, Marks], f1: Floats
) -> list[dict[str, Any]]:
    tp, fp, fn = (part.sum(axis=0) for part in counts)
    return [
        {
            "name": name,
            "n": int(tp[at] + fn[at]),
            "said": int(tp[at] + fp[at]),
            "precision": _rate(int(tp[at]), int(tp[at] + fp[at]), "it is never given"),
            "recall": _rate(int(tp[at]), int(tp[at] + fn[at]), "gold does not have it"),
            "f1": None if np.isnan(f1[at]) else float(f1[at]),
        }
        for at, name in enumerate(names)
    ]


def _rate(hits: int, n: int, reason: str) -> Figure:
    return share(hits, n, WILSON) if n else {"value": None, "reason": reason}


def majority(truth: Marks) -> Marks:
    """What somebody says who reads no text: always the most frequent answer of gold."""
    answers, counts = np.unique(truth, axis=0, return_counts=True)
    return np.repeat(answers[counts.argmax()][None, :], len(truth), axis=0)


def compared(
    names: Sequence[str], truth: Marks, said: Marks, beside: tuple[Marks, Marks], *, seed: int = 0
) -> dict[str, Any]:
    """The classifier beside what somebody else said of some of the items, on those alone.

    Args:
        names: of the labels.
        truth: items x labels of gold.
        said: the same of the classifier.
        beside: (which items somebody else labelled, one column; what they said of each item).
        seed: of the intervals.
    """
    here = beside[0][:, 0]
    if not here.any():
        return {"n": 0}
    theirs = scores(names, truth[here], beside[1][here], seed=seed)
    ours = scores(names, truth[here], said[here], seed=seed)
    return {
        "n": int(here.sum()),
        "accuracy": theirs["accuracy"],
        "macro_f1": theirs["macro_f1"],
        "model_accuracy": ours["accuracy"],
        "model_macro_f1": ours["macro_f1"],
    }


def steps_off(shape: Shape, truth: Marks, said: Marks) -> float | None:
    """How many points of the scale the classifier is off on average; None without a scale."""
    if shape is not Shape.ORDINAL:
        return None
    return float(np.abs(truth.argmax(axis=1) - said.argmax(axis=1)).mean())
