"""Both clients against servers that fail in all the ways servers do."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from labelhub.client import (
    AnswerLost,
    AsyncClient,
    Client,
    ClientError,
    Retries,
    ServerFault,
    ServerUnreachable,
    TimedOut,
    TooManyRequests,
    UnexpectedAnswer,
)
from tests.client.helpers import ADDRESS, KEY, QUICK, Answer, Scripted, problem

NONE_LEFT = httpx.Response(204)
EMPTY = httpx.Response(200, json={"count": 0, "next": None, "previous": None, "results": []})


@pytest.fixture(params=["blocking", "awaited"])
def asked(request: pytest.FixtureRequest) -> Callable[..., tuple[Any, list[httpx.Request]]]:
    """Calls a method of a client, blocking and awaited: (what came of it, what was sent)."""

    def ask(
        call: Callable[[Any], Any], *answers: Answer, **more: Any
    ) -> tuple[Any, list[httpx.Request]]:
        script = Scripted(answers)
        how: dict[str, Any] = {"retries": QUICK, "progress": False} | more
        if request.param == "blocking":
            return call(Client(ADDRESS, KEY, transport=script.transport, **how)), script.seen

        async def awaited() -> Any:
            async with AsyncClient(ADDRESS, KEY, transport=script.asynchronous, **how) as client:
                given = call(client)
                if hasattr(given, "__aiter__"):
                    return [one async for one in given]
                return await given

        return asyncio.run(awaited()), script.seen

    return ask


def test_next_is_none_where_nothing_is_left(asked: Any) -> None:
    task, seen = asked(lambda client: client.project("moods").next(), NONE_LEFT)
    assert task is None
    assert (seen[0].method, seen[0].url.path) == ("POST", "/api/v1/projects/moods/next/")
    assert seen[0].headers["Authorization"] == f"Token {KEY}"


def test_a_busy_server_is_asked_again(asked: Any) -> None:
    answers = (
        problem(409, "queue_busy", retryable=True),
        problem(429, headers={"Retry-After": "0"}),
        httpx.Response(503),
        httpx.ReadError("broke"),
        NONE_LEFT,
    )
    task, seen = asked(lambda client: client.project("moods").next(), *answers)
    assert (task, len(seen)) == (None, 5)


@pytest.mark.parametrize(
    "failure", [httpx.ReadError("broke"), httpx.ReadTimeout(""), httpx.Response(502)]
)
def test_a_run_is_never_started_twice(asked: Any, failure: Answer) -> None:
    # A second answer would be a success.
    with pytest.raises((AnswerLost, ServerFault)):
        asked(lambda client: client.project("moods").preannotate(), failure, NONE_LEFT)


def test_a_server_that_is_down_is_told(asked: Any) -> None:
    with pytest.raises(ServerUnreachable, match="Is the address right") as told:
        asked(lambda client: client.project("moods").next(), httpx.ConnectError("refused"))
    assert (told.value.code, told.value.retryable, told.value.status) == ("unreachable", True, None)


def test_the_last_failure_is_raised(asked: Any) -> None:
    with pytest.raises(TooManyRequests):
        asked(
            lambda client: client.project("moods").info(), httpx.Response(503), problem(429),
            retries=Retries(attempts=2, first=0.0),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(200, text="<html>It works!</html>"), "instead of JSON"),
        (httpx.Response(200, json=[]), "should be an object"),
        (httpx.Response(200, json={"slug": "moods"}), r"no Project\.name"),
        (httpx.Response(204), "should be an object"),
        (httpx.Response(301, headers={"Location": "https://labelhub.test/"}), "own address"),
    ],
)
def test_what_is_not_labelhub_is_told(asked: Any, answer: httpx.Response, words: str) -> None:
    with pytest.raises(UnexpectedAnswer, match=words):
        asked(lambda client: client.project("moods").info(), answer)


@pytest.mark.parametrize("body", [[], {}, {"results": 3}, {"results": [{"id": "x"}], "next": 1}])
def test_a_list_that_is_none_is_told(asked: Any, body: Any) -> None:
    with pytest.raises(UnexpectedAnswer):
        asked(_all_projects, httpx.Response(200, json=body))


def _all_projects(client: Any) -> Any:
    rows = client.projects()
    return list(rows) if isinstance(client, Client) else rows


def test_the_address_of_a_next_page_is_not_followed(asked: Any) -> None:
    row = {"name": "m", "provider": "p", "offline": True, "prices_known": False}
    elsewhere = {"next": "http://elsewhere.test/steal/", "results": [row]}
    last = {"next": None, "results": [row]}

    def models(client: Any) -> Any:
        return list(client.models()) if isinstance(client, Client) else client.models()

    found, seen = asked(models, httpx.Response(200, json=elsewhere), httpx.Response(200, json=last))
    assert [one.name for one in found] == ["m", "m"]
    assert {request.url.host for request in seen} == {"labelhub.test"}
    assert [request.url.params["page"] for request in seen] == ["1", "2"]


def test_unknown_fields_are_passed_over_everywhere(asked: Any) -> None:
    who = {"id": 1, "name": "m", "kind": "llm", "offline": True, "new": 1}
    said = {
        "id": 3, "uid": "u", "value": "good", "confidence": None, "rationale": "", "evidence": {},
        "action": "proposed", "annotator": who, "run_uid": None, "new": {},
        "created_at": "2026-11-22T10:00:00Z",
    }  # fmt: skip
    item = {"id": 7, "external_id": "a", "text": "t", "context": None, "new": []}
    lease = {"token": "t-1", "expires_at": "2026-11-22T10:00:00.5+01:00", "new": 0}
    body = {"item": item, "suggestion": said, "lease": lease, "new": None}
    task, _ = asked(lambda client: client.project("m").next(), httpx.Response(200, json=body))
    assert (task.item.id, task.item.context, task.suggestion.annotator.kind) == (7, (), "llm")
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
        pytest.raises(AnswerLost, match="before the whole answer"),
    ):
        client.project("moods").info()


async def test_half_an_answer_is_none_either_when_awaited() -> None:
    with answering(lambda connection: connection.sendall(HALF)) as address:
        async with AsyncClient(address, KEY, retries=ONCE) as client:
            with pytest.raises(AnswerLost):
                await client.project("moods").info()


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
        with pytest.raises(AnswerLost):
            next(rows)
    assert [path.name for path in tmp_path.iterdir()] == ["export.jsonl"]
    assert target.read_text() == "of yesterday"


async def test_half_an_export_leaves_no_file_either_when_awaited(tmp_path: Path) -> None:
    with answering(lambda connection: connection.sendall(CHUNKED)) as address:
        async with AsyncClient(address, KEY, retries=ONCE) as client:
            export = client.project("moods").export()
            with pytest.raises(AnswerLost):
                await export.save(tmp_path / "export.jsonl")
            with pytest.raises(AnswerLost):
                await export.to_dataframe()
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240 - a folder of the test's own


def test_a_slow_server_is_left_in_time() -> None:
    silent = threading.Event()
    with (
        answering(lambda _: hold(silent)) as address,
        Client(address, KEY, retries=ONCE, timeout=0.2) as client,
    ):
        with pytest.raises(TimedOut) as told:
            client.project("moods").next()
        silent.set()
    assert (told.value.code, told.value.retryable) == ("timed_out", True)


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
