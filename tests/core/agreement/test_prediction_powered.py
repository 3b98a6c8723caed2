"""Means from few labels and many predictions: formulas by hand, coverage by simulation."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.prediction_powered import PoweredMean, ppi_mean

Floats = NDArray[np.float64]
SHARE, PROJECTS = 0.3, 1500
VALUES = st.lists(st.integers(0, 5).map(float), min_size=3, max_size=30)


def noisy(generator: np.random.Generator, truth: Floats, accuracy: float) -> Floats:
    """Predictions of 0 and 1 of which so many are right."""
    right = generator.random(truth.size) < accuracy
    return np.where(right, truth, 1 - truth)


def covers(result: PoweredMean, truth: float) -> bool:
    low, high = result.mean["low"], result.mean["high"]
    assert low is not None
    assert high is not None
    return low <= truth <= high


def width(figure: object) -> float:
    assert isinstance(figure, dict)
    return float(figure["high"] - figure["low"])


def test_full_trust_is_the_formula_of_the_paper() -> None:
    labels, said, rest = [2.0, 1.0, 2.0, 2.0], [1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 1.0]
    result = ppi_mean(labels, said, rest, tuning=1.0)
    assert result.mean["value"] == pytest.approx(0.4 + 1.25)
    error = sqrt(np.var([1, 1, 2, 1], ddof=1) / 4 + np.var(rest) / 5)
    assert width(result.mean) == pytest.approx(2 * stats.t.ppf(0.975, 3) * error)


@pytest.mark.parametrize("labels", [4, 8])
def test_few_labels_cover_as_often_as_promised(labels: int) -> None:
    generator = np.random.default_rng(12)
    hits = 0
    for _ in range(PROJECTS):
        truth = generator.normal(SHARE, 1, labels)
        hits += covers(ppi_mean(truth, np.zeros(labels), []), SHARE)
    assert 0.935 <= hits / PROJECTS <= 0.965


def test_no_trust_is_the_mean_of_the_labels() -> None:
    result = ppi_mean([1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0], tuning=0.0)
    assert result.mean["value"] == pytest.approx(2 / 3)
    assert width(result.mean) == pytest.approx(width(result.labels_only))


def test_predictions_that_say_the_opposite_are_not_trusted() -> None:
    assert ppi_mean([1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0]).tuning == 0


def test_tuning_is_the_slope_less_what_a_small_rest_takes() -> None:
    labels, said, rest = [0.0, 1.0, 2.0, 4.0], [0.0, 2.0, 4.0, 6.0], [0.0, 2.0, 4.0, 6.0]
    slope = np.cov(labels, said, ddof=0)[0, 1] / np.var(said)
    assert ppi_mean(labels, said, rest).tuning == pytest.approx(slope / 2)


@pytest.mark.thorough
@pytest.mark.parametrize("accuracy", [0.5, 0.9])
@pytest.mark.parametrize("tuning", [None, 1.0])
def test_the_interval_covers_the_truth(accuracy: float, tuning: float | None) -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(PROJECTS):
        truth = (generator.random(1100) < SHARE).astype(float)
        said = noisy(generator, truth, accuracy)
        hits += covers(ppi_mean(truth[:100], said[:100], said[100:], tuning=tuning), SHARE)
    assert 0.92 <= hits / PROJECTS <= 0.97


def test_good_predictions_shorten_the_interval_and_bad_ones_do_not_harm() -> None:
    generator = np.random.default_rng(7)
    truth = (generator.random(5200) < SHARE).astype(float)
    for accuracy, most in ((0.95, 0.7), (0.5, 1.01)):
        said = noisy(generator, truth, accuracy)
        result = ppi_mean(truth[:200], said[:200], said[200:])
        assert width(result.mean) <= most * width(result.labels_only)


def test_without_further_predictions_the_labels_decide() -> None:
    result = ppi_mean([1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [])
    assert result.mean == result.labels_only


def test_without_variation_there_is_no_interval() -> None:
    result = ppi_mean([1.0] * 50, [1.0] * 50, [1.0] * 100)
    assert (result.mean["value"], result.mean["low"]) == (1, None)


@given(VALUES, st.integers(-20, 20))
def test_shifting_labels_and_predictions_shifts_the_mean(values: list[float], shift: int) -> None:
    labels = np.array(values)
    said, rest = labels[::-1], labels[1:]
    plain = ppi_mean(labels, said, rest).mean["value"]
    moved = ppi_mean(labels + shift, said + shift, rest + shift).mean["value"]
    assert plain is not None
    assert moved == pytest.approx(plain + shift)
