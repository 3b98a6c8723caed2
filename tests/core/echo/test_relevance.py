"""Relevance learns from rewards alone which features matter, and forgets what no longer holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.events import CLICK, DISMISSED, HELPFUL
from labelhub.core.echo.relevance import (
    FIRMEST,
    PRIOR_MATTERS,
    PRIOR_VARIANCE,
    PRIOR_WEIGHT,
    Floats,
    Relevance,
    click_gains,
    learn_named,
    new_relevance,
    relevance_bounds,
    reward,
)
from tests.cases import all_cases

COUNT = 6


@st.composite
def outcomes(draw: st.DrawFn) -> list[tuple[list[int], Floats, float]]:
    """Any outcomes: of which features, how likely each was predicted rightly, and what came."""
    found = []
    for _ in range(draw(st.integers(0, 12))):
        shown = sorted(draw(st.sets(st.integers(0, COUNT - 1))))
        right = draw(st.lists(st.floats(0, 1), min_size=len(shown), max_size=len(shown)))
        found.append((shown, np.array(right), draw(st.floats(0, 1))))
    return found


def learnt(lessons: list[tuple[list[int], Floats, float]]) -> Relevance:
    """Of every outcome a reward of each kind, and the answer what mattered most."""
    relevance = new_relevance(COUNT)
    for shown, right, value in lessons:
        for signal in (CLICK, HELPFUL, DISMISSED):
            reward(relevance, shown, right, value, signal)
        place = int(value * len(shown))
        learn_named(relevance, shown, right, place if place < len(shown) else None)
    return relevance


@given(outcomes())
def test_whatever_comes_the_beliefs_stay_beliefs(
    lessons: list[tuple[list[int], Floats, float]],
) -> None:
    relevance = learnt(lessons)
    assert ((relevance.matters > 0) & (relevance.matters < 1)).all()
    assert (np.abs(relevance.odds) <= FIRMEST).all()
    assert ((relevance.variance > 0) & (relevance.variance <= PRIOR_VARIANCE + 1e-12)).all()
    for known in relevance.signals.values():
        assert known.base_variance > 0
        assert known.slope_variance >= 0
        assert np.isfinite(known).all()
    assert relevance.signal(CLICK).slope == 1
    assert np.isfinite(relevance.weight).all()


def _stream(weights: Floats, rewards: int, seed: int, base: float = -2.5) -> Relevance:
    """Rewards of 8 features at a time, shown at random, 85 of 100 predicted rightly."""
    draws, relevance = np.random.default_rng(seed), new_relevance(len(weights))
    for _ in range(rewards):
        shown = draws.choice(len(weights), 8, replace=False)
        right = draws.random(8) < 0.85
        chance = 1 / (1 + np.exp(-base - weights[shown] @ right))
        reward(relevance, shown, np.full(8, 0.85), float(draws.random() < chance), CLICK)
    return relevance


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_planted_weights_are_found(seed: int) -> None:
    weights = np.zeros(30)
    weights[[3, 11, 17, 28]] = 0.9
    relevance = _stream(weights, 8_000, seed)
    assert set(np.argsort(-relevance.expected)[:4]) == {3, 11, 17, 28}
    assert relevance.matters[weights > 0].min() > 0.8
    assert np.median(relevance.matters[weights == 0]) < PRIOR_MATTERS
    assert relevance.expected[weights > 0].mean() == pytest.approx(0.8, abs=0.25)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_matters_little_comes_to_be_believed_and_success_is_foretold(
    seed: int,
) -> None:
    relevance = _stream(np.zeros(30), 6_000, seed)
    assert np.median(relevance.matters) < PRIOR_MATTERS
    assert relevance.expected.mean() < PRIOR_MATTERS * PRIOR_WEIGHT * 1.5
    foretold = relevance.signal(CLICK).base + 8 * 0.85 * relevance.expected.mean()
    assert foretold == pytest.approx(-2.5, abs=0.3)


@pytest.mark.thorough
def test_other_rewards_teach_by_a_slope_of_their_own() -> None:
    """Ratings follow the weights more clearly than clicks, dismissals the other way round."""
    weights, draws, relevance = np.zeros(20), np.random.default_rng(3), new_relevance(20)
    weights[[2, 5, 11]] = 0.8
    for _ in range(6_000):
        shown = draws.choice(20, 6, replace=False)
        help_ = weights[shown].sum()
        for signal, base, slope in ((CLICK, -3.0, 1.0), (HELPFUL, -1.0, 1.6), (DISMISSED, 0, -1)):
            chance = 1 / (1 + np.exp(-base - slope * help_))
            reward(relevance, shown, np.ones(6), float(draws.random() < chance), signal)
    assert set(np.argsort(-relevance.expected)[:3]) == {2, 5, 11}
    assert relevance.signal(HELPFUL).slope > 1.2
    assert relevance.signal(DISMISSED).slope < -0.5
    assert relevance.expected[weights == 0].max() < 0.2


@given(
    st.lists(st.floats(-FIRMEST, FIRMEST), min_size=2, max_size=8).map(np.array),
    st.data(),
)
def test_a_named_feature_gains_and_the_others_lose(odds: Floats, data: st.DataObject) -> None:
    count = len(odds)
    right = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=count, max_size=count)))
    named = data.draw(st.none() | st.integers(0, count - 1))
    before = Relevance(odds, np.full(count, 0.4), np.full(count, 0.03), odds.copy())
    after = Relevance(odds.copy(), before.weight, before.variance, before.prior_odds)
    learn_named(after, np.arange(count), right, named)
    moved = after.odds - before.odds
    assert (np.delete(moved, named) <= 1e-12).all() if named is not None else (moved <= 0).all()
    if named is not None:
        assert moved[named] > 0 or before.odds[named] == FIRMEST


def test_a_gain_is_a_change_of_the_probability_of_a_click() -> None:
    relevance = new_relevance(1)
    relevance.signals[CLICK] = relevance.signal(CLICK)._replace(base=-2.0)
    gain, none = click_gains(relevance, np.array([0.5, 0.0]))
    assert gain == pytest.approx(1 / (1 + np.exp(1.5)) - 1 / (1 + np.exp(2.0)))
    assert none == 0


@pytest.mark.thorough
def test_a_world_that_turned_round_is_learnt_anew() -> None:
    before, after = np.zeros(16), np.zeros(16)
    before[:2], after[2:4] = 1.2, 1.2
    draws, relevance = np.random.default_rng(0), new_relevance(16)
    for number in range(12_000):
        shown = draws.choice(16, 6, replace=False)
        weights = before if number < 4_000 else after
        chance = 1 / (1 + np.exp(2.5 - weights[shown].sum()))
        reward(relevance, shown, np.ones(6), float(draws.random() < chance), CLICK)
    assert set(np.argsort(-relevance.expected)[:2]) == {2, 3}


def belief(odds: float, weight: float, variance: float) -> Relevance:
    ones = np.ones(1)
    return Relevance(odds * ones, weight * ones, variance * ones, odds * ones)


@all_cases("odds", [-4.0, -1.7, 0.0, 2.0, 6.0])
@all_cases(("weight", "variance"), [(0.4, 0.03), (0.1, 0.04), (-0.2, 0.01)])
def test_the_bounds_hold_what_they_say(odds: float, weight: float, variance: float) -> None:
    found = belief(odds, weight, variance)
    (low,), (high,) = relevance_bounds(found)
    draws = np.random.default_rng(7)
    on = draws.random(100_000) < found.matters
    values = np.where(on, weight + np.sqrt(variance) * draws.standard_normal(100_000), 0.0)
    assert (values < low).mean() <= 0.03
    assert (values > high).mean() <= 0.03
    assert ((values >= low) & (values <= high)).mean() >= 0.94
