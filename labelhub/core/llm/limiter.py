"""How many calls may be in flight at once: found out by additive increase, multiplicative decrease.

The limit doubles after each clean, saturated round until the first cut and grows by 5 % from then
on. It is cut only when refusals (HTTP 429) exceed 5 % of the last 50 answers, since a lone one is
noise, and at most once per cooldown, since one burst is one signal. How long the refused call
itself waits is its caller's affair: a wait that all calls shared would starve the rest.

A limiter belongs to one event loop.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

WINDOW = 50
TOLERATED_SHARE = 0.05
CUT = 0.75
GROWTH = 1.05
SATURATED = 0.8
SHORTEST_COOLDOWN = 0.5


@dataclass(slots=True)
class Slot:
    """One call's place among those in flight; say so if it did not go well."""

    _refused: bool = False
    _troubled: bool = False

    def refused(self) -> None:
        """The endpoint said it had too many requests."""
        self._refused = True

    def troubled(self) -> None:
        """A server error or time-out: no reason to cut, none to grow either."""
        self._troubled = True

    @property
    def clean(self) -> bool:
        """Whether the call was answered."""
        return not (self._refused or self._troubled)

    @property
    def was_refused(self) -> bool:
        """Whether there were too many requests."""
        return self._refused


class Limiter:
    """Slots for calls in flight; ``limit`` is how many there are at the moment.

    Args:
        start: the limit to begin with, at least 1.
        ceiling: the limit is never above this.
        clock: seconds from any origin, monotonic.
    """

    def __init__(
        self, *, start: int = 8, ceiling: int = 64, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ceiling = max(1, ceiling)
        self.limit = max(1, min(start, self._ceiling))
        self.in_flight = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refusals: deque[bool] = deque(maxlen=WINDOW)
        self._latency = 0.0
        self._cut_until = -math.inf
        self._ever_cut = False
        self._clean = 0
        self._most_in_flight = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait for a free slot and hold it for the body; an exception counts as trouble."""
        await self._acquire()
        begun, slot = self._clock(), Slot()
        try:
            yield slot
        except BaseException:
            slot.troubled()
            raise
        finally:
            self._heed(slot, self._clock() - begun)
            self._release()

    async def _acquire(self) -> None:
        # A newcomer may not overtake those who wait.
        if self.in_flight < self.limit and not self._waiting:
            self._enter()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # the slot had been handed over already
            raise

    def _enter(self) -> None:
        self.in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self.in_flight)

    def _release(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._enter()
                turn.set_result(None)

    def _heed(self, slot: Slot, seconds: float) -> None:
        self._refusals.append(slot.was_refused)
        now = self._clock()
        if slot.was_refused:
            self._clean = 0
            if now >= self._cut_until and self._too_many_refusals():
                self._cut(now)
        elif not slot.clean:
            self._clean = 0
        else:
            self._latency = 0.8 * self._latency + 0.2 * seconds if self._latency else seconds
            # What is answered during a cooldown was sent at the old limit and proves nothing.
            self._clean += now >= self._cut_until
            self._grow()

    def _too_many_refusals(self) -> bool:
        return sum(self._refusals) > TOLERATED_SHARE * WINDOW

    def _cut(self, now: float) -> None:
        self.limit = max(1, math.floor(self.limit * CUT))
        self._ever_cut = True
        self._cut_until = now + max(SHORTEST_COOLDOWN, 2 * self._latency)
        self._refusals.clear()
        self._start_round()

    def _grow(self) -> None:
        if self._clean < self.limit:
            return
        if self._most_in_flight >= SATURATED * self.limit:
            grown = math.ceil(self.limit * GROWTH) if self._ever_cut else 2 * self.limit
            self.limit = min(self._ceiling, grown)
        self._start_round()

    def _start_round(self) -> None:
        self._clean = 0
        self._most_in_flight = self.in_flight
