"""Calibration: whether a stated confidence is the share that turns out right.

Confidences are compared with outcomes bin by bin (the reliability diagram), and by one number: the
expected calibration error, or the Brier score with its parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure, Record, share
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin(Record):
    """Items of like confidence: their mean confidence, and the share right with its n and Wilson.

    ``low`` and ``high`` are the least and greatest confidence that occur in it.
    """

    low: float
    high: float
    confidence: float
    right: Figure


@dataclass(frozen=True, slots=True)
class Calibration(Record):
    """Of one annotator on ``n`` items.

    ``expected_calibration_error``: mean distance of confidence and share right over bins, weighted
    by items, in [0, 1] (Guo et al. 2017, section 2). It is biased upwards on few items: chance
    alone parts the two. ``brier``: mean squared distance of confidence and outcome (Brier 1950, for
    two outcomes), in [0, 1]. Of both lower is better. ``bins``: from low to high.
    """

    n: int
    expected_calibration_error: float
    brier: float
    bins: Sequence[Bin]


def measure_calibration(confidences: ArrayLike, right: ArrayLike) -> Calibration | None:
    """Of items with a stated confidence and a known truth; None without any.

    Each bin holds about as many items (Nixon et al. 2019): confidences crowd near 1, where equal
    widths would show little. Equal confidences stay together, so there may be fewer bins.

    Args:
        confidences: shape (items,), each in [0, 1].
        right: shape (items,), whether the item turned out right.
    """
    sure, hits = _check_outcomes(confidences, right)
    if not sure.size:
        return None
    # Ends are confidences that occur: equal ones stay together in any order of items.
    ranks = -(-sure.size * np.arange(1, BINS) // BINS)
    places = np.searchsorted(np.sort(sure)[ranks - 1], sure, side="left")
    bins = []
    for place in np.unique(places):
        inside, outcomes = sure[places == place], hits[places == place]
        found = share(int(outcomes.sum()), inside.size, reason="")
        bins.append(Bin(float(inside.min()), float(inside.max()), float(inside.mean()), found))
    gaps = np.bincount(places, weights=sure - hits)
    return Calibration(
        n=sure.size,
        expected_calibration_error=float(np.abs(gaps).sum() / sure.size),
        brier=float(np.mean((sure - hits) ** 2)),
        bins=bins,
    )


def _check_outcomes(confidences: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    """Both as numbers."""
    sure = np.asarray(confidences, dtype=np.float64)
    hits = np.asarray(right, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != hits.shape:
        raise InvalidInput("Every item needs one confidence and one outcome.")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise InvalidInput("A confidence lies between 0 and 1.")
    if not np.isin(hits, (0, 1)).all():
        raise InvalidInput("An outcome is right or wrong: 1 or 0.")
    return sure, hits
