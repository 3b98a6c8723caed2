"""Answers as distributions: bounds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.estimation import js_divergence

COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@given(COUNTS, COUNTS)
def test_jensen_shannon_is_finite_symmetric_and_at_most_one_bit(first: Any, second: Any) -> None:
    both = js_divergence(first, second)
    assert both == js_divergence(second, first)
    assert 0 <= both <= 1 + 1e-12
    assert js_divergence(first, first) == pytest.approx(0, abs=1e-12)
