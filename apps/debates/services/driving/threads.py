"""Database work of an event loop, in threads of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Self, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """One thread with one connection, seen from an event loop; what it is given it does in order.

    A context manager, to be entered where no loop runs: leaving it closes the connection.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` there, after everything that was handed over before."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *args, **kwargs))
