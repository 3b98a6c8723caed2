"""Token buckets on a clock that moves when told to, and networks of addresses."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.limits import TokenBucket, network_prefix
from tests.cases import all_cases


class Clock:
    """Seconds as the test says."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_passes_at_once_and_then_the_rate_holds(clock: Clock) -> None:
    bucket = TokenBucket(5, 20, clock)
    assert [bucket.take() for _ in range(21)] == [True] * 20 + [False]
    assert bucket.wait() == pytest.approx(0.2)
    clock.now += 0.2
    assert bucket.take()
    assert not bucket.take()


def test_no_more_than_the_burst_collects(clock: Clock) -> None:
    bucket = TokenBucket(5, 2, clock)
    clock.now += 3_600
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_several_tokens_may_be_taken_but_never_more_than_the_burst(clock: Clock) -> None:
    bucket = TokenBucket(1, 10, clock)
    assert bucket.take(10)
    assert bucket.wait(4) == pytest.approx(4)
    assert bucket.wait(11) == math.inf
    assert not bucket.take(11)


def test_a_clock_set_back_gives_nothing_and_takes_nothing(clock: Clock) -> None:
    bucket = TokenBucket(1, 2, clock)
    assert bucket.take()
    clock.now -= 50
    assert [bucket.take(), bucket.take()] == [True, False]
    clock.now += 50
    assert not bucket.take()


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
