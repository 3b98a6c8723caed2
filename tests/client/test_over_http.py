"""The client against servers that fail in all the ways servers do."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from labelhub_client import (
    AnswerLost,
    Client,
    ClientError,
    Retries,
    ServerFault,
    ServerUnreachable,
    TimedOut,
    TooManyRequests,
    UnexpectedAnswer,
)
from tests.client.helpers import KEY, QUICK, Answer, problem, scripted

NONE_LEFT = httpx.Response(204)


def test_next_is_none_where_nothing_is_left() -> None:
    client, script = scripted(NONE_LEFT)
    assert client.project("moods").next() is None
    (request,) = script.seen
    assert (request.method, request.url.path) == ("POST", "/api/v1/projects/moods/next/")
    assert request.headers["Authorization"] == f"Token {KEY}"


def test_a_busy_server_is_asked_again() -> None:
    client, script = scripted(
        problem(409, "queue_busy", retryable=True),
        problem(429, headers={"Retry-After": "0"}),
        httpx.Response(503),
        httpx.ReadError("broke"),
        NONE_LEFT,
    )
    assert client.project("moods").next() is None
    assert len(script.seen) == 5


@pytest.mark.parametrize(
    "failure", [httpx.ReadError("broke"), httpx.ReadTimeout(""), httpx.Response(502)]
)
def test_a_run_is_never_started_twice(failure: Answer) -> None:
    client, _ = scripted(failure, NONE_LEFT)  # a second answer would be a success
    with pytest.raises((AnswerLost, ServerFault)):
        client.project("moods").preannotate()


def test_a_server_that_is_down_is_told() -> None:
    client, _ = scripted(httpx.ConnectError("refused"))
    with pytest.raises(ServerUnreachable, match="Check the address") as raised:
        client.project("moods").next()
    assert (raised.value.code, raised.value.retryable, raised.value.status) == (
        "unreachable",
        True,
        None,
    )


def test_the_last_failure_is_raised() -> None:
    retries = Retries(attempts=2, first=0.0)
    client, _ = scripted(httpx.Response(503), problem(429), retries=retries)
    with pytest.raises(TooManyRequests):
        client.project("moods").info()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(200, text="<html>It works!</html>"), "instead of JSON"),
        (httpx.Response(200, json=[]), "should be an object"),
        (httpx.Response(204), "should be an object"),
        (httpx.Response(301, headers={"Location": "https://labelhub.test/"}), "redirects to https"),
    ],
)
def test_an_answer_that_is_not_labelhubs_is_told(answer: httpx.Response, words: str) -> None:
    client, _ = scripted(answer)
    with pytest.raises(UnexpectedAnswer, match=words):
        client.project("moods").info()


@pytest.mark.parametrize("body", [[], {}, {"results": 3}])
def test_a_list_that_is_none_is_told(body: Any) -> None:
    client, _ = scripted(httpx.Response(200, json=body))
    with pytest.raises(UnexpectedAnswer):
        list(client.projects())


def test_the_address_of_a_next_page_is_not_followed() -> None:
    row = {"name": "m", "provider": "p", "offline": True, "prices_known": False}
    elsewhere = {"next": "http://elsewhere.test/steal/", "results": [row]}
    last = {"next": None, "results": [row]}
    client, script = scripted(httpx.Response(200, json=elsewhere), httpx.Response(200, json=last))
    assert [model.name for model in client.models()] == ["m", "m"]
    assert {request.url.host for request in script.seen} == {"labelhub.test"}
    assert [request.url.params["page"] for request in script.seen] == ["1", "2"]


def test_unknown_fields_do_no_harm_anywhere() -> None:
    who = {"id": 1, "name": "m", "kind": "llm", "offline": True, "new": 1}
    suggestion = {
        "id": 3, "uid": "u", "value": "good", "confidence": None, "rationale": "", "evidence": {},
        "action": "proposed", "annotator": who, "run_uid": None, "new": {},
        "created_at": "2026-11-22T10:00:00Z",
    }  # fmt: skip
    item = {"id": 7, "external_id": "a", "text": "t", "context": None, "new": []}
    lease = {"token": "t-1", "expires_at": "2026-11-22T10:00:00.5+01:00", "new": 0}
    body = {"item": item, "suggestion": suggestion, "lease": lease, "new": None}
    client, _ = scripted(httpx.Response(200, json=body))
    task = client.project("m").next()
    assert task is not None
    assert task.suggestion
    assert (task.item.id, task.item.context, task.suggestion.annotator.kind) == (7, None, "llm")
    assert task.lease.expires_at.utcoffset() is not None


@contextmanager
def answering(write: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that writes so to whoever sends a request, and hangs up; its address."""
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                write(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        ended.set()
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def hold(until: threading.Event) -> None:
    """Say nothing for a while."""
    until.wait(10)


ONCE = Retries(attempts=1)
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'10\r\n{"id": "1"}\n{"id\r\n'
)


def test_half_an_answer_is_none() -> None:
    with (
        answering(lambda connection: connection.sendall(HALF)) as address,
        Client(address, KEY, retries=ONCE) as client,
        pytest.raises(AnswerLost, match="before the answer was complete"),
    ):
        client.project("moods").info()


def test_half_an_export_leaves_no_file(tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"
    target.write_text("of yesterday")
    with (
        answering(lambda connection: connection.sendall(CHUNKED)) as address,
        Client(address, KEY, retries=ONCE) as client,
    ):
        export = client.project("moods").export()
        with pytest.raises(AnswerLost):
            export.save(target)
        rows = export.rows()
        assert next(rows) == {"id": "1"}
        with pytest.raises(AnswerLost) as raised:
            next(rows)
    assert raised.value.__context__ is None  # httpx's error holds the key
    assert [path.name for path in tmp_path.iterdir()] == ["export.jsonl"]
    assert target.read_text() == "of yesterday"


def test_a_slow_server_is_left_in_time() -> None:
    silent = threading.Event()
    with (
        answering(lambda _: hold(silent)) as address,
        Client(address, KEY, retries=ONCE, timeout=0.2) as client,
    ):
        with pytest.raises(TimedOut) as raised:
            client.project("moods").next()
        silent.set()
    assert (raised.value.code, raised.value.retryable) == ("timed_out", True)


def test_a_port_where_nobody_listens_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}", KEY, retries=QUICK)
    with client, pytest.raises(ServerUnreachable):
        client.create_project("moods")


def test_all_of_them_are_one_kind() -> None:
    assert issubclass(TimedOut, AnswerLost)
    assert issubclass(ServerUnreachable, ClientError)
    assert not issubclass(ServerUnreachable, AnswerLost)
