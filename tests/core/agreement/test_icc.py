"""Intraclass correlations: the published example, its intervals, and what they must not depend on.

The example is table 2 of Shrout and Fleiss (1979): six targets, four judges.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution

from labelhub.core.agreement.icc import Icc, icc
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
FORMS = ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")
TABLES = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=12)


def forms(table: Any) -> list[Icc]:
    found = icc(table)
    return [getattr(found, name) for name in FORMS]


def values(table: Any) -> list[float | None]:
    return [form.value for form in forms(table)]


def approx(numbers: list[float | None]) -> list[Any]:
    return [None if each is None else pytest.approx(each, rel=1e-6, abs=1e-6) for each in numbers]


def test_the_published_example() -> None:
    assert values(TARGETS) == pytest.approx([0.17, 0.29, 0.71, 0.44, 0.62, 0.91], abs=0.005)


def test_the_intervals_of_the_published_example() -> None:
    lows = [form.low for form in forms(TARGETS)]
    highs = [form.high for form in forms(TARGETS)]
    assert lows == pytest.approx([-0.13, 0.02, 0.34, -0.88, 0.07, 0.68], abs=0.006)
    assert highs == pytest.approx([0.72, 0.76, 0.95, 0.91, 0.93, 0.99], abs=0.006)


def test_the_f_tests_of_the_published_example() -> None:
    one_way, two_way = forms(TARGETS)[0], forms(TARGETS)[2]
    assert [one_way.f, two_way.f] == pytest.approx([1.79, 11.03], abs=0.01)
    assert (one_way.df1, one_way.df2) == (5, 18)
    assert (two_way.df1, two_way.df2) == (5, 15)
    assert one_way.p == pytest.approx(f_distribution.sf(one_way.f, 5, 18))
    assert two_way.p == pytest.approx(f_distribution.sf(two_way.f, 5, 15))


@given(TABLES)
def test_the_value_lies_in_its_interval_and_below_one(table: Any) -> None:
    for form in forms(table):
        if form.value is not None:
            assert form.value <= 1
        if form.value is not None and form.low is not None and form.high is not None:
            assert form.low - 1e-9 <= form.value <= form.high + 1e-9


@given(TABLES, st.permutations(range(3)), st.integers(-50, 50), st.integers(1, 9))
def test_order_origin_and_unit_do_not_matter(
    table: Any, order: list[int], shift: int, unit: int
) -> None:
    moved = np.array(table)[::-1][:, order] * unit + shift
    assert values(moved) == approx(values(table))


@given(TABLES, st.integers(1, 20))
def test_a_rater_who_is_always_higher_counts_only_where_raters_differ(
    table: Any, higher: int
) -> None:
    moved = np.array(table) + np.array([0, 0, higher])
    before, after = values(table), values(moved)
    assert [after[2], after[5]] == approx([before[2], before[5]])


def test_without_differences_of_raters_the_two_way_forms_come_near_each_other() -> None:
    levelled = np.array(TARGETS) - np.mean(TARGETS, axis=0)
    one_way, sampled, fixed = values(levelled)[:3]
    assert None not in (one_way, sampled, fixed)
    assert one_way == pytest.approx(sampled, abs=0.06)
    assert sampled == pytest.approx(fixed, abs=0.06)


def test_raters_who_are_one_agree_wholly_and_leave_nothing_to_chance() -> None:
    found = forms([[1, 1], [2, 2], [4, 4]])
    assert [form.value for form in found] == pytest.approx([1] * 6)
    assert all(form.f is form.low is form.p is None for form in found)


def test_a_constant_distance_is_full_consistency_but_not_full_agreement() -> None:
    found = icc([[1, 2], [2, 3], [4, 5]])
    assert found.icc_3_1.value == pytest.approx(1)
    assert found.icc_2_1.value is not None
    assert found.icc_2_1.value < 0.9


@all_cases(
    "table", [[[0.1, 0.1], [0.1, 0.1]], [[1e6 / 3] * 2] * 3, [[1, 2]], [[1], [2]], np.empty((0, 2))]
)
def test_without_variation_or_two_items_and_raters_all_is_undefined(table: Any) -> None:
    assert values(table) == [None] * 6


def test_items_with_a_missing_rating_are_dropped_and_counted() -> None:
    found = icc(np.vstack([TARGETS, [1, np.nan, 3, 4]]))
    assert (found.items, found.raters, found.dropped) == (6, 4, 1)
    assert found.icc_2_1 == icc(TARGETS).icc_2_1


@pytest.mark.parametrize("wrong", [[1, 2, 3], [[1, float("inf")], [2, 3]]])
def test_what_is_no_table_of_numbers_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        icc(wrong)
