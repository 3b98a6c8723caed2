"""Keeping a run below its budget: reserve the worst case before a call, settle the cost after."""

import asyncio
from collections import deque

from labelhub.core.errors import LabelhubError


class BudgetReached(LabelhubError):
    """The next call could cost more than what is left."""

    code = "budget"


class Budget:
    """One run's money in nano-USD, within one event loop. ``limit`` None: no limit.

    Spent and reserved together never pass the limit, so in-flight calls cannot overshoot it.
    ``unread``: of calls that were asked in vain, what a provider may charge; it counts as spent.
    """

    def __init__(self, limit: int | None, spent: int = 0, *, unread: int = 0) -> None:
        self._limit = limit
        self._spent = spent + unread
        self._unread = unread
        self._reserved = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._limit is not None

    async def reserve(self, worst: int) -> None:
        """Set ``worst`` aside; waits, first come first served, while calls in flight may still
        leave enough.

        Raises:
            BudgetReached: nothing is in flight any more and it still does not fit.
        """
        if self._limit is None:
            return
        if self._waiting or not self._fits(worst):
            if self._reserved == 0:
                raise self._reached(worst)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((worst, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self.settle(worst, 0)  # it had been set aside already
                raise
            return
        self._reserved += worst

    def settle(self, worst: int, cost: int, *, unread: int = 0) -> None:
        """Give back what was reserved and book what it came to, and what may yet be charged."""
        if self._limit is None:
            return
        self._reserved -= worst
        self._spent += cost + unread
        self._unread += unread
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            worst, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
            elif self._fits(worst):
                self._waiting.popleft()
                self._reserved += worst
                turn.set_result(None)
            elif self._reserved == 0:
                self._waiting.popleft()
                turn.set_exception(self._reached(worst))
            else:
                return

    def _fits(self, worst: int) -> bool:
        return self._limit is None or self._spent + self._reserved + worst <= self._limit

    def _reached(self, worst: int) -> BudgetReached:
        return BudgetReached(
            f"The budget of {usd(self._limit or 0)} would be passed by the next call: "
            f"{usd(self._spent - self._unread)} is spent{self._due()} and the call may cost up to "
            f"{usd(worst)}. "
            "Raise the budget and resume, or leave it at that."
        )

    def _due(self) -> str:
        if not self._unread:
            return ""
        return f", up to {usd(self._unread)} may be charged for calls that got no answer,"


def usd(nanousd: int) -> str:
    """An amount for people; small amounts keep their first digits."""
    dollars = nanousd / 1e9
    return f"{dollars:.2f} USD" if dollars >= 0.1 else f"{dollars:.4g} USD"
