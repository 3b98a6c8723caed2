"""Cochran's Q: a worked example by hand, its kinship with McNemar, missing answers, the pairs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.cochran import cochran
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import mcnemar
from labelhub.core.errors import InvalidInput

#: Three sources, twelve items: 10, 7 and 4 right.
RIGHT = [[1, 1, 1]] * 3 + [[1, 1, 0]] * 3 + [[1, 0, 0]] * 3 + [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
ANSWERS = st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=40)


def test_an_example_by_hand() -> None:
    # Items tell apart where 1 or 2 of 3 are right: 3 x 2 + 3 x 2 + 2 + 2 = 16 = 3 N - sum R^2.
    found = cochran(RIGHT)
    q = 2 * (3 * (100 + 49 + 16) - 21**2) / 16
    assert found.q.statistic == pytest.approx(q)
    assert found.q.df == 2
    assert found.q.p == pytest.approx(np.exp(-q / 2))
    assert (found.items, found.dropped) == (12, 0)


def test_the_pairs_are_exact_mcnemar_tests_with_holm() -> None:
    pairs = cochran(RIGHT).pairs
    assert [(each.one, each.other) for each in pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [(each.only_one, each.only_other) for each in pairs] == [(4, 1), (6, 0), (4, 1)]
    plain = [mcnemar(4, 1), mcnemar(6, 0), mcnemar(4, 1)]
    assert [each.p for each in pairs] == plain
    assert [each.p_holm for each in pairs] == holm(plain)


@given(ANSWERS, st.permutations(range(3)))
def test_the_order_of_items_and_sources_does_not_matter(right: Any, order: list[int]) -> None:
    table = np.array(right)
    assert cochran(table[::-1][:, order]).q == cochran(table).q


@given(ANSWERS)
def test_items_that_tell_nothing_apart_change_nothing(right: Any) -> None:
    assert cochran([*right, [1, 1, 1], [0, 0, 0]]).q.statistic == cochran(right).q.statistic


def test_items_without_all_answers_are_dropped_and_counted() -> None:
    found = cochran([*RIGHT, [1, -1, 0], [-1, -1, -1]])
    assert (found.items, found.dropped) == (12, 2)
    assert found.q == cochran(RIGHT).q
    assert found.pairs == cochran(RIGHT).pairs


@pytest.mark.parametrize("right", [[[1, 1], [0, 0]], [[-1, 1]], np.empty((0, 3))])
def test_without_a_difference_q_is_undefined_and_no_pair_differs(right: Any) -> None:
    found = cochran(right)
    assert found.q.statistic is found.q.p is None
    assert all(pair.p == pair.p_holm == 1 for pair in found.pairs)


@pytest.mark.parametrize("wrong", [[[1], [0]], [1, 0], [[1, 2]], [[0.5, 1]]])
def test_what_is_no_table_of_right_and_wrong_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        cochran(wrong)
