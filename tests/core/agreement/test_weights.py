"""The weights of a bootstrap: items or rows are drawn, which is the same distribution."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelhub.core.agreement import intervals
from labelhub.core.agreement.intervals import bootstrap, weights

OFTEN = np.array([5, 1, 30, 4])


@pytest.mark.parametrize("few_alike", [0, 100])
def test_both_ways_of_drawing_have_the_moments_of_the_multinomial(
    few_alike: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "MANY_ROWS", 1)
    monkeypatch.setattr(intervals, "FEW_ALIKE", few_alike)
    monkeypatch.setattr(intervals, "DRAWS", 20_000)
    found, share = weights(OFTEN), OFTEN / OFTEN.sum()
    covariance = OFTEN.sum() * (np.diag(share) - np.outer(share, share))
    assert found.mean(axis=0) == pytest.approx(OFTEN, rel=0.02)
    assert np.cov(found.T) == pytest.approx(covariance, abs=0.25)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=25)  # each draws thousands of times
def test_neither_order_nor_unit_of_the_items_matters(
    values: list[int], dice: random.Random
) -> None:
    def mean(rows: list[int]) -> NDArray[np.float64]:
        return bootstrap(np.array(rows)[:, None], lambda sums: sums / len(rows))[:, 0]

    found = mean(values)
    if len(set(values)) == 1:
        assert np.isnan(found).all()
        return
    assert min(values) <= found[0] <= np.mean(values) <= found[1] <= max(values)
    assert mean(dice.sample(values, len(values))) == pytest.approx(found)
    assert mean([3 * value + 1 for value in values]) == pytest.approx(3 * found + 1)
