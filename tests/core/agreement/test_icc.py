"""Intraclass correlations: the published example, its intervals, and what they must not depend on.

The example is table 2 of Shrout and Fleiss (1979): six targets, four judges.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.reports.kind_agreement import Icc, icc
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
FORMS = ("icc_2_1", "icc_2_k")
TABLES = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=12)


def forms(table: Any) -> list[Icc]:
    found = icc(table)
    return [getattr(found, name) for name in FORMS]


def values(table: Any) -> list[float | None]:
    return [form.value for form in forms(table)]


def approx(numbers: list[float | None]) -> list[Any]:
    return [
        None if number is None else pytest.approx(number, rel=1e-6, abs=1e-6) for number in numbers
    ]


def test_the_published_example() -> None:
    assert values(TARGETS) == pytest.approx([0.29, 0.62], abs=0.005)


def test_the_intervals_of_the_published_example() -> None:
    lows = [form.low for form in forms(TARGETS)]
    highs = [form.high for form in forms(TARGETS)]
    assert lows == pytest.approx([0.02, 0.07], abs=0.006)
    assert highs == pytest.approx([0.76, 0.93], abs=0.006)


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


@all_cases(
    "table", [[[0.1, 0.1], [0.1, 0.1]], [[1e6 / 3] * 2] * 3, [[1, 2]], [[1], [2]], np.empty((0, 2))]
)
def test_without_variation_or_two_items_and_raters_all_is_undefined(table: Any) -> None:
    assert values(table) == [None] * 2


@pytest.mark.parametrize("wrong", [[1, 2, 3], [[1, float("inf")], [2, 3]]])
def test_what_is_no_table_of_numbers_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        icc(wrong)
