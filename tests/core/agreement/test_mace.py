"""MACE: finds spammers and answers, repeats itself, and needs no order of raters or categories."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.agreement.aggregation.mace import Mace, mace
from labelhub.core.agreement.aggregation.majority import majority
from labelhub.core.agreement.ratings import Ints, Ratings, from_matrix
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import crowd

CATEGORIES = 3
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, 2)
)


def simulated() -> tuple[Ratings, Ints]:
    """600 items; four raters who know in 9 of 10 cases, four who always say 2, two who guess."""
    dice = np.random.default_rng(11)
    truth = dice.integers(0, 3, 600)
    guesses = dice.integers(0, 3, (600, 10))
    table = np.where(dice.random((600, 10)) < 0.9, truth[:, None], guesses)
    table[:, 4:8] = 2
    table[:, 8:] = guesses[:, 8:]
    return from_matrix(table, 3), truth


def test_competence_and_strategy_are_found_again() -> None:
    found = mace(simulated()[0])
    assert found.competence[:4] == pytest.approx(np.full(4, 0.9), abs=0.04)
    assert (found.competence[4:] < 0.1).all()
    assert found.strategy[4:8, 2] == pytest.approx(np.ones(4), abs=0.01)
    assert found.strategy[8:] == pytest.approx(np.full((2, 3), 1 / 3), abs=0.07)


def test_spammers_who_agree_do_not_outvote_those_who_know() -> None:
    ratings, truth = simulated()
    assert (majority(ratings).labels == truth).mean() < 0.85
    assert (mace(ratings).labels() == truth).mean() > 0.97


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "accuracy"), [("snow_rte", 0.9275), ("ti_dog", 0.832)])
def test_real_crowds_reach_the_accuracy_of_other_programs(name: str, accuracy: float) -> None:
    ratings, gold = crowd(name)
    assert (mace(ratings).labels() == gold).mean() == pytest.approx(accuracy, abs=0.005)


def test_the_likelihood_is_that_of_the_model() -> None:
    ratings, _ = simulated()
    found = mace(ratings, restarts=1, iterations=5)
    said = np.zeros((600, 10), dtype=np.int64)
    said[ratings.items, ratings.raters] = ratings.codes
    knows, rater = found.competence, np.arange(10)
    guess = (1 - knows) * found.strategy[rater, said]
    each = np.stack([np.prod(guess + knows * (said == true), axis=1) / 3 for true in range(3)])
    assert found.log_likelihood == pytest.approx(np.log(each.sum(axis=0)).sum())
    np.testing.assert_allclose(found.posterior, (each / each.sum(axis=0)).T, atol=1e-12)


def test_more_iterations_and_more_starts_do_not_lower_the_likelihood() -> None:
    ratings, _ = simulated()
    ends = [mace(ratings, restarts=1, iterations=n).log_likelihood for n in (1, 3, 10, 30)]
    assert (np.diff(ends) > -1e-2).all()
    starts = [mace(ratings, restarts=n, iterations=2).log_likelihood for n in (1, 3, 8)]
    assert (np.diff(starts) >= 0).all()


def test_the_same_seed_gives_the_same_numbers() -> None:
    ratings, _ = simulated()
    one, same = mace(ratings, iterations=3, seed=5), mace(ratings, iterations=3, seed=5)
    assert (one.posterior == same.posterior).all()
    assert one.log_likelihood == same.log_likelihood


def test_entropy_is_none_where_sure_and_most_where_nothing_is_known() -> None:
    found = mace(from_matrix([[0, 1], [1, 0]], 2), restarts=1, known=np.array([0, -1]))
    assert found.entropy[0] == 0
    tied = mace(from_matrix([[0, 1]], 2), restarts=1)
    assert tied.entropy[0] == pytest.approx(np.log(2))
    assert tied.labels().tolist() == [-1]


def test_gold_stays_what_it_is_and_lowers_the_competence_of_who_misses_it() -> None:
    ratings, truth = simulated()
    known = np.where(np.arange(600) < 200, (truth + 1) % 3, -1)
    found = mace(ratings, known=known)
    assert (found.labels()[:200] == known[:200]).all()
    assert (found.competence[:4] < 0.9).all()


def test_who_rated_nothing_and_what_nobody_rated_is_unknown() -> None:
    found = mace(from_matrix([[0, -1, 0], [1, -1, 1], [-1, -1, -1]], 2))
    assert np.isnan(found.competence).tolist() == [False, True, False]
    assert np.isnan(found.strategy[1]).all()
    assert np.isnan(found.posterior[2]).all()
    assert np.isnan(found.entropy[2])
    assert found.labels()[2] == -1


@pytest.mark.parametrize(
    ("items", "raters", "categories"), [(0, 0, 0), (3, 2, 0), (3, 2, 4), (0, 3, 2)]
)
def test_without_ratings_nothing_is_known_and_nothing_fails(
    items: int, raters: int, categories: int
) -> None:
    found = mace(from_matrix(np.full((items, raters), -1), categories))
    assert found.posterior.shape == (items, categories)
    assert (found.labels() == -1).all()


def test_wrong_input_is_refused() -> None:
    ratings = from_matrix([[0, 1], [1, 1]], 2)
    wrong: list[dict[str, Any]] = [
        {"known": np.array([0])},
        {"restarts": 0},
        {"iterations": 0},
        {"smoothing": 0.0},
    ]
    for options in wrong:
        with pytest.raises(InvalidInput):
            mace(ratings, **options)


@given(TABLES)
@settings(deadline=None)
def test_chances_are_chances(table: Ints) -> None:
    found = mace(from_matrix(table, CATEGORIES), restarts=2, iterations=5)
    rated, heard = (table >= 0).any(axis=1), (table >= 0).any(axis=0)
    assert found.posterior[rated].sum(axis=1) == pytest.approx(np.ones(rated.sum()))
    assert found.strategy[heard].sum(axis=1) == pytest.approx(np.ones(heard.sum()))
    assert ((found.competence[heard] > 0) & (found.competence[heard] < 1)).all()
    assert (found.entropy[rated] <= np.log(CATEGORIES) + 1e-9).all()
    assert found.log_likelihood <= 0


@given(TABLES, st.permutations(range(CATEGORIES)), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_raters_and_the_names_of_categories_do_not_matter(
    table: Ints, names: list[int], dice: Any
) -> None:
    raters = dice.sample(range(table.shape[1]), table.shape[1])
    renamed = np.array([*names, -1])
    one, other = from_equal(table), from_equal(renamed[table[:, raters]])
    np.testing.assert_allclose(other.posterior[:, names], one.posterior, atol=1e-6)
    np.testing.assert_allclose(other.competence, one.competence[raters], atol=1e-6)


def from_equal(table: Ints) -> Mace:
    """From the first start only: the random ones depend on the order of raters."""
    return mace(from_matrix(table, CATEGORIES), restarts=1, iterations=4)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_two_raters_who_never_agree_leave_everything_undecided(seed: int) -> None:
    one = np.random.default_rng(seed).integers(0, 2, 30)
    for table in (np.column_stack([one, 1 - one]), np.column_stack([1 - one, one])):
        found = mace(from_matrix(table, 2))
        np.testing.assert_allclose(found.posterior, 0.5)
        assert (found.labels() == -1).all()
        assert found.competence[0] == pytest.approx(found.competence[1], abs=0.2)


def test_where_one_start_is_more_likely_it_decides_alone() -> None:
    ratings, truth = simulated()
    assert (mace(ratings).labels() >= 0).mean() > 0.99
    assert mace(ratings).labels().tolist() == mace(ratings, seed=3).labels().tolist()
    assert (mace(ratings).labels() == truth).mean() > 0.97
