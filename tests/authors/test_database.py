"""The database's threads for an event loop, and transactions that are retried after a deadlock."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected
from psycopg.errors import ForeignKeyViolation as Violated

from apps.authors import database
from apps.authors.database import THREADS, in_database
from apps.authors.services.locking import TIMES, retry_on_deadlock


class Trouble:
    """Work that fails so often, in this way, before it succeeds."""

    def __init__(self, times: int, cause: Exception) -> None:
        self.left, self.cause, self.calls = times, cause, 0

    def work(self) -> str:
        """Done at last."""
        self.calls += 1
        if self.left:
            self.left -= 1
            kind = IntegrityError if isinstance(self.cause, Violated) else OperationalError
            raise kind("ended") from self.cause
        return "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("cause", [DeadlockDetected(), Violated()])
def test_a_deadlock_is_tried_again_and_what_was_referred_to_meanwhile(cause: Exception) -> None:
    trouble = Trouble(TIMES - 1, cause)
    assert retry_on_deadlock(trouble.work)() == "done"
    assert trouble.calls == TIMES


@pytest.mark.django_db(transaction=True)
def test_not_for_ever() -> None:
    trouble = Trouble(TIMES, DeadlockDetected())
    with pytest.raises(OperationalError):
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == TIMES


@pytest.mark.django_db(transaction=True)
def test_other_trouble_is_told_at_once() -> None:
    trouble = Trouble(1, ConnectionError())
    with pytest.raises(OperationalError):
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == 1


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_whoever_began_it_must_begin_it_again() -> None:
    trouble = Trouble(1, DeadlockDetected())
    with pytest.raises(OperationalError), transaction.atomic():
        retry_on_deadlock(trouble.work)()
    assert trouble.calls == 1
    assert not connection.in_atomic_block


@pytest.mark.django_db(transaction=True)
async def test_what_was_handed_over_is_done_though_nobody_waits_for_it_any_more() -> None:
    go_on, done = threading.Event(), threading.Event()
    busy = [asyncio.ensure_future(in_database(go_on.wait, 20)) for _ in range(THREADS)]
    waits = asyncio.ensure_future(in_database(done.set))
    await asyncio.sleep(0.05)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    go_on.set()
    await asyncio.gather(*busy)
    assert await asyncio.to_thread(done.wait, 5)


@pytest.mark.django_db(transaction=True)
async def test_connections_are_looked_at_once_a_second_and_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []
    monkeypatch.setattr(database, "close_old_connections", lambda: looks.append("look"))
    monkeypatch.setattr(database, "_threads", ThreadPoolExecutor(1))
    for _ in range(5):
        await in_database(int)
    assert len(looks) == 1
    with pytest.raises(ValueError, match="invalid"):
        await in_database(int, "no number")
    assert len(looks) == 2
    monkeypatch.setattr(database, "FINE", 0.0)
    await in_database(int)
    assert len(looks) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("age", "kept"), [(None, True), (0, False)])
def test_a_thread_keeps_its_connection_unless_there_is_a_pool(
    monkeypatch: pytest.MonkeyPatch, age: int | None, kept: bool
) -> None:
    """What a pool has lent goes back after each call, or idle threads would have all of it."""
    open_after = []

    def in_a_thread() -> None:
        monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", age)
        database._with_connection(connection.ensure_connection)
        open_after.append(connection.connection is not None)
        connection.close()

    with ThreadPoolExecutor(1) as threads:
        threads.submit(in_a_thread).result()
    assert open_after == [kept]
