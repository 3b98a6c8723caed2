"""The jackknife: known cases, brute force, and clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.agreement.coefficients.chance import gwet_ac
from labelhub.core.agreement.coefficients.sums import parts
from labelhub.core.agreement.jackknife import jackknife
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

VALUES = st.lists(st.integers(0, 9).map(float), min_size=2, max_size=20)
#: The hormone patches of Efron and Tibshirani 1993, table 10.1: z = old - placebo, y = new - old.
PATCHES = [
    *((8406, -1200), (2342, 2601), (8187, -2705), (8459, 1982)),
    *((4795, -1290), (3516, 351), (4796, -638), (10238, -2719)),
]


def mean(sums: Floats) -> Floats:
    return np.asarray(sums[:, 1] / sums[:, 0])


def variance(sums: Floats) -> Floats:
    return np.asarray(sums[:, 2] / sums[:, 0] - mean(sums) ** 2)


def moments(values: list[float]) -> Floats:
    x = np.array(values)
    return np.stack([np.ones_like(x), x, x**2], axis=1)


@given(VALUES)
def test_of_a_mean_it_is_students_interval(values: list[float]) -> None:
    found = jackknife(moments(values), mean, confidence=0.9)
    error = float(stats.sem(values))
    assert found.error == pytest.approx(error, abs=1e-9)
    assert found.bias == pytest.approx(0, abs=1e-9)
    half = stats.t.ppf(0.95, len(values) - 1) * error
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))


@given(VALUES)
def test_it_takes_the_bias_from_the_plain_variance(values: list[float]) -> None:
    found = jackknife(moments(values), variance)
    assert found.value - found.bias == pytest.approx(np.var(values, ddof=1), abs=1e-6)


def test_the_ratio_of_the_hormone_patches() -> None:
    # Efron and Tibshirani 1993, section 10.6: jackknife estimate of bias .0080, of error .106.
    found = jackknife(np.array(PATCHES, dtype=float), lambda sums: sums[:, 1] / sums[:, 0])
    assert found.value == pytest.approx(-0.0713, abs=5e-5)
    assert found.bias == pytest.approx(0.0080, abs=5e-5)
    assert found.error == pytest.approx(0.1055, abs=1e-3)


def test_a_coefficient_with_one_item_left_out_at_a_time() -> None:
    counts = np.array([[3, 0], [2, 1], [0, 3], [3, 0], [1, 2]])
    columns, value = parts(counts), gwet_ac(2)
    left = np.array([value(np.delete(columns, at, axis=0).sum(axis=0)[None])[0] for at in range(5)])
    found = jackknife(columns, value)
    assert found.error == pytest.approx(np.sqrt(4 / 5 * ((left - np.mean(left)) ** 2).sum()))
    assert found.bias == pytest.approx(4 * (np.mean(left) - found.value))
    assert found.units == 5


@given(VALUES)
def test_clusters_are_left_out_whole(values: list[float]) -> None:
    twice = [each for each in values for _ in range(2)]
    clusters = np.repeat(np.arange(len(values)) * 3 + 5, 2)
    found = jackknife(moments(twice), mean, clusters=clusters)
    assert found == pytest.approx(jackknife(moments(values), mean), abs=1e-9)


def test_one_unit_and_undefined_values_have_no_error() -> None:
    assert np.isnan(jackknife(moments([1.0]), mean).error)
    one = jackknife(moments([1.0, 2.0]), mean, clusters=np.zeros(2, dtype=np.int64))
    assert (one.value, one.units) == (1.5, 1)
    assert np.isnan(one.low)
    nothing = jackknife(np.zeros((3, 1)), lambda sums: np.full(len(sums), np.nan))
    assert np.isnan([nothing.value, nothing.error]).all()


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InvalidInput):
        jackknife(np.zeros(3), mean)
    with pytest.raises(InvalidInput):
        jackknife(moments([1.0, 2.0]), mean, confidence=1.0)
    with pytest.raises(InvalidInput, match="cluster"):
        jackknife(moments([1.0, 2.0]), mean, clusters=np.zeros(3, dtype=np.int64))
