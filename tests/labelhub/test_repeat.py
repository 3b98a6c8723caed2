"""A request with an ``Idempotency-Key`` whose server was killed is repeated, and done once."""

import json
import os
import sqlite3
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.fakes.client import wait_for
from tests.fakes.stack import Stack, own_database
from tests.fakes.texts import SCHEMA

pytestmark = [pytest.mark.timeout(600), pytest.mark.thorough]

ITEMS = 20_000
ROWS = [{"id": str(number), "text": f"Review {number}."} for number in range(ITEMS)]


@pytest.fixture(params=["", pytest.param("postgresql", marks=pytest.mark.services)])
def stack(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stack]:
    """SQLite, or the PostgreSQL of the test run."""
    with own_database(os.environ["DATABASE_URL"] if request.param else "") as url:
        more = {"DATABASE_URL": url} if url else {}
        with Stack(tmp_path, **more) as running:
            yield running


def post(url: str, key: str, body: Any) -> tuple[int, Any]:
    """Status and body, always with the same Idempotency-Key for an address; 0: the server died."""
    headers = {"X-Api-Key": key, "Idempotency-Key": urlsplit(url).path}
    headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - our own server
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - as above
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)
    except OSError:
        return 0, None


@contextmanager
def nobody_can_write(stack: Stack) -> Iterator[None]:
    """No project is created meanwhile."""
    if stack.database:
        with psycopg.connect(stack.database) as postgres:
            postgres.execute("LOCK TABLE projects_project IN EXCLUSIVE MODE")
            yield
    else:
        path = stack.folder / "labelhub.sqlite3"
        with closing(sqlite3.connect(path, isolation_level=None)) as lite:
            lite.execute("BEGIN IMMEDIATE")
            yield


def is_waiting(stack: Stack) -> bool:
    """Whether the request stands in its transaction; on SQLite it stands before it."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation IS NOT NULL"
    return not stack.database or bool(stack.rows(waiting))


def test_a_request_that_was_killed_in_its_transaction_can_be_repeated_at_once(
    stack: Stack,
) -> None:
    key = stack.people("boss")["boss"]
    program, address = stack.server()
    body = {"slug": "hotel", "schema": SCHEMA}
    with nobody_can_write(stack):
        first = threading.Thread(target=post, args=(f"{address}/api/v1/projects/", key, body))
        first.start()
        wait_for(lambda: is_waiting(stack), seconds=30, what="the request")
        program.kill()
        first.join()
    _, address = stack.server()
    url = f"{address}/api/v1/projects/"
    made = post(url, key, body)
    assert made[0] == 201
    assert post(url, key, body) == made
    assert stack.rows("SELECT slug FROM projects_project") == [("hotel",)]


def test_an_import_that_was_killed_is_answered_by_its_result(stack: Stack) -> None:
    key = stack.people("boss")["boss"]
    program, address = stack.server()
    post(f"{address}/api/v1/projects/", key, {"slug": "hotel", "schema": SCHEMA})
    path, counted = "/api/v1/projects/hotel/import/", "SELECT COUNT(*) FROM projects_item"
    first = threading.Thread(target=post, args=(address + path, key, ROWS))
    first.start()
    wait_for(lambda: stack.rows(counted) > [(0,)], seconds=60, what="the first rows")
    program.kill()
    first.join()
    assert stack.rows(counted) < [(ITEMS,)], "the import was over before the kill"
    _, address = stack.server()
    status, again = post(address + path, key, ROWS)
    assert status == 202

    def result() -> Any:
        status, body = post(address + path, key, ROWS)
        return body if status == 200 else None

    done = wait_for(result, seconds=150, what="the result")
    assert (done["id"], done["created"], done["rows"]) == (again["id"], ITEMS, ITEMS)
    assert stack.rows(counted) == [(ITEMS,)]
    assert stack.rows("SELECT COUNT(*) FROM projects_importbatch") == [(1,)]
