"""Votes that weigh differently, and weights from gold or from agreement with others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.agreement.aggregation.majority import majority
from labelhub.core.agreement.aggregation.weighted import (
    agreement_with_others,
    log_odds,
    weighted_vote,
)
from labelhub.core.agreement.ratings import Ints, Ratings, from_matrix
from labelhub.core.errors import InvalidInput

CATEGORIES = 3
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, 2)
)


def test_a_heavy_rater_outvotes_two_light_ones() -> None:
    vote = weighted_vote(from_matrix([[0, 1, 1]], 2), np.array([3.0, 1.0, 1.0]))
    assert vote.labels.tolist() == [0]
    assert vote.shares.tolist() == [[0.6, 0.4]]


def test_equal_sums_of_weights_are_a_tie_even_if_their_last_digits_differ() -> None:
    vote = weighted_vote(from_matrix([[0, 0, 0, 1]], 2), np.array([0.1, 0.1, 0.1, 0.3]))
    assert vote.labels.tolist() == [-1]


def test_no_weight_is_no_answer() -> None:
    vote = weighted_vote(from_matrix([[0, -1], [-1, -1], [0, 1]], 2), np.array([0.0, 1.0]))
    assert vote.labels.tolist() == [-1, -1, 1]
    assert np.isnan(vote.shares[:2]).all()


@given(TABLES, st.floats(0.01, 100))
def test_equal_weights_are_the_majority(table: Ints, weight: float) -> None:
    ratings = from_matrix(table, CATEGORIES)
    vote = weighted_vote(ratings, np.full(table.shape[1], weight))
    assert (vote.labels == majority(ratings).labels).all()
    np.testing.assert_allclose(vote.shares, majority(ratings).shares)


def test_wrong_weights_are_refused() -> None:
    ratings = from_matrix([[0, 1]], 2)
    for weights in ([1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(InvalidInput):
            weighted_vote(ratings, np.array(weights))


def test_agreement_counts_pairs_with_other_raters() -> None:
    ratings = from_matrix([[0, 0, 1], [1, 1, 1]], 2)
    assert agreement_with_others(ratings, shrinkage=0) == pytest.approx([0.75, 0.75, 0.5])


def test_nobody_agrees_with_themselves() -> None:
    # The first rater says the same twice; the other differs.
    zeros, ones = np.zeros(3, dtype=np.int64), np.array([0, 0, 1])
    ratings = Ratings(zeros, ones, ones, 1, 2, 2)
    assert agreement_with_others(ratings, shrinkage=0).tolist() == [0, 0]


def test_a_rater_whom_nobody_met_has_the_agreement_of_all() -> None:
    ratings = from_matrix([[0, 0, -1], [0, 1, -1], [-1, -1, 1]], 2)
    assert agreement_with_others(ratings, shrinkage=0).tolist() == [0.5, 0.5, 0.5]


def test_without_evidence_all_weigh_the_same() -> None:
    alone = from_matrix([[0, -1], [-1, 1]], 2)
    assert agreement_with_others(alone).tolist() == [1, 1]
    nothing = from_matrix(np.empty((0, 0)))
    assert agreement_with_others(nothing).shape == (0,)
    assert weighted_vote(nothing, np.empty(0)).labels.shape == (0,)


def test_a_negative_shrinkage_is_refused() -> None:
    with pytest.raises(InvalidInput):
        agreement_with_others(from_matrix([[0, 1]], 2), shrinkage=-1)


def test_chance_weighs_nothing_and_certainty_is_bounded() -> None:
    weights = log_odds(np.array([0.0, 0.25, 0.5, 1.0]), 4)
    assert weights[:3] == pytest.approx([0, 0, np.log(3)])
    assert weights[3] == pytest.approx(np.log(0.99 * 3 / 0.01))


def test_log_odds_decide_like_the_likelihood() -> None:
    # One who errs in 1 of 10 against two who err in 3 of 10: 9 > (7 / 3) squared.
    accuracy = np.array([0.9, 0.7, 0.7])
    vote = weighted_vote(from_matrix([[0, 1, 1]], 2), log_odds(accuracy, 2))
    assert vote.labels.tolist() == [0]


@given(TABLES)
def test_agreement_is_that_of_counting_by_hand(table: Ints) -> None:
    found = agreement_with_others(from_matrix(table, CATEGORIES), shrinkage=0)
    both = (table[:, :, None] >= 0) & (table[:, None, :] >= 0)
    both &= ~np.eye(table.shape[1], dtype=bool)
    alike = both & (table[:, :, None] == table[:, None, :])
    met = both.sum(axis=(0, 2)) > 0
    counted = alike.sum(axis=(0, 2))[met] / both.sum(axis=(0, 2))[met]
    assert found[met] == pytest.approx(counted)


@given(TABLES, st.permutations(range(CATEGORIES)))
def test_the_names_of_categories_change_no_weight(table: Ints, names: list[int]) -> None:
    renamed = np.array([*names, -1])[table]
    one = agreement_with_others(from_matrix(table, CATEGORIES))
    np.testing.assert_allclose(agreement_with_others(from_matrix(renamed, CATEGORIES)), one)
