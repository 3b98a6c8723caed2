"""σ is a probability one may rely on: of predictions given 0.3, three in ten turn out wrong."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.echo.question_choice import (
    EXPLORE,
    OUTSIDE,
    choose,
    question_propensities,
    select_features,
    selection_propensities,
    worth,
)
from labelhub.core.echo.relevance import draw_relevance, new_relevance
from labelhub.core.echo.uncertainty import (
    Floats,
    Uncertainty,
    calibration_error,
    learn_mismatch,
    new_uncertainty,
    prediction_signs,
    sigma,
)
from tests.cases import all_cases

shares = st.floats(0, 1)


def signs_of(top: float, *, disagreement: float = 0.0, answers: float = 0.0) -> Floats:
    """Signs of one prediction of three values, of a feature without a record."""
    record = new_uncertainty(1)
    record.answers[:] = answers
    return prediction_signs(record, 0, top, top - (1 - top) / 2, disagreement)


def of(known: Uncertainty, signs: Floats) -> float:
    return float(sigma(known, signs))


def streamed(
    wrong: Callable[[int, float], float],
    answers: int,
    seed: int,
    *,
    lost: Callable[[float, np.random.Generator], float] | None = None,
) -> tuple[Uncertainty, Floats, Floats]:
    """Answers about ten features whose predictions are wrong with the chance that ``wrong`` plants.

    Returns what was learnt, and for each answer σ before it (n,) and its loss (n,).
    """
    draws, known = np.random.default_rng(seed), new_uncertainty(10)
    sigmas, losses = np.zeros(answers), np.zeros(answers)
    for number in range(answers):
        feature, top = int(draws.integers(10)), float(draws.uniform(0.4, 0.99))
        signs = prediction_signs(known, feature, top, top - (1 - top) / 2)
        chance = wrong(feature, top)
        sigmas[number] = of(known, signs)
        losses[number] = lost(chance, draws) if lost else float(draws.random() < chance)
        learn_mismatch(known, feature, signs, losses[number])
    return known, sigmas, losses


def calibration(sigmas: Floats, losses: Floats) -> float:
    """Expected calibration error in ten bins."""
    bins = np.minimum((10 * sigmas).astype(int), 9)
    counted = [np.bincount(bins, weights, 10) for weights in (np.ones_like(sigmas), sigmas, losses)]
    return calibration_error(np.stack(counted))


@given(st.lists(st.tuples(st.floats(0.34, 1), shares, shares), max_size=15))
def test_whatever_is_answered_doubt_stays_doubt(answers: list[tuple[float, float, float]]) -> None:
    known = new_uncertainty(1)
    for top, disagreement, loss in answers:
        learn_mismatch(known, 0, signs_of(top, disagreement=disagreement), loss)
    assert np.linalg.eigvalsh(known.covariance).min() > 0
    assert (known.covariance == known.covariance.T).all()
    assert 0 <= known.mismatches[0] <= 1


@pytest.mark.thorough
@all_cases("seed", range(2))
@all_cases(
    "wrong",
    [
        lambda _feature, top: 1 - top,
        lambda _feature, top: 0.3 + 0.7 * (1 - top),  # too sure of itself
        lambda feature, _top: 0.05 + 0.08 * feature,  # and sure of what it does not know
    ],
    ids=["honest", "overconfident", "by_feature"],
)
def test_planted_error_rates_are_foretold(wrong: Callable[[int, float], float], seed: int) -> None:
    _, sigmas, losses = streamed(wrong, 4_000, seed)
    assert calibration(sigmas[1_000:], losses[1_000:]) <= 0.05


@pytest.mark.thorough
def test_a_distance_is_foretold_as_a_mismatch_is() -> None:
    _, sigmas, losses = streamed(
        lambda feature, _top: 0.05 + 0.08 * feature,
        4_000,
        0,
        lost=lambda mean, draws: float(draws.beta(4 * mean, 4 * (1 - mean))),
    )
    assert ((losses > 0) & (losses < 1)).mean() > 0.99
    assert calibration(sigmas[1_000:], losses[1_000:]) <= 0.05


@pytest.mark.thorough
def test_a_sign_that_was_not_seen_for_long_is_not_doubted_beyond_all_measure() -> None:
    """Doubt grows with every answer; without bounds it would be 10²⁰ after a hundred thousand, and
    the first prediction that has the sign again would be noise, or negative doubt."""
    known, _, _ = streamed(lambda _feature, top: 1 - top, 20_000, 0)
    before = copy.deepcopy(known)
    assert (known.covariance.diagonal() <= 16).all()
    signs = signs_of(0.9, disagreement=0.3, answers=2_000)
    assert of(known, signs) == pytest.approx(0.1, abs=0.15)
    for _ in range(3):
        learn_mismatch(known, 0, signs, 1.0)
    assert np.linalg.eigvalsh(known.covariance).min() > 0
    assert np.abs(known.signs - before.signs).max() < 10


worths = st.lists(st.floats(-1, 1), max_size=12).map(np.array)
#: Two of them are not worth asking, two are equal.
VALUES = np.array([0.3, -0.1, 0.9, 0.05, 0.3, 0.0, 0.6])
WORTHY = np.flatnonzero(VALUES > 0)
DRAWS = 20_000


def asked(
    values: Floats, most: int, seed: int = 0, explore: float = EXPLORE, times: int = DRAWS
) -> list[np.ndarray]:
    draws = np.random.default_rng(seed)
    return [choose(values, most, draws, explore)[0] for _ in range(times)]


@given(worths, st.integers(0, 6), st.floats(0, 1), st.integers(0, 1_000))
def test_the_chances_of_all_candidates_sum_to_the_number_asked(
    values: Floats, most: int, explore: float, seed: int
) -> None:
    (chosen,) = asked(values, most, seed, explore, times=1)
    propensities = question_propensities(values, most, explore)
    assert len(chosen) == min(most, int((values > 0).sum()))
    assert propensities.shape == values.shape
    assert propensities.sum() == pytest.approx(len(chosen))
    assert ((propensities >= 0) & (propensities <= 1 + 1e-12)).all()


@given(worths, st.integers(0, 6), st.floats(0.01, 1), st.integers(0, 1_000))
def test_what_is_not_worth_asking_is_not_asked_and_what_is_may_be(
    values: Floats, most: int, explore: float, seed: int
) -> None:
    (chosen,) = asked(values, most, seed, explore, times=1)
    assert (values[chosen] > 0).all()
    assert len(set(chosen.tolist())) == len(chosen)
    may = question_propensities(values, most, explore) > 0
    assert may.tolist() == ((values > 0) & (most > 0)).tolist()


@pytest.mark.thorough
@pytest.mark.parametrize(("most", "explore"), [(1, 0.1), (2, 0.1), (3, 0.5), (2, 1.0)])
def test_each_is_asked_as_often_as_its_stored_chance_says(most: int, explore: float) -> None:
    found = asked(VALUES, most, seed=most, explore=explore)
    propensity = question_propensities(VALUES, most, explore)[WORTHY]
    counts = np.bincount(np.concatenate(found), minlength=len(VALUES))
    assert counts[np.setdiff1d(np.arange(len(VALUES)), WORTHY)].sum() == 0
    # One term for asked and one for not asked of each candidate: as many binomials.
    got, want = counts[WORTHY], DRAWS * propensity
    statistic = ((got - want) ** 2 / (want * (1 - propensity))).sum()
    # Fixed in number, so that they hang together; the number of candidates is more than enough.
    assert stats.chi2.sf(statistic, len(WORTHY)) > 0.001


@pytest.mark.thorough
def test_weighted_by_their_chances_those_asked_stand_for_all_that_are_worthy() -> None:
    quantity = np.array([5.0, 100.0, 1.0, 9.0, 2.0, 100.0, 7.0])  # the best differ from the rest
    propensities = question_propensities(VALUES, 2)
    weighed = [
        (quantity[chosen] / propensities[chosen]).sum() / len(WORTHY)
        for chosen in asked(VALUES, 2, seed=1)
    ]
    plain = [quantity[chosen].mean() for chosen in asked(VALUES, 2, seed=1, times=2_000)]
    error = np.std(weighed) / np.sqrt(DRAWS)
    truth = quantity[WORTHY].mean()
    assert abs(np.mean(weighed) - truth) < 3.5 * error
    assert abs(np.mean(plain) - truth) > 0.5


@given(st.floats(0.01, 2), st.floats(0.001, 0.999), st.floats(0.01, 1))
def test_worth_grows_with_doubt_and_relevance(
    relevance: float, doubt: float, answered: float
) -> None:
    def value(relevance: float, sigma: float) -> float:
        columns = np.array([relevance]), np.array([sigma])
        return float(worth(*columns, answered=answered)[0])

    assert value(relevance, doubt) > value(relevance, doubt / 2) > 0
    assert value(relevance + 0.1, doubt) > value(relevance, doubt)


COUNT = 9


@given(
    st.lists(st.floats(-0.2, 1), min_size=COUNT, max_size=COUNT),
    st.lists(st.floats(0.01, 0.99), min_size=COUNT, max_size=COUNT),
    st.integers(1, 12),
)
def test_candidates_are_the_shown_features_and_the_most_relevant_others(
    relevance: list[float], right: list[float], k: int
) -> None:
    drawn, chances = np.array(relevance), np.array(right)
    shown, candidates = select_features(drawn, chances, k)
    left = np.setdiff1d(np.arange(COUNT), candidates)
    help_ = drawn * chances
    assert len(set(candidates.tolist())) == min(COUNT, k + OUTSIDE)
    assert candidates[: len(shown)].tolist() == shown.tolist()
    assert len(shown) == min(k, COUNT)
    others = np.setdiff1d(np.arange(COUNT), shown)
    assert help_[shown].min() >= help_[others].max(initial=-1)
    assert drawn[np.setdiff1d(candidates, shown)].min(initial=9) >= drawn[left].max(initial=-1)


def test_a_badly_predicted_feature_that_matters_is_asked_about_until_it_recovers() -> None:
    relevance, right = np.array([0.2, 0.2, 0.2, 0.5]), np.array([0.9, 0.9, 0.9, 0.1])
    shown, candidates = select_features(relevance, right, 3)
    assert shown.tolist() == [0, 1, 2]
    values = worth(relevance, 1 - right)[candidates]
    assert candidates[np.argmax(values)] == 3


@pytest.mark.thorough
def test_propensities_are_how_often_features_are_selected_and_asked_about() -> None:
    """The estimate from some draws agrees with the counts of many new choices."""
    draws, k, most, explore = np.random.default_rng(5), 3, 2, 0.1
    relevance = new_relevance(8)
    relevance.odds[:] = np.linspace(-3, 3, 8)
    right, sigmas = np.linspace(0.4, 0.9, 8), 1 - np.linspace(0.4, 0.9, 8)
    values = worth(relevance.magnitude, sigmas)
    drawn = draw_relevance(relevance, draws, (4_000,))
    selected, chances = selection_propensities(
        drawn, right, values, k=k, most=most, explore=explore
    )
    counts = np.zeros((2, 8))
    for _ in range(4_000):
        shown, near = select_features(draw_relevance(relevance, draws), right, k)
        counts[0, shown] += 1
        counts[1, near[choose(values[near], most, draws, explore)[0]]] += 1
    assert np.abs(selected - counts[0] / 4_000).max() < 0.04
    assert np.abs(chances - counts[1] / 4_000).max() < 0.04
    assert selected.sum() == pytest.approx(k)
    assert chances.sum() == pytest.approx(most)
