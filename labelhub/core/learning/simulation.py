"""A simulation of the labels that the learner's order would have saved.

A third of gold is kept back to measure on. The labels of the rest are uncovered bit by bit, once in
random order and once with the least certain items first;
it learns anew when it would in use, after ``labels_until_relearning`` labels more. Both begin with
the same random labels and end with all of them. That is done for several random divisions, and each
figure is of their differences in pairs.

The order may save nothing, or cost labels; then the figures say so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from labelhub.core.learning.classifier import (
    Floats,
    Marks,
    Matrix,
    choose_labels,
    classifier_for,
    probability_of,
)
from labelhub.core.learning.lessons import (
    LEAST_GOLD,
    LEAST_SIMULATED,
    Shape,
    labels_until_relearning,
)
from labelhub.core.learning.quality import mean_figure

DIVISIONS = 10
KEPT_BACK = 0.3
MOST_POOL = MOST_KEPT = 500
#: Of the way from the accuracy at the start to that with all labels; the middle one decides.
SHARES = (0.8, 0.9, 0.95)
DECISIVE = 0.9
#: Below this there is no way from the start to the end.
LEAST_GAIN = 0.02

Indices = NDArray[np.intp]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Orders:
    """Accuracy after each number of labels: divisions x steps, by either order."""

    labels: NDArray[np.int64]
    random: Floats
    learned: Floats


def simulate(
    shape: Shape, rows: Matrix, marks: Marks, progress: Progress, *, seed: int = 0
) -> dict[str, Any]:
    """The two learning curves, the labels that each needs to a target accuracy, and a verdict.

    Args:
        shape: the shape of an answer.
        rows: features of gold items with different texts.
        marks: items x labels of their gold.
        progress: called with the share that is done.
        seed: the same seed gives the same figures.
    """
    if len(marks) < LEAST_SIMULATED:
        needed = f"{LEAST_SIMULATED} different texts with gold"
        reason = f"a simulation needs {needed}; there are {len(marks)}"
        return {"reason": reason}
    orders = _run(shape, rows, marks, progress, seed)
    return {
        "divisions": DIVISIONS,
        "pool": int(orders.labels[-1]),
        "kept_back": _pool_sizes(len(marks))[1],
        "points": list(_points(orders)),
        "gain": mean_figure((orders.learned - orders.random).mean(axis=1)),
        **_savings(orders),
    }


def _pool_sizes(n: int) -> tuple[int, int]:
    """How many labels to uncover at most, and how many to keep back."""
    kept = min(int(n * KEPT_BACK), MOST_KEPT)
    return min(n - kept, MOST_POOL), kept


def _steps(pool: int) -> list[int]:
    steps = [LEAST_GOLD]
    while steps[-1] < pool:
        steps.append(min(steps[-1] + labels_until_relearning(steps[-1]), pool))
    return steps


def _run(shape: Shape, rows: Matrix, marks: Marks, progress: Progress, seed: int) -> Orders:
    pool, kept = _pool_sizes(len(marks))
    steps = _steps(pool)
    found: tuple[list[list[float]], list[list[float]]] = ([], [])
    for division in range(DIVISIONS):
        rng = np.random.default_rng([seed, division])
        order = rng.permutation(len(marks))
        test, rest = order[:kept], order[kept : kept + pool]
        for way, by_doubt in enumerate((False, True)):
            trial = _Trial(shape, rows, marks, test)
            found[way].append(trial.curve(rest, steps, by_doubt=by_doubt))
            progress((2 * division + way + 1) / (2 * DIVISIONS))
    return Orders(np.array(steps), np.array(found[0]), np.array(found[1]))


@dataclass(frozen=True, slots=True)
class _Trial:
    """One order on one division."""

    shape: Shape
    rows: Matrix
    marks: Marks
    test: Indices

    def curve(self, pool: Indices, steps: list[int], *, by_doubt: bool) -> list[float]:
        """The accuracy on the items kept back after each step; ``pool`` is in random order."""
        accuracies: list[float] = []
        known, hidden = pool[: steps[0]], pool[steps[0] :]
        for size in [*steps[1:], 0]:
            head = classifier_for(self.shape).fit(self.rows[known], self.marks[known])
            predicted = choose_labels(self.shape, self._likely(head, self.test))
            accuracies.append(float((predicted == self.marks[self.test]).all(axis=1).mean()))
            if by_doubt and len(hidden):
                likely = self._likely(head, hidden)
                sure = probability_of(self.shape, likely, choose_labels(self.shape, likely))
                hidden = hidden[np.argsort(sure, kind="stable")]
            more = max(size - len(known), 0)
            known, hidden = np.concatenate([known, hidden[:more]]), hidden[more:]
        return accuracies

    def _likely(self, head: Any, items: Indices) -> Floats:
        found: Floats = head.probabilities(head.scores(self.rows[items]), 1.0)
        return found


def _points(orders: Orders) -> Iterator[dict[str, Any]]:
    for step, labels in enumerate(orders.labels):
        random, learned = orders.random[:, step], orders.learned[:, step]
        yield {
            "labels": int(labels),
            "random": mean_figure(random),
            "learned": mean_figure(learned),
            "difference": mean_figure(learned - random),
        }


def _savings(orders: Orders) -> dict[str, Any]:
    """Labels that either order needs to reach a target, and the verdict on the difference."""
    start, end = orders.random[:, 0].mean(), orders.random[:, -1].mean()
    if end - start < LEAST_GAIN:
        reason = (
            f"with all labels the accuracy is hardly better ({100 * end:.0f} %) than with the "
            f"first {LEAST_GOLD} ({100 * start:.0f} %): there is nothing for an order to save"
        )
        return {"targets": [], "verdict": "nothing", "verdict_reason": reason}
    targets = [_target(orders, float(start + part * (end - start)), part) for part in SHARES]
    decisive = next(target for target in targets if target["share"] == DECISIVE)
    return {"targets": targets, "verdict": _verdict(decisive["saved"])}


def _target(orders: Orders, accuracy: float, part: float) -> dict[str, Any]:
    random = np.array([_labels_needed(orders.labels, row, accuracy) for row in orders.random])
    learned = np.array([_labels_needed(orders.labels, row, accuracy) for row in orders.learned])
    return {
        "share": part,
        "accuracy": accuracy,
        "random": mean_figure(random),
        "learned": mean_figure(learned),
        "saved": mean_figure(random - learned),
    }


def _labels_needed(labels: NDArray[np.int64], accuracies: Floats, target: float) -> float:
    """The labels at which the rising curve nearest to ``accuracies`` reaches ``target``, or all."""
    risen = np.asarray(isotonic_regression(accuracies))
    above = np.flatnonzero(risen >= target)
    if not len(above):
        return float(labels[-1])
    step = int(above[0])
    if step == 0:
        return float(labels[0])
    share = (target - risen[step - 1]) / (risen[step] - risen[step - 1])
    return float(labels[step - 1] + share * (labels[step] - labels[step - 1]))


def _verdict(saved: dict[str, Any]) -> str:
    """``saves``, ``costs``, or ``unclear`` where the interval allows either."""
    if saved["low"] > 0:
        return "saves"
    return "costs" if saved["high"] < 0 else "unclear"
