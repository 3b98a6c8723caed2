"""Real threads with connections of their own, all at one database."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.db import connection, connections

Result = TypeVar("Result")


@contextmanager
def shared_database(folder: Path) -> Iterator[None]:
    """Let new threads see what the test has written.

    SQLite's test database lives in memory, where threads block each other as no file would let
    them: they get a copy in a file, tuned as in production.
    """
    if connection.vendor != "sqlite":
        yield
        return
    copy = folder / "race.sqlite3"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(copy)])
    # Once, as a server does at its start: of several that switch a file over, one may be refused.
    with closing(sqlite3.connect(copy)) as first:
        first.execute("PRAGMA journal_mode=WAL")
    known: dict[str, Any] = connections.settings["default"]
    before = known["NAME"]
    known["NAME"] = str(copy)
    try:
        yield
    finally:
        known["NAME"] = before


def in_thread(work: Callable[[], Result]) -> Result:
    """Run ``work`` on a connection of its own and close that."""
    try:
        return work()
    finally:
        connection.close()


def together(works: list[Callable[[], Result]]) -> list[Result]:
    """Run all at once, each in its thread, started by one barrier."""
    barrier = threading.Barrier(len(works))

    def start(work: Callable[[], Result]) -> Result:
        barrier.wait()
        return in_thread(work)

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(start, works))
