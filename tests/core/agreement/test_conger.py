"""Conger's kappa: each rater has shares of its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import conger, pairwise
from labelhub.core.agreement.ratings import Floats, from_matrix
from tests.cases import all_cases
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, measures, tables

Q = 3


def kappa(table: object, weights: Floats | None = None, q: int = Q) -> float:
    ratings = from_matrix(table, q)
    columns = conger.conger_parts(ratings, weights).sum(axis=0, keepdims=True)
    return float(conger.conger_kappa(ratings.n_raters, q, weights)(columns)[0])


def near(one: float | None) -> object:
    return pytest.approx(np.nan if one is None else one, abs=1e-9, nan_ok=True)


@given(tables(), measures())
def test_it_follows_its_definition(table: Table, weights: list[list[float]]) -> None:
    assert kappa(table) == near(by_pairs.conger(table, Q))
    slow = by_pairs.conger(table, Q, by_pairs.from_table(weights))
    assert kappa(table, np.array(weights)) == near(slow)


@given(tables(raters=2), measures())
def test_of_two_raters_who_rated_all_it_is_cohens(table: Table, weights: list[list[float]]) -> None:
    both = [item for item in table if min(item) >= 0]
    one, other = np.array(both, dtype=np.int64).reshape(-1, 2).T
    counts = pairwise.contingency(one, other, Q)
    found = both or np.full((1, 2), -1)
    assert kappa(found) == near(float(pairwise.cohen_kappa(counts)))
    w = np.array(weights)
    assert kappa(found, w) == near(float(pairwise.cohen_kappa(counts, w)))


@given(tables(), st.integers(0, 99))
def test_the_order_of_raters_and_items_does_not_matter(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(generator.permutation(np.array(table), axis=1))
    assert kappa(shuffled) == near(kappa(table))


@given(tables(), st.permutations(range(Q)))
def test_the_names_of_the_categories_do_not_matter(table: Table, names: list[int]) -> None:
    renamed = np.array([*names, -1])[np.array(table)]
    assert kappa(renamed) == near(kappa(table))


@given(tables())
def test_it_is_at_most_one(table: Table) -> None:
    found = kappa(table)
    assert np.isnan(found) or found <= 1 + 1e-12


@given(tables())
def test_a_rater_without_ratings_is_left_out(table: Table) -> None:
    wider = np.hstack([np.array(table), np.full((len(table), 1), -1)])
    assert kappa(wider) == near(kappa(table))


@given(tables())
def test_an_item_that_nobody_rated_changes_nothing(table: Table) -> None:
    more = np.vstack([np.array(table), np.full((2, len(table[0])), -1)])
    assert kappa(more) == near(kappa(table))


def test_raters_who_lean_apart_leave_less_to_chance_than_for_fleiss() -> None:
    table = [[0, 0, 1]] * 6 + [[0, 1, 1]] * 3 + [[2, 2, 2]]
    fleiss = by_pairs.fleiss(table, Q)
    assert fleiss is not None
    assert kappa(table) > fleiss


@all_cases(
    "table",
    [
        pytest.param([[0, 0], [0, 0]], id="everybody says the same"),
        pytest.param([[0, -1], [-1, 1]], id="no item with two ratings"),
        pytest.param([[0], [1]], id="one rater"),
        pytest.param(np.full((2, 2), -1), id="no rating"),
        pytest.param(np.zeros((0, 2)), id="no item"),
        pytest.param(np.zeros((2, 0)), id="no rater"),
    ],
)
def test_where_chance_explains_all_or_nothing_pairs_there_is_no_value(table: object) -> None:
    assert np.isnan(kappa(table))


def test_values_are_one_for_each_row_of_sums() -> None:
    table = [[0, 0, 1], [1, 1, 1], [2, 0, 2]]
    columns = conger.conger_parts(from_matrix(table, Q))
    found = conger.conger_kappa(3, Q)(np.array([[1.0, 1, 1], [0, 3, 0]]) @ columns)
    assert found[0] == near(kappa(table))
    assert np.isnan(found[1])
