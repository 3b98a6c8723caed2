"""Calibration: bins, expected calibration error and the Brier score with its parts."""

import numpy as np
import pytest

from labelhub.core.agreement.calibration import (
    brier_score,
    expected_calibration_error,
    reliability_bins,
)
from labelhub.core.errors import InvalidInput


def test_a_bin_tells_mean_confidence_and_share_right_with_its_interval() -> None:
    (only,) = reliability_bins([0.95] * 4, [1, 1, 0, 1])
    assert only.confidence == pytest.approx(0.95)
    assert only.right["value"] == 0.75
    assert only.right["n"] == 4
    assert only.right["low"] == pytest.approx(0.3006, abs=1e-4)
    assert only.right["high"] == pytest.approx(0.9544, abs=1e-4)


def test_bins_of_equal_mass_hold_about_as_many_items() -> None:
    sure = np.linspace(0.9, 1, 100) ** 2
    bins = reliability_bins(
        sure,
        np.ones(100),
    )
    assert [each.right["n"] for each in bins] == [10] * 10


def test_equal_confidences_are_never_parted() -> None:
    bins = reliability_bins(
        [0.5] * 9 + [0.9],
        [1, 0] * 5,
    )
    assert [each.right["n"] for each in bins] == [9, 1]


def test_expected_calibration_error_by_hand() -> None:
    sure, right = [0.95, 0.95, 0.95, 0.95, 0.55, 0.55], [1, 1, 1, 0, 1, 0]
    expected = (4 * abs(0.95 - 0.75) + 2 * abs(0.55 - 0.5)) / 6
    assert expected_calibration_error(sure, right) == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [[1.2], [-0.1], [float("inf")]])
def test_a_confidence_outside_0_to_1_is_refused(wrong: list[float]) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        brier_score(wrong, [1])


def test_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one outcome"):
        brier_score([0.5, 0.5], [1])
    with pytest.raises(InvalidInput, match="right or wrong"):
        brier_score([0.5], [2])
