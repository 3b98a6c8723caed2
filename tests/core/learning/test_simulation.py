"""What the order would have saved, and that nothing is claimed where it saves nothing."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from labelhub.core.learning.classifier import Marks
from labelhub.core.learning.lessons import (
    LEAST_GOLD,
    LEAST_SIMULATED,
    Shape,
    labels_until_relearning,
)
from labelhub.core.learning.simulation import (
    Orders,
    _labels_needed,
    _savings,
    _steps,
    _verdict,
    simulate,
)

TOLD: list[float] = []


def world(count: int, *, hopeless: bool) -> tuple[sparse.csr_matrix, Marks]:
    """Rows of a few words each; labels follow the first word, or nothing."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 12, count)
    rows = np.zeros((count, 40))
    rows[np.arange(count), first] = 1.0
    rows[np.arange(count), rng.integers(12, 40, count)] = 1.0
    label = rng.integers(0, 2, count) if hopeless else first % 2
    return sparse.csr_matrix(rows), np.eye(2, dtype=bool)[label]


@pytest.mark.thorough
def test_both_orders_begin_and_end_with_the_same_labels() -> None:
    rows, marks = world(LEAST_SIMULATED, hopeless=False)
    found = simulate(Shape.SINGLE, rows, marks, TOLD.append, seed=1)
    for point in (found["points"][0], found["points"][-1]):
        assert point["difference"]["value"] == pytest.approx(0, abs=1e-9)
    assert found["points"][0]["labels"] == LEAST_GOLD
    assert found["points"][-1]["labels"] == found["pool"] == 70
    assert found["kept_back"] == 30
    assert TOLD[-1] == 1.0
    assert found == simulate(Shape.SINGLE, rows, marks, TOLD.append, seed=1)


@pytest.mark.thorough
def test_where_nothing_can_be_learnt_nothing_is_claimed() -> None:
    rows, marks = world(160, hopeless=True)
    found = simulate(Shape.SINGLE, rows, marks, TOLD.append)
    assert found["verdict"] in {"nothing", "unclear"}


def test_with_few_texts_it_says_how_many_it_needs() -> None:
    rows, marks = world(LEAST_SIMULATED - 1, hopeless=False)
    assert "needs 100" in simulate(Shape.SINGLE, rows, marks, TOLD.append)["reason"]


def test_steps_are_those_of_use() -> None:
    assert _steps(70) == [20, 40, 60, 70]
    long = _steps(500)
    assert long[-1] == 500
    assert all(b - a == labels_until_relearning(a) for a, b in pairwise(long[:-1]))


def curves(learned: list[float]) -> Orders:
    """Three divisions alike but for a little."""
    random = np.array([0.5, 0.6, 0.7, 0.8])
    jitter = np.array([[0.0], [0.01], [0.02]])
    return Orders(
        np.array([20, 40, 60, 80]), random + jitter, np.array(learned) + np.array([[0.0]] * 3)
    )


def test_a_saving_a_cost_and_neither() -> None:
    assert _savings(curves([0.5, 0.75, 0.8, 0.82]))["verdict"] == "saves"
    assert _savings(curves([0.5, 0.55, 0.6, 0.82]))["verdict"] in {"costs", "unclear"}
    assert _verdict({"low": -4.0, "high": -1.0}) == "costs"
    assert _verdict({"low": -4.0, "high": 1.0}) == "unclear"


def test_a_curve_that_does_not_rise_has_nothing_to_save() -> None:
    flat = Orders(np.array([20, 40]), np.full((2, 2), 0.7), np.full((2, 2), 0.7))
    assert _savings(flat)["verdict"] == "nothing"


def test_a_target_is_reached_between_two_steps_or_not_at_all() -> None:
    labels = np.array([20, 40, 60])
    assert _labels_needed(labels, np.array([0.5, 0.7, 0.9]), 0.8) == pytest.approx(50)
    assert _labels_needed(labels, np.array([0.5, 0.7, 0.6]), 0.9) == 60
    assert _labels_needed(labels, np.array([0.9, 0.9, 0.9]), 0.5) == 20
