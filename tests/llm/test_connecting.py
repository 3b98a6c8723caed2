"""Connections to an endpoint: by the environment's proxy, without redirections, bounded in size."""

import asyncio
import contextlib

import aiohttp
import pytest
from yarl import URL

from apps.llm import connecting
from apps.llm.connecting import (
    LONGEST_ANSWER,
    Connections,
    TooMuch,
    cause_of,
    proxy_for,
    unread,
)
from apps.llm.failures import Cause
from tests.fakes.openai_server import FakeServer

NO_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NO_PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def connections(base_url: str, **headers: str) -> Connections:
    return Connections(base_url, headers, connect_timeout=2.0, read_timeout=2.0)


def test_without_a_proxy_there_is_none() -> None:
    assert proxy_for("http://models.example/v1") == (None, {})


def test_the_proxy_of_the_environment_is_taken_by_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1,.inside.example")
    assert proxy_for("https://models.example/v1") == (
        URL("http://proxy.example:3128"),
        {"Proxy-Authorization": "Basic bWU6c2VjcmV0"},
    )
    assert proxy_for("http://models.example/v1") == (None, {})
    assert proxy_for("https://llm.inside.example/v1") == (None, {})
    assert proxy_for("https://127.0.0.1/v1") == (None, {})


async def test_requests_go_through_the_proxy(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{model_server.port}")
    lines = connections("http://models.example/v1")
    try:
        answer = await lines.get("/models")
    finally:
        await lines.close()
    assert answer.ok
    assert b'"data"' in answer.body


async def test_a_redirection_is_not_followed(model_server: FakeServer) -> None:
    model_server.script({"fault": "redirect"})
    lines = connections(model_server.base_url)
    try:
        answer = await lines.post("/chat/completions", {"model": "m", "messages": []})
    finally:
        await lines.close()
    assert (answer.status, answer.ok) == (307, False)


@pytest.mark.parametrize("told", [True, False])
async def test_an_answer_of_absurd_length_is_not_read(
    monkeypatch: pytest.MonkeyPatch, *, told: bool
) -> None:
    monkeypatch.setattr(connecting, "LONGEST_ANSWER", 100_000)

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        length = b"Content-Length: 100001\r\n" if told else b""
        writer.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        with contextlib.suppress(ConnectionError):
            while not told:
                writer.write(b"x" * 10_000)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    lines = connections(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        with pytest.raises(TooMuch):
            await lines.get("/models")
    finally:
        await lines.close()
        server.close()


def test_why_no_answer_came() -> None:
    assert cause_of(TimeoutError()) is Cause.TIMED_OUT
    assert cause_of(aiohttp.ServerDisconnectedError()) is Cause.BROKEN_OFF
    assert cause_of(ConnectionResetError()) is Cause.BROKEN_OFF


def test_what_may_have_been_written_all_the_same() -> None:
    for written in (TimeoutError(), aiohttp.SocketTimeoutError(), aiohttp.ClientPayloadError()):
        assert unread(written) == LONGEST_ANSWER
    for never in (aiohttp.ConnectionTimeoutError(), aiohttp.ServerDisconnectedError(), OSError()):
        assert unread(never) == 0
