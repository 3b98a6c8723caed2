"""Ranks: Kendall's W and Spearman's rho against published values, scipy and their bounds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, rankdata, spearmanr

from labelhub.core.agreement.ranks import average_ranks, kendall_w, spearman
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import reference

VALUES = st.lists(st.integers(0, 6), min_size=2, max_size=30)
TABLES = st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=3, max_size=15)


def test_the_reference_case_without_ties() -> None:
    case = reference("kendall_w")
    found = kendall_w(np.transpose(case["input"]["rank_by_rater"]))
    assert found.w == pytest.approx(case["expected"], abs=case["tolerance"])
    assert (found.items, found.raters, found.dropped) == (6, 3, 0)


@given(VALUES)
def test_equal_values_share_the_mean_of_their_ranks(values: list[int]) -> None:
    np.testing.assert_array_equal(average_ranks(values), rankdata(values))


@given(TABLES)
def test_the_test_of_w_is_friedmans_with_ties(table: Any) -> None:
    found = kendall_w(table)
    if found.w is None:
        assert all(len(set(column)) == 1 for column in np.transpose(table).tolist())
        return
    theirs = friedmanchisquare(*table)
    assert found.test.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert found.test.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert 0 <= found.w <= 1 + 1e-12


@given(VALUES, st.integers(2, 5))
def test_raters_with_one_order_agree_wholly(values: list[int], raters: int) -> None:
    table = np.column_stack([np.array(values) * (each + 1) for each in range(raters)])
    w = kendall_w(table).w
    assert w == (None if len(set(values)) == 1 else pytest.approx(1))


@given(TABLES)
def test_w_is_the_mean_spearman_of_all_pairs_stretched(table: Any) -> None:
    columns = np.unique(np.array(table), axis=0).T
    if columns.shape[1] < 2 or any(len(set(each)) < columns.shape[1] for each in columns.tolist()):
        columns = np.array([[1, 2, 3, 4], [2, 1, 3, 4], [4, 3, 1, 2]])
    m = len(columns)
    pairs = [spearman(columns[i], columns[j]).rho or 0 for i in range(m) for j in range(i)]
    w = kendall_w(columns.T).w
    assert w is not None
    assert (m * w - 1) / (m - 1) == pytest.approx(np.mean(pairs))


@given(TABLES, st.permutations(range(4)))
def test_the_order_of_raters_and_items_does_not_matter(table: Any, order: list[int]) -> None:
    w = kendall_w(table).w
    moved = kendall_w(np.array(table)[::-1][:, order]).w
    assert moved == (None if w is None else pytest.approx(w))


def test_items_with_a_missing_rank_are_dropped_and_counted() -> None:
    table = np.array([[1, 2], [np.nan, 9], [2, 1], [3, 3]])
    found = kendall_w(table)
    assert (found.items, found.dropped) == (3, 1)
    assert found.w == kendall_w([[1, 2], [2, 1], [3, 3]]).w


@pytest.mark.parametrize("table", [[[1, 1], [1, 1]], [[1, 2]], [[1], [2]], np.empty((0, 3))])
def test_without_two_items_and_raters_that_tell_apart_w_is_undefined(table: Any) -> None:
    found = kendall_w(table)
    assert found.w is found.test.p is None


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30))
def test_spearman_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    one, other = np.transpose(pairs)
    found = spearman(one, other)
    if len(set(one.tolist())) == 1 or len(set(other.tolist())) == 1:
        assert found.rho is None
    else:
        assert found.rho == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
    assert found.n == len(pairs)


def test_pairs_with_a_missing_value_are_dropped_before_ranking() -> None:
    found = spearman([1, 2, np.nan, 3], [1, 2, 0, np.nan])
    assert found.rho == pytest.approx(1)
    assert (found.n, found.dropped) == (2, 2)
    assert spearman([], []) == (None, 0, 0)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InvalidInput):
        kendall_w([1, 2, 3])
    with pytest.raises(InvalidInput):
        spearman([1, 2], [1])
