"""σ is held against what became of what it doubted."""

import numpy as np
import pytest

from labelhub.core.echo.calibration import bin_doubts, calibration_error, new_bins


def test_the_calibration_error_is_the_mean_gap_weighted_by_how_many_there_are() -> None:
    bins = np.array([[100.0, 300.0, 0.0], [10.0, 150.0, 0.0], [20.0, 120.0, 0.0]])
    assert calibration_error(bins) == pytest.approx((100 * 0.1 + 300 * 0.1) / 400)
    assert calibration_error(np.array([[10.0], [3.0], [3.0]])) == 0


def test_a_probability_of_one_falls_into_the_last_bin() -> None:
    bins = new_bins()
    bin_doubts(bins, np.array([0.0, 0.05, 0.999, 1.0]), np.array([False, True, True, True]))
    assert bins[0].tolist() == [2, *[0] * 8, 2]
    assert bins[1][[0, 9]] == pytest.approx([0.05, 1.999])
    assert bins[2][[0, 9]].tolist() == [1, 2]
