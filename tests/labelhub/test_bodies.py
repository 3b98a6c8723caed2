"""What the server lets through to Django: whole requests of a known and bearable length."""

import asyncio
import errno
import io
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse

from labelhub.web.asgi_types import App, Message, Receive, Send
from labelhub.web.bodies import IMPORT_PATH, PIECE, SLACK, require_whole_bodies

GONE: Message = {"type": "http.disconnect"}
SMALL = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + SLACK
FILE_LIMIT = 100 * 1024**2
IMPORT = "/api/v1/projects/hotel/import/"
KEY = (b"x-api-key", b"lh_x")
BEARER = (b"authorization", b"Bearer lh_x")
SESSION = (b"cookie", b"a=b; sessionid=abc")


def is_member(headers: Mapping[bytes, bytes]) -> bool:
    """Stands in for the look into the database, see test_callers."""
    return bool({KEY, BEARER, SESSION} & set(headers.items()))


async def echo(scope: Message, receive: Receive, send: Send) -> None:
    """An app that reads its body and says so."""
    body = b""
    while (message := await receive()).get("more_body"):
        body += message["body"]
    await send({"type": "http.response.body", "body": body + message["body"]})


async def answer(
    headers: list[tuple[bytes, bytes]],
    *messages: Message,
    path: str = "/",
    app: App = echo,
    receive: Receive | None = None,
    patience: float = 30,
) -> list[Message]:
    """What is sent when these messages come in, or what ``receive`` brings."""
    coming, sent = list(messages), []

    async def receive_next() -> Message:
        return coming.pop(0) if coming else GONE

    async def send(message: Message) -> None:
        sent.append(message)

    guarded = require_whole_bodies(app, file_limit=FILE_LIMIT, known=is_member, patience=patience)
    scope = {"type": "http", "path": path, "headers": headers}
    await guarded(scope, receive or receive_next, send)
    return sent


def part(body: bytes, *, more: bool) -> Message:
    """A piece of a request's body."""
    return {"type": "http.request", "body": body, "more_body": more}


def length(size: int) -> tuple[bytes, bytes]:
    """The header that announces it."""
    return (b"content-length", str(size).encode())


def problem(sent: list[Message]) -> dict[str, Any]:
    """The refusal that was sent, which ends the connection."""
    headers = dict(sent[0]["headers"])
    body = b"".join(message["body"] for message in sent[1:])
    assert headers[b"content-type"] == b"application/problem+json"
    assert headers[b"connection"] == b"close"
    assert int(headers[b"content-length"]) == len(body)
    assert not sent[-1].get("more_body")
    refusal: dict[str, Any] = json.loads(body)
    assert refusal["status"] == sent[0]["status"]
    return refusal


async def test_a_whole_body_goes_through() -> None:
    sent = await answer([length(4)], part(b"ab", more=True), part(b"cd", more=False))
    assert sent[-1]["body"] == b"abcd"


async def test_half_a_body_reaches_nobody() -> None:
    assert await answer([length(4)], part(b"ab", more=True), GONE) == []


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 5 * PIECE + 7])
async def test_a_body_of_any_size_arrives_as_it_was_sent(size: int) -> None:
    whole = os.urandom(size)
    sent = await answer([length(size)], part(whole[:7], more=True), part(whole[7:], more=False))
    assert sent[-1]["body"] == whole


async def test_a_large_body_waits_in_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    used, temporary_file = [], tempfile.TemporaryFile

    def noted(**options: Any) -> Any:
        used.append(options["dir"])
        return temporary_file(**options)

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    await answer([length(9)], part(b"123456789", more=False))
    await answer([length(PIECE + 1)], part(b"x" * (PIECE + 1), more=False))
    assert used == [str(settings.DATA_DIR / "spool")]


async def test_a_body_that_trickles_in_occupies_no_thread_until_it_is_there() -> None:
    coming: asyncio.Queue[Message] = asyncio.Queue()
    begun = asyncio.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        begun.set()

    task = asyncio.ensure_future(answer([length(4)], app=app, receive=coming.get))
    await coming.put(part(b"ab", more=True))
    await asyncio.sleep(0.01)
    assert not begun.is_set()
    await coming.put(part(b"cd", more=False))
    await task
    assert begun.is_set()


async def test_a_client_that_sends_nothing_more_is_given_up() -> None:
    coming: asyncio.Queue[Message] = asyncio.Queue()
    await coming.put(part(b"ab", more=True))
    sent = await answer([length(4)], receive=coming.get, patience=0.01)
    assert problem(sent)["status"] == 408


@pytest.mark.parametrize(
    ("path", "headers", "limit"),
    [
        ("/accounts/login/", [], SMALL),
        ("/accounts/login/", [KEY], SMALL),
        (IMPORT, [], SMALL),
        (IMPORT, [(b"cookie", b"csrftoken=abc")], SMALL),
        (IMPORT, [(b"x-api-key", b"made up")], SMALL),
        (IMPORT, [KEY], FILE_LIMIT + SLACK),
        (IMPORT, [BEARER], FILE_LIMIT + SLACK),
        ("/p/hotel/import/", [SESSION], FILE_LIMIT + SLACK),
        ("/projects/new/", [SESSION], FILE_LIMIT + SLACK),
        ("/projects/new/", [], SMALL),
        ("/p/hotel/import/7/", [SESSION], SMALL),
        ("/p/hotel/import/../../x/import/", [SESSION], SMALL),
    ],
)
async def test_what_is_announced_too_large_is_refused_before_it_is_read(
    path: str, headers: list[tuple[bytes, bytes]], limit: int
) -> None:
    body = part(b"{}", more=False)
    through = await answer([length(limit), *headers], body, path=path)
    refused = await answer([length(limit + 1), *headers], body, path=path)

    assert through == [{"type": "http.response.body", "body": b"{}"}]
    refusal = problem(refused)
    assert (refusal["status"], refusal["code"]) == (413, "too_large")
    assert f"{limit // 1024**2} MB" in refusal["detail"]


async def test_what_comes_is_counted_whatever_was_announced() -> None:
    much = [part(b"x" * 1024**2, more=True)] * (SMALL // 1024**2 + 1)
    assert problem(await answer([length(3)], *much))["status"] == 413


async def test_who_is_refused_may_end_what_it_was_sending() -> None:
    coming = [part(b"x", more=True), part(b"y", more=True), part(b"z", more=False)]

    async def receive() -> Message:
        return coming.pop(0)

    problem(await answer([length(SMALL + 1)], receive=receive))
    assert coming == []


@pytest.mark.parametrize("name", ["import_create", "api_import"])
def test_files_are_sent_to_the_addresses_that_take_them(name: str) -> None:
    assert IMPORT_PATH.fullmatch(reverse(name, args=["a-Project_7"]))


async def test_a_header_that_only_looks_like_a_proxys_is_dropped() -> None:
    seen = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        seen.extend(scope["headers"])

    headers = [(b"x_forwarded_proto", b"https"), (b"accept", b"*/*")]
    await answer(headers, part(b"", more=False), app=app)
    assert seen == [(b"accept", b"*/*")]


async def test_a_body_of_unknown_length_is_refused_in_words() -> None:
    body = problem(await answer([(b"transfer-encoding", b"chunked")]))
    assert body["status"] == 411
    assert "Content-Length" in body["detail"]


async def test_a_disk_without_room_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raised as the disk does it; the answer used to be a connection that was reset."""

    class FullDisk(io.BytesIO):
        def write(self, _data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: FullDisk())
    size = 2 * PIECE
    sent = await answer([length(size)], part(b"x" * size, more=False))
    body = json.loads(b"".join(message.get("body", b"") for message in sent))
    assert sent[0]["status"] == 503
    assert (body["code"], body["retryable"]) == ("unavailable", True)
    assert "disk is full" in body["detail"]
