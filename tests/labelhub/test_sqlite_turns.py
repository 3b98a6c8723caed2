"""Writers of one process take turns instead of napping, and nobody keeps the turn."""

import contextlib
import threading

import pytest
from django.db import DatabaseError, OperationalError, connection, connections, transaction

from apps.accounts.models import User
from labelhub.sqlite import base

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite's way of waiting"),
]


def in_threads(count: int, work: object) -> list[BaseException]:
    """Run ``work(n)`` in that many threads at once; what they raised."""
    barrier, faults = threading.Barrier(count), []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001 - handed to the test
            faults.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def test_many_writers_at_once_all_get_through() -> None:
    def write(number: int) -> None:
        for turn in range(10):
            with transaction.atomic():
                User.objects.create(username=f"writer-{number}-{turn}")

    assert in_threads(8, write) == []
    assert User.objects.count() == 80


def test_a_writer_that_fails_or_goes_away_passes_the_turn_on() -> None:
    def fail(number: int) -> None:
        if number % 2:
            with transaction.atomic():
                User.objects.create(username=f"failing-{number}")
                raise DatabaseError("on purpose")
        connection.set_autocommit(False)
        User.objects.create(username=f"leaving-{number}")
        connection.close()

    faults = in_threads(6, fail)
    assert {str(fault) for fault in faults} <= {"on purpose"}
    with transaction.atomic():
        User.objects.create(username="afterwards")
    assert not base._lock.locked()


def test_savepoints_keep_the_turn_until_the_transaction_ends() -> None:
    with transaction.atomic():
        with transaction.atomic():
            User.objects.create(username="inner")
        assert base._lock.locked()
    assert not base._lock.locked()


@pytest.mark.parametrize("whole", [True, False], ids=["transaction", "single statement"])
def test_nobody_waits_for_a_turn_without_end(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.01)
    user = User.objects.create(username="waiting")
    within = transaction.atomic if whole else contextlib.nullcontext

    def write(name: str) -> None:
        with within():
            User.objects.filter(pk=user.pk).update(username=name)

    with base._lock, pytest.raises(OperationalError, match="database is locked"):
        write("changed")
    write("afterwards")
    user.refresh_from_db()
    assert user.username == "afterwards"
    assert not base._lock.locked()
