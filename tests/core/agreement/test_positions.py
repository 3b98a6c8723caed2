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
    assert found.test.statistic == pytest.approx(theirs.statistic)
    assert found.test.p == pytest.approx(theirs.pvalue)


def test_of_two_places_it_is_the_test_of_a_mean_over_clusters() -> None:
    """With two options everywhere F is the square of t for the mean of first places by cluster."""
    generator = np.random.default_rng(2)
    chosen = generator.integers(2, size=(12, 5))
    found = position_bias(chosen.ravel(), [2] * 60, np.repeat(np.arange(12), 5))
    means = chosen.mean(axis=1)
    t = (means.mean() - 0.5) / (means.std(ddof=1) / np.sqrt(12))
    assert found.test.statistic == pytest.approx(t**2)
    assert found.test.p == pytest.approx(f.sf(t**2, 1, 11))


def test_a_preference_that_only_changes_from_user_to_user_is_none() -> None:
    """Each user clings to a place of their own: no place is preferred by all."""
    generator = np.random.default_rng(4)
    by_item: list[bool] = []
    by_cluster: list[bool] = []
    for _ in range(200):
        chosen = np.repeat(generator.integers(4, size=40), 6)
        for found, users in ((by_item, None), (by_cluster, np.repeat(np.arange(40), 6))):
            p = position_bias(chosen, [4] * 240, users).test.p
            found.append(p is not None and p < 0.05)
    assert np.mean(by_item) > 0.3
    assert np.mean(by_cluster) < 0.05 + 1.65 * np.sqrt(0.05 * 0.95 / 200)


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
