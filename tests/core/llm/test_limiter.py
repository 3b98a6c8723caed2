"""The limiter against simulated endpoints: a clock that only moves when told to."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from labelhub.core.llm.buckets import BucketQueue, Buckets, Limits
from labelhub.core.llm.limiter import Limiter, Slot
from tests.core.llm.clockwork import Endpoint, Hand, clock, drive, simulated


@asynccontextmanager
async def slot_of(limiter: Limiter) -> AsyncIterator[Slot]:
    """A slot for the body; an exception counts as trouble, as for a line."""
    slot = await limiter.enter()
    try:
        yield slot
    except BaseException:
        slot.troubled = True
        raise
    finally:
        limiter.leave(slot)


async def _round(
    limiter: Limiter, clock: Hand, *, refuse: Callable[[int], bool] = lambda _: False
) -> int:
    """Fill all slots, let a second pass, empty them; how many were refused."""
    refused = 0
    async with AsyncExitStack() as stack:
        for place in range(limiter.limit):
            slot = await stack.enter_async_context(slot_of(limiter))
            if refuse(place):
                slot.refused = True
                refused += 1
        clock.now += 1.0
    return refused


async def test_clean_full_rounds_double_the_limit_up_to_the_ceiling() -> None:
    clock = Hand()
    limiter = Limiter(start=8, ceiling=50, clock=clock)
    limits = []
    for _ in range(4):
        await _round(limiter, clock)
        limits.append(limiter.limit)
    assert limits == [16, 32, 50, 50]


async def test_many_refusals_cut_once_a_cooldown() -> None:
    clock = Hand()
    limiter = Limiter(start=40, ceiling=64, clock=clock)
    await _round(limiter, clock, refuse=lambda _: True)
    assert limiter.limit == 30
    clock.now += 10
    await _round(limiter, clock, refuse=lambda _: True)
    assert limiter.limit == 22


async def test_never_more_in_flight_than_the_limit_and_first_come_first_served() -> None:
    limiter = Limiter(start=3, ceiling=3)
    most = 0
    order: list[int] = []

    async def work(name: int) -> None:
        nonlocal most
        async with slot_of(limiter):
            order.append(name)
            most = max(most, limiter.in_flight)
            await asyncio.sleep(0)

    await asyncio.gather(*(work(name) for name in range(20)))
    assert (most, limiter.in_flight) == (3, 0)
    assert order == sorted(order)


async def test_a_cancelled_waiter_leaves_no_trace() -> None:
    limiter = Limiter(start=1, ceiling=1)

    async def wait() -> None:
        async with slot_of(limiter):
            pass

    async with slot_of(limiter):
        waiting = [asyncio.create_task(wait()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    # The slot is handed to the second at this moment; it is cancelled before it can run.
    waiting[1].cancel()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [
        asyncio.CancelledError,
        asyncio.CancelledError,
        type(None),
    ]
    assert limiter.in_flight == 0


async def test_the_share_of_refusals_and_those_who_wait_are_told() -> None:
    clock = Hand()
    limiter = Limiter(start=4, ceiling=4, clock=clock)
    assert limiter.refused_share == 0
    await _round(limiter, clock, refuse=lambda place: place == 0)
    assert limiter.refused_share == 0.25
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(slot_of(limiter))
        waiting = asyncio.create_task(limiter.enter())
        await asyncio.sleep(0)
        assert limiter.waiting == 1
    limiter.leave(await waiting)
    assert (limiter.waiting, limiter.in_flight) == (0, 0)


async def _time_out(limiter: Limiter, clock: Hand, *, answered: int = 0) -> None:
    """Fill all slots; some are answered after five seconds, the others time out after ten."""
    slots = [await limiter.enter() for _ in range(limiter.limit)]
    clock.now += 5.0
    for slot in slots[:answered]:
        limiter.leave(slot)
    clock.now += 5.0
    for slot in slots[answered:]:
        slot.timed_out = True
        limiter.leave(slot)


async def test_where_nobody_is_answered_in_time_one_call_is_left_and_then_a_rest() -> None:
    clock = Hand()
    limiter = Limiter(start=8, longest=10, clock=clock)
    await _time_out(limiter, clock)
    assert (limiter.limit, limiter.time_outs.unanswered) == (1, 8)
    rests = []
    for _ in range(3):
        assert limiter.resting
        rests.append(limiter.time_outs.rest_until - clock.now)
        clock.now = limiter.time_outs.rest_until
        await _time_out(limiter, clock)
    assert rests == [10, 20, 20]
    assert limiter.time_outs.rests == 4


async def test_a_limiter_that_holds_hands_out_no_slot_any_more() -> None:
    limiter = Limiter(start=1)
    slot = await limiter.enter()
    waiting = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)
    limiter.hold()
    limiter.leave(slot)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(waiting, 0.01)
    assert limiter.in_flight == 0


CALLS = 2000


def test_an_endpoint_of_32_places_is_filled_without_a_loss() -> None:
    async def work() -> None:
        endpoint, limiter = Endpoint(capacity=32), Limiter(ceiling=64, clock=clock)
        assert await drive(endpoint, limiter, CALLS) == CALLS
        assert clock() < CALLS / (0.6 * 32 / 0.05)
        assert endpoint.seen[429] <= 0.15 * CALLS

    simulated(work)


def test_an_endpoint_of_200_a_second_loses_nothing() -> None:
    async def work() -> None:
        endpoint, limiter = Endpoint(rate=200.0), Limiter(ceiling=64, clock=clock)
        assert await drive(endpoint, limiter, CALLS) == CALLS
        assert clock() < CALLS / 200 * 1.15

    simulated(work)


def test_a_known_limit_is_kept_before_anybody_refuses() -> None:
    async def work() -> None:
        endpoint = Endpoint(rate=200.0)
        limiter = Limiter(ceiling=64, clock=clock)
        buckets = Buckets(Limits(rpm=12_000), clock=clock)
        assert await drive(endpoint, limiter, CALLS, queue=BucketQueue(buckets)) == CALLS
        assert endpoint.seen[429] <= 0.02 * CALLS
        assert clock() < CALLS / 200 * 1.05

    simulated(work)


def test_a_noisy_endpoint_does_not_make_the_limit_collapse() -> None:
    async def work() -> None:
        endpoint, limiter = Endpoint(), Limiter(ceiling=256, clock=clock)
        endpoint.noise = {429: 0.02, 503: 0.01}
        assert await drive(endpoint, limiter, 2 * CALLS) == 2 * CALLS
        assert limiter.limit >= 64
        assert min((change.new for change in limiter.changes), default=64) >= 16

    simulated(work)
