"""Calibration: whether a stated confidence is the share that turns out right.

Confidences are compared with outcomes bin by bin (the reliability diagram), and by one number: the
expected calibration error, or the Brier score with its parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure, share
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput

BINS = 10
NO_ITEMS = "no_items"


@dataclass(frozen=True, slots=True)
class Bin:
    """Items of like confidence: their mean confidence, and the share right with its n and Wilson.

    ``low`` and ``high`` are the least and greatest confidence that occur in it.
    """

    low: float
    high: float
    confidence: float
    right: Figure


def reliability_bins(confidences: ArrayLike, right: ArrayLike) -> list[Bin]:
    """Bins of the reliability diagram, from low to high; bins without items are left out.

    Args:
        confidences: shape (items,), each in [0, 1]; items with NaN are left out.
        right: shape (items,), whether the item turned out right.

    Each bin holds about as many items (Nixon et al. 2019): confidences crowd near 1, where equal
    widths would show little. Equal confidences stay together, so there may be fewer bins.
    """
    sure, hits = _check_outcomes(confidences, right)
    places = _bin_numbers(sure)
    bins = []
    for place in np.unique(places):
        inside, right_ones = sure[places == place], int(hits[places == place].sum())
        right_share = share(right_ones, inside.size, reason=NO_ITEMS)
        bins.append(
            Bin(float(inside.min()), float(inside.max()), float(inside.mean()), right_share)
        )
    return bins


def expected_calibration_error(confidences: ArrayLike, right: ArrayLike) -> float | None:
    """Mean distance of confidence and share right over bins, weighted by items, in [0, 1].

    Guo et al. 2017, section 2; arguments as in ``reliability_bins``; None without items. It is
    biased upwards on few items: chance alone parts the two.
    """
    sure, hits = _check_outcomes(confidences, right)
    if sure.size == 0:
        return None
    gaps = np.bincount(_bin_numbers(sure), weights=sure - hits)
    return float(np.abs(gaps).sum() / sure.size)


def brier_score(confidences: ArrayLike, right: ArrayLike) -> float | None:
    """Mean squared distance of confidence and outcome (Brier 1950, for two outcomes), in [0, 1].

    Lower is better; items with a NaN confidence are left out; None without items.
    """
    sure, hits = _check_outcomes(confidences, right)
    return float(np.mean((sure - hits) ** 2)) if sure.size else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of one annotator on ``n`` items."""

    n: int
    expected_calibration_error: float | None
    brier: float | None
    bins: Sequence[Bin]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "n": self.n,
            "expected_calibration_error": self.expected_calibration_error,
            "brier": self.brier,
            "bins": [
                {
                    "low": group.low,
                    "high": group.high,
                    "confidence": group.confidence,
                    "right": group.right,
                }
                for group in self.bins
            ],
        }


def measure_calibration(confidences: Floats, right: Ints) -> Calibration | None:
    """Of items with a stated confidence in [0, 1] and a known truth; None without any."""
    if not len(confidences):
        return None
    hits = np.asarray(right, dtype=np.float64)
    return Calibration(
        n=len(hits),
        expected_calibration_error=expected_calibration_error(confidences, hits),
        brier=brier_score(confidences, hits),
        bins=reliability_bins(confidences, hits),
    )


def _bin_numbers(sure: Floats) -> Ints:
    """Number of the bin of each item."""
    if not sure.size:
        return np.zeros(0, dtype=np.int64)
    # Ends are confidences that occur: equal ones stay together in any order of items.
    ranks = -(-sure.size * np.arange(1, BINS) // BINS)
    inner = np.sort(sure)[ranks - 1]
    return np.searchsorted(inner, sure, side="left").astype(np.int64)


def _check_outcomes(confidences: ArrayLike, right: ArrayLike) -> tuple[Floats, Floats]:
    """Both as numbers, without the items that have no confidence."""
    sure = np.asarray(confidences, dtype=np.float64)
    hits = np.asarray(right, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != hits.shape:
        raise InvalidInput("Every item needs one confidence and one outcome.")
    if np.any((sure < 0) | (sure > 1)):
        raise InvalidInput("A confidence lies between 0 and 1.")
    if not np.isin(hits, (0, 1)).all():
        raise InvalidInput("An outcome is right or wrong: 1 or 0.")
    known = ~np.isnan(sure)
    return sure[known], hits[known]
