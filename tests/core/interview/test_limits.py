"""Token buckets, networks of addresses, and when an author may be asked again."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.limits import (
    AskHistory,
    Permit,
    ThrottleRule,
    TokenBucket,
    may_ask,
    network_prefix,
    sampled,
)
from tests.cases import all_cases


class Clock:
    """Seconds as the test says."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_several_tokens_may_be_taken_but_never_more_than_the_burst(clock: Clock) -> None:
    bucket = TokenBucket(1, 10, clock)
    assert bucket.take(10)
    assert bucket.wait(4) == pytest.approx(4)
    assert bucket.wait(11) == math.inf
    assert not bucket.take(11)


def test_what_is_shut_gives_nothing_and_goes_on_collecting(clock: Clock) -> None:
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
    clock = Clock()
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
    backoff_after=st.integers(1, 5),
    backoff_factor=st.floats(1, 100),
    longest_backoff=st.timedeltas(timedelta(0), timedelta(days=365)),
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


@pytest.mark.parametrize(("draw", "allowed"), [(0.0, True), (0.249, True), (0.25, False)])
def test_sampling_asks_a_share_and_tells_how_likely_that_was(draw: float, allowed: bool) -> None:
    permit = ask(rule=ThrottleRule(sampling=0.25), draw=draw)
    assert permit.allowed is allowed
    assert permit.propensity == 0.25
    assert permit.reason == ("" if allowed else "not_sampled")


@all_cases(
    "wrong",
    [
        {"every_messages": -1},
        {"min_seconds": float("nan")},
        {"min_seconds": float("inf")},
        {"per_day": -1},
        {"backoff_after": 0},
        {"backoff_factor": 0.5},
        {"longest_backoff": timedelta(-1)},
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
    draws = [sampled("site", "author", str(number)) for number in range(4_000)]
    assert draws == [sampled("site", "author", str(number)) for number in range(4_000)]
    assert all(0 <= draw < 1 for draw in draws)
    tenths = [sum(int(10 * draw) == tenth for draw in draws) for tenth in range(10)]
    assert all(330 <= count <= 470 for count in tenths)
    assert sampled("a", "bc", "d") != sampled("ab", "c", "d")
