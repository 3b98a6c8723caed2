"""The database from an event loop: in a few threads of its own, whatever else they wait for.

Channels' own way puts all sockets of a process through one thread, where one slow query stands
before everybody (author-widget.md, 2.4).
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connection

Given = ParamSpec("Given")
Result = TypeVar("Result")
Thing = TypeVar("Thing")

THREADS = 8
#: Seconds; enough to wake a waiting thread.
PAUSE = 0.001
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="authors")


def with_pauses(things: Iterable[Thing], every: int) -> Iterator[Thing]:
    """``things``, with a pause after every so many: a long loop in a worker thread must let the
    event loop run, as Python runs one thread at a time."""
    for count, thing in enumerate(things, 1):
        if count % every == 0:
            time.sleep(PAUSE)
        yield thing


async def in_database(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """What ``work`` returns or raises, done in one of the threads with a connection of its own.

    What was handed over is done, also where the caller is cancelled before a thread is free.
    """
    call = partial(work, *args, **kwargs)
    running = asyncio.get_running_loop().run_in_executor(_threads, _with_connection, call)
    return await asyncio.shield(running)


#: Seconds for which a thread's connection that was fine is used without another look, which takes
#: a query. One that fails within them is closed, and its frame is sent again.
FINE = 1.0
_looked = threading.local()


def _with_connection(call: Callable[[], Result]) -> Result:
    now = time.monotonic()
    if now - getattr(_looked, "at", -FINE) >= FINE:
        close_old_connections()
        _looked.at = now
    is_fine = False
    try:
        result = call()
        is_fine = True
        return result
    finally:
        # Back to the pool, where there is one: others wait for it.
        if not is_fine or connection.settings_dict["CONN_MAX_AGE"] == 0:
            close_old_connections()
