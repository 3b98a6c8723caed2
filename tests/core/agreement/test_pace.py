"""A person's speed, whatever a few of their answers were."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.pace import least_seconds, measure_pace, outlier_limits

TIMES = st.lists(st.floats(0.5, 60), min_size=6, max_size=60)


def test_a_phone_call_and_a_slipped_finger_change_nothing_but_are_counted() -> None:
    usual = [8, 9, 10, 11, 12] * 8

    found = measure_pace([*usual, 3600, 0.1])

    assert found.seconds["value"] == 10
    assert (found.slow, found.fast) == (1, 1)


def test_of_few_times_nothing_is_told() -> None:
    found = measure_pace([1, 2, 3])

    assert found.limits is None
    assert found.seconds["value"] is None
    assert found.seconds["reason"]


@given(TIMES, st.floats(0.1, 10))
def test_limits_move_with_the_clock(times: list[float], factor: float) -> None:
    plain, scaled = outlier_limits(np.array(times)), outlier_limits(np.array(times) * factor)

    assert plain is not None
    assert scaled is not None
    assert np.isclose(scaled.low, plain.low * factor)
    assert np.isclose(scaled.high, plain.high * factor)


def test_the_floor_grows_with_text_and_choices_and_stays_below_reading() -> None:
    words = np.array([1, 20, 100, 1000])
    accepting, choosing = least_seconds(6 * words, 1), least_seconds(6 * words, 6)

    assert np.allclose(accepting, [0.4, 1.35, 5.35, 5.35])
    assert (choosing > accepting).all()
    assert (choosing[1:] < words[1:] * 60 / 238).all()
