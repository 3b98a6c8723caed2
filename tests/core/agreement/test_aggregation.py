"""Labels put together: the vote and its ties, weights, Dawid and Skene, MACE."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from statistics import median_high, median_low
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.agreement.aggregation.dawid_skene import DawidSkene, dawid_skene
from labelhub.core.agreement.aggregation.mace import mace
from labelhub.core.agreement.aggregation.majority import (
    MOST_VOTES,
    agreement_with_others,
    credit_of_votes,
    majority_accuracy,
    median_categories,
    row_shares,
    single_winner,
    weighted_vote,
    winners,
)
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput
from tests.core.agreement.matrices import from_matrix
from tests.core.agreement.published import crowd, reference

Q = 3
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, Q - 1)
)
NOTHING = [(0, 0, 0), (3, 2, 0), (3, 2, 4), (0, 3, 2)]


def labels(posterior: Floats | Ints) -> Ints:
    return single_winner(winners(posterior))


@given(TABLES)
def test_winners_are_those_that_counting_by_hand_finds(table: Ints) -> None:
    for row, won in zip(
        table.tolist(), winners(from_matrix(table, Q).counts()).tolist(), strict=True
    ):
        counted = Counter(code for code in row if code >= 0)
        most = max(counted.values(), default=0)
        assert won == [most > 0 and counted[code] == most for code in range(Q)]


@given(TABLES)
def test_the_median_is_that_of_the_standard_library(table: Ints) -> None:
    low, high = median_categories(from_matrix(table, Q).counts())
    for item, row in enumerate(table.tolist()):
        codes = [code for code in row if code >= 0] or [-1]
        assert (low[item], high[item]) == (median_low(codes), median_high(codes))


def test_accuracy_gives_a_tie_the_share_of_gold_among_the_tied() -> None:
    counts = np.array([[3, 1, 0], [2, 2, 0], [1, 1, 1], [2, 2, 0], [0, 0, 0], [0, 1, 1]])
    credit = majority_accuracy(counts, np.array([0, 1, 2, 2, 0, -1]))
    np.testing.assert_allclose(credit, [1, 1 / 2, 1 / 3, 0, np.nan, np.nan])
    for gold in ([0], [0, 3], [0, -2]):
        with pytest.raises(InvalidInput):
            majority_accuracy(np.ones((2, 3)), np.array(gold))


@pytest.mark.parametrize(
    ("name", "accuracy", "ties"), [("snow_rte", 0.8969, 65), ("ti_dog", 0.8222, None)]
)
def test_published_crowds_reach_their_majority_accuracy(
    name: str, accuracy: float, ties: int | None
) -> None:
    ratings, gold = crowd(name)
    credit = majority_accuracy(ratings.counts(), gold)
    assert np.nanmean(credit) == pytest.approx(accuracy, abs=6e-5)
    tied = winners(ratings.counts())[~np.isnan(credit)].sum(axis=1) > 1
    assert ties in (None, tied.sum())


@given(TABLES, st.floats(0.01, 100))
def test_equal_weights_give_the_shares_of_the_votes(table: Ints, weight: float) -> None:
    ratings = from_matrix(table, Q)
    found = weighted_vote(ratings, np.full(table.shape[1], weight))
    np.testing.assert_allclose(found, row_shares(ratings.counts()))


def test_a_heavy_rater_outvotes_two_light_ones_and_wrong_weights_are_refused() -> None:
    heavy = weighted_vote(from_matrix([[0, 1, 1]], 2), np.array([3.0, 1.0, 1.0]))
    assert heavy.tolist() == [[0.6, 0.4]]
    for weights in ([1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(InvalidInput):
            weighted_vote(from_matrix([[0, 1]], 2), np.array(weights))


@given(TABLES)
def test_agreement_with_others_is_that_of_counting_by_hand(table: Ints) -> None:
    """Each rater's share is drawn towards that of all by five more pairs."""
    both = (table[:, :, None] >= 0) & (table[:, None, :] >= 0)
    both &= ~np.eye(table.shape[1], dtype=bool)
    alike = both & (table[:, :, None] == table[:, None, :])
    pairs, same = both.sum(axis=(0, 2)), alike.sum(axis=(0, 2))
    together = same.sum() / pairs.sum() if pairs.sum() else 1.0
    found = agreement_with_others(from_matrix(table, Q))
    np.testing.assert_allclose(found, (same + 5 * together) / (pairs + 5))


def test_the_anaesthetists_have_the_published_classes() -> None:
    case, found = reference("dawid_skene1979_prior"), dawid_skene(anaesthetists())
    assert found.shares == pytest.approx(case["expected"], abs=case["tolerance"])
    expected = reference("dawid_skene1979_labels")["expected"]
    assert (labels(found.posterior) + 1).tolist() == expected


def test_two_rounds_are_those_of_the_plain_equations() -> None:
    ratings = anaesthetists()
    found = dawid_skene(ratings, iterations=2)
    posterior, class_shares, log_likelihood = plain_em(ratings, 2)
    np.testing.assert_allclose(found.posterior, posterior, atol=1e-4)
    np.testing.assert_allclose(found.shares, class_shares, atol=1e-5)
    assert found.log_likelihood == pytest.approx(log_likelihood, rel=1e-5)
    assert found.iterations == 2


@pytest.mark.parametrize(("name", "accuracy"), [("snow_rte", 0.9275), ("ti_dog", 0.843)])
def test_published_crowds_reach_their_accuracy_by_dawid_and_skene(
    name: str, accuracy: float
) -> None:
    ratings, gold = crowd(name)
    found = labels(dawid_skene(ratings).posterior)
    assert (found == gold).mean() == pytest.approx(accuracy, abs=0.001)


@pytest.mark.parametrize(("items", "raters", "categories"), NOTHING)
@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_without_ratings_nothing_is_known_and_nothing_fails(
    model: Callable[[Ratings], Any], items: int, raters: int, categories: int
) -> None:
    found = model(from_matrix(np.full((items, raters), -1), categories))
    assert found.posterior.shape == (items, categories)
    assert (labels(found.posterior) == -1).all()


def test_wrong_options_are_refused() -> None:
    ratings = from_matrix([[0, 1], [1, 1]], 2)
    with pytest.raises(InvalidInput):
        dawid_skene(ratings, iterations=0)
    for options in ({"restarts": 0}, {"iterations": 0}):
        with pytest.raises(InvalidInput):
            mace(ratings, **options)


@given(TABLES)
def test_chances_are_chances(table: Ints) -> None:
    found = dawid_skene(from_matrix(table, Q))
    rated = (table >= 0).any(axis=1)
    assert np.isnan(found.posterior[~rated]).all()
    assert found.posterior[rated].sum(axis=1) == pytest.approx(np.ones(rated.sum()))
    assert found.shares.sum() == pytest.approx(1)
    assert found.log_likelihood <= 0


@pytest.mark.thorough
@given(TABLES, st.permutations(range(Q)), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_raters_and_the_names_of_categories_do_not_matter(
    table: Ints, names: list[int], dice: Any
) -> None:
    raters = dice.sample(range(table.shape[1]), table.shape[1])
    renamed = np.array([*names, -1])
    plain, shuffled = few_rounds(table), few_rounds(renamed[table[:, raters]])
    np.testing.assert_allclose(shuffled.posterior[:, names], plain.posterior, atol=1e-6)
    assert shuffled.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)


def test_spammers_who_agree_do_not_outvote_those_who_know() -> None:
    """Four raters who know in 9 of 10 cases, four who always say 2, two who guess."""
    dice = np.random.default_rng(11)
    truth = dice.integers(0, 3, 600)
    guesses = dice.integers(0, 3, (600, 10))
    table = np.where(dice.random((600, 10)) < 0.9, truth[:, None], guesses)
    table[:, 4:8] = 2
    table[:, 8:] = guesses[:, 8:]
    ratings = from_matrix(table, 3)
    found = mace(ratings)
    assert found.competence[:4] == pytest.approx(np.full(4, 0.9), abs=0.04)
    assert (found.competence[4:] < 0.1).all()
    assert (labels(ratings.counts()) == truth).mean() < 0.85
    assert (labels(found.posterior) == truth).mean() > 0.97
    ends = [mace(ratings, restarts=1, iterations=n).log_likelihood for n in (1, 3, 10, 30)]
    assert (np.diff(ends) > -1e-2).all()


@given(TABLES, st.integers(1, 3))
@settings(deadline=None)
def test_rounds_of_mace_are_those_of_the_plain_equations(table: Ints, rounds: int) -> None:
    found = mace(from_matrix(table, Q), restarts=1, iterations=rounds)
    posterior, competence = plain_mace(table, rounds)
    rated = (table >= 0).any(axis=1)
    np.testing.assert_allclose(found.posterior[rated], posterior[rated], atol=1e-6)
    np.testing.assert_allclose(found.competence, competence, atol=1e-6)


def plain_mace(table: Ints, rounds: int) -> tuple[Floats, Floats]:
    """Hovy et al. (2013), section 2.1, over all items, raters and categories; all raters alike."""
    raters, added, posterior = table.shape[1], 0.1 / Q, np.empty((len(table), Q))
    competence, strategy = np.full(raters, 0.5), np.full((raters, Q), 1 / Q)
    for done in range(rounds + 1):
        joint, known = np.ones((len(table), Q)), np.zeros((len(table), raters))
        for item, rater in zip(*np.nonzero(table >= 0), strict=True):
            spam = (1 - competence[rater]) * strategy[rater, table[item, rater]]
            joint[item] *= spam + competence[rater] * (np.arange(Q) == table[item, rater])
            known[item, rater] = competence[rater] / (competence[rater] + spam)
        posterior = joint / joint.sum(axis=1, keepdims=True)
        if done == rounds:
            break
        knows, spams = np.full(raters, added), np.full((raters, Q), added)
        for item, rater in zip(*np.nonzero(table >= 0), strict=True):
            share = posterior[item, table[item, rater]] * known[item, rater]
            knows[rater] += share
            spams[rater, table[item, rater]] += 1 - share
        total = spams.sum(axis=1) - (Q - 1) * added
        competence = knows / (knows + total)
        strategy = spams / spams.sum(axis=1, keepdims=True)
    return posterior, np.where((table >= 0).any(axis=0), competence, np.nan)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "accuracy"), [("snow_rte", 0.9275), ("ti_dog", 0.832)])
def test_real_crowds_reach_the_accuracy_of_other_programs_by_mace(
    name: str, accuracy: float
) -> None:
    ratings, gold = crowd(name)
    found = labels(mace(ratings).posterior)
    assert (found == gold).mean() == pytest.approx(accuracy, abs=0.005)


def test_two_raters_who_never_agree_leave_everything_undecided() -> None:
    answers = np.random.default_rng(1).integers(0, 2, 30)
    found = mace(from_matrix(np.column_stack([answers, 1 - answers]), 2))
    np.testing.assert_allclose(found.posterior, 0.5)
    assert found.competence[0] == pytest.approx(found.competence[1], abs=0.2)


def few_rounds(table: Ints) -> DawidSkene:
    """Not to the end: at a saddle the last digits decide where EM goes in the long run."""
    return dawid_skene(from_matrix(table, Q), iterations=3)


def plain_em(ratings: Ratings, rounds: int) -> tuple[Any, Any, float]:
    """The paper's equations (2.3) to (2.5) written as loops, without any smoothing."""
    answers = np.zeros((ratings.n_items, ratings.n_raters, ratings.n_categories))
    np.add.at(answers, (ratings.items, ratings.raters, ratings.codes), 1)
    posterior = answers.sum(axis=1) / answers.sum(axis=(1, 2))[:, None]
    class_shares, log_likelihood = posterior, 0.0
    for _ in range(rounds):
        class_shares = posterior.mean(axis=0)
        confusion = np.einsum("it,ira->rta", posterior, answers)
        confusion /= confusion.sum(axis=2, keepdims=True)
        joint = np.array(
            [
                [share * np.prod(confusion[:, t] ** item) for t, share in enumerate(class_shares)]
                for item in answers
            ]
        )
        sums = joint.sum(axis=1, keepdims=True)
        posterior, log_likelihood = joint / sums, float(np.log(sums).sum())
    return posterior, class_shares, log_likelihood


def anaesthetists() -> Ratings:
    items, raters, codes = np.array(reference("dawid_skene1979_prior")["input"]["long"]).T - 1
    return Ratings(items, raters, codes, 45, 5, 4)


tables = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.integers(0, 2)),
    min_size=1,
    max_size=5,
)


def by_enumeration(counts: list[int], truth: int, votes: int) -> float:
    labels = [category for category, often in enumerate(counts) for _ in range(often)]
    if len(labels) < votes:
        return float("nan")
    chosen = [np.bincount(some, minlength=len(counts)) for some in combinations(labels, votes)]
    truths = np.full(len(chosen), truth)
    return float(majority_accuracy(np.array(chosen), truths).mean())


@given(tables, st.integers(1, 9))
def test_it_is_the_mean_over_every_choice(table: list[tuple[list[int], int]], votes: int) -> None:
    counts = np.array([row for row, _ in table])
    truth = np.array([true for _, true in table])

    found = credit_of_votes(counts, truth, votes)

    wanted = [by_enumeration(row, true, votes) for row, true in table]
    assert found == pytest.approx(np.array(wanted), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("votes", [0, MOST_VOTES + 1])
def test_impossible_numbers_of_votes_are_refused(votes: int) -> None:
    with pytest.raises(InvalidInput):
        credit_of_votes(np.array([[1, 1]]), np.array([0]), votes)
