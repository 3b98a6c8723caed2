"""Who belongs to which arm: by a keyed hash alone, and never otherwise than before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.assignment import (
    Arm,
    arm_of_author,
    check_design,
    position,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

KEY = b"k" * 16
ARMS = (
    Arm("echo", 0.5, "echo"),
    Arm("words", 0.25, "keyword"),
    Arm("none", 0.25, "nothing"),
)


@given(st.lists(st.text(max_size=12), max_size=5), st.text(max_size=12))
def test_others_never_change_an_authors_arm(others: list[str], author: str) -> None:
    alone = arm_of_author(ARMS, KEY, author)
    for other in others:
        arm_of_author(ARMS, KEY, other)
    assert arm_of_author(ARMS, KEY, author) == alone


@given(st.text())
def test_a_position_lies_from_zero_to_before_one(name: str) -> None:
    assert 0 <= position(KEY, name) < 1


@all_cases(
    ("arms", "control"),
    [
        (ARMS[:1], "echo"),
        (ARMS[:2], "echo"),
        ((ARMS[0], ARMS[0]), "echo"),
        (ARMS, "unknown"),
        ((Arm("echo", 1.0, "echo"), Arm("b", 0.0, "echo")), "echo"),
        ((Arm("Echo!", 0.5, "echo"), Arm("b", 0.5, "echo")), "b"),
        ((Arm("a", 0.5, "not a name"), Arm("b", 0.5, "echo")), "b"),
        ((Arm("a", float("nan"), "echo"), Arm("b", 0.5, "echo")), "b"),
    ],
)
def test_unusable_arms_are_refused(arms: tuple[Arm, ...], control: str) -> None:
    with pytest.raises(InvalidInput):
        check_design(arms, control)


def test_unusable_keys_are_refused() -> None:
    for key in (b"short", b"x" * 65):
        with pytest.raises(InvalidInput):
            arm_of_author(ARMS, key, "a")
