"""How many answers are left until the gain flattens: refused, bounded, and found where planted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.plateau import (
    FARTHEST,
    LEAST_ANSWERS,
    LEAST_GAIN,
    STEP,
    Stretch,
    answers_left,
)
from tests.cases import all_cases

stretches = st.lists(
    st.tuples(st.integers(0, 400), st.floats(0, 1)).map(
        lambda pair: Stretch(pair[0], pair[0] * pair[1])
    ),
    max_size=30,
)


def planted(
    level: float, fall: float, steepness: float, answers: int, draws: np.random.Generator
) -> list[Stretch]:
    """Answers whose chance of being wrong falls by a known curve."""
    places = np.arange(1, answers + 1, dtype=float)
    wrong = draws.random(answers) < np.clip(level + fall * places**-steepness, 0, 1)
    return [Stretch(len(part), float(part.sum())) for part in np.array_split(wrong, 20)]


def truly_left(fall: float, steepness: float, answers: int) -> int:
    """Answers until 100 more gain less than half a point, of the planted curve."""
    places = np.arange(answers, 40 * answers, dtype=float)
    gain = fall * (places**-steepness - (places + STEP) ** -steepness)
    return int(np.argmax(gain < LEAST_GAIN))


@pytest.mark.thorough
@given(stretches)
def test_it_is_told_in_order_and_within_bounds_or_refused_with_a_reason(
    given_stretches: list[Stretch],
) -> None:
    found = answers_left(given_stretches)
    assert found.answers == sum(stretch.answers for stretch in given_stretches)
    if found.reason:
        assert found.left is found.low is found.high is found.gain is None
        return
    most = FARTHEST * found.answers
    for answers_left_ in (found.left, found.low, found.high):
        assert answers_left_ is None or 0 <= answers_left_ <= most
    low, high = (most if end is None else end for end in (found.low, found.high))
    assert low <= high
    assert (found.gain is None) == (found.left is None)
    assert found.gain is None or 0 <= found.gain <= 1


@pytest.mark.thorough
@given(stretches, st.integers(0, 5))
def test_empty_stretches_change_nothing_and_the_same_gives_the_same(
    given_stretches: list[Stretch], empty: int
) -> None:
    assert answers_left(given_stretches) == answers_left(
        [*given_stretches, *[Stretch(0, 0.0)] * empty]
    )


def test_too_few_answers_are_refused_with_how_many_it_takes() -> None:
    found = answers_left([Stretch(10, 3.0)] * 5)
    assert found.reason == f"takes {LEAST_ANSWERS} answers; there are 50"
    assert answers_left([]).reason
    assert "stretches" in answers_left([Stretch(500, 100.0)]).reason


@pytest.mark.thorough
@all_cases(
    ("level", "fall", "steepness", "answers"),
    [
        (0.1, 0.8, 0.3, 300),
        (0.1, 1.0, 0.5, 200),
        (0.2, 0.5, 0.2, 400),
        (0.3, 0.0, 0.5, 400),
        (0.05, 0.9, 0.15, 500),
        (0.1, 0.8, 0.3, 5000),
    ],
)
def test_the_interval_holds_what_was_planted(
    level: float, fall: float, steepness: float, answers: int
) -> None:
    draws, left = np.random.default_rng(7), truly_left(fall, steepness, answers)
    held = 0
    for _ in range(60):
        found = answers_left(planted(level, fall, steepness, answers, draws))
        low = np.inf if found.low is None else found.low
        high = np.inf if found.high is None else found.high
        # Told with two digits.
        held += low * 0.95 <= left <= high * 1.05
    assert held >= 54


def test_where_nothing_is_learnt_nothing_is_left() -> None:
    found = answers_left([Stretch(100, 30.0)] * 10)
    assert found.left == 0
    assert found.gain == 0


def test_what_falls_far_is_not_said_to_be_flat() -> None:
    steep = [Stretch(20, 20 * share) for share in (0.9, 0.7, 0.55, 0.45, 0.4, 0.35)]
    found = answers_left(steep)
    assert found.left is None or found.left > 0
    assert found.gain is None or found.gain > 0.02
