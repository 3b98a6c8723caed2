"""The EM of Dawid and Skene: published results, gold, and what never may change them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.agreement.aggregation.dawid_skene import (
    DawidSkene,
    dawid_skene,
)
from labelhub.core.agreement.ratings import Ints, Ratings, from_matrix
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import crowd, reference

CATEGORIES = 3
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, 2)
)


def test_the_anaesthetists_have_the_published_class_shares() -> None:
    case = reference("dawid_skene1979_prior")
    found = dawid_skene(anaesthetists())
    assert found.converged
    assert found.shares == pytest.approx(case["expected"], abs=case["tolerance"])


def test_every_patient_of_the_anaesthetists_gets_the_reference_class() -> None:
    expected = reference("dawid_skene1979_labels")["expected"]
    assert (dawid_skene(anaesthetists()).labels() + 1).tolist() == expected


def test_all_three_ratings_of_one_patient_by_one_rater_count() -> None:
    ratings = anaesthetists()
    _, first = np.unique(ratings.items * 5 + ratings.raters, return_index=True)
    once = ratings.where(np.isin(np.arange(len(ratings)), first))
    assert len(once) < len(ratings)
    assert dawid_skene(once).shares != pytest.approx(dawid_skene(ratings).shares, abs=1e-3)


def test_two_rounds_are_those_of_the_plain_equations() -> None:
    ratings = anaesthetists()
    found = dawid_skene(ratings, iterations=2, smoothing=1e-12)
    posterior, confusion, shares, log_likelihood = plain_em(ratings, 2)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-8)
    np.testing.assert_allclose(found.confusion, confusion, atol=1e-8)
    np.testing.assert_allclose(found.shares, shares, atol=1e-8)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-8)
    assert (found.iterations, found.converged) == (2, False)


@pytest.mark.parametrize(("name", "accuracy"), [("snow_rte", 0.9275), ("ti_dog", 0.843)])
def test_published_crowds_reach_their_accuracy(name: str, accuracy: float) -> None:
    ratings, gold = crowd(name)
    found = dawid_skene(ratings)
    assert found.converged
    assert (found.labels() == gold).mean() == pytest.approx(accuracy, abs=0.001)


def test_more_iterations_never_lower_the_likelihood() -> None:
    reached = [dawid_skene(anaesthetists(), iterations=n).log_likelihood for n in range(1, 12)]
    assert (np.diff(reached) > -1e-3).all()


def test_gold_stays_what_it_is_and_teaches_what_raters_mean() -> None:
    swapped = from_matrix([[0, 0]] * 10 + [[1, 1]] * 10, 2)
    known = np.full(20, -1)
    known[[0, 1, 2, 10, 11, 12]] = [1, 1, 1, 0, 0, 0]
    found = dawid_skene(swapped, known=known)
    assert (found.labels()[known >= 0] == known[known >= 0]).all()
    assert set(found.posterior[0].tolist()) == {0.0, 1.0}
    everything = dawid_skene(swapped, known=np.repeat([1, 0], 10))
    assert everything.confusion[0] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-5)


def test_gold_counts_where_nobody_rated() -> None:
    ratings = from_matrix([[0, 0], [0, 0], [1, 1], [-1, -1], [-1, -1]], 2)
    found = dawid_skene(ratings, known=np.array([-1, -1, -1, 1, -1]))
    assert found.labels().tolist() == [0, 0, 1, 1, -1]
    assert found.shares == pytest.approx([0.5, 0.5], abs=1e-5)
    assert np.isnan(found.posterior[4]).all()


def test_two_raters_who_always_differ_leave_everything_undecided() -> None:
    found = dawid_skene(from_matrix([[0, 1], [1, 0]], 2))
    assert found.labels().tolist() == [-1, -1]


def test_a_rater_who_rated_nothing_has_no_confusion() -> None:
    found = dawid_skene(from_matrix([[0, -1, 0], [1, -1, 1]], 2))
    assert np.isnan(found.confusion[1]).all()
    assert not np.isnan(found.confusion[[0, 2]]).any()


@pytest.mark.parametrize(
    ("items", "raters", "categories"), [(0, 0, 0), (3, 2, 0), (3, 2, 4), (0, 3, 2)]
)
def test_without_ratings_nothing_is_known_and_nothing_fails(
    items: int, raters: int, categories: int
) -> None:
    found = dawid_skene(from_matrix(np.full((items, raters), -1), categories))
    assert found.posterior.shape == (items, categories)
    assert np.isnan(found.posterior).all()
    assert (found.labels() == -1).all()


def test_wrong_input_is_refused() -> None:
    ratings = from_matrix([[0, 1], [1, 1]], 2)
    wrong: list[dict[str, Any]] = [
        {"known": np.array([0])},
        {"known": np.array([0, 2])},
        {"smoothing": 0.0},
        {"iterations": 0},
    ]
    for options in wrong:
        with pytest.raises(InvalidInput):
            dawid_skene(ratings, **options)


@given(TABLES)
def test_chances_are_chances(table: Ints) -> None:
    found = dawid_skene(from_matrix(table, CATEGORIES))
    rated = (table >= 0).any(axis=1)
    assert np.isnan(found.posterior[~rated]).all()
    assert found.posterior[rated].sum(axis=1) == pytest.approx(np.ones(rated.sum()))
    assert found.shares.sum() == pytest.approx(1)
    heard = (table >= 0).any(axis=0)
    assert found.confusion[heard].sum(axis=2) == pytest.approx(np.ones((heard.sum(), CATEGORIES)))
    assert found.log_likelihood <= 0


@pytest.mark.thorough
@given(TABLES, st.permutations(range(CATEGORIES)), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_raters_and_the_names_of_categories_do_not_matter(
    table: Ints, names: list[int], dice: Any
) -> None:
    raters = dice.sample(range(table.shape[1]), table.shape[1])
    renamed = np.array([*names, -1])
    one, other = few_rounds(table), few_rounds(renamed[table[:, raters]])
    np.testing.assert_allclose(other.posterior[:, names], one.posterior, atol=1e-6)
    back = other.confusion[:, names][:, :, names]
    np.testing.assert_allclose(back, one.confusion[raters], atol=1e-6)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-6)


def few_rounds(table: Ints) -> DawidSkene:
    """Not to the end: at a saddle the last digits decide where EM goes in the long run."""
    return dawid_skene(from_matrix(table, CATEGORIES), iterations=3)


def plain_em(ratings: Ratings, rounds: int) -> tuple[Any, Any, Any, float]:
    """The paper's equations (2.3) to (2.5) written as loops, without any smoothing."""
    shape = (ratings.n_items, ratings.n_raters, ratings.n_categories)
    said = np.zeros(shape)
    np.add.at(said, (ratings.items, ratings.raters, ratings.codes), 1)
    posterior = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    found = plain_round(said, posterior)
    for _ in range(rounds - 1):
        found = plain_round(said, found[0])
    return found


def plain_round(said: Any, posterior: Any) -> tuple[Any, Any, Any, float]:
    shares = posterior.mean(axis=0)
    confusion = np.einsum("it,ira->rta", posterior, said)
    confusion /= confusion.sum(axis=2, keepdims=True)
    classes = range(len(shares))
    joint = np.array(
        [[shares[t] * np.prod(confusion[:, t] ** item) for t in classes] for item in said]
    )
    sums = joint.sum(axis=1, keepdims=True)
    return joint / sums, confusion, shares, float(np.log(sums).sum())


def anaesthetists() -> Ratings:
    items, raters, codes = np.array(reference("dawid_skene1979_prior")["input"]["long"]).T - 1
    return Ratings(items, raters, codes, 45, 5, 4)
