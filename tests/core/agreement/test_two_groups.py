"""Two independent groups against published values and against counting everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.agreement.significance import fisher, mann_whitney, median, newcombe
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

COUNTS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("counts", "interval"),
    [
        # Newcombe 1998, table II, method 10.
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((10, 10, 0, 20), (0.6791, 1.0000)),
    ],
)
def test_newcombe_is_as_published(
    counts: tuple[int, int, int, int], interval: tuple[float, float]
) -> None:
    assert newcombe(*counts) == pytest.approx(interval, abs=6e-5)


@given(COUNTS, COUNTS)
def test_the_interval_holds_the_difference_and_turns_with_its_sides(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    low, high = newcombe(*one, *other)
    back = newcombe(*other, *one)

    assert -1 <= low <= high <= 1
    assert (back.low, back.high) == pytest.approx((-high, -low))
    if one[1] and other[1]:
        assert low - 1e-9 <= one[0] / one[1] - other[0] / other[1] <= high + 1e-9


@given(COUNTS, COUNTS)
def test_fishers_test_is_that_of_scipy(one: tuple[int, int], other: tuple[int, int]) -> None:
    table = [[one[0], one[1] - one[0]], [other[0], other[1] - other[0]]]

    assert fisher(*one, *other) == pytest.approx(stats.fisher_exact(table).pvalue, abs=1e-9)


@pytest.mark.parametrize("counts", [(3, 2, 1, 4), (-1, 2, 1, 4), (1, 2, 5, 4)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(InvalidInput):
        fisher(*counts)
    with pytest.raises(InvalidInput):
        newcombe(*counts)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
)
def test_mann_whitney_is_that_of_scipy(one: list[int], other: list[int]) -> None:
    found = mann_whitney(one, other)

    if len({*one, *other}) == 1:
        assert found is None
    else:
        known = stats.mannwhitneyu(one, other, method="asymptotic", use_continuity=True).pvalue
        assert found == pytest.approx(known)


def test_mann_whitney_of_nothing_is_undefined() -> None:
    assert mann_whitney([], [1.0]) is None
    assert mann_whitney([1.0], []) is None


@all_cases("n", [6, 8, 9, 20, 50, 101])
def test_a_medians_interval_covers_what_it_says_and_hardly_more(n: int) -> None:
    found = median(list(range(n)))

    outside = found["low"]
    assert outside is not None
    assert found["high"] == n - 1 - outside
    assert stats.binom.cdf(outside, n, 0.5) <= 0.025 < stats.binom.cdf(outside + 1, n, 0.5)
