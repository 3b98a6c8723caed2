"""Student's t and the tests of means: against scipy, published values and degenerate data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.agreement.student import (
    NO_VARIATION,
    TOO_FEW_VALUES,
    less_by_moments,
    one_sample_less,
    paired_t,
    t_cdf,
    t_quantile,
    welch_t,
)
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import reference

SLEEP_A = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_B = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
VALUES = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=20)


@pytest.mark.parametrize("df", [1, 2.5, 9, 1000])
def test_the_distribution_is_that_of_scipy(df: float) -> None:
    t = np.linspace(-6, 6, 25)
    np.testing.assert_allclose(t_cdf(t, df), stats.t.cdf(t, df), rtol=1e-10)
    shares = np.linspace(0.001, 0.999, 25)
    np.testing.assert_allclose(t_quantile(shares, df), stats.t.ppf(shares, df), rtol=1e-8)


def test_the_quantile_undoes_the_distribution() -> None:
    shares = np.array([0.01, 0.3, 0.5, 0.975])
    np.testing.assert_allclose(t_cdf(t_quantile(shares, 7), 7), shares, rtol=1e-10)


def test_students_sleep() -> None:
    case = reference("student_sleep")
    test = paired_t(case["input"]["a"], case["input"]["b"])
    found = [test.t, test.p, test.low, test.high]
    assert found == pytest.approx(case["expected"], abs=case["tolerance"])


def test_the_paired_test_is_that_of_scipy() -> None:
    test, other = paired_t(SLEEP_A, SLEEP_B), stats.ttest_rel(SLEEP_A, SLEEP_B)
    assert (test.t, test.p, test.df) == pytest.approx((other.statistic, other.pvalue, 9))
    assert (test.low, test.high) == pytest.approx(tuple(other.confidence_interval()))
    assert test.difference == pytest.approx(-1.58)


def test_welchs_test_is_that_of_scipy() -> None:
    test = welch_t(SLEEP_A, SLEEP_B[:7])
    other = stats.ttest_ind(SLEEP_A, SLEEP_B[:7], equal_var=False)
    assert (test.t, test.p, test.df) == pytest.approx((other.statistic, other.pvalue, other.df))
    assert (test.low, test.high) == pytest.approx(tuple(other.confidence_interval()))


def test_the_one_sided_test_is_that_of_scipy() -> None:
    test, other = one_sample_less(SLEEP_A, 2.0), stats.ttest_1samp(SLEEP_A, 2.0, alternative="less")
    assert (test.t, test.p) == pytest.approx((other.statistic, other.pvalue))
    moments = less_by_moments(10, float(np.mean(SLEEP_A)), float(np.var(SLEEP_A, ddof=1)), 2.0)
    assert moments.p == pytest.approx(test.p)


def test_welch_allows_one_group_without_variation() -> None:
    test = welch_t([41.1] * 5, [43.0, 44.0, 42.0, 45.0, 43.0])
    assert test.df == pytest.approx(4)
    assert test.p == pytest.approx(stats.ttest_1samp([43, 44, 42, 45, 43], 41.1).pvalue)


def test_values_without_variation_give_no_t_but_the_difference() -> None:
    for test in (paired_t([0.3, 0.2, 0.7], [0.2, 0.1, 0.6]), welch_t([3.0, 3.0], [2.9, 2.9])):
        assert (test.t, test.p, test.low, test.reason) == (None, None, None, NO_VARIATION)
        assert test.difference == pytest.approx(0.1)
    assert one_sample_less([0.0] * 40, 0.1).reason == NO_VARIATION


def test_too_few_values_say_so() -> None:
    for test in (paired_t([1.0], [2.0]), welch_t([1.0], [2.0, 3.0]), one_sample_less([1.0], 0)):
        assert (test.t, test.reason) == (None, TOO_FEW_VALUES)
    for nothing in (paired_t([], []), welch_t([], [1.0]), one_sample_less([], 0)):
        assert (nothing.difference, nothing.reason) == (None, TOO_FEW_VALUES)


def test_a_pair_with_a_missing_value_is_left_out() -> None:
    nan = float("nan")
    assert paired_t([*SLEEP_A, nan, 1.0], [*SLEEP_B, 1.0, nan]) == paired_t(SLEEP_A, SLEEP_B)
    assert welch_t([*SLEEP_A, nan], SLEEP_B) == welch_t(SLEEP_A, SLEEP_B)


def test_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="as many values"):
        paired_t([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInput, match="finite"):
        welch_t([1.0, float("inf")], [1.0, 2.0])
    with pytest.raises(InvalidInput, match="positive"):
        t_cdf(0, 0)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        t_quantile(1.5, 3)


@given(VALUES, VALUES)
def test_exchanging_the_groups_turns_the_sign(a: list[float], b: list[float]) -> None:
    one, other = welch_t(a, b), welch_t(b, a)
    assert one.p == (None if other.p is None else pytest.approx(other.p))
    assert one.difference == pytest.approx(-(other.difference or 0.0))


@given(VALUES, st.integers(-1000, 1000))
def test_a_shift_of_both_sides_changes_nothing(a: list[float], shift: int) -> None:
    b = a[::-1]
    moved = paired_t([x + shift for x in a], [x + shift for x in b])
    assert moved == paired_t(a, b)
