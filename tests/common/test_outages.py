"""A full disk and a database that is away are told as what they are: 503, in words, retryable."""

import errno
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.utils import (
    ConnectionHandler,
    DatabaseErrorWrapper,
    IntegrityError,
    InterfaceError,
    OperationalError,
)
from django.test import Client, RequestFactory
from psycopg import errors as postgresql

from apps.common.api.errors import server_error
from apps.common.outages import DATABASE_AWAY, DATABASE_BUSY, DISK_FULL, find_outage
from tests.factories.accounts import UserFactory


def raised_by(work: Callable[[], object]) -> BaseException:
    """What ``work`` raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever the driver raises is looked at
        work()
    return caught.value


def full_database(folder: Path) -> OperationalError:
    """What Django raises when SQLite has no room for one more page."""
    wrapper = ConnectionHandler({"default": sqlite_at(folder / "full.sqlite3")})["default"]
    with wrapper.cursor() as cursor:
        cursor.execute("CREATE TABLE rows (words TEXT)")
        cursor.execute("PRAGMA max_page_count = 4")
        error = raised_by(lambda: cursor.execute("INSERT INTO rows VALUES (%s)", ["x" * 100_000]))
    wrapper.close()
    assert isinstance(error, OperationalError)
    return error


def sqlite_at(path: Path) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path)}


def unreachable_postgresql() -> OperationalError:
    """What Django raises where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        settings = {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "x", "USER": "x", "HOST": "127.0.0.1", "PORT": port,
        }  # fmt: skip
        error = raised_by(ConnectionHandler({"default": settings})["default"].ensure_connection)
    assert isinstance(error, OperationalError)
    return error


def through_django(cause: Exception) -> BaseException:
    """``cause`` as Django passes a driver's error on."""
    wrapper = DatabaseErrorWrapper(
        ConnectionHandler({"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "x"}})[
            "default"
        ]
    )

    def work() -> None:
        with wrapper:
            raise cause

    return raised_by(work)


@pytest.mark.django_db
def test_outages_are_told_apart(tmp_path: Path) -> None:
    no_table = raised_by(lambda: sqlite3.connect(":memory:").execute("SELECT * FROM nowhere"))
    faulty = OperationalError("no such table: nowhere")
    faulty.__cause__ = no_table
    cases: list[tuple[str, BaseException, str]] = [
        ("SQLite has no room", full_database(tmp_path), DISK_FULL),
        ("a file has no room", OSError(errno.ENOSPC, "No space left on device"), DISK_FULL),
        ("the quota is used up", OSError(errno.EDQUOT, "Disk quota exceeded"), DISK_FULL),
        ("nobody listens", unreachable_postgresql(), DATABASE_AWAY),
        ("it is shut down", through_django(postgresql.AdminShutdown()), DATABASE_AWAY),
        ("it is starting", through_django(postgresql.CannotConnectNow()), DATABASE_AWAY),
        ("too many connections", through_django(postgresql.TooManyConnections()), DATABASE_AWAY),
        ("PostgreSQL has no room", through_django(postgresql.DiskFull()), DISK_FULL),
        ("a deadlock", through_django(postgresql.DeadlockDetected()), DATABASE_BUSY),
        ("the connection is closed", InterfaceError("the connection is closed"), DATABASE_AWAY),
        ("the lock's turn did not come", OperationalError("database is locked"), DATABASE_BUSY),
        ("a missing file", FileNotFoundError(errno.ENOENT, "No such file"), ""),
        ("a missing table", faulty, ""),
        ("a constraint", IntegrityError("UNIQUE constraint failed"), ""),
        ("a fault of ours", KeyError("x"), ""),
    ]
    found = {name: getattr(find_outage(error), "message", "") for name, error, _ in cases}
    assert found == {name: words for name, _, words in cases}


def test_an_outage_behind_another_error_is_found() -> None:
    error = ValueError("could not store it")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert find_outage(error) is not None
    assert find_outage(None) is None


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/accounts/login/", "/api/v1/projects/"])
@pytest.mark.parametrize("fetched", [False, True])
def test_every_door_says_that_the_database_is_away(address: str, fetched: bool) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory.create())
    lost = unreachable_postgresql()

    def lose(*_: object) -> None:
        raise lost

    headers = {"X-Requested-With": "fetch"} if fetched else {}
    with connection.execute_wrapper(lose):
        if address == "/accounts/login/":
            sent = {"login": "ada", "password": "x"}
            answer = Client(raise_request_exception=False).post(address, sent, headers=headers)
        else:
            answer = client.get(address, headers=headers)
    assert answer.status_code == 503
    if address.startswith("/api/"):
        assert answer["Content-Type"] == "application/problem+json"
        body = answer.json()
        assert (body["code"], body["retryable"]) == ("unavailable", True)
        assert body["detail"] == DATABASE_AWAY
    elif fetched:
        assert answer.json() == {"code": "unavailable", "message": DATABASE_AWAY}
    else:
        assert DATABASE_AWAY in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "link"),
    [("get", "/p/shop/", 'href="/p/shop/"'), ("post", "/p/shop/", ""),
     ("get", "//evil.example/x", 'href="/%2Fevil.example/x"')],
)  # fmt: skip
def test_the_page_leads_back_to_where_somebody_read_and_to_no_other_site(
    method: str, path: str, link: str
) -> None:
    request = getattr(RequestFactory(), method)("/")
    request.path = path
    try:
        raise OSError(errno.ENOSPC, "No space left on device")
    except OSError:
        page = server_error(request).content.decode()
    assert ("Try again" in page) == bool(link)
    assert link in page


def test_a_fault_of_ours_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("apps.common.middleware.LabelhubErrorMiddleware.__call__", fail)
    client = Client(raise_request_exception=False)
    page, problem = client.get("/"), client.get("/api/v1/projects/")
    assert (page.status_code, problem.status_code) == (500, 500)
    assert problem.json()["code"] == "internal"
    assert "Something went wrong on the server" in page.content.decode()
