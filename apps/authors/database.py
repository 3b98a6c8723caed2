"""The database from an event loop: in a few threads of its own, whatever else they wait for.

Channels' own way puts all sockets of a process through one thread, where one slow query stands
before everybody (author-widget.md, 2.4).
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

Given = ParamSpec("Given")
Result = TypeVar("Result")

THREADS = 8
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="authors")


async def in_database(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """What ``work`` returns or raises, done in one of the threads with a connection of its own."""
    call = partial(work, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads, _with_connection, call)


def _with_connection(call: Callable[[], Result]) -> Result:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()
