"""The client of an endpoint: which way it goes, what it sends, and how much it reads."""

import asyncio
import contextlib
import gzip
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from apps.llm import client
from apps.llm.addresses import AddressRefused
from apps.llm.client import EndpointClient, EventStream, cause_of, proxy_for
from apps.llm.failures import LONGEST_ANSWER, Cause, NoAnswer
from tests.fakes.openai_server import FakeServer

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]
KEY = "sk-test-0123456789"
NO_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NO_PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def client_of(base_url: str, **headers: str) -> AsyncIterator[EndpointClient]:
    lines = EndpointClient(base_url, KEY, headers, connect_timeout=2.0, read_timeout=2.0)
    try:
        yield lines
    finally:
        await lines.close()


def test_without_a_proxy_there_is_none() -> None:
    assert proxy_for("http://models.example/v1") is None


def test_the_proxy_of_the_environment_is_taken_by_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1,.inside.example")
    proxy = proxy_for("https://models.example/v1")
    assert proxy is not None
    assert (str(proxy.url), proxy.auth) == ("http://proxy.example:3128", None)
    assert dict(proxy.headers) == {"proxy-authorization": "Basic bWU6c2VjcmV0"}
    assert proxy_for("http://models.example/v1") is None
    assert proxy_for("https://llm.inside.example/v1") is None
    assert proxy_for("https://127.0.0.1/v1") is None


async def test_requests_go_through_the_proxy(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{model_server.port}")
    async with client_of("http://models.example/v1") as lines:
        answer = await lines.get("/models")
    assert answer.ok
    assert b'"data"' in answer.body


def self_signed(folder: Path) -> ssl.SSLContext:
    """The certificate of a server that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    pem = Encoding.PEM
    (folder / "key.pem").write_bytes(key.private_bytes(pem, PrivateFormat.PKCS8, NoEncryption()))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"data": []})

    app = web.Application()
    app.router.add_get("/models", answer)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=self_signed(tmp_path))
    async with server, client_of(f"https://127.0.0.1:{server.port}") as lines:
        with pytest.raises(NoAnswer) as refused:
            await lines.get("/models")
    assert refused.value.cause is Cause.NO_CONNECTION


async def test_a_proxy_gets_its_password_and_the_endpoint_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[web.Request] = []

    async def handle(request: web.Request) -> web.Response:
        heard.append(request)
        return web.json_response({"data": []})

    async with answering(handle) as url:
        proxy = url.removesuffix("/v1").replace("http://", "http://me:secret@")
        monkeypatch.setenv("http_proxy", proxy)
        async with client_of("http://models.example/v1") as lines:
            assert (await lines.get("/models")).ok
    assert heard[0].headers["Host"] == "models.example"
    assert heard[0].headers["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"
    assert "secret" not in str(heard[0].url)


async def test_a_host_that_cannot_be_looked_up_is_refused_in_words() -> None:
    for host in ("300.300.300.300", "m\u00fcnchen..example", "\u200bhost"):
        with pytest.raises(AddressRefused, match="cannot be read as an address"):
            EndpointClient(f"http://{host}/v1", KEY, {}, connect_timeout=1.0, read_timeout=1.0)
    async with client_of(f"http://{'a' * 70}.example/v1") as lines:
        with pytest.raises(NoAnswer) as caught:
            await lines.get("/models")
    assert caught.value.cause is Cause.NO_CONNECTION


async def test_a_redirection_is_not_followed(model_server: FakeServer) -> None:
    model_server.script({"fault": "redirect"})
    async with client_of(model_server.base_url) as lines:
        answer = await lines.post("/chat/completions", {"model": "m", "messages": []})
    assert (answer.status, answer.ok) == (307, False)


@pytest.mark.parametrize("declared", [True, False])
async def test_an_answer_of_absurd_length_is_not_read(
    monkeypatch: pytest.MonkeyPatch, *, declared: bool
) -> None:
    monkeypatch.setattr(client, "LONGEST_ANSWER", 100_000)

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        length = b"Content-Length: 100001\r\n" if declared else b""
        writer.write(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        with contextlib.suppress(ConnectionError):
            while not declared:
                writer.write(b"x" * 10_000)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, client_of(base_url) as lines:
        with pytest.raises(NoAnswer, match="broken off"):
            await lines.get("/models")


@asynccontextmanager
async def answering(handle: Handle) -> AsyncIterator[str]:
    """The base URL of an endpoint that answers everything by ``handle``."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server:
        yield str(server.make_url("/v1"))


async def test_an_answer_is_bounded_by_its_length_unpacked_and_so_is_a_refusal_or_a_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "LONGEST_ANSWER", 100_000)
    large, status = b"x" * 100_001, 200

    async def packed(_: web.Request) -> web.Response:
        headers = {"Content-Encoding": "gzip", "Content-Type": "text/event-stream"}
        return web.Response(body=gzip.compress(large), headers=headers, status=status)

    async def read_stream(lines: EndpointClient) -> None:
        stream = await lines.stream("/chat/completions", {})
        assert isinstance(stream, EventStream)
        try:
            [event async for event in stream.events()]
        finally:
            await stream.close()

    async with answering(packed) as base_url, client_of(base_url) as lines:
        for status in (200, 400):  # noqa: B007 - the endpoint answers by it
            with pytest.raises(NoAnswer, match="broken off"):
                await lines.post("/chat/completions", {})
        status = 200
        with pytest.raises(NoAnswer, match="broken off"):
            await read_stream(lines)
        large = b"x" * 100_000
        assert (await lines.get("/models")).body == large


async def test_nothing_is_sent_that_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://from-the-environment.example/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-the-environment")
    caplog.set_level(logging.DEBUG)
    heard: list[web.Request] = []

    async def handle(request: web.Request) -> web.Response:
        heard.append(request)
        answer = web.json_response({"data": []})
        answer.set_cookie("session", "kept")
        return answer

    async with answering(handle) as base_url:
        for url in (base_url, f"{base_url}/"):
            headers = {"X-Team": "secret-header", "accept": "text/json"}
            async with client_of(url, **headers) as lines:
                await lines.get("/models")
                await lines.post("/chat/completions", {"model": "m"})
                seen = repr(vars(lines)) + caplog.text
                assert KEY not in seen
                assert "secret-header" not in seen
    assert [request.path for request in heard] == ["/v1/models", "/v1/chat/completions"] * 2
    for request in heard:
        sent = {name.lower(): value for name, value in request.headers.items()}
        assert sent["authorization"] == f"Bearer {KEY}"
        assert (sent["user-agent"], sent["x-team"]) == ("LabelHub", "secret-header")
        assert request.headers.getall("Accept") == ["text/json"]
        assert "cookie" not in sent
        assert not [name for name in sent if name.startswith("openai-")]
        assert "from-the-environment" not in str(sent)


def test_why_no_answer_came_and_what_may_have_been_written_all_the_same() -> None:
    refused = aiohttp.ClientConnectorError(None, OSError())  # type: ignore[arg-type]  # no host
    wrapped = RuntimeError()
    wrapped.__cause__ = aiohttp.SocketTimeoutError()
    expected = [
        (TimeoutError(), Cause.TIMED_OUT, LONGEST_ANSWER),
        (aiohttp.SocketTimeoutError(), Cause.TIMED_OUT, LONGEST_ANSWER),
        (wrapped, Cause.TIMED_OUT, LONGEST_ANSWER),
        (aiohttp.ConnectionTimeoutError(), Cause.TIMED_OUT, 0),
        (aiohttp.ClientPayloadError(), Cause.BROKEN_OFF, LONGEST_ANSWER),
        (aiohttp.ServerDisconnectedError(), Cause.BROKEN_OFF, 0),
        (ConnectionResetError(), Cause.BROKEN_OFF, 0),
        (refused, Cause.NO_CONNECTION, 0),
    ]
    found = [(error, *cause_of(error)) for error, _, _ in expected]
    assert found == expected
