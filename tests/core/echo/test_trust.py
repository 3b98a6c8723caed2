"""Random clickers are found soon; who answers in earnest is not taken for one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.trust import (
    BEGIN,
    LEAST,
    MOST,
    MOST_STEP,
    NEW,
    OPTIONS,
    AuthorBelief,
    answered,
    offered,
)

AUTHORS = 1_500
sigmas = st.floats(0.001, 0.999)


def moved(trust: float, *, sigma: float, matched: bool, values: int) -> float:
    """The log-odds that answers are meant, after one more."""
    return answered(AuthorBelief(trust), sigma=sigma, matched=matched, values=values).answers


def histories(answers: int, values: int, *, earnest: bool, seed: int = 0) -> np.ndarray:
    """Trust after each answer, (authors, answers): σ is calibrated, from 0.05 to 0.5."""
    draws = np.random.default_rng(seed)
    doubts = draws.uniform(0.05, 0.5, (AUTHORS, answers))
    chances = 1 - doubts if earnest else np.full(doubts.shape, 1 / min(values, OPTIONS))
    matched = draws.random(doubts.shape) < chances
    found = np.zeros(doubts.shape)
    for author in range(AUTHORS):
        trust = BEGIN
        for number in range(answers):
            doubt, right = float(doubts[author, number]), bool(matched[author, number])
            trust = moved(trust, sigma=doubt, matched=right, values=values)
            found[author, number] = trust
    return found


def clickers(chances: np.ndarray, rates: np.ndarray, seed: int = 0) -> np.ndarray:
    """Trust in clicks after each offer, (authors, offers), where ``chances`` of a click are
    expected and ``rates`` are theirs."""
    draws = np.random.default_rng(seed)
    clicks = draws.random(chances.shape) < rates
    found = np.zeros(chances.shape)
    for author, row in enumerate(chances):
        trust = NEW
        for number, chance in enumerate(row):
            trust = offered(trust, chance=float(chance), value=float(clicks[author, number]))
            found[author, number] = trust.clicks
    return found


@given(st.floats(-MOST, MOST), sigmas, st.booleans(), st.integers(0, 20))
def test_one_answer_moves_by_so_much_at_most_and_never_beyond_the_ends(
    trust: float, sigma: float, matched: bool, values: int
) -> None:
    after = moved(trust, sigma=sigma, matched=matched, values=values)
    assert abs(after - trust) <= MOST_STEP + 1e-9
    assert abs(after) <= MOST


@given(sigmas, st.integers(2, OPTIONS))
def test_a_match_speaks_for_an_author_as_far_as_chance_would_not_have_done(
    sigma: float, values: int
) -> None:
    matched, missed = (
        moved(0.0, sigma=sigma, matched=matched, values=values) for matched in (True, False)
    )
    better_than_chance = 1 - sigma > 1 / values
    assert (matched > missed) == better_than_chance or matched == pytest.approx(missed)


@pytest.mark.thorough
@pytest.mark.parametrize(("values", "answers"), [(2, 60), (3, 25), (5, 25), (20, 25)])
def test_nineteen_of_twenty_random_clickers_are_found_within_a_few_answers(
    values: int, answers: int
) -> None:
    found = histories(answers, values, earnest=False)
    assert (found < LEAST).any(axis=1).mean() >= 0.95


@pytest.mark.thorough
@pytest.mark.parametrize("values", [2, 3, 5])
def test_of_those_in_earnest_one_in_a_hundred_is_distrusted_after_two_hundred_answers(
    values: int,
) -> None:
    found = histories(200, values, earnest=True)
    assert (found[:, -1] < LEAST).mean() <= 0.01
    # Some are doubted for a moment, and come back: what is lost with them is little.
    assert (found < LEAST).mean() <= 0.015


@pytest.mark.thorough
def test_who_is_distrusted_wrongly_comes_back_by_answering_in_earnest() -> None:
    draws = np.random.default_rng(0)
    trust = LEAST - 3 * MOST_STEP
    for _ in range(60):
        trust = moved(trust, sigma=0.2, matched=bool(draws.random() < 0.8), values=3)
    assert trust > LEAST


@pytest.mark.thorough
def test_who_clicks_every_other_offer_where_one_in_twenty_is_usual_is_found_soon() -> None:
    usual = np.full((AUTHORS, 25), 0.05)
    found = clickers(usual, np.full(usual.shape, 0.5))
    assert (found[:, 9] < LEAST).mean() >= 0.7
    assert (found < LEAST).any(axis=1).mean() >= 0.95


@pytest.mark.thorough
@pytest.mark.parametrize("usual", [0.02, 0.1, 0.5])
def test_of_those_whose_clicks_are_meant_few_are_doubted_though_some_click_more_often(
    usual: float,
) -> None:
    draws = np.random.default_rng(1)
    chances = draws.beta(4 * usual, 4 * (1 - usual), (AUTHORS, 100)).clip(0.001, 0.95)
    theirs = draws.normal(0, 0.5, (AUTHORS, 1))
    found = clickers(chances, 1 / (1 + np.exp(-np.log(chances / (1 - chances)) - theirs)))
    assert (found[:, -1] < LEAST).mean() <= 0.02
    assert (found < LEAST).mean() <= 0.025
