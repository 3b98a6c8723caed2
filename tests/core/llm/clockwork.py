"""A simulated clock for whole event loops, and the endpoints of the rate-limit tests."""

import asyncio
import random
import selectors
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from labelhub.core.llm.buckets import BucketQueue, Buckets
from labelhub.core.llm.limiter import Limiter

T = TypeVar("T")
LATENCY = 0.05


class Hand:
    """A clock that is set by hand."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class _Skipping(selectors.DefaultSelector):
    """Lets the time pass at once that the loop would wait."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if timeout is None and not found:
            raise RuntimeError("everybody waits for something that never comes")
        if not found and timeout:
            self.skipped += timeout
        return found


class Clockwork(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while anything is left to do."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Simulated seconds since the start."""
        return self._skipping.skipped


def simulated(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What ``work`` returns, run on a simulated clock."""
    with asyncio.Runner(loop_factory=Clockwork) as runner:
        return runner.run(work())


def clock() -> float:
    """The simulated time; to pass as ``clock``."""
    return asyncio.get_running_loop().time()


class Endpoint:
    """Answers with a status and seconds to wait; counts what it answered."""

    def __init__(self, *, capacity: int = 10**9, rate: float = 0.0, burst: float = 20.0) -> None:
        self.capacity, self.rate, self.burst = capacity, rate, burst
        self.noise: dict[int, float] = {}
        self.seen: Counter[int] = Counter()
        self.most_open = self._open = 0
        self._level, self._at = burst, 0.0
        self._chance = random.Random(7)  # noqa: S311 - the same noise in every run

    async def ask(self) -> tuple[int, float]:
        """One request."""
        status, wait = self._judge()
        self.seen[status] += 1
        if status != 200:
            await asyncio.sleep(0.002)
            return status, wait
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        await asyncio.sleep(LATENCY)
        self._open -= 1
        return status, wait

    def _judge(self) -> tuple[int, float]:
        if self._open >= self.capacity:
            return 429, 1.0
        drawn = self._chance.random()
        for status, share in self.noise.items():
            if drawn < share:
                return status, 1.0
            drawn -= share
        return self._drain() if self.rate else (200, 0.0)

    def _drain(self) -> tuple[int, float]:
        now = clock()
        self._level = min(self.burst, self._level + (now - self._at) * self.rate)
        self._at = now
        if self._level < 1:
            return 429, (1 - self._level) / self.rate
        self._level -= 1
        return 200, 0.0


async def drive(
    endpoint: Endpoint, limiter: Limiter, calls: int, *, queue: BucketQueue | None = None
) -> int:
    """Ask ``calls`` times as the engine does: as many at work as the ceiling allows, and only the
    refused call waits. How many came back."""
    left = iter(range(calls))

    turns = queue or BucketQueue(Buckets())

    async def call() -> int:
        for tried in range(200):
            async with turns.turn(100) as held:
                slot = await limiter.enter()
            status, wait = await endpoint.ask()
            if status == 429:
                slot.refused = True
            elif status != 200:
                slot.troubled = True
            limiter.leave(slot)
            turns.settle(held, 20)
            if status == 200:
                return 1
            await asyncio.sleep(max(wait, 0.02 * 2 ** min(tried, 5)) * 1.1)
        return 0

    async def work() -> int:
        return sum([await call() for _ in left])

    return sum(await asyncio.gather(*(work() for _ in range(limiter.ceiling))))
