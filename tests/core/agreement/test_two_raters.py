"""Two raters from their table: published numbers, and what prevalence and bias do to kappa."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from labelhub.core.agreement.coefficients import pairwise, two_raters
from labelhub.core.agreement.coefficients.two_raters import (
    Estimate,
    brennan_prediger,
    cohen,
    percent,
)
from labelhub.core.agreement.ratings import from_matrix
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

#: Gwet 2014, two abstractors and 100 patients.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
TABLES = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 12), min_size=q, max_size=q), min_size=q, max_size=q)
)
ALL = [percent, cohen, brennan_prediger]


def near(number: float | None, error: float = 1e-9) -> object:
    return number if number is None else pytest.approx(number, abs=error)


@given(TABLES)
def test_expanding_a_table_and_counting_again_gives_the_table(table: list[list[int]]) -> None:
    pairs = pairwise.expand(table)
    assert pairs.shape == (np.sum(table), 2)
    q = len(table)
    assert pairwise.contingency(pairs[:, 0], pairs[:, 1], q).tolist() == table
    assert from_matrix(pairs, q).n_items == np.sum(table)


@all_cases("table", [[[1, 2]], [1, 2], [[1.5, 0], [0, 1]], [[1, -1], [0, 1]], []])
def test_what_is_no_table_of_two_raters_is_refused(table: ArrayLike) -> None:
    for measure in (pairwise.expand, cohen):
        with pytest.raises(InvalidInput):
            measure(table)


@pytest.mark.parametrize(
    ("measure", "value", "error"),
    [
        (percent, 0.89, 0.0312890),
        (cohen, 0.7964094, 0.0589107),
        (brennan_prediger, 0.835, 0.0469335),
    ],
)
def test_each_coefficient_of_gwets_abstractors_is_one_call(
    measure: Callable[[ArrayLike], Estimate], value: float, error: float
) -> None:
    assert measure(ABSTRACTORS) == pytest.approx((value, error), abs=1e-6)


@given(TABLES)
def test_the_raters_may_change_places(table: list[list[int]]) -> None:
    other = np.array(table).T
    for measure in ALL:
        one, two = measure(table), measure(other)
        assert (near(one.value), near(one.error, 1e-6)) == (two.value, two.error)


def test_without_items_or_without_variation_there_is_no_coefficient() -> None:
    for measure in ALL:
        assert measure([[0, 0], [0, 0]]) == (None, None)
    assert cohen([[9, 0], [0, 0]]) == (None, None)


def test_weights_of_disagreement_become_weights_of_agreement() -> None:
    apart = two_raters.cohen([[8, 2], [1, 9]], 1 - np.array([[0, 1], [1, 0]]))
    assert apart == cohen([[8, 2], [1, 9]])
