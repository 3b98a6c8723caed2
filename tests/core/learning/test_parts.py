"""The parts: folds, intervals, calibration, confident learning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.intervals import wilson
from labelhub.core.learning.classifier import classifier_for, marks_of, probability_of
from labelhub.core.learning.lessons import Shape
from labelhub.core.learning.quality import (
    mean,
    scores,
    share,
)
from labelhub.core.learning.training import fold_of, splits, suspect, thresholds

TARGETS = st.lists(st.integers(0, 3), min_size=10, max_size=80)


@given(TARGETS, st.integers(0, 5))
def test_folds_are_even_overall_and_by_label(targets: list[int], seed: int) -> None:
    marks = marks_of([[each] for each in targets], 4)
    folds = fold_of(marks, range(len(targets)), seed=seed)
    sizes = np.bincount(folds, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for label in range(4):
        of_label = np.bincount(folds[marks[:, label]], minlength=5)
        assert of_label.max() - of_label.min() <= 1
    assert sorted(np.concatenate([kept for _, kept in splits(folds)])) == list(range(len(targets)))


@given(TARGETS)
def test_what_belongs_together_stays_together(targets: list[int]) -> None:
    together = [at // 3 for at in range(len(targets))]
    folds = fold_of(marks_of([[each] for each in targets], 4), together)
    assert all(folds[at] == folds[at - at % 3] for at in range(len(targets)))


@given(st.integers(0, 50), st.integers(1, 50))
def test_shares_have_the_interval_that_agreement_gives_them(hits: int, n: int) -> None:
    hits = min(hits, n)
    figure, other = share(hits, n), wilson(hits, n)
    assert figure["low"] == pytest.approx(other.low, abs=1e-12)
    assert figure["high"] == pytest.approx(other.high, abs=1e-12)


def test_a_mean_has_no_interval_of_one_number() -> None:
    assert mean(np.array([3.0]))["low"] is None
    known = mean(np.array([1.0, 2.0, 3.0]))
    assert known["low"] == pytest.approx(2 - 4.302653 / 3**0.5)


def test_macro_f1_by_hand() -> None:
    truth = marks_of([[0], [0], [0], [1]], 3)
    said = marks_of([[0], [0], [1], [1]], 3)
    found = scores(["a", "b", "c"], truth, said)
    assert found["accuracy"]["value"] == 0.75
    assert found["macro_f1"]["value"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert found["labels"][0]["precision"]["value"] == 1.0
    assert found["labels"][2] == {
        "name": "c",
        "n": 0,
        "said": 0,
        "precision": {"value": None, "reason": "it is never given"},
        "recall": {"value": None, "reason": "gold does not have it"},
        "f1": None,
    }


def test_confident_learning_as_published() -> None:
    """Thresholds are the mean self-confidence of each label; an item goes off the diagonal where it
    reaches another label's threshold, though that label need not be the likeliest of all."""
    gold = marks_of([[0], [0], [0], [1], [1]], 2)
    likely = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6], [0.2, 0.8]])
    assert thresholds(likely, gold).tolist() == pytest.approx([2 / 3, 0.7])
    ahead, instead = suspect(Shape.SINGLE, likely, gold)
    assert np.isnan(ahead).tolist() == [True, True, False, True, True]
    assert ahead[2] == pytest.approx(0.4)
    assert instead[2].tolist() == [False, True]


@given(
    st.lists(st.lists(st.floats(-30, 30), min_size=3, max_size=3), min_size=1, max_size=8),
    st.sampled_from(Shape),
)
def test_probabilities_are_probabilities(raw: list[list[float]], shape: Shape) -> None:
    likely = classifier_for(shape).probabilities(np.array(raw), 1.5)
    assert ((likely >= 0) & (likely <= 1)).all()
    if shape is not Shape.MULTI:
        assert likely.sum(axis=1) == pytest.approx(1)
    marks = np.zeros(likely.shape, bool)
    marks[:, 0] = True
    sure = probability_of(shape, likely, marks)
    assert ((sure >= 0) & (sure <= 1)).all()
