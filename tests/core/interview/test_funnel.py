"""Rates with their intervals, and alarms only for what chance does not explain."""

import random

import pytest

from labelhub.core.interview.chance import (
    chi_square_tail,
)
from labelhub.core.interview.funnel import Funnel, alerts, position_check, rates
from tests.cases import all_cases

WEEK = Funnel(
    messages=1_000,
    dropped={"spam": 100, "greeting": 400},
    taskable=500,
    surveys=250,
    shown=200,
    answered=60,
    nofit=20,
    skipped=30,
    closed=40,
    expired=10,
    early=4,
    optouts=2,
)


@all_cases(
    ("name", "part", "n"),
    [
        ("dropped:greeting", 400, 1_000),
        ("dropped:spam", 100, 1_000),
        ("taskable", 500, 1_000),
        ("asked", 250, 500),
        ("answered", 60, 200),
        ("nofit", 20, 80),
        ("skipped", 30, 200),
        ("closed", 40, 200),
        ("expired", 10, 200),
        ("early", 4, 200),
        ("optouts", 2, 200),
    ],
)
def test_every_rate_says_what_it_is_the_share_of(name: str, part: int, n: int) -> None:
    rate = rates(WEEK)[name]
    assert (rate.part, rate.n, rate.value) == (part, n, part / n)
    assert " / " in rate.definition
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low <= part / n <= rate.high


@pytest.mark.parametrize(
    "now",
    [
        Funnel(shown=29, answered=0, nofit=29, optouts=29),
        Funnel(shown=1_000, answered=445, nofit=55, optouts=6),
        Funnel(shown=1_000, answered=500, nofit=0, optouts=0),
        Funnel(),
    ],
    ids=["too few", "within chance", "a fall", "nothing"],
)
def test_what_chance_explains_or_what_fell_alarms_nobody(now: Funnel) -> None:
    assert alerts(now, Funnel(shown=2_000, answered=900, nofit=100, optouts=10)) == []


def test_alarms_without_cause_are_rare() -> None:
    draw = random.Random(7)  # noqa: S311 - a simulation
    false = 0
    for _ in range(1_000):
        now, before = (
            Funnel(shown=200, optouts=sum(draw.random() < 0.03 for _ in range(200)))
            for _ in range(2)
        )
        false += bool(alerts(now, before))
    assert false <= 10


@pytest.mark.parametrize(
    ("counts", "p", "alarm"),
    [
        ([26, 24, 27, 23], 0.9402, False),
        ([70, 40, 45, 45], 0.0117, False),
        ([80, 40, 40, 40], 0.0000, True),
    ],
)
def test_only_places_that_shuffling_cannot_explain_alarm(
    counts: list[int], p: float, alarm: bool
) -> None:
    found = position_check(counts)
    assert found.p == pytest.approx(p, abs=1e-4)
    assert found.alarm is alarm


@pytest.mark.parametrize("counts", [[], [100], [19, 0, 0, 0], [0, 0, 0, 0]])
def test_too_few_answers_say_nothing_of_places(counts: list[int]) -> None:
    found = position_check(counts)
    assert found.p is None
    assert not found.alarm
    assert "too few" in found.words


@all_cases(
    ("statistic", "freedom", "p"),
    [
        (3.841459, 1, 0.05),
        (5.991465, 2, 0.05),
        (16.26624, 3, 0.001),
        (18.46683, 4, 0.001),
        (2.366, 3, 0.5000),
        (0.0, 3, 1.0),
        (10_000.0, 3, 0.0),
    ],
)
def test_the_chi_square_s_tail_is_as_tables_have_it(
    statistic: float, freedom: int, p: float
) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(p, abs=1e-4, rel=1e-4)
