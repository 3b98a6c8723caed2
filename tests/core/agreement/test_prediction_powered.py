"""Means from few labels and many predictions: formulas by hand, coverage by simulation."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.risk_control import ppi_mean
from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]
SHARE, PROJECTS = 0.3, 1500


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
    for _ in range(PROJECTS):
        truth = generator.normal(SHARE, 1, labels)
        hits += covers(ppi_mean(truth, np.zeros(labels), []), SHARE)
    assert 0.935 <= hits / PROJECTS <= 0.965


@pytest.mark.thorough
@pytest.mark.parametrize("accuracy", [0.5, 0.9])
def test_the_interval_covers_the_truth(accuracy: float) -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(PROJECTS):
        truth = (generator.random(1100) < SHARE).astype(float)
        said = noisy(generator, truth, accuracy)
        hits += covers(ppi_mean(truth[:100], said[:100], said[100:]), SHARE)
    assert 0.92 <= hits / PROJECTS <= 0.97


def test_good_predictions_shorten_the_interval_and_bad_ones_do_not_harm() -> None:
    generator = np.random.default_rng(7)
    truth = (generator.random(5200) < SHARE).astype(float)
    for accuracy, most in ((0.95, 0.7), (0.5, 1.01)):
        said = noisy(generator, truth, accuracy)
        result = ppi_mean(truth[:200], said[:200], said[200:])
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
    labels, said, rest = [1.0, 0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0]
    covariance = float(np.cov(labels, said, bias=True)[0, 1])
    trust = covariance / (float(np.var(said + rest)) * (1 + 5 / 3))
    mean = 0.6 - trust * (0.4 - 2 / 3)
    variance = np.var(np.array(labels) - trust * np.array(said), ddof=1) / 5
    variance += trust**2 * np.var(rest) / 3
    found = ppi_mean(labels, said, rest)
    assert found["value"] == pytest.approx(mean)
    assert found["low"] == pytest.approx(max(0, mean - stats.t.ppf(0.975, 4) * variance**0.5))
