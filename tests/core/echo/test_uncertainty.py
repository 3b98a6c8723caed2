"""σ is a probability one may rely on: of predictions given 0.3, three in ten turn out wrong."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.uncertainty import (
    BEGUN_RATE,
    Floats,
    Uncertainty,
    calibration_error,
    inputs,
    mismatch,
    new_uncertainty,
    sigma,
)
from tests.cases import all_cases

shares = st.floats(0, 1)


def signs_of(top: float, *, disagreement: float = 0.0, answers: float = 0.0) -> Floats:
    """Signs of one prediction of three values, of a feature without a record."""
    margin = top - (1 - top) / 2
    columns = (top, margin, disagreement, BEGUN_RATE, answers)
    found: Floats = inputs(*(np.array([each]) for each in columns))[0]
    return found


def of(known: Uncertainty, signs: Floats) -> float:
    return float(sigma(known, signs[None, :])[0])


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
    said, losses = np.zeros(answers), np.zeros(answers)
    for at in range(answers):
        feature, top = int(draws.integers(10)), float(draws.uniform(0.4, 0.99))
        record = known.mismatches[[feature]], known.answers[[feature]]
        margin = np.array([top - (1 - top) / 2])
        signs = inputs(np.array([top]), margin, np.zeros(1), *record)[0]
        chance = wrong(feature, top)
        said[at] = of(known, signs)
        losses[at] = lost(chance, draws) if lost else float(draws.random() < chance)
        mismatch(known, feature, signs, losses[at])
    return known, said, losses


def calibration(said: Floats, losses: Floats) -> float:
    """Expected calibration error in ten bins."""
    at = np.minimum((10 * said).astype(int), 9)
    counted = [np.bincount(at, each, 10) for each in (np.ones_like(said), said, losses)]
    return calibration_error(np.stack(counted))


@given(st.lists(st.tuples(st.floats(0.34, 1), shares, shares), max_size=15))
def test_whatever_is_answered_doubt_stays_doubt(told: list[tuple[float, float, float]]) -> None:
    known = new_uncertainty(1)
    for top, disagreement, loss in told:
        mismatch(known, 0, signs_of(top, disagreement=disagreement), loss)
    assert np.linalg.eigvalsh(known.covariance).min() > 0
    assert (known.covariance == known.covariance.T).all()
    assert 0 <= known.mismatches[0] <= 1


@given(st.floats(0.34, 0.99))
def test_a_miss_raises_sigma_and_a_match_lowers_it(top: float) -> None:
    signs = signs_of(top)
    missed, matched = new_uncertainty(1), new_uncertainty(1)
    before = of(missed, signs)
    mismatch(missed, 0, signs, 1.0)
    mismatch(matched, 0, signs, 0.0)
    assert of(matched, signs) < before < of(missed, signs)


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
    _, said, losses = streamed(wrong, 4_000, seed)
    assert calibration(said[1_000:], losses[1_000:]) <= 0.05


@pytest.mark.thorough
def test_a_distance_is_foretold_as_a_mismatch_is() -> None:
    _, said, losses = streamed(
        lambda feature, _top: 0.05 + 0.08 * feature,
        4_000,
        0,
        lost=lambda mean, draws: float(draws.beta(4 * mean, 4 * (1 - mean))),
    )
    assert ((losses > 0) & (losses < 1)).mean() > 0.99
    assert calibration(said[1_000:], losses[1_000:]) <= 0.05


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
        mismatch(known, 0, signs, 1.0)
    assert np.linalg.eigvalsh(known.covariance).min() > 0
    assert np.abs(known.weight - before.weight).max() < 10
