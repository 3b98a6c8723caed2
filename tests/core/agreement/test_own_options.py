"""Items that bring their own options: chance picks among an item's own."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.coefficients.own_options import own_options_parts, s_q
from labelhub.core.agreement.ratings import Ints, from_matrix
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, tables

Q = 4


def estimate(counts: Ints, options: list[int]) -> float:
    parts = own_options_parts(counts, np.array(options, dtype=np.int64))
    return float(s_q(parts.sum(axis=0, keepdims=True))[0])


@given(tables(q=2), st.lists(st.integers(2, Q), min_size=8, max_size=8))
def test_chance_is_the_mean_of_one_over_the_options_of_items_with_two_ratings(
    table: Table, options: list[int]
) -> None:
    pairable = [
        i for i, item in enumerate(table) if list(permutations(by_pairs.ratings_of(item), 2))
    ]
    slow = by_pairs.beyond(
        by_pairs.percent(table), by_pairs.mean([1 / options[i] for i in pairable])
    )
    found = estimate(from_matrix(table, Q).counts(), options[: len(table)])
    assert found == pytest.approx(np.nan if slow is None else slow, abs=1e-9, nan_ok=True)


@given(tables(q=Q))
def test_where_all_items_have_as_many_options_it_is_brennan_and_prediger(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    plain = chance.estimate(counts, chance.brennan_prediger(Q))
    found = estimate(counts, [Q] * len(table))
    assert found == pytest.approx(np.nan if plain is None else plain, abs=1e-9, nan_ok=True)


@given(tables(q=Q), st.integers(0, 99))
def test_where_an_option_stood_does_not_matter(table: Table, seed: int) -> None:
    counts = from_matrix(table, Q).counts()
    generator = np.random.default_rng(seed)
    moved = np.array([generator.permutation(row) for row in counts])
    options = [Q] * len(table)
    assert estimate(moved, options) == pytest.approx(estimate(counts, options), nan_ok=True)


@pytest.mark.parametrize(("agreement", "stated"), [(0.555, 0.406), (0.341, 0.122), (0.348, 0.130)])
def test_the_agreement_of_the_author_labeling_paper_beyond_one_in_four(
    agreement: float, stated: float
) -> None:
    found = s_q(np.array([[agreement * 100, 100, 25]]))
    assert found[0] == pytest.approx(stated, abs=0.001)


def test_more_options_leave_less_to_chance() -> None:
    counts = np.array([[2, 0, 0, 0], [1, 1, 0, 0], [0, 2, 0, 0]])
    assert estimate(counts, [4, 4, 4]) > estimate(counts, [2, 2, 2])


@pytest.mark.parametrize(
    ("counts", "options"),
    [
        pytest.param(np.array([[2, 0], [3, 0]]), [1, 1], id="one option each"),
        pytest.param(np.array([[1, 0], [0, 1]]), [2, 2], id="no item with two ratings"),
        pytest.param(np.zeros((2, 2), dtype=np.int64), [0, 0], id="no option and no rating"),
        pytest.param(np.zeros((0, 2), dtype=np.int64), [], id="no item"),
    ],
)
def test_where_chance_explains_all_there_is_no_value(counts: Ints, options: list[int]) -> None:
    assert np.isnan(estimate(counts, options))
