"""Who belongs to which arm: by a keyed hash alone, and never otherwise than before."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.assignment import (
    Arm,
    Design,
    Window,
    arm_of_author,
    arm_of_window,
    design,
    fingerprint,
    grid,
    position,
    window_of,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

KEY, OTHER_KEY = b"k" * 16, b"o" * 16
START = datetime(2026, 3, 2, tzinfo=UTC)
ARMS = (
    Arm("echo", 0.5, "echo"),
    Arm("words", 0.25, "keyword"),
    Arm("none", 0.25, "nothing"),
)


def by_author() -> Design:
    return design(ARMS, "words")


@given(st.lists(st.text(max_size=12), max_size=5), st.text(max_size=12))
def test_others_never_change_an_authors_arm(others: list[str], author: str) -> None:
    alone = arm_of_author(by_author(), KEY, author)
    for other in others:
        arm_of_author(by_author(), KEY, other)
    assert arm_of_author(by_author(), KEY, author) == alone


@given(st.text())
def test_a_position_lies_from_zero_to_before_one(name: str) -> None:
    assert 0 <= position(KEY, name) < 1


def test_a_fingerprint_tells_any_change() -> None:
    base = by_author()
    changed = [
        design((Arm("echo", 0.5, "random"), *ARMS[1:]), "words"),
        design((Arm("echo", 0.25, "echo"), Arm("words", 0.5, "keyword"), ARMS[2]), "words"),
        design(ARMS, "none"),
        design(ARMS, "words", grid(START, 3600, 4)),
        design(ARMS, "words", grid(START, 3600, 5)),
    ]
    found = [fingerprint(designed, KEY) for designed in (base, *changed)] + [
        fingerprint(base, OTHER_KEY)
    ]

    assert len(set(found)) == len(found)
    assert fingerprint(by_author(), KEY) == found[0]
    assert len(found[0]) == 64


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
        design(arms, control)


def test_unusable_windows_are_refused() -> None:
    hour, naive = timedelta(hours=1), datetime(2026, 3, 2)  # noqa: DTZ001
    first = Window(START, START + hour)
    for windows in (
        [first, first],
        [Window(START, START)],
        [Window(naive, naive + hour)],
        [Window(START + hour, START + 2 * hour), first],
    ):
        with pytest.raises(InvalidInput):
            design(ARMS, "words", windows)
    for arguments in ((naive, 60.0, 3), (START, 0.0, 3), (START, 60.0, 0)):
        with pytest.raises(InvalidInput):
            grid(*arguments)


def test_shares_that_never_come_out_even_are_refused_for_windows_only() -> None:
    odd = (Arm("a", 0.123456, "echo"), Arm("b", 1 - 0.123456, "nothing"))
    assert design(odd, "b").arms == odd
    with pytest.raises(InvalidInput, match="not exact in blocks of up to 100 windows"):
        design(odd, "b", grid(START, 60, 4))


def test_what_is_not_there_is_refused() -> None:
    timed = design(ARMS, "words", grid(START, 60, 4))
    for key in (b"short", b"x" * 65):
        with pytest.raises(InvalidInput):
            arm_of_author(by_author(), key, "a")
    with pytest.raises(InvalidInput):
        arm_of_author(timed, KEY, "a")
    with pytest.raises(InvalidInput):
        arm_of_window(timed, KEY, 4)
    with pytest.raises(InvalidInput):
        window_of(timed, datetime(2026, 3, 2))  # noqa: DTZ001
