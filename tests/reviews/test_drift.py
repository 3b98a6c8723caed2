"""Whether somebody's work changes, by simulated stretches."""

import numpy as np
import pytest

from apps.reviews.quality.work import (
    LABELLED,
    SKIPPED,
    Stretch,
    Work,
    by_hundreds,
    by_weeks,
    changes,
)
from tests.cases import all_cases


def stretch(words: str, *, right: int, known: int, seconds: float, count: int = 100) -> Stretch:
    times = np.random.default_rng(len(words) + int(seconds * 10)).lognormal(
        np.log(seconds), 0.4, count
    )
    return Stretch(words, count, right, known, times)


def work(count: int, **fields: object) -> Work:
    columns = {
        "user": np.ones(count, dtype=np.int64),
        "item": np.arange(count),
        "action": np.full(count, LABELLED),
        "seconds": np.full(count, 8.0),
        "within": np.full(count, np.nan),
        "least": np.zeros(count),
        "correct": np.full(count, -1),
        "known": np.zeros(count, dtype=np.bool_),
        "abstained": np.zeros(count, dtype=np.bool_),
        "late": np.zeros(count, dtype=np.bool_),
        "undone": np.zeros(count, dtype=np.bool_),
        "only_rejected": np.zeros(count, dtype=np.bool_),
    }
    return Work(**(columns | fields))  # type: ignore[arg-type]


def test_steady_work_shows_no_change() -> None:
    steady = [stretch(f"{number}", right=9, known=10, seconds=8) for number in range(12)]

    assert changes(steady) == []


def test_a_fall_of_accuracy_is_told_where_it_begins() -> None:
    found = changes(
        [
            stretch(f"{number}", right=19 if number < 4 else 6, known=20, seconds=8)
            for number in range(8)
        ]
    )

    (change,) = found
    assert (change.measure, change.since, change.worse) == ("accuracy", "4", True)
    assert change.p < 0.05


def test_answers_that_get_much_faster_are_told() -> None:
    found = changes([stretch(f"{number}", right=0, known=0, seconds=8 if number < 3 else 2)
                    for number in range(5)])  # fmt: skip

    (change,) = found
    assert (change.measure, change.since, change.worse) == ("seconds", "3", True)
    assert change.before > 6
    assert change.now < 3


def test_learning_is_no_change() -> None:
    found = changes(
        [
            stretch(f"{number}", right=0, known=0, seconds=10 - number, count=900)
            for number in range(4)
        ]
    )

    assert found == []


@pytest.mark.thorough
def test_many_stretches_do_not_make_a_change_out_of_chance() -> None:
    """Of 200 steady people, tested at every stretch, hardly more than one in twenty is flagged."""
    draws = np.random.default_rng(11)
    flagged = sum(
        bool(changes([_steady(str(number), draws) for number in range(12)])) for _ in range(200)
    )

    assert flagged <= 14


def _steady(words: str, draws: np.random.Generator) -> Stretch:
    return Stretch(words, 100, int(draws.binomial(10, 0.85)), 10, draws.lognormal(2, 0.6, 20))


@all_cases(
    "count, names",
    [(0, []), (99, ["1–99"]), (100, ["1–100"]), (199, ["1–199"]), (250, ["1–100", "101–250"])],
)
def test_stretches_of_a_hundred(count: int, names: list[str]) -> None:
    found = by_hundreds(work(count))

    assert [stretch.words for stretch in found] == names
    assert sum(stretch.labels for stretch in found) == count


def test_of_much_work_stretches_are_longer() -> None:
    found = by_hundreds(work(10_000))

    assert len(found) == 20
    assert found[-1].words == "9,501–10,000"


def test_skips_are_no_answers_and_an_undone_known_one_is() -> None:
    action = np.full(4, LABELLED)
    action[0] = SKIPPED
    undone, known = np.zeros(4, dtype=np.bool_), np.zeros(4, dtype=np.bool_)
    undone[1:3], known[2] = True, True
    correct = np.array([-1, -1, 0, -1])

    (found,) = by_hundreds(work(4, action=action, undone=undone, known=known, correct=correct))

    assert (found.labels, found.known, found.right) == (2, 1, 0)


def test_weeks_begin_on_mondays() -> None:
    day = 86_400.0
    sunday, monday = 1_765_670_400.0, 1_765_756_800.0  # 14 and 15 December 2025
    moments = np.array([sunday, monday, monday + 6 * day, monday + 7 * day])

    found = by_weeks(work(4), moments)

    assert [(stretch.words, stretch.labels) for stretch in found] == [
        ("2025-12-08", 1),
        ("2025-12-15", 2),
        ("2025-12-22", 1),
    ]
