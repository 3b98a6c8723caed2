"""Two raters from their table: published numbers, and what prevalence and bias do to kappa."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from labelhub.core.agreement.coefficients import errors, pairwise, sums, two_raters
from labelhub.core.agreement.coefficients.chance import fleiss_chance
from labelhub.core.agreement.coefficients.two_raters import (
    Estimate,
    bias_index,
    brennan_prediger,
    cohen,
    gwet,
    kappa_max,
    krippendorff,
    pabak,
    percent,
    prevalence_index,
    scott,
)
from labelhub.core.agreement.ratings import from_matrix
from labelhub.core.errors import InvalidInput

#: Gwet 2014, two abstractors and 100 patients.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
TABLES = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 12), min_size=q, max_size=q), min_size=q, max_size=q)
)
FOURFOLD = st.lists(st.lists(st.integers(0, 20), min_size=2, max_size=2), min_size=2, max_size=2)
ALL = [percent, cohen, scott, gwet, brennan_prediger, krippendorff]


def near(number: float | None, error: float = 1e-9) -> object:
    return number if number is None else pytest.approx(number, abs=error)


@given(TABLES)
def test_expanding_a_table_and_counting_again_gives_the_table(table: list[list[int]]) -> None:
    pairs = pairwise.expand(table)
    assert pairs.shape == (np.sum(table), 2)
    q = len(table)
    assert pairwise.contingency(pairs[:, 0], pairs[:, 1], q).tolist() == table
    assert from_matrix(pairs, q).n_items == np.sum(table)


@pytest.mark.parametrize("table", [[[1, 2]], [1, 2], [[1.5, 0], [0, 1]], [[1, -1], [0, 1]], []])
def test_what_is_no_table_of_two_raters_is_refused(table: ArrayLike) -> None:
    for measure in (pairwise.expand, cohen, gwet, kappa_max):
        with pytest.raises(InvalidInput):
            measure(table)


@pytest.mark.parametrize(
    ("measure", "value", "error"),
    [
        (percent, 0.89, 0.0312890),
        (cohen, 0.7964094, 0.0589107),
        (scott, 0.7962397, 0.0590547),
        (gwet, 0.8493305, 0.0432175),
        (brennan_prediger, 0.835, 0.0469335),
        (krippendorff, 0.7972585, 0.0590547),
    ],
)
def test_each_coefficient_of_gwets_abstractors_is_one_call(
    measure: Callable[[ArrayLike], Estimate], value: float, error: float
) -> None:
    assert measure(ABSTRACTORS) == pytest.approx((value, error), abs=1e-6)


@given(TABLES)
def test_scotts_error_is_that_of_the_general_formula(table: list[list[int]]) -> None:
    found = scott(table)
    columns = sums.parts(from_matrix(pairwise.expand(table), len(table)).counts())
    general = errors.gwet_error(columns, fleiss_chance(len(table)), corrected=False)
    if found.value is not None and np.sum(table) > 1:
        assert found.error == pytest.approx(general, abs=1e-6)


def test_errors_of_many_tables_at_once_are_those_of_each() -> None:
    tables = np.array([ABSTRACTORS, COHEN_1960, np.zeros((3, 3), dtype=np.int64)])
    found = pairwise.scott_error(tables)
    assert found[:2] == pytest.approx([scott(each).error for each in tables[:2]])
    assert np.isnan(found[2])


@given(TABLES)
def test_the_raters_may_change_places(table: list[list[int]]) -> None:
    other = np.array(table).T
    for measure in ALL:
        one, two = measure(table), measure(other)
        assert (near(one.value), near(one.error, 1e-6)) == (two.value, two.error)
    assert kappa_max(table) == near(kappa_max(other))


def test_without_items_or_without_variation_there_is_no_coefficient() -> None:
    for measure in ALL:
        assert measure([[0, 0], [0, 0]]) == (None, None)
    for measure in (cohen, scott, krippendorff):
        assert measure([[9, 0], [0, 0]]) == (None, None)
    assert kappa_max([[9, 0], [0, 0]]) is kappa_max([[0, 0], [0, 0]]) is None
    nothing = [[0, 0], [0, 0]]
    assert prevalence_index(nothing) is bias_index(nothing) is pabak(nothing) is None


def test_the_largest_kappa_of_the_margins_of_cohen_1960() -> None:
    # Margins .60 .30 .10 and .50 .30 .20: at most .90 of agreement, .41 by chance.
    assert kappa_max(COHEN_1960) == pytest.approx((0.90 - 0.41) / (1 - 0.41), abs=1e-9)


@given(TABLES)
def test_kappa_never_passes_its_maximum_and_reaches_it_with_equal_margins(
    table: list[list[int]],
) -> None:
    value, most = cohen(table).value, kappa_max(table)
    assert (value is None) == (most is None)
    assert value is None or most is None or value <= most + 1e-9
    same = kappa_max(np.array(table) + np.array(table).T)
    assert same is None or same == pytest.approx(1)


def test_prevalence_bias_and_adjusted_kappa_by_hand() -> None:
    table = [[80, 15], [5, 0]]
    assert prevalence_index(table) == pytest.approx(0.8)
    assert bias_index(table) == pytest.approx(0.1)
    assert pabak(table) == pytest.approx(0.6)


@given(FOURFOLD)
def test_kappa_follows_from_the_adjusted_one_and_both_indices(table: list[list[int]]) -> None:
    """Byrt, Bishop and Carlin 1993: (PABAK - PI² + BI²) / (1 - PI² + BI²)."""
    value = cohen(table).value
    prevalence, bias, adjusted = prevalence_index(table), bias_index(table), pabak(table)
    if value is None or prevalence is None or bias is None or adjusted is None:
        return
    skew = bias**2 - prevalence**2
    assert value == pytest.approx((adjusted + skew) / (1 + skew))
    assert brennan_prediger(table).value == pytest.approx(adjusted)


def test_indices_are_of_two_categories() -> None:
    for index in (prevalence_index, bias_index, pabak):
        with pytest.raises(InvalidInput, match="two categories"):
            index(ABSTRACTORS)


def test_weights_of_disagreement_become_weights_of_agreement() -> None:
    apart = two_raters.cohen([[8, 2], [1, 9]], 1 - np.array([[0, 1], [1, 0]]))
    assert apart == cohen([[8, 2], [1, 9]])
