"""Whether a source prefers places: the chi-square of items, and of whole clusters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, f

from labelhub.core.agreement.reports.report import position_bias
from labelhub.core.errors import InvalidInput


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_with_as_many_options_everywhere_position_bias_is_the_plain_chi_square(
    chosen: list[int],
) -> None:
    found = position_bias(chosen, [4] * len(chosen))
    theirs = chisquare(np.bincount(chosen, minlength=4))
    assert found.chi_square == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)


def test_of_two_places_it_is_the_test_of_a_mean_over_clusters() -> None:
    """With two options everywhere F is the square of t for the mean of first places by cluster."""
    generator = np.random.default_rng(2)
    chosen = generator.integers(2, size=(12, 5))
    found = position_bias(chosen.ravel(), [2] * 60, np.repeat(np.arange(12), 5))
    means = chosen.mean(axis=1)
    t = (means.mean() - 0.5) / (means.std(ddof=1) / np.sqrt(12))
    assert found.chi_square == pytest.approx(t**2)
    assert found.p == pytest.approx(f.sf(t**2, 1, 11))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: position_bias([4], [4]),
        lambda: position_bias([0, 1], [4]),
        lambda: position_bias([0, 1], [4, 4], [1]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()
