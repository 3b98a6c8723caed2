"""Who belongs to which arm: by a keyed hash alone, and never otherwise than before."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

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


def test_shares_are_kept_and_keys_are_independent() -> None:
    authors = [str(i) for i in range(8000)]
    one = [arm_of_author(by_author(), KEY, author).name for author in authors]
    other = [arm_of_author(by_author(), OTHER_KEY, author).name for author in authors]

    assert Counter(one)["echo"] == pytest.approx(4000, abs=4 * 45)
    assert Counter(one)["none"] == pytest.approx(2000, abs=4 * 39)
    # Two halves that know nothing of each other: a quarter, and an eighth twice over.
    same = sum(a == b for a, b in zip(one, other, strict=True))
    assert same == pytest.approx(8000 * (0.25 + 2 * 0.0625), abs=4 * 44)


def test_windows_come_out_even_in_every_block() -> None:
    found = design(ARMS, "words", grid(START, 6 * 3600, 40))
    names = [arm_of_window(found, KEY, index).name for index in range(40)]

    for first in range(0, 40, 4):
        assert Counter(names[first : first + 4]) == {"echo": 2, "words": 1, "none": 1}
    assert len({tuple(names[first : first + 4]) for first in range(0, 40, 4)}) > 1


def test_more_windows_change_nothing_of_the_earlier_ones() -> None:
    short, long = (design(ARMS, "words", grid(START, 3600, n)) for n in (10, 50))
    for index in range(10):
        assert arm_of_window(short, KEY, index) == arm_of_window(long, KEY, index)


def test_a_time_lies_in_one_window_or_in_none() -> None:
    hour = timedelta(hours=1)
    gap = (Window(START, START + hour), Window(START + 2 * hour, START + 3 * hour))
    found = design(ARMS, "words", gap)

    assert window_of(found, START) == 0
    assert window_of(found, START + hour) is None
    assert window_of(found, START + 2.5 * hour) == 1
    assert window_of(found, START - hour) is None
    assert window_of(found, START + 3 * hour) is None


def test_windows_are_as_long_on_the_day_the_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    windows = grid(datetime(2026, 10, 24, 12, tzinfo=berlin), 3600, 48)
    found = design(ARMS, "words", windows)

    lengths = {w.end.timestamp() - w.start.timestamp() for w in windows}
    assert lengths == {3600.0}
    second_two = datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=1)
    assert window_of(found, second_two) == window_of(found, second_two.astimezone(UTC)) == 15


def test_a_fingerprint_tells_any_change() -> None:
    base = by_author()
    changed = [
        design((Arm("echo", 0.5, "random"), *ARMS[1:]), "words"),
        design((Arm("echo", 0.25, "echo"), Arm("words", 0.5, "keyword"), ARMS[2]), "words"),
        design(ARMS, "none"),
        design(ARMS, "words", grid(START, 3600, 4)),
        design(ARMS, "words", grid(START, 3600, 5)),
    ]
    found = [fingerprint(each, KEY) for each in (base, *changed)] + [fingerprint(base, OTHER_KEY)]

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
    with pytest.raises(InvalidInput, match="even"):
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
