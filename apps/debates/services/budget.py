"""Keeping a run below its budget: reserve the worst case before a call, settle the cost after."""

import asyncio

from labelhub.core.errors import LabelhubError


class BudgetReached(LabelhubError):
    """The next call could cost more than what is left."""

    code = "budget"


class Budget:
    """One run's money in nano-USD, within one event loop. ``limit`` None: no limit.

    Spent and reserved together never pass the limit, so in-flight calls cannot overshoot it.
    """

    def __init__(self, limit: int | None, spent: int = 0) -> None:
        self._limit = limit
        self._spent = spent
        self._reserved = 0
        self._settled = asyncio.Condition()

    async def reserve(self, worst: int) -> None:
        """Set ``worst`` aside; waits while calls in flight may still leave enough.

        Raises:
            BudgetReached: nothing is in flight any more and it still does not fit.
        """
        if self._limit is None:
            return
        async with self._settled:
            while self._spent + self._reserved + worst > self._limit:
                if self._reserved == 0:
                    raise BudgetReached(
                        f"The budget of {usd(self._limit)} would be passed by the next call: "
                        f"{usd(self._spent)} is spent and the call may cost up to {usd(worst)}. "
                        "Start a new run with a larger budget for the items that are left."
                    )
                await self._settled.wait()
            self._reserved += worst

    async def settle(self, worst: int, cost: int) -> None:
        """Give back what was reserved and book what it came to."""
        if self._limit is None:
            return
        async with self._settled:
            self._reserved -= worst
            self._spent += cost
            self._settled.notify_all()


def usd(nanousd: int) -> str:
    """An amount for people; small amounts keep their first digits."""
    dollars = nanousd / 1e9
    return f"{dollars:.2f} USD" if dollars >= 0.1 else f"{dollars:.4g} USD"
