"""Whether a machine that says it is sure is right as often as it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.calibration import (
    Bin,
    brier_score,
    expected_calibration_error,
    reliability_bins,
)
from labelhub.core.agreement.ratings import Floats, Ints


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of one annotator on ``n`` items; see ``labelhub.core.agreement.calibration``."""

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
                    "low": one.low,
                    "high": one.high,
                    "confidence": one.confidence,
                    "right": one.right,
                }
                for one in self.bins
            ],
        }


def calibration(confidences: Floats, right: Ints) -> Calibration | None:
    """Of items with a stated confidence in [0, 1] and a known truth; None without any.

    Bins hold about equally many items: confidences crowd near 1, where equal widths tell little.
    """
    if not len(confidences):
        return None
    hits = np.asarray(right, dtype=np.float64)
    return Calibration(
        n=len(hits),
        expected_calibration_error=expected_calibration_error(confidences, hits, by="mass"),
        brier=brier_score(confidences, hits),
        bins=reliability_bins(confidences, hits, by="mass"),
    )
