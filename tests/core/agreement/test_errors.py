"""Published standard errors: none where there is no coefficient, and of items that were rated."""

import numpy as np
import pytest
from hypothesis import given

from labelhub.core.agreement.coefficients import chance, conger, errors, metrics, sums
from labelhub.core.agreement.ratings import Ints, from_matrix
from tests.core.agreement.by_pairs import Table, tables

Q = 3
NOTHING = np.zeros((4, Q), dtype=np.int64)


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(NOTHING[:0], id="no item"),
        pytest.param(NOTHING, id="no rating"),
        pytest.param(np.eye(Q, dtype=np.int64), id="one rating an item"),
        pytest.param(np.array([[2, 1, 0]]), id="one item"),
        pytest.param(np.array([[2, 0, 0], [3, 0, 0]]), id="everybody says the same"),
    ],
)
def test_there_is_no_error_of_nothing(counts: Ints) -> None:
    assert np.isnan(errors.gwet_error(sums.parts(counts), chance.fleiss_chance(Q)))
    assert np.isnan(errors.alpha_error(counts))


@given(tables())
def test_items_that_nobody_rated_do_not_count(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    more = np.vstack([counts, NOTHING])
    for family in (chance.fleiss_chance, chance.gwet_chance):
        found = errors.gwet_error(sums.parts(more), family(Q))
        plain = errors.gwet_error(sums.parts(counts), family(Q))
        assert found == pytest.approx(plain, nan_ok=True)
    assert errors.alpha_error(more) == pytest.approx(errors.alpha_error(counts), nan_ok=True)


@given(tables())
def test_alphas_error_by_identity_weights_is_the_nominal_one(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    found = errors.alpha_error(counts, metrics.identity(Q))
    assert found == pytest.approx(errors.alpha_error(counts), nan_ok=True)


def test_dividing_by_items_instead_of_one_less_is_the_smaller_error() -> None:
    counts = np.array([[2, 1, 0], [0, 3, 0], [0, 1, 2], [3, 0, 0], [1, 1, 1]])
    columns = sums.parts(counts)
    usual = errors.gwet_error(columns, chance.gwet_chance(Q))
    other = errors.gwet_error(columns, chance.gwet_chance(Q), corrected=False)
    assert other == pytest.approx(usual * np.sqrt(4 / 5))


def test_congers_error_is_fleiss_error_where_all_raters_have_the_same_shares() -> None:
    """Not equal, but near: each rater says each category equally often."""
    table = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]] * 10
    ratings = from_matrix(table)
    of_conger = errors.gwet_error(conger.conger_parts(ratings), conger.conger_chance(3, Q))
    of_fleiss = errors.gwet_error(sums.parts(ratings.counts()), chance.fleiss_chance(Q))
    assert of_conger == pytest.approx(of_fleiss, rel=0.01)


def test_the_error_by_chance_needs_equally_many_ratings_and_variation() -> None:
    assert np.isnan(errors.fleiss_error_by_chance(np.array([[2, 0], [1, 2]])))
    assert np.isnan(errors.fleiss_error_by_chance(np.array([[2, 0], [2, 0]])))
    assert np.isnan(errors.fleiss_error_by_chance(np.empty((0, 2), dtype=np.int64)))


def test_the_error_by_chance_leaves_out_items_that_nobody_rated() -> None:
    rated = np.array([[2, 0], [1, 1], [0, 2]])
    found = errors.fleiss_error_by_chance(np.vstack([rated, [[0, 0]]]))
    assert found == errors.fleiss_error_by_chance(rated)
