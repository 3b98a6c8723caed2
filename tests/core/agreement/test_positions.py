"""Whether a source prefers places: the chi-square of items, and of whole clusters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, f

from labelhub.core.agreement.positions import position_bias
from labelhub.core.errors import InvalidInput


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_with_as_many_options_everywhere_position_bias_is_the_plain_chi_square(
    chosen: list[int],
) -> None:
    found = position_bias(chosen, [4] * len(chosen))
    theirs = chisquare(np.bincount(chosen, minlength=4))
    assert found.test.statistic == pytest.approx(theirs.statistic)
    assert found.test.p == pytest.approx(theirs.pvalue)


def test_items_with_fewer_options_expect_less_at_the_last_places() -> None:
    found = position_bias([0, 0, 1, 3, 2, 0, -1], [2, 2, 4, 4, 4, 1, 4])
    assert found.expected == pytest.approx([1.75, 1.75, 0.75, 0.75])
    assert found.chosen == [2, 1, 1, 1]
    assert (found.items, found.dropped, found.test.df) == (5, 2, 3)
    statistic = (0.25**2 + 0.75**2) / 1.75 + 2 * 0.25**2 / 0.75
    assert found.test.statistic == pytest.approx(statistic)


def test_without_choices_there_is_nothing_to_test() -> None:
    assert position_bias([], []).test == (None, 0, None)
    assert position_bias([0, -1], [1, 3]).dropped == 2


def test_clusters_of_one_item_change_hardly_anything() -> None:
    generator = np.random.default_rng(1)
    offered, chosen = [4] * 400, generator.integers(4, size=400)
    plain, each = position_bias(chosen, offered), position_bias(chosen, offered, np.arange(400))
    assert (each.chosen, each.expected) == (plain.chosen, plain.expected)
    assert each.test.statistic == pytest.approx(plain.test.statistic, rel=0.1)
    assert each.test.p == pytest.approx(plain.test.p, abs=0.05)


def test_of_two_places_it_is_the_test_of_a_mean_over_clusters() -> None:
    """With two options everywhere F is the square of t for the mean of first places by cluster."""
    generator = np.random.default_rng(2)
    chosen = generator.integers(2, size=(12, 5))
    found = position_bias(chosen.ravel(), [2] * 60, np.repeat(np.arange(12), 5))
    means = chosen.mean(axis=1)
    t = (means.mean() - 0.5) / (means.std(ddof=1) / np.sqrt(12))
    assert found.test.statistic == pytest.approx(t**2)
    assert found.test.p == pytest.approx(f.sf(t**2, 1, 11))


def test_copies_of_items_prove_nothing_more() -> None:
    chosen = np.random.default_rng(3).integers(4, size=60)
    once = position_bias(chosen, [4] * 60, np.arange(60))
    copied = position_bias(np.repeat(chosen, 8), [4] * 480, np.repeat(np.arange(60), 8))
    assert copied.test.p == pytest.approx(once.test.p)


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


def test_a_preference_of_all_users_is_found() -> None:
    generator = np.random.default_rng(5)
    chosen = np.where(generator.random(240) < 0.4, 0, generator.integers(4, size=240))
    p = position_bias(chosen, [4] * 240, np.repeat(np.arange(40), 6)).test.p
    assert p is not None
    assert p < 0.001


def test_of_one_cluster_nothing_can_be_tested() -> None:
    found = position_bias([0, 1, 1], [2, 2, 2], [5, 5, 5])
    assert found.test == (None, 1, None)
    assert position_bias([], [], []).test == (None, 0, None)


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
