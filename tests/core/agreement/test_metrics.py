"""Weights of agreement and squared distances: the tables themselves."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import metrics
from labelhub.core.agreement.ratings import Floats
from tests.cases import all_cases

NAMES = st.frozensets(st.sampled_from("abcd"))
SCORES = st.lists(st.floats(0, 100), min_size=1, max_size=6)


def test_quadratic_weights() -> None:
    assert metrics.quadratic(range(4))[0] == pytest.approx([1, 8 / 9, 5 / 9, 0])
    assert metrics.quadratic([1, 2, 5])[1] == pytest.approx([15 / 16, 1, 7 / 16])


@given(SCORES, st.floats(0.5, 10), st.floats(-100, 100))
def test_the_unit_of_the_scores_does_not_matter_for_weights(
    scores: list[float], unit: float, zero: float
) -> None:
    rounded = [round(score, 2) for score in scores]
    moved = [unit * score + zero for score in rounded]
    if len(set(rounded)) > 1:
        assert metrics.quadratic(moved) == pytest.approx(metrics.quadratic(rounded), abs=1e-6)


@given(scores=SCORES)
def test_weights_are_symmetric_one_on_the_diagonal_and_from_nought_to_one(
    scores: list[float],
) -> None:
    table = metrics.quadratic(scores)
    assert (table == table.T).all()
    assert (np.diag(table) == 1).all()
    assert ((table >= 0) & (table <= 1)).all()


@pytest.mark.parametrize("distances", [metrics.interval_distance, metrics.ratio_distance])
@given(scores=SCORES)
def test_distances_are_symmetric_and_nought_on_the_diagonal(
    distances: Callable[[list[float]], Floats], scores: list[float]
) -> None:
    table = distances(scores)
    assert (table == table.T).all()
    assert (np.diag(table) == 0).all()
    assert (table >= 0).all()


def test_categories_of_one_score_are_the_same() -> None:
    assert (metrics.quadratic([3]) == 1).all()
    assert (metrics.quadratic([2, 2]) == 1).all()


@pytest.mark.parametrize(
    "table",
    [
        metrics.identity(0),
        metrics.quadratic([]),
        metrics.interval_distance([]),
        metrics.ratio_distance([]),
    ],
)
def test_no_category_is_an_empty_table(table: Floats) -> None:
    assert table.shape == (0, 0)


def test_interval_and_ratio_distances() -> None:
    assert metrics.interval_distance([1, 3, 6])[0].tolist() == [0, 4, 25]
    assert metrics.ratio_distance([1, 3])[0, 1] == pytest.approx(0.25)


def test_two_scores_of_nought_are_not_apart_by_ratio() -> None:
    assert metrics.ratio_distance([0, 0, 2]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_ordinal_distance_counts_the_ratings_between_two_ranks() -> None:
    """Half of the ratings at either end, all of those between (Krippendorff 2011)."""
    found = metrics.ordinal_distance(np.array([4.0, 10.0, 6.0]))
    assert found[0].tolist() == [0, 7**2, 15**2]
    assert found[1].tolist() == [7**2, 0, 8**2]


def test_ordinal_distances_of_many_rows_of_margins_at_once() -> None:
    margins = np.array([[4.0, 10.0, 6.0], [1.0, 0.0, 1.0]])
    found = metrics.ordinal_distance(margins)
    assert found.shape == (2, 3, 3)
    assert (found[1] == metrics.ordinal_distance(margins[1])).all()


@all_cases(
    ("one", "other", "masi", "jaccard"),
    [
        ("a", "a", 0, 0),
        ("a", "ab", 1 - 1 / 3, 1 / 2),
        ("ab", "abc", 1 - 4 / 9, 1 / 3),
        ("ab", "bc", 1 - 1 / 9, 2 / 3),
        ("a", "b", 1, 1),
        ("", "", 0, 0),
        ("", "a", 1, 1),
    ],
)
def test_distances_of_sets(one: str, other: str, masi: float, jaccard: float) -> None:
    sets = [frozenset(one), frozenset(other)]
    assert metrics.masi_distance(sets)[0, 1] == pytest.approx(masi)
    assert metrics.jaccard_distance(sets)[0, 1] == pytest.approx(jaccard)


@given(st.lists(NAMES, min_size=1, max_size=6))
def test_masi_is_never_below_jaccard_and_both_are_distances(sets: list[frozenset[str]]) -> None:
    masi, jaccard = metrics.masi_distance(sets), metrics.jaccard_distance(sets)
    assert (masi >= jaccard - 1e-12).all()
    for table in (masi, jaccard):
        assert (table == table.T).all()
        assert (np.diag(table) == 0).all()
        assert ((table >= 0) & (table <= 1)).all()


def test_two_sets_by_masi_and_jaccard() -> None:
    assert (metrics.jaccard({"a", "b"}, {"b", "c"}), metrics.masi({"a"}, {"a"})) == (1 / 3, 1)
    assert metrics.masi({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 9)
    assert metrics.masi({"a"}, {"a", "b"}) == pytest.approx(1 / 3)
    assert metrics.masi({"a"}, {"b"}) == metrics.masi(set(), {"b"}) == 0
    assert metrics.masi(set(), set()) == metrics.jaccard(set(), set()) == 1
