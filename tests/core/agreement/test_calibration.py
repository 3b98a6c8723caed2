"""Calibration: bins, expected calibration error and the Brier score with its parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.calibration import (
    Binning,
    brier_score,
    expected_calibration_error,
    reliability_bins,
)
from labelhub.core.errors import InvalidInput

ITEMS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=60)
BY: list[Binning] = ["width", "mass"]


def test_a_bin_holds_its_upper_edge() -> None:
    bins = reliability_bins([0.0, 0.1, 0.11, 0.7, 1.0], [0, 0, 1, 1, 1])
    assert [(each.low, each.high) for each in bins] == [(0, 0.1), (0.11, 0.11), (0.7, 0.7), (1, 1)]


def test_a_bin_tells_mean_confidence_and_share_right_with_its_interval() -> None:
    (only,) = reliability_bins([0.91, 0.95, 0.99, 0.95], [1, 1, 0, 1])
    assert only.confidence == pytest.approx(0.95)
    assert only.right["value"] == 0.75
    assert only.right["n"] == 4
    assert only.right["low"] == pytest.approx(0.3006, abs=1e-4)
    assert only.right["high"] == pytest.approx(0.9544, abs=1e-4)


def test_bins_of_equal_mass_hold_about_as_many_items() -> None:
    sure = np.linspace(0.9, 1, 100) ** 2
    bins = reliability_bins(sure, np.ones(100), bins=5, by="mass")
    assert [each.right["n"] for each in bins] == [20] * 5


def test_equal_confidences_are_never_parted() -> None:
    bins = reliability_bins([0.5] * 9 + [0.9], [1, 0] * 5, bins=5, by="mass")
    assert [each.right["n"] for each in bins] == [9, 1]


def test_expected_calibration_error_by_hand() -> None:
    sure, right = [0.95, 0.95, 0.95, 0.95, 0.55, 0.55], [1, 1, 1, 0, 1, 0]
    expected = (4 * abs(0.95 - 0.75) + 2 * abs(0.55 - 0.5)) / 6
    assert expected_calibration_error(sure, right) == pytest.approx(expected)
    assert expected_calibration_error(sure, right, bins=2, by="mass") == pytest.approx(expected)


def test_the_brier_score_by_hand() -> None:
    assert brier_score([0.9, 0.2, 1.0], [1, 0, 0]) == pytest.approx((0.01 + 0.04 + 1) / 3)


def test_items_without_a_confidence_are_left_out() -> None:
    assert brier_score([0.9, float("nan")], [1, 0]) == pytest.approx(0.01)


@pytest.mark.parametrize("wrong", [[1.2], [-0.1], [float("inf")]])
def test_a_confidence_outside_0_to_1_is_refused(wrong: list[float]) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        brier_score(wrong, [1])


def test_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one outcome"):
        brier_score([0.5, 0.5], [1])
    with pytest.raises(InvalidInput, match="right or wrong"):
        brier_score([0.5], [2])
    with pytest.raises(InvalidInput, match="at least one bin"):
        reliability_bins([0.5], [1], bins=0)


@pytest.mark.parametrize("by", BY)
@given(items=ITEMS, bins=st.integers(1, 15), seed=st.integers(0, 9))
def test_the_order_of_items_does_not_matter(
    by: Binning, items: list[tuple[int, bool]], bins: int, seed: int
) -> None:
    sure, right = np.array([step / 20 for step, _ in items]), np.array([hit for _, hit in items])
    mixed = np.random.default_rng(seed).permutation(len(items))
    error = expected_calibration_error(sure, right, bins=bins, by=by)
    assert error is not None
    assert 0 <= error <= 1
    again = expected_calibration_error(sure[mixed], right[mixed], bins=bins, by=by)
    assert again == pytest.approx(error)
    placed = reliability_bins(sure, right, bins=bins, by=by)
    assert sum(each.right["n"] for each in placed) == len(items)
