"""Limits of a minute and of a day: even, fair, and never a wait without end."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.buckets import (
    BucketQueue,
    Buckets,
    Limits,
    ReportedLimit,
    Reservation,
    UsedUp,
)
from tests.core.llm.clockwork import Hand, clock, simulated

MIDNIGHT = 20_000 * 86_400.0


def made(wall: Hand | None = None, **limits: int) -> tuple[Buckets, Hand]:
    hand = Hand()
    return Buckets(Limits(**limits), clock=hand, wall=wall or Hand(MIDNIGHT)), hand


@given(st.integers(1, 100_000), st.lists(st.floats(0, 20), max_size=30))
def test_no_more_goes_out_than_time_and_a_moment_allow(rpm: int, gaps: list[float]) -> None:
    buckets, hand = made(rpm=rpm)
    sent = 0
    for gap in gaps:
        hand.now += gap
        while sent < 500 and buckets.take(0) == 0:
            sent += 1
    assert sent <= max(1.0, rpm / 600) + hand.now * rpm / 60 + 1e-3


def test_what_was_never_sent_is_given_back_once() -> None:
    buckets, _ = made(rpm=60, tpm=6000)
    assert buckets.take(200) == 0
    held = Reservation(200)
    buckets.settle(held, None)
    buckets.settle(held, None)
    assert buckets.take(200) == 0
    assert buckets.take(200) > 0


def test_a_used_up_day_ends_at_midnight() -> None:
    wall = Hand(MIDNIGHT + 80_000)
    buckets, _ = made(wall, rpd=2)
    assert [buckets.take(5), buckets.take(5)] == [0, 0]
    with pytest.raises(UsedUp, match="today's limit") as caught:
        buckets.take(5)
    assert caught.value.resume_after == 6_400
    wall.now = MIDNIGHT + 86_399
    assert buckets.take(5) == 1  # a moment to go is waited for
    wall.now = MIDNIGHT + 86_400
    assert buckets.take(5) == 0


def test_a_day_goes_on_where_other_processes_left_it() -> None:
    buckets, _ = made(rpd=10)
    assert buckets.take(0) == 0
    buckets.day.resume_from(9, 500)
    with pytest.raises(UsedUp):
        buckets.take(0)


def test_limits_are_learnt_and_followed_when_they_change() -> None:
    buckets, hand = made()
    buckets.follow(requests=ReportedLimit(600, 599, 0.1), tokens=ReportedLimit(6000))
    assert buckets.known == Limits(rpm=600, tpm=6000)
    buckets.follow(requests=ReportedLimit(60, 59, 1.0))
    assert buckets.known.rpm == 60
    assert buckets.take(0) == 0
    assert buckets.take(0) == pytest.approx(1.0)
    buckets.follow(requests=ReportedLimit(6000, 5000, 1.0))
    hand.now += 1
    assert sum(buckets.take(0) == 0 for _ in range(50)) == 10


def test_a_limit_that_is_renewed_in_hours_is_none_of_a_minute() -> None:
    buckets, _ = made()
    buckets.follow(requests=ReportedLimit(50, 49, 1.7))
    buckets.follow(requests=ReportedLimit(50, 40, 17_000))
    assert buckets.known == Limits(rpd=50)
    buckets.follow(requests=ReportedLimit(50, 39, 3.0))
    assert not buckets.bounded
    assert buckets.take(0) == buckets.take(0) == 0


async def _pass(queue: BucketQueue, tokens: int) -> None:
    async with queue.turn(tokens) as held:
        pass
    queue.settle(held, tokens)


def test_one_who_gives_up_leaves_the_line_and_takes_nothing() -> None:
    async def work() -> None:
        queue = BucketQueue(Buckets(Limits(rpm=60), clock=clock))
        await _pass(queue, 0)
        first, second = (asyncio.create_task(_pass(queue, 0)) for _ in range(2))
        await asyncio.sleep(0.5)
        first.cancel()
        await second
        assert clock() == pytest.approx(1.0, abs=0.01)
        with pytest.raises(ZeroDivisionError):
            async with queue.turn(0):
                raise ZeroDivisionError
        await _pass(queue, 0)
        assert clock() == pytest.approx(2.0, abs=0.01)

    simulated(work)


def test_tokens_of_a_day_count_as_used() -> None:
    buckets, _ = made(tpd=100)
    assert buckets.take(90) == 0
    buckets.settle(Reservation(90), 10)
    assert buckets.take(90) == 0
    with pytest.raises(UsedUp):
        buckets.take(1)
    assert buckets.day.take_unsaved() == (2, 100)
    assert buckets.day.take_unsaved() == (0, 0)
