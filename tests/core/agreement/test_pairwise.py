"""Two raters: their table, Cohen's kappa, Scott's pi and the errors of kappa."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import conger, metrics, pairwise
from labelhub.core.agreement.estimation import Units, linearised_error
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, from_matrix
from labelhub.core.errors import InvalidInput
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, measures, tables

Q = 3
TABLES = st.lists(st.integers(0, 9), min_size=Q * Q, max_size=Q * Q).map(
    lambda cells: np.array(cells).reshape(Q, Q)
)


def near(one: float | None) -> object:
    return pytest.approx(np.nan if one is None else one, abs=1e-9, nan_ok=True)


def ratings_of(table: Ints) -> Ratings:
    """Two raters whose table is this one."""
    rows, columns = np.nonzero(table)
    pairs = np.repeat(np.column_stack([rows, columns]), table[rows, columns], axis=0)
    return from_matrix(pairs, len(table))


def test_only_items_that_both_rated_count() -> None:
    found = pairwise.contingency(np.array([0, 1, -1, 2, 0]), np.array([0, 2, 1, -1, 1]), Q)
    assert found.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(("one", "other"), [([0], [3]), ([3], [0]), ([0, 1], [0])])
def test_a_category_that_is_not_declared_is_refused(one: list[int], other: list[int]) -> None:
    with pytest.raises(InvalidInput, match="numbers below q"):
        pairwise.contingency(np.array(one), np.array(other), Q)


@given(tables())
def test_all_pairs_are_the_tables_of_every_two(table: Table) -> None:
    found = pairwise.all_pairs(from_matrix(table, Q))
    columns = np.array(table).T
    for a, one in enumerate(columns):
        for b, other in enumerate(columns):
            assert found[a, b].tolist() == pairwise.contingency(one, other, Q).tolist()


@given(tables(), st.integers(0, 99))
def test_the_order_of_the_ratings_does_not_matter(table: Table, seed: int) -> None:
    ratings = from_matrix(table, Q)
    at = np.random.default_rng(seed).permutation(len(ratings))
    shuffled = Ratings(
        ratings.items[at],
        ratings.raters[at],
        ratings.codes[at],
        ratings.n_items,
        ratings.n_raters,
        Q,
    )
    assert (pairwise.all_pairs(shuffled) == pairwise.all_pairs(ratings)).all()


def test_counting_and_multiplying_find_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    table = generator.integers(-2, Q, size=(300, 7))
    ratings = from_matrix(np.maximum(table, -1), Q)
    found = pairwise.all_pairs(ratings)
    monkeypatch.setattr(pairwise, "IN_CACHE", 1)
    assert (pairwise.all_pairs(ratings) == found).all()
    monkeypatch.setattr(pairwise, "CHEAP_CELLS", 0)
    monkeypatch.setattr(pairwise, "FEW_CELLS", 0)
    monkeypatch.setattr(pairwise, "BLOCK", 50)
    assert (pairwise.all_pairs(ratings) == found).all()


def test_tables_that_would_not_fit_are_refused() -> None:
    assert pairwise.most_raters(5) == 1000
    assert pairwise.most_raters(0) == pairwise.most_raters(1) == 5000
    assert pairwise.most_raters(10_000) == 0
    nobody = np.zeros(0, dtype=np.int64)
    with pytest.raises(InvalidInput, match="1001 raters and 5 categories are too large"):
        pairwise.all_pairs(Ratings(nobody, nobody, nobody, 1, 1001, 5))


def test_who_rates_an_item_twice_is_paired_with_both_ratings() -> None:
    items, raters, codes = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1]])
    found = pairwise.all_pairs(Ratings(items, raters, codes, 1, 2, 2))
    assert found[0, 1].tolist() == [[0, 1], [0, 1]]
    assert found[0, 0].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (2, 2)])
def test_tables_of_nothing(shape: tuple[int, int]) -> None:
    found = pairwise.all_pairs(from_matrix(np.full(shape, -1), Q))
    assert found.shape == (shape[1], shape[1], Q, Q)
    assert not found.any()


@given(tables(raters=2), measures())
def test_cohens_kappa_follows_its_definition(table: Table, weights: list[list[float]]) -> None:
    one, other = (list(column) for column in zip(*table, strict=True))
    counts = pairwise.contingency(np.array(one), np.array(other), Q)
    assert float(pairwise.cohen_kappa(counts)) == near(by_pairs.cohen(one, other, Q))
    slow = by_pairs.cohen(one, other, Q, by_pairs.from_table(weights))
    assert float(pairwise.cohen_kappa(counts, np.array(weights))) == near(slow)


@given(TABLES)
def test_kappa_by_identity_weights_is_plain_kappa(table: Ints) -> None:
    weighted = float(pairwise.cohen_kappa(table, metrics.identity(Q)))
    assert weighted == near(float(pairwise.cohen_kappa(table)))


@given(TABLES)
def test_as_many_again_of_each_pair_leave_kappa_and_halve_its_variance(table: Ints) -> None:
    assert float(pairwise.cohen_kappa(2 * table)) == near(float(pairwise.cohen_kappa(table)))
    twice = float(pairwise.kappa_error(2 * table))
    assert twice == pytest.approx(float(pairwise.kappa_error(table)) / sqrt(2), nan_ok=True)


@pytest.mark.parametrize("weights", [None, metrics.quadratic(range(Q))])
def test_the_error_for_an_interval_is_that_of_the_delta_method(weights: Floats | None) -> None:
    """Another way to the same number: every item's influence, over items less one."""
    table = np.array([[20, 3, 1], [4, 15, 6], [2, 5, 30]])
    n = int(table.sum())
    ratings = ratings_of(table)
    found = Units(
        conger.conger_parts(ratings, weights), np.ones(n, dtype=np.int64), "items", draws=None
    )
    expected = linearised_error(found, conger.conger_kappa(2, Q, weights))
    error = float(pairwise.kappa_error(table, weights))
    assert error == pytest.approx(expected * sqrt((n - 1) / n), rel=1e-6)


def test_each_pair_of_raters_has_its_own_value_or_none() -> None:
    found = pairwise.cohen_kappa(np.array([np.diag([3, 2]), np.zeros((2, 2)), [[1, 1], [1, 1]]]))
    assert found == pytest.approx([1, np.nan, 0], nan_ok=True)
    assert pairwise.percent(np.zeros((0, 3, 3))).shape == (0,)


def test_percent_agreement_may_count_near_pairs_in_part() -> None:
    table = np.array([[1, 1], [0, 2]])
    assert pairwise.percent(table) == 0.75
    assert pairwise.percent(table, np.array([[1, 0.5], [0.5, 1]])) == 0.875
