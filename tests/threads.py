"""The same work in several threads at once, each with a connection to the database of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")


def at_once(work: Callable[[int], Result], times: int = 4) -> list[Result]:
    """What ``work`` returns for each number below ``times``; all begin together."""
    start = Barrier(times)

    def run(number: int) -> Result:
        start.wait(10)
        try:
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(run, range(times)))
