"""Cochran's Q: a worked example by hand, its kinship with McNemar, missing answers, the pairs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.significance import cochran
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


@given(ANSWERS)
def test_items_that_tell_nothing_apart_change_nothing(right: Any) -> None:
    assert cochran([*right, [1, 1, 1], [0, 0, 0]]).q.statistic == cochran(right).q.statistic


@pytest.mark.parametrize("wrong", [[[1], [0]], [1, 0], [[1, 2]], [[0.5, 1]]])
def test_what_is_no_table_of_right_and_wrong_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        cochran(wrong)
