"""Bootstrap intervals of a statistic of rows: the law schools, and scipy's of the same data."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.agreement.bca import bca_interval, percentile_interval
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import reference


def pearson(rows: Any) -> float:
    # As np.corrcoef, which takes several times as long for a few rows.
    (x, y) = (rows - rows.mean(axis=0)).T
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


@pytest.mark.thorough
def test_the_correlation_of_the_law_schools() -> None:
    case = reference("law_school_bootstrap")
    rows, level = case["input"]["lsat_gpa"], case["input"]["level"]
    found = [*percentile_interval(rows, pearson, level), *bca_interval(rows, pearson, level)]
    assert found == pytest.approx(case["expected"], abs=case["tolerance"])


@pytest.mark.parametrize(
    ("ours", "theirs"), [(percentile_interval, "percentile"), (bca_interval, "BCa")]
)
def test_a_skewed_mean_has_the_ends_that_scipy_gives(ours: Any, theirs: str) -> None:
    rows = np.random.default_rng(3).exponential(size=30)
    known = stats.bootstrap(
        (rows,), np.mean, confidence_level=0.9, method=theirs, n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert ours(rows, np.mean, 0.9) == pytest.approx((known.low, known.high), abs=0.015)


def test_confidence_widens_the_interval_and_the_seed_repeats_it() -> None:
    rows = np.arange(20.0) ** 2
    for way in (percentile_interval, bca_interval):
        narrow, wide = way(rows, np.mean, 0.8, draws=500), way(rows, np.mean, 0.99, draws=500)
        assert wide.low < narrow.low < narrow.high < wide.high
        assert way(rows, np.mean, 0.8, draws=500) == narrow
        assert way(rows, np.mean, 0.8, draws=500, seed=1) != narrow


def test_bca_does_not_change_with_the_scale_of_the_statistic() -> None:
    rows = np.random.default_rng(8).exponential(size=25)
    plain = bca_interval(rows, np.mean, draws=4001)
    logs = bca_interval(rows, lambda each: np.log(np.mean(each)), draws=4001)
    assert np.log(plain) == pytest.approx(logs, abs=0.03)


@pytest.mark.thorough
@pytest.mark.parametrize("way", [percentile_interval, bca_interval])
@given(
    values=st.lists(st.integers(-20, 20), min_size=3, max_size=12),
    unit=st.sampled_from([-4, -1, 0.5, 8]),
    zero=st.integers(-30, 30),
)
def test_the_interval_goes_with_the_unit_of_the_values(
    way: Any, values: list[int], unit: float, zero: int
) -> None:
    plain = way(values, np.mean, 0.9, draws=99)
    moved = way(unit * np.array(values) + zero, np.mean, 0.9, draws=99)
    if np.isnan(plain).any():
        assert np.isnan(moved).all()
        return
    assert min(values) <= plain.low <= plain.high <= max(values)
    expected = sorted(unit * end + zero for end in plain)
    assert moved == pytest.approx(expected, abs=1e-6)


def test_what_does_not_vary_has_no_interval() -> None:
    for way in (percentile_interval, bca_interval):
        for rows in ([], [1.0], [2.0, 2.0, 2.0]):
            assert np.isnan(way(rows, np.mean, draws=50)).all()
        assert np.isnan(way([1.0, 2.0], lambda _rows: np.nan, draws=50)).all()


def test_undefined_draws_are_left_out() -> None:
    rows = np.array([[0, 1], [1, 3], [2, 2], [3, 5]], dtype=float)
    assert np.isfinite(percentile_interval(rows, pearson, draws=400)).all()
    assert np.isfinite(bca_interval(rows, pearson, draws=400)).all()


def test_where_the_value_is_above_all_draws_there_is_no_bca() -> None:
    # With 200 rows no draw holds as many different values as the data.
    assert np.isnan(bca_interval(np.arange(200), lambda each: len({*each}), draws=50)).all()


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"draws": 0}, {"confidence": 0.0}])
def test_wrong_input_is_refused(wrong: Any) -> None:
    for way in (percentile_interval, bca_interval):
        with pytest.raises(InvalidInput):
            way([1.0, 2.0], np.mean, **wrong)
        with pytest.raises(InvalidInput):
            way(3.0, np.mean)
