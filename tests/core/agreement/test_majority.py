"""The vote, its ties by each policy, its accuracy against gold, and the median."""

from collections import Counter
from statistics import median_high, median_low

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.agreement.aggregation.majority import (
    Ties,
    majority,
    majority_accuracy,
    median,
)
from labelhub.core.agreement.ratings import Floats, Ints, from_matrix
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import crowd

CATEGORIES = 4
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(-1, 3)
)

#: Decided, tied between 0 and 2, without votes.
THREE = from_matrix([[1, 1, 0, -1], [0, 2, 2, 0], [-1, -1, -1, -1]], 3)


def test_the_category_with_most_votes_wins() -> None:
    vote = majority(THREE)
    assert vote.labels[0] == 1
    assert vote.shares[0] == pytest.approx([1 / 3, 2 / 3, 0])
    assert vote.winners.tolist() == [[False, True, False], [True, False, True], [False] * 3]


def test_a_tie_is_undecided_unless_a_policy_is_named() -> None:
    vote = majority(THREE)
    assert vote.labels.tolist() == [1, -1, -1]
    assert vote.weights.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_an_item_nobody_rated_has_no_shares_and_no_answer_by_any_policy() -> None:
    for ties in Ties:
        vote = majority(THREE, ties, seed=1, preference=np.array([1, 2, 3]))
        assert np.isnan(vote.shares[2]).all()
        assert vote.labels[2] == -1
        assert not vote.weights[2].any()


def test_a_split_tie_shares_the_weight_and_names_no_single_category() -> None:
    vote = majority(THREE, Ties.SPLIT)
    assert vote.weights.tolist() == [[0, 1, 0], [0.5, 0, 0.5], [0, 0, 0]]
    assert vote.labels.tolist() == [1, -1, -1]


def test_a_tie_at_random_is_repeated_by_its_seed_and_takes_each_as_often() -> None:
    tied = from_matrix(np.tile([0, 2], (4000, 1)), 3)
    labels = majority(tied, Ties.RANDOM, seed=3).labels
    assert (labels == majority(tied, Ties.RANDOM, seed=3).labels).all()
    assert set(labels.tolist()) == {0, 2}
    assert (labels == 0).mean() == pytest.approx(0.5, abs=0.04)


def test_a_preference_decides_ties_only() -> None:
    assert majority(THREE, Ties.PREFER, preference=np.array([9, 0, 1])).labels.tolist() == [
        1,
        0,
        -1,
    ]


def test_a_preference_that_is_the_same_for_the_tied_leaves_them_undecided() -> None:
    assert majority(THREE, Ties.PREFER, preference=np.array([1, 9, 1])).labels.tolist() == [
        1,
        -1,
        -1,
    ]


def test_one_rater_can_be_preferred() -> None:
    trusted = THREE.of_raters(np.array([False, True, False, False])).counts()
    assert majority(THREE, Ties.PREFER, preference=trusted).labels.tolist() == [1, 2, -1]


def test_policies_that_lack_what_they_need_are_refused() -> None:
    with pytest.raises(InvalidInput):
        majority(THREE, Ties.RANDOM)
    with pytest.raises(InvalidInput):
        majority(THREE, Ties.PREFER)
    with pytest.raises(InvalidInput):
        majority(THREE, Ties.PREFER, preference=np.ones(5))


def test_accuracy_gives_a_tie_the_share_of_gold_among_the_tied() -> None:
    counts = np.array([[3, 1, 0], [2, 2, 0], [1, 1, 1], [2, 2, 0], [0, 0, 0], [0, 1, 1]])
    scored = majority_accuracy(counts, np.array([0, 1, 2, 2, 0, -1]))
    np.testing.assert_allclose(scored.credit, [1, 1 / 2, 1 / 3, 0, np.nan, np.nan])
    assert scored.ties == 3


def test_accuracy_refuses_gold_that_does_not_fit() -> None:
    for gold in ([0], [0, 3], [0, -2]):
        with pytest.raises(InvalidInput):
            majority_accuracy(np.ones((2, 3)), np.array(gold))


@pytest.mark.parametrize(
    ("name", "accuracy", "ties"),
    [("snow_rte", 0.8969, 65), ("ti_dog", 0.8222, None), ("ti_weather_cf_amt", 0.8533, None)],
)
def test_published_crowds_reach_their_accuracy(
    name: str, accuracy: float, ties: int | None
) -> None:
    ratings, gold = crowd(name)
    scored = majority_accuracy(ratings.counts(), gold)
    assert np.nanmean(scored.credit) == pytest.approx(accuracy, abs=6e-5)
    assert ties in (None, scored.ties)


def test_the_median_of_an_even_number_is_two_categories_where_they_differ() -> None:
    rated = from_matrix([[0, 1, 3, 3], [0, 3, 3, -1], [2, -1, -1, -1], [-1, -1, -1, -1]], 4)
    low, high = median(rated)
    assert low.tolist() == [1, 3, 2, -1]
    assert high.tolist() == [3, 3, 2, -1]


def test_without_items_or_categories_there_is_no_answer_and_no_error() -> None:
    nothing = from_matrix(np.full((2, 3), -1))
    assert majority(nothing).labels.tolist() == [-1, -1]
    assert median(nothing).low.tolist() == [-1, -1]
    assert majority(from_matrix(np.empty((0, 3)), 4)).weights.shape == (0, 4)


@given(TABLES)
def test_winners_are_those_that_counting_by_hand_finds(table: Ints) -> None:
    vote = majority(from_matrix(table, CATEGORIES))
    for row, won in zip(table.tolist(), vote.winners.tolist(), strict=True):
        counted = Counter(code for code in row if code >= 0)
        most = max(counted.values(), default=0)
        assert won == [most > 0 and counted[code] == most for code in range(CATEGORIES)]


@given(TABLES, st.permutations(range(CATEGORIES)))
def test_the_order_of_categories_decides_nothing(table: Ints, order: list[int]) -> None:
    renamed = np.array([*order, -1])
    one = majority(from_matrix(table, CATEGORIES)).labels
    other = majority(from_matrix(renamed[table], CATEGORIES)).labels
    assert (renamed[one] == other).all()


@given(TABLES, st.sampled_from(Ties))
def test_weights_and_labels_are_one_answer_among_the_winners(table: Ints, ties: Ties) -> None:
    preference: Floats = np.array([4.0, 3.0, 2.0, 1.0])
    vote = majority(from_matrix(table, CATEGORIES), ties, seed=5, preference=preference)
    sums = vote.weights.sum(axis=1)
    assert (np.isclose(sums, 1) | (sums == 0)).all()
    assert not vote.weights[~vote.winners].any()
    decided = np.flatnonzero(vote.labels >= 0)
    assert (vote.weights[decided, vote.labels[decided]] == 1).all()


@given(TABLES)
def test_the_median_is_that_of_the_standard_library(table: Ints) -> None:
    low, high = median(from_matrix(table, CATEGORIES))
    for at, row in enumerate(table.tolist()):
        said = [code for code in row if code >= 0] or [-1]
        assert (low[at], high[at]) == (median_low(said), median_high(said))
