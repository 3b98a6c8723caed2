"""Adjusted p-values: published values, what they promise, and what undefined ones do."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from labelhub.core.agreement.significance import benjamini_yekutieli, holm
from labelhub.core.errors import InvalidInput
from tests.core.agreement.published import reference

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
Adjustment = Callable[[Sequence[float | None]], list[float | None]]
ALL = (holm, benjamini_yekutieli)


def test_fifteen_published_p_values() -> None:
    known = reference("bh1995_holm")
    assert holm(known["input"]["p"]) == pytest.approx(known["expected"], abs=known["tolerance"])


def test_benjamini_and_yekutieli_is_stricter_by_the_harmonic_sum() -> None:
    known = reference("bh1995_fdr_bh")
    harmonic = sum(1 / i for i in range(1, 16))
    wanted = [min(1.0, p * harmonic) for p in known["expected"]]
    assert benjamini_yekutieli(known["input"]["p"]) == pytest.approx(wanted, abs=1e-5)


@given(P_VALUES)
def test_false_discovery_rates_are_those_of_scipy(p_values: list[float]) -> None:
    theirs = false_discovery_control(p_values, method="by")
    np.testing.assert_allclose(benjamini_yekutieli(p_values), theirs, rtol=1e-12)


@pytest.mark.parametrize("adjust", ALL)
def test_undefined_p_values_stay_undefined_and_do_not_count(adjust: Adjustment) -> None:
    with_gaps = adjust([0.01, None, 0.04, float("nan")])
    assert [with_gaps[0], with_gaps[2]] == adjust([0.01, 0.04])
    assert with_gaps[1] is None
    assert np.isnan(with_gaps[3] or 0)
    assert adjust([None]) == [None]


@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("inf")])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        holm([0.5, wrong])
