"""Bounds, thresholds that keep a promise, and streams that tell when it no longer holds."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.risk_control import (
    ERRORS_ABOVE_TARGET,
    TOO_FEW_LABELS,
    Choice,
    audit_bound,
    choose_threshold,
    labels_needed,
    log_evidence,
    ppi_mean,
    quantile_thresholds,
    upper_bound,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

PROJECTS, CALIBRATION, TARGET, DELTA = 2000, 500, 0.05, 0.05
MOST_VIOLATIONS = DELTA + 1.65 * sqrt(DELTA * (1 - DELTA) / PROJECTS)
Floats = NDArray[np.float64]


@given(st.sampled_from([0.003, 0.02, 0.1, 0.4]), st.integers(0, 12))
def test_labels_needed_are_the_fewest(target: float, errors: int) -> None:
    n = labels_needed(target, errors=errors)
    assert upper_bound(errors, n) <= target < upper_bound(errors, n - 1)


def test_the_lowest_threshold_of_an_unbroken_row_is_chosen() -> None:
    scores = np.repeat([0.9, 0.8, 0.7, 0.6], 100)
    wrong = np.zeros(400)
    wrong[[150, 210]] = 1
    wrong[220:230] = 1
    choice = choose_threshold(scores, wrong, TARGET, [0.6, 0.7, 0.8, 0.9])
    assert [step.passed for step in choice.path] == [True, True, False, False]
    # The last would pass by itself, but comes after a failure.
    assert [step.tested for step in choice.path] == [True, True, True, False]
    assert choice.path[3].bound < TARGET < choice.path[2].bound
    assert choice.chosen is choice.path[1]
    assert (choice.chosen.threshold, choice.chosen.accepted) == (0.8, 200)
    assert (choice.chosen.errors, choice.chosen.coverage, choice.chosen.error) == (1, 0.5, 0.005)
    assert choice.chosen.bound == pytest.approx(upper_bound(1, 200))


def test_without_a_threshold_the_reason_is_named() -> None:
    few = choose_threshold(np.ones(58), np.zeros(58), TARGET, [0.5])
    assert (few.chosen, few.reason) == (None, TOO_FEW_LABELS)
    bad = choose_threshold(np.ones(100), np.ones(100), TARGET, [0.5])
    assert (bad.chosen, bad.reason) == (None, ERRORS_ABOVE_TARGET)
    none = choose_threshold([], [], TARGET, [0.5])
    assert (none.path[0].error, none.path[0].coverage, none.reason) == (None, 0, TOO_FEW_LABELS)


def rising(scores: Floats) -> Floats:
    return np.asarray(0.25 * (1 - scores) ** 1.5)


def just_above(scores: Floats) -> Floats:
    return np.full(scores.shape, TARGET + 0.0001)


def worst_in_the_middle(scores: Floats) -> Floats:
    return np.where(scores > 0.85, 0.0, np.where(scores > 0.7, 0.2, 0.05))


@pytest.mark.thorough
@all_cases("risk", [rising, just_above, worst_in_the_middle])
@all_cases("start_errors", [0, 2])
def test_the_promise_is_kept_in_simulated_projects(risk: Any, start_errors: int) -> None:
    generator = np.random.default_rng(11)
    pool = generator.random(100_000)
    thresholds = quantile_thresholds(pool)
    truth = {threshold: risk(pool[pool >= threshold]).mean() for threshold in thresholds}

    def violated() -> bool:
        scores = generator.random(CALIBRATION)
        wrong = generator.random(CALIBRATION) < risk(scores)
        choice: Choice = choose_threshold(
            scores, wrong, TARGET, thresholds, 1 - DELTA, start_errors=start_errors
        )
        return choice.chosen is not None and truth[choice.chosen.threshold] > TARGET

    assert np.mean([violated() for _ in range(PROJECTS)]) <= MOST_VIOLATIONS


@pytest.mark.thorough
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_false_alarms_are_rare_however_often_one_looks(rate: float) -> None:
    streams, looks = 1000, 3000
    wrong = np.random.default_rng(12).random((streams, looks)) < rate
    looked = wrong.cumsum(axis=1) * (looks + 1) + np.arange(1, looks + 1)
    # Many streams meet the same counts: each pair is computed once.
    pairs, place = np.unique(looked, return_inverse=True)
    evidence = log_evidence(pairs // (looks + 1), pairs % (looks + 1), rate)[place]
    alarms = np.mean(evidence.reshape(looked.shape).max(axis=1) >= np.log(1 / DELTA))
    assert alarms <= DELTA + 1.65 * sqrt(DELTA * (1 - DELTA) / streams)


def test_evidence_is_a_fair_game_at_the_rate_and_a_losing_one_below() -> None:
    n = 40
    k = np.arange(n + 1)
    odds = np.exp(log_evidence(k, n, 0.1))
    assert odds @ stats.binom.pmf(k, n, 0.1) == pytest.approx(1)
    assert odds @ stats.binom.pmf(k, n, 0.05) < 1


def test_a_broken_promise_is_noticed_and_stays_noticed() -> None:
    stream = np.concatenate([np.tile([1, 0, 0, 0], 50), np.zeros(2000)])
    audit = audit_bound(stream, TARGET)
    assert audit.broken_at is not None
    assert audit.broken_at < 100
    assert audit.low < TARGET
    assert audit_bound(stream[: audit.broken_at], TARGET).low >= TARGET
    assert audit_bound(stream[: audit.broken_at - 1], TARGET).broken_at is None


def test_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Not a count"):
        upper_bound(3, 2)
    for share in (0.0, 1.0):
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            labels_needed(share)
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            upper_bound(1, 2, share)
    with pytest.raises(InvalidInput, match="one score and one outcome"):
        choose_threshold([0.5], [1, 0], TARGET, [0.5])
    with pytest.raises(InvalidInput, match="wrong or not"):
        audit_bound([2], TARGET)
    with pytest.raises(InvalidInput, match="need scores"):
        quantile_thresholds([])


SHARE, SAMPLES = 0.3, 1500


def noisy(generator: np.random.Generator, truth: Floats, accuracy: float) -> Floats:
    """Predictions of 0 and 1 of which so many are right."""
    right = generator.random(truth.size) < accuracy
    return np.where(right, truth, 1 - truth)


def covers(result: Figure, truth: float) -> bool:
    low, high = result["low"], result["high"]
    assert low is not None
    assert high is not None
    return low <= truth <= high


def width(figure: object) -> float:
    assert isinstance(figure, dict)
    return float(figure["high"] - figure["low"])


@pytest.mark.parametrize("labels", [4, 8])
def test_few_labels_cover_as_often_as_promised(labels: int) -> None:
    generator = np.random.default_rng(12)
    hits = 0
    for _ in range(SAMPLES):
        truth = generator.normal(SHARE, 1, labels)
        hits += covers(ppi_mean(truth, np.zeros(labels), []), SHARE)
    assert 0.935 <= hits / SAMPLES <= 0.965


@pytest.mark.thorough
@pytest.mark.parametrize("accuracy", [0.5, 0.9])
def test_the_interval_covers_the_truth(accuracy: float) -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(SAMPLES):
        truth = (generator.random(1100) < SHARE).astype(float)
        predicted = noisy(generator, truth, accuracy)
        hits += covers(ppi_mean(truth[:100], predicted[:100], predicted[100:]), SHARE)
    assert 0.92 <= hits / SAMPLES <= 0.97


def test_good_predictions_shorten_the_interval_and_bad_ones_do_not_harm() -> None:
    generator = np.random.default_rng(7)
    truth = (generator.random(5200) < SHARE).astype(float)
    for accuracy, most in ((0.95, 0.7), (0.5, 1.01)):
        predicted = noisy(generator, truth, accuracy)
        result = ppi_mean(truth[:200], predicted[:200], predicted[200:])
        assert width(result) <= most * width(ppi_mean(truth[:200], truth[:200], []))


def test_without_further_predictions_the_labels_decide() -> None:
    result = ppi_mean([1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [])
    assert result["value"] == pytest.approx(1 / 3)
    assert result["n"] == 3
    assert ppi_mean([1.0], [1.0], [0.0]) == {"value": None, "reason": "too_few_labels", "n": 1}
    for wrong in ([1.0, float("nan")], [[1.0], [0.0]], [1.0]):
        with pytest.raises(InvalidInput):
            ppi_mean(wrong, [1.0, 0.0], [])


def test_the_mean_and_its_interval_are_those_of_the_formula() -> None:
    labels, predicted, rest = [1.0, 0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0]
    covariance = float(np.cov(labels, predicted, bias=True)[0, 1])
    trust = covariance / (float(np.var(predicted + rest)) * (1 + 5 / 3))
    mean = 0.6 - trust * (0.4 - 2 / 3)
    variance = np.var(np.array(labels) - trust * np.array(predicted), ddof=1) / 5
    variance += trust**2 * np.var(rest) / 3
    found = ppi_mean(labels, predicted, rest)
    assert found["value"] == pytest.approx(mean)
    assert found["low"] == pytest.approx(max(0, mean - stats.t.ppf(0.975, 4) * variance**0.5))
