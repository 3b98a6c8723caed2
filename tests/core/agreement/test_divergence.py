"""Answers as distributions: bounds, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.reports.divergences import answer_shares, js_divergence
from labelhub.core.errors import InvalidInput

COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@given(COUNTS, COUNTS)
def test_jensen_shannon_is_finite_symmetric_and_at_most_one_bit(first: Any, second: Any) -> None:
    p, q = answer_shares(first), answer_shares(second)
    both = js_divergence(p, q)
    assert both == js_divergence(q, p)
    assert 0 <= both <= 1 + 1e-12
    assert js_divergence(p, p) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("wrong", [[0.5, 0.6], [1.5, -0.5], 1.0])
def test_what_is_no_distribution_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        js_divergence(wrong, wrong)
