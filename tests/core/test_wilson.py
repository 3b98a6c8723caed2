"""The bounds that all parts share; the published values stand in tests/core/agreement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.wilson import wilson_bounds

Z = 1.959963984540054


@given(st.integers(0, 300), st.integers(0, 300))
def test_it_is_that_of_scipy(part: int, rest: int) -> None:
    n = max(1, part + rest)
    known = stats.binomtest(part, n).proportion_ci(0.95, "wilson")
    assert wilson_bounds(part / n, n, Z) == pytest.approx((known.low, known.high), abs=1e-9)


@given(st.floats(0, 1), st.floats(0.1, 1e9), st.floats(0, 8))
def test_of_any_effective_number_the_interval_holds_the_share(
    share: float, n: float, z: float
) -> None:
    low, high = wilson_bounds(share, n, z)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
