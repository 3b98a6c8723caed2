"""Bounds, thresholds that keep a promise, and streams that tell when it no longer holds."""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import wilson
from labelhub.core.agreement.risk_control import (
    ERRORS_ABOVE_TARGET,
    TOO_FEW_LABELS,
    Choice,
    audit_bound,
    choose_threshold,
    labels_needed,
    log_drift_evidence,
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
SEEN = np.arange(1, 9)


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


@given(st.lists(st.floats(0, 1), min_size=8, max_size=8), st.sampled_from([0.02, 0.1, 0.4]))
def test_evidence_of_a_rise_is_a_fair_game_at_the_rate_and_a_losing_one_below(
    shares: list[float], rate: float
) -> None:
    """The expectation over all streams, after each item, whichever rates below they have."""
    streams = np.array(list(product((0, 1), repeat=len(shares))))
    odds = np.exp([log_drift_evidence(wrong.cumsum(), SEEN, rate) for wrong in streams])
    for rates, expected in ((np.full(8, rate), 1), (rate * np.array(shares), None)):
        chances = np.where(streams, rates, 1 - rates).prod(axis=1)
        means = chances @ odds
        assert (means <= 1 + 1e-9).all()
        assert expected is None or means == pytest.approx(np.ones(8))


def good_for_long(generator: np.random.Generator) -> Floats:
    return np.repeat([0.01, TARGET], [1500, 1500])


def changing_below(generator: np.random.Generator) -> Floats:
    return np.repeat(generator.random(60) * TARGET, 50)


def at_the_target(generator: np.random.Generator) -> Floats:
    return np.full(3000, TARGET)


@pytest.mark.thorough
@all_cases("world", [at_the_target, good_for_long, changing_below])
def test_false_alarms_are_rare_however_often_one_looks(world: Any) -> None:
    generator, streams = np.random.default_rng(12), 300
    alarms = 0
    for _ in range(streams):
        rates = world(generator)
        alarms += audit_bound(generator.random(rates.size) < rates, TARGET).broken_at is not None
    assert alarms / streams <= DELTA + 1.65 * sqrt(DELTA * (1 - DELTA) / streams)


@all_cases(
    ("good", "rate", "most"),
    [(0, 0.1, 400), (200, 0.1, 450), (2000, 0.1, 600), (2000, 0.2, 120), (10_000, 0.1, 750)],
)
def test_a_rise_is_noticed_soon_however_long_the_stream_was_good(
    good: int, rate: float, most: int
) -> None:
    generator = np.random.default_rng(14)
    rates = np.repeat([0.02, rate], [good, 3000])
    audits = [audit_bound(generator.random(rates.size) < rates, TARGET) for _ in range(9)]
    delays = [(audit.broken_at or 3000 + good) - good for audit in audits]
    assert 0 < np.median(delays) <= most


def test_a_burst_is_noticed_though_the_whole_stream_is_good() -> None:
    wrong = np.zeros(4000)
    wrong[::50] = 1
    wrong[3000:3100:4] = 1
    audit = audit_bound(wrong, TARGET)
    assert audit.broken_at is not None
    assert 3000 < audit.broken_at <= 3100
    assert audit.high < TARGET


def test_looks_at_every_tenth_item_tell_nearly_the_same() -> None:
    errors = (np.random.default_rng(3).random(3000) < 0.07).cumsum()
    every, some = np.arange(1, 3001), np.arange(10, 3001, 10)
    fine = log_drift_evidence(errors, every, TARGET)
    coarse = log_drift_evidence(errors[some - 1], some, TARGET)
    assert coarse == pytest.approx(fine[some - 1], abs=0.3)


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
    assert audit_bound(stream[: audit.broken_at], TARGET).broken_at == audit.broken_at
    assert audit_bound(stream[: audit.broken_at - 1], TARGET).broken_at is None


@given(st.lists(st.sampled_from([0, 0, 0, 0, 1]), max_size=80), st.sampled_from([0.05, 0.2]))
def test_where_the_lower_bound_reaches_the_target_there_is_an_alarm(
    wrong: list[int], target: float
) -> None:
    audit = audit_bound(wrong, target)
    assert audit.low < target or audit.broken_at is not None


def test_the_last_hundred_are_shown_by_themselves() -> None:
    audit = audit_bound([1] * 50 + [0] * 95 + [1] * 5, TARGET)
    low, high = wilson(5, 100)
    expected = {"value": 0.05, "low": low, "high": high, "n": 100, "method": "Wilson"}
    assert audit.recent == expected
    few = audit_bound([0] * 9, TARGET).recent
    assert (few["value"], few["low"], few["high"]) == (0, None, None)
    assert audit_bound([], TARGET).recent == {"value": None, "reason": "no_items"}


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
