"""Answers as distributions: known values in both units, bounds, directions, missing answers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.divergence import distribution, entropy, js_divergence, overlap
from labelhub.core.errors import InvalidInput

COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def test_shares_of_counts_with_and_without_prior() -> None:
    np.testing.assert_allclose(distribution([3, 1, 0]), [0.75, 0.25, 0])
    np.testing.assert_allclose(distribution([3, 1, 0], prior=1), [4 / 7, 2 / 7, 1 / 7])
    np.testing.assert_allclose(distribution([[0, 2], [0, 0]], prior=0.5)[1], [0.5, 0.5])


@given(COUNTS, COUNTS)
def test_jensen_shannon_is_finite_symmetric_and_at_most_one_bit(one: Any, other: Any) -> None:
    p, q = distribution(one), distribution(other)
    both = js_divergence(p, q)
    assert both == js_divergence(q, p)
    assert 0 <= both <= 1 + 1e-12
    assert js_divergence(p, p) == pytest.approx(0, abs=1e-12)


@given(COUNTS)
def test_entropy_is_between_none_and_that_of_equal_shares(counts: Any) -> None:
    assert 0 <= entropy(distribution(counts)) <= 2 + 1e-12


@given(COUNTS, COUNTS)
def test_overlap_is_one_less_the_total_variation(one: Any, other: Any) -> None:
    p, q = distribution(one), distribution(other)
    assert overlap(p, q) == pytest.approx(1 - np.abs(p - q).sum() / 2)


@pytest.mark.parametrize("wrong", [[0.5, 0.6], [1.5, -0.5], 1.0])
def test_what_is_no_distribution_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        entropy(wrong)
