"""Token buckets, networks of addresses, and when an author may be asked again."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.limits import (
    LEAST_MS,
    MOST_MS,
    AskHistory,
    Permit,
    ThrottleRule,
    Timing,
    TokenBucket,
    judge_timing,
    may_ask,
    minimum_ms,
    network_prefix,
    sampling_draw,
)
from tests.cases import all_cases
from tests.core.llm.clockwork import Hand


def test_what_is_shut_gives_nothing_and_goes_on_collecting() -> None:
    clock = Hand()
    bucket = TokenBucket(5, 20, clock)
    assert bucket.take(20)
    bucket.shut(1)
    clock.now += 0.9
    assert not bucket.take()
    assert [bucket.wait(), bucket.wait(5), bucket.wait(10)] == pytest.approx([0.1, 0.1, 1.1])
    bucket.shut(1)  # it is shut already, until when it was told
    clock.now += 0.1
    assert [bucket.take() for _ in range(6)] == [True] * 5 + [False]


@all_cases(("rate", "burst"), [(0, 1), (-1, 1), (math.inf, 1), (1, 0), (1, math.nan)])
def test_a_bucket_out_of_range_is_refused(rate: float, burst: float) -> None:
    with pytest.raises(InvalidInput):
        TokenBucket(rate, burst)


@given(st.floats(0.01, 100), st.floats(1, 100), st.lists(st.floats(0, 10), min_size=1, max_size=60))
def test_no_more_passes_than_the_burst_and_the_rate_allow(
    rate: float, burst: float, pauses: list[float]
) -> None:
    clock = Hand()
    bucket = TokenBucket(rate, burst, clock)
    passed = 0
    for pause in pauses:
        clock.now += pause
        while bucket.take():
            passed += 1
    assert passed <= burst + rate * sum(pauses) + 1e-6


@all_cases(
    ("address", "prefix"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        (" 203.0.113.1 ", "203.0.113.0/24"),
        ("2001:db8:0:1ff::1", "2001:db8:0:100::/56"),
        ("2001:DB8::1", "2001:db8::/56"),
        ("::ffff:203.0.113.9", "203.0.113.0/24"),
        ("fe80::1%eth0", "fe80::/56"),
    ],
)
def test_neighbouring_addresses_are_one_network(address: str, prefix: str) -> None:
    assert network_prefix(address) == prefix


@all_cases("address", ["", "localhost", "1.2.3", "1.2.3.4:80", "[::1]", "1.2.3.04"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="IP address"):
        network_prefix(address)


NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
RULE = ThrottleRule()
RESTED = AskHistory(
    messages_since_last_survey=3,
    last_survey_at=NOW - timedelta(seconds=90),
    surveys_in_conversation=3,
    surveys_today=9,
    dismissals_in_a_row=1,
)
RULES = st.builds(
    ThrottleRule,
    every_messages=st.integers(0, 20),
    min_seconds=st.floats(0, 10_000),
    per_conversation=st.integers(0, 10),
    per_day=st.integers(0, 20),
    sampling=st.floats(0, 1),
)
HISTORIES = st.builds(
    AskHistory,
    messages_since_last_survey=st.integers(0, 50),
    began_at=st.just(NOW - timedelta(seconds=100)),
    last_survey_at=st.none()
    | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis wants bounds without a zone
    surveys_in_conversation=st.integers(0, 20),
    surveys_today=st.integers(0, 20),
    dismissals_in_a_row=st.integers(0, 10**6),
    opted_out=st.booleans(),
    open_questions=st.integers(0, 2),
)
DRAWS = st.floats(0, 1, exclude_max=True)


def ask(history: AskHistory = RESTED, rule: ThrottleRule = RULE, draw: float = 0.5) -> Permit:
    return may_ask(rule, history, NOW, draw)


@all_cases(
    ("changed", "reason", "seconds"),
    [
        ({"opted_out": True}, "opted_out", None),
        ({"open_questions": 1}, "open_question", None),
        ({"surveys_in_conversation": 4}, "conversation_full", None),
        ({"surveys_today": 10}, "day_full", 12 * 3600),
        ({"last_survey_at": NOW - timedelta(seconds=89)}, "too_soon", 1),
        ({"messages_since_last_survey": 2}, "too_few_messages", None),
        ({"dismissals_in_a_row": 2}, "backing_off", 4 * 90 - 90),
        ({"dismissals_in_a_row": 3}, "backing_off", 16 * 90 - 90),
        ({"dismissals_in_a_row": 50}, "backing_off", 7 * 86_400 - 90),
        ({"dismissals_in_a_row": 10**9}, "backing_off", 7 * 86_400 - 90),
        ({"opted_out": True, "last_survey_at": None}, "opted_out", None),
        ({"last_survey_at": NOW + timedelta(hours=1)}, "too_soon", 3_690),
    ],
)
def test_each_limit_refuses_with_its_reason_and_time(
    changed: dict[str, object], reason: str, seconds: int | None
) -> None:
    permit = ask(replace(RESTED, **changed))  # type: ignore[arg-type]
    until = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert permit == Permit(allowed=False, reason=reason, until=until, propensity=0.0)  # type: ignore[arg-type]


@all_cases(
    "wrong",
    [
        {"every_messages": -1},
        {"min_seconds": float("nan")},
        {"min_seconds": float("inf")},
        {"per_day": -1},
        {"sampling": 1.5},
    ],
)
def test_a_rule_out_of_range_names_the_field(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        ThrottleRule(**wrong)  # type: ignore[arg-type]


@given(RULES, HISTORIES, DRAWS)
def test_no_permit_breaks_a_limit(rule: ThrottleRule, history: AskHistory, draw: float) -> None:
    permit = may_ask(rule, history, NOW, draw)
    assert permit.allowed == (permit.reason == "")
    assert permit.until is None or permit.until > NOW
    if not permit.allowed:
        return
    assert not history.opted_out
    assert not history.open_questions
    assert history.surveys_in_conversation < rule.per_conversation
    assert history.surveys_today < rule.per_day
    assert draw < rule.sampling == permit.propensity
    assert history.messages_since_last_survey >= rule.every_messages
    since = history.last_survey_at or history.began_at
    assert since is not None
    assert NOW - since >= timedelta(seconds=rule.min_seconds)


def test_a_draw_is_always_the_same_for_a_message_and_even_over_many() -> None:
    draws = [sampling_draw("site", "author", str(number)) for number in range(4_000)]
    assert draws == [sampling_draw("site", "author", str(number)) for number in range(4_000)]
    assert all(0 <= draw < 1 for draw in draws)
    tenths = [sum(int(10 * draw) == tenth for draw in draws) for tenth in range(10)]
    assert all(330 <= count <= 470 for count in tenths)
    assert sampling_draw("a", "bc", "d") != sampling_draw("ab", "c", "d")


PUSHED = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MIN_MS = st.integers(LEAST_MS, MOST_MS)
PASSED = st.integers(0, 30_000)
CLAIMS = st.none() | st.integers(-(10**9), 10**12)


def after(ms: float) -> datetime:
    return PUSHED + timedelta(milliseconds=ms)


def timing(received: float, *, shown: float | None = 0, **changes: int | bool | None) -> Timing:
    asked: dict[str, int | bool | None] = {"min_ms": 7_000, "visible_ms": None} | changes
    seen = None if shown is None else after(shown)
    return judge_timing(pushed=PUSHED, shown=seen, received=after(received), **asked)  # type: ignore[arg-type]


@all_cases(
    ("question", "options", "ms"),
    [
        ("", (), 5_000),
        ("How urgent was it?", ("Very", "A little", "Not at all", "No idea"), 5_000),
        ("one " * 20, (), 5_600),
        (
            "When you wrote this, how soon did you want to have the thing?",
            ("As soon as possible", "Within this week", "Within this month", "Some time later"),
            7_280,
        ),
        ("word " * 200, (), 9_000),
        ("I'd say well-known — isn't it? …", ("– – –",), 5_000),
        ("现在很急吗" * 8, ("是", "不是"), 6_160),
        ("いつ 買いますか", ("GB" * 10,), 5_000),
    ],
)
def test_the_time_grows_with_the_words_between_five_and_nine_seconds(
    question: str, options: tuple[str, ...], ms: int
) -> None:
    assert minimum_ms(question, options) == ms


@all_cases(
    ("received", "shown", "verdict", "after_ms", "server_ms"),
    [
        (7_000, 0, "ok", 0, 7_000),
        (6_750, 0, "ok", 0, 6_750),
        (6_749, 0, "too_early", 1, 6_749),
        (6_749.9, 0, "too_early", 1, 6_749),
        (7_750, 1_000, "ok", 0, 6_750),
        (7_000, 1_000, "too_early", 750, 6_000),
        (6_750, -3_000, "ok", 0, 6_750),
        (0, 0, "too_early", 6_750, 0),
    ],
)
def test_the_server_s_clock_decides(
    received: float, shown: float, verdict: str, after_ms: int, server_ms: int
) -> None:
    assert timing(received, shown=shown) == Timing(verdict, after_ms, server_ms)  # type: ignore[arg-type]


@all_cases("shown", [None, 60_000])
@all_cases(
    ("visible_ms", "verdict", "after_ms"),
    [(7_000, "client_attested", 0), (6_500, "too_early", 500), (None, "too_early", 7_000)],
)
def test_after_a_time_offline_the_browser_s_clock_is_asked_too(
    shown: float | None, visible_ms: int | None, verdict: str, after_ms: int
) -> None:
    found = timing(60_000, shown=shown, visible_ms=visible_ms, shown_in_replay=shown is not None)
    assert found == Timing(verdict, after_ms, 60_000)  # type: ignore[arg-type]


@given(MIN_MS, PASSED, PASSED, CLAIMS, st.booleans())
def test_no_forged_answer_comes_early(
    min_ms: int, shown: int, passed: int, claim: int | None, replay: bool
) -> None:
    """Whatever a client claims, and whether or not it reports ``shown``."""
    assume(passed < min_ms - 250)
    for reported in (None, shown, 0):
        found = timing(
            passed, shown=reported, min_ms=min_ms, visible_ms=claim, shown_in_replay=replay
        )
        assert found.verdict == "too_early"
        assert 0 < found.after_ms <= min_ms
