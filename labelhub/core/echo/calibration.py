"""Whether σ means what it says: of predictions that it doubts by so much, as many are wrong.

Bins are (3, BINS): how many predictions had a σ there, the sum of these, how many were wrong.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

BINS = 10


def new_bins() -> Floats:
    """Bins with nothing in them."""
    return np.zeros((3, BINS))


def bin_doubts(bins: Floats, doubts: Floats, wrong: Bools) -> None:
    """Count predictions, in place, by their σ."""
    at = np.minimum((doubts * BINS).astype(int), BINS - 1)
    np.add.at(bins[0], at, 1)
    np.add.at(bins[1], at, doubts)
    np.add.at(bins[2], at, wrong)


def calibration_error(bins: Floats) -> float:
    """Expected calibration error of σ (Naeini 2015)."""
    counts, said, wrong = bins
    return float(np.abs(said - wrong).sum() / counts.sum())
