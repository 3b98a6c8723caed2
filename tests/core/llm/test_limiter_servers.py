"""The limiter under three endpoints that limit in their own ways, on a simulated clock."""

from labelhub.core.llm.buckets import BucketQueue, Buckets, Limits
from labelhub.core.llm.limiter import Limiter
from tests.core.llm.clockwork import Endpoint, clock, drive, simulated

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
