"""Wilson's interval and its one-sided bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.agreement import intervals
from labelhub.core.agreement.intervals import draw_weights, wilson
from labelhub.core.errors import InvalidInput

LEVELS = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@given(st.integers(0, 300), st.integers(1, 300), LEVELS)
def test_it_is_that_of_scipy(successes: int, rest: int, confidence: float) -> None:
    expected = stats.binomtest(successes, successes + rest).proportion_ci(confidence, "wilson")
    found = wilson(successes, successes + rest, confidence)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("wrong", [(2, 1, 0.95), (-1, 1, 0.95), (1, 2, 1.0), (1, 2, 0.0)])
def test_impossible_numbers_are_refused(wrong: tuple[int, int, float]) -> None:
    with pytest.raises(InvalidInput):
        wilson(*wrong)


OFTEN = np.array([5, 1, 30, 4])


@pytest.mark.parametrize("few_alike", [0, 100])
def test_both_ways_of_drawing_have_the_moments_of_the_multinomial(
    few_alike: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "MANY_ROWS", 1)
    monkeypatch.setattr(intervals, "FEW_ALIKE", few_alike)
    monkeypatch.setattr(intervals, "DRAWS", 20_000)
    found, share = draw_weights(OFTEN), OFTEN / OFTEN.sum()
    covariance = OFTEN.sum() * (np.diag(share) - np.outer(share, share))
    assert found.mean(axis=0) == pytest.approx(OFTEN, rel=0.02)
    assert np.cov(found.T) == pytest.approx(covariance, abs=0.25)
