"""The waiting line in front of a provider's limits: first come, first served, without polling."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from labelhub.core.llm.buckets import Buckets, Reservation, Told

#: How long to sleep at most without a look at what other threads have given back, seconds.
LONGEST_SLEEP = 5.0


class BucketQueue:
    """The waiting line of one event loop in front of ``buckets``: first come, first served."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets = buckets
        self._line = asyncio.Lock()
        self._changed = asyncio.Event()
        self.waiting = 0
        self.held_up = False

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Reservation]:
        """Room for one request of ``tokens``; the line stands still while the body runs.

        A body that fails gives the room back.

        Raises:
            UsedUp: a limit leaves no room for minutes.
        """
        self.waiting += 1
        try:
            async with self._line:
                await self._take(tokens)
                held = Reservation(tokens)
                try:
                    yield held
                except BaseException:
                    self.settle(held, None)
                    raise
        finally:
            self.waiting -= 1

    def settle(self, held: Reservation, used: int | None) -> None:
        """As :meth:`Buckets.settle`; whoever waits looks again."""
        self.buckets.settle(held, used)
        self._changed.set()

    def follow(self, *, requests: Told | None = None, tokens: Told | None = None) -> None:
        """As :meth:`Buckets.follow`; whoever waits looks again."""
        self.buckets.follow(requests=requests, tokens=tokens)
        self._changed.set()

    async def _take(self, tokens: int) -> None:
        try:
            while seconds := self.buckets.take(tokens):
                self.held_up = True
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(seconds, LONGEST_SLEEP)):
                        await self._changed.wait()
        finally:
            self.held_up = False
