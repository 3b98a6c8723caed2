"""Rates with their intervals, and alarms only for what chance does not explain."""

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.interview.chance import (
    binomial_tail,
    chi_square_tail,
    two_shares,
    wilson,
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


def test_an_interval_is_wilson_s() -> None:
    rate = rates(WEEK)["answered"]
    assert rate.low == pytest.approx(0.24075, abs=1e-5)
    assert rate.high == pytest.approx(0.36679, abs=1e-5)
    assert rate.method == "Wilson, 95 %"


def test_what_cannot_be_computed_says_why() -> None:
    empty = rates(Funnel())
    assert all(rate.value is None and rate.reason for rate in empty.values())
    torn = rates(Funnel(shown=1, answered=2))["answered"]
    assert torn.value is None
    assert "missing" in torn.reason


def test_a_clear_rise_is_told_in_plain_words() -> None:
    before = Funnel(shown=2_000, answered=900, nofit=100, optouts=10)
    now = Funnel(shown=1_000, answered=300, nofit=150, optouts=30)
    optouts, nofit = sorted(alerts(now, before), key=lambda alert: alert.name, reverse=True)
    assert optouts.name == "optouts"
    assert "from 0.5% (10 of 2000) to 3.0% (30 of 1000)" in optouts.words
    assert "from 10.0% (100 of 1000) to 33.3% (150 of 450)" in nofit.words
    assert nofit.p < 0.01


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


def test_a_check_of_places_names_its_numbers() -> None:
    words = position_check([80, 40, 40, 40]).words
    assert "200 chosen options (40%, 20%, 20%, 20%)" in words
    assert "more uneven" in words


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


@given(st.integers(0, 60), st.data())
def test_the_binomial_s_tail_is_the_sum_it_is(n: int, data: st.DataObject) -> None:
    least = data.draw(st.integers(0, n))
    exact = sum(comb(n, k) * 3 ** (n - k) for k in range(least, n + 1)) / 4**n
    assert binomial_tail(least, n, 0.25) == pytest.approx(exact)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_two_shares_do_not_depend_on_their_order(n: int, m: int, data: st.DataObject) -> None:
    k, j = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    p = two_shares(k, n, j, m)
    assert 0 <= p <= 1
    assert p == pytest.approx(two_shares(j, m, k, n))
    assert p == pytest.approx(two_shares(n - k, n, m - j, m))


def test_fisher_s_tea_and_a_large_comparison() -> None:
    assert two_shares(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert two_shares(60, 200, 40, 200) == pytest.approx(0.02092, abs=1e-5)


def test_nothing_seen_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
