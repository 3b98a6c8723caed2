"""The `openai` client of one endpoint, with limits on its addresses and on what it reads.

The only module that imports `openai` and what it is built on. It is imported when a gateway opens
and never at start-up: it takes about a second and 25 MB, and a server that only shows pages needs
no client (``docs/adr/0011``).
"""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from aiohttp.abc import ResolveResult
from openai import (
    APIConnectionError,
    APIStatusError,
    AsyncAzureOpenAI,
    AsyncOpenAI,
    AsyncStream,
    DefaultAioHttpClient,
)

# The library exports neither of these two. pyproject.toml excludes its next major version, and
# tests/llm/test_client.py fails if they have moved.
from openai._streaming import ServerSentEvent, SSEDecoder
from openai._vendor.httpx_aiohttp import AiohttpTransport

from apps.llm.addresses import check_address, unreadable
from apps.llm.failures import (
    LONGEST_ANSWER,
    NO_TLS,
    UNKNOWN_HOST,
    UNTRUSTED,
    Cause,
    NoAnswer,
)
from apps.llm.wire import Answer

#: The event for the end of a stream, as some endpoints give no finish reason.
_DONE = '{"choices": [{"finish_reason": "stop"}]}'


class AnswerTooLong(aiohttp.ClientPayloadError):
    """An answer is longer than any completion can be."""


class EventStream:
    """A streamed answer after its head has arrived; header names in lower case."""

    def __init__(self, stream: AsyncStream[object]) -> None:
        self._stream = stream
        self.headers = _headers(stream.response)

    async def events(self) -> AsyncGenerator[Any, None]:
        """The JSON of each event.

        Raises:
            NoAnswer: the connection broke off, or the answer is too long.
            ValueError: an event is not JSON.
        """
        with _translated():
            async for event in self._stream:
                yield event

    async def close(self) -> None:
        """Stop reading; the connection of an unfinished answer is closed."""
        await self._stream.close()


class EndpointClient:
    """The client of one base URL. It belongs to the event loop that created it.

    Args:
        base_url: with or without a slash at its end.
        key: sent as a bearer token, to Azure as its ``api-key``.
        headers: sent with every request.
        private: whether the host may be this machine or in a private network. If not, proxies of
            the environment are not used, as they could connect to any address.
        api_version: of an Azure resource at ``base_url``; empty for other endpoints.
        connect_timeout: seconds.
        read_timeout: seconds for the whole answer once connected.

    Raises:
        AddressRefused: the base URL is invalid.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        headers: Mapping[str, str],
        *,
        private: bool = True,
        api_version: str = "",
        connect_timeout: float,
        read_timeout: float,
    ) -> None:
        try:
            httpx2.URL(base_url)
        except httpx2.InvalidURL:
            raise unreadable(base_url) from None
        self._seconds = connect_timeout + read_timeout
        # The time-out for the whole answer; the library's is for the time between two reads.
        timeout = httpx2.Timeout(None, connect=connect_timeout)
        options: dict[str, Any] = {
            "api_key": key,
            "timeout": timeout,
            "max_retries": 0,
            "default_headers": headers,
            "http_client": DefaultAioHttpClient(
                transport=_Transport(base_url, private=private),
                # A redirection could lead to an address that was never checked.
                follow_redirects=False,
                trust_env=False,
                timeout=timeout,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            ),
        }
        if api_version:
            # Portals show the address with and without its path.
            endpoint = base_url.rstrip("/").removesuffix("/openai")
            options |= {"azure_endpoint": endpoint, "api_version": api_version}
        else:
            options["base_url"] = base_url
        self._client = (_AzureClient if api_version else _Client)(**options)

    async def post(self, path: str, content: Mapping[str, Any]) -> Answer:
        """Send ``content`` as JSON.

        Raises:
            NoAnswer: no answer arrived, or only a part of it.
            AddressRefused: the host name resolves to a forbidden address.
        """
        return await self._ask(self._client.post(path, cast_to=httpx2.Response, body=content))

    async def get(self, path: str) -> Answer:
        """Request ``path``. Raises as :meth:`post`."""
        return await self._ask(self._client.get(path, cast_to=httpx2.Response))

    async def _ask(self, response: Awaitable[httpx2.Response]) -> Answer:
        with _translated():
            try:
                async with asyncio.timeout(self._seconds):
                    return _answer(await response)
            except APIStatusError as error:
                return _answer(error.response)

    async def stream(self, path: str, content: Mapping[str, Any]) -> EventStream | Answer:
        """Send ``content`` as JSON; the answer once its head has arrived, or the refusal. The
        caller limits the time and closes the stream. Raises as :meth:`post`."""
        with _translated():
            try:
                return EventStream(
                    await self._client.post(
                        path,
                        cast_to=object,
                        body=content,
                        # Skip the library's handling of assistants' events.
                        options={"stream_mode": "events"},
                        stream=True,
                        stream_cls=AsyncStream[object],
                    )
                )
            except APIStatusError as error:
                return _answer(error.response)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


class _Client(AsyncOpenAI):
    """The library's client, without headers from the environment."""

    def __init__(self, *, default_headers: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        json_both_ways = {"Accept": "application/json", "Content-Type": "application/json"}
        headers = httpx2.Headers({**json_both_ways, "User-Agent": "LabelHub"})
        headers.update(default_headers)  # names in any case
        self._sent_headers = dict(headers)

    @property
    def default_headers(self) -> dict[str, Any]:
        """The library would add ``OPENAI_CUSTOM_HEADERS``, the organization and project of
        ``OPENAI_ORG_ID`` and ``OPENAI_PROJECT_ID``, and data about this machine."""
        return self._sent_headers

    def _make_sse_decoder(self) -> SSEDecoder:
        return _Events()


class _AzureClient(_Client, AsyncAzureOpenAI):
    """The same for Azure, where the library puts the deployment into the address."""


class _Events(SSEDecoder):
    """Server-sent events, also of endpoints that deviate from the standard."""

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ServerSentEvent]:
        """The events in ``iterator``; one with the whole answer if an endpoint does not stream."""
        begun = b""
        async for part in iterator:
            begun += part
            if begun.strip():
                break
        if begun.lstrip().startswith(b"{"):
            parts = [begun, *[part async for part in iterator]]
            yield ServerSentEvent(data=b"".join(parts).decode("utf-8", "replace"))
            return
        async for event in super().aiter_bytes(_chain(begun, iterator)):
            if event.data.startswith("[DONE]"):
                yield ServerSentEvent(data=_DONE)
            elif event.data.strip():
                yield event

    def _decode_lines(self, lines: Iterator[bytes]) -> Iterator[ServerSentEvent]:
        # A token may end in the middle of a character.
        return super()._decode_lines(line.decode("utf-8", "replace").encode() for line in lines)

    def decode(self, line: str) -> ServerSentEvent | None:
        """The event that ``line`` completes. Complete JSON ends an event, as some endpoints leave
        out the blank lines between events, or after the last one."""
        event = super().decode(line.removeprefix("\ufeff"))
        complete = event is None and len(self._data) == 1 and _is_whole(self._data[0])
        return super().decode("") if complete else event


class _Response(httpx2.Response):
    """A response that is read only up to the length of the longest completion."""

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """The body as it arrives; every way to read it ends here.

        Raises:
            AnswerTooLong: it is longer than any completion.
        """
        # Count too: the header may be wrong or missing, or give the compressed length.
        length, declared = 0, self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > LONGEST_ANSWER:
            raise AnswerTooLong("The answer is longer than any completion.")
        async for part in super().aiter_bytes(chunk_size):
            length += len(part)
            if length > LONGEST_ANSWER:
                raise AnswerTooLong("The answer is longer than any completion.")
            yield part


class _Transport(AiohttpTransport):
    """Connections to the host of ``base_url``, through the environment's proxy for it."""

    def __init__(self, base_url: str, *, private: bool) -> None:
        session = aiohttp.ClientSession(
            # The limiter bounds the number of connections.
            connector=aiohttp.TCPConnector(resolver=CheckedResolver(private=private), limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        # The session checks certificates with the system's. The library would load its own for each
        # client, so it gets a context that trusts nothing and is never used.
        unused = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        super().__init__(
            client=session, proxy=proxy_for(base_url) if private else None, verify=unused
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request; the length of the response is limited."""
        if self.proxy is not None and request.url.scheme == "http":
            request.headers.update(self.proxy.headers)  # aiohttp sends these only to open a tunnel
        found = await super().handle_async_request(request)
        return _Response(
            found.status_code,
            headers=found.headers,
            stream=found.stream,
            request=request,
            extensions=found.extensions,
        )


class CheckedResolver(aiohttp.ThreadedResolver):
    """Checks the address of each connection: an earlier check proves nothing, as the next answer
    of DNS may differ (DNS rebinding). ``private`` as for ``check_base_url``."""

    def __init__(self, *, private: bool = True) -> None:
        super().__init__()
        self._private = private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of ``host``.

        Raises:
            AddressRefused: one of them is forbidden.
            OSError: it has no address.
        """
        try:
            found = await super().resolve(host, port, family)
        except UnicodeError as error:
            raise OSError(f"'{host}' is no name of a host.") from error
        for address in found:
            check_address(address["host"], host, private=self._private)
        return found


def proxy_for(base_url: str) -> httpx2.Proxy | None:
    """The proxy that the environment names for ``base_url``.

    Found once, as it reads files.
    """
    url = urlsplit(base_url)
    found = getproxies().get(url.scheme) or getproxies().get("all")
    if not found or proxy_bypass(url.hostname or ""):
        return None
    proxy = httpx2.URL(found if "://" in found else f"http://{found}")
    if not proxy.username:
        return httpx2.Proxy(proxy)
    # The library would use a deprecated class of aiohttp.
    basic = aiohttp.encode_basic_auth(proxy.username, proxy.password)
    bare = proxy.copy_with(username=None, password=None)
    return httpx2.Proxy(bare, headers={"Proxy-Authorization": basic})


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the library's exceptions to :class:`NoAnswer`."""
    try:
        yield
    except (APIConnectionError, httpx2.RequestError, aiohttp.ClientError, OSError) as error:
        code, message = _refusal_of(_first_cause(error))
        raise NoAnswer(*cause_of(error), code=code, message=message) from None


def cause_of(error: BaseException) -> tuple[Cause, int]:
    """The cause of a missing answer, and the possible length of an answer that was written but
    not read: models continue after a time-out, and a body begins when all of it is written."""
    first = _first_cause(error)
    if isinstance(first, aiohttp.ClientConnectorError):
        return Cause.NO_CONNECTION, 0
    if isinstance(first, aiohttp.ConnectionTimeoutError):
        return Cause.TIMED_OUT, 0
    if isinstance(first, TimeoutError):
        return Cause.TIMED_OUT, LONGEST_ANSWER
    hung_up = isinstance(first, aiohttp.ClientPayloadError)
    return Cause.BROKEN_OFF, LONGEST_ANSWER if hung_up else 0


def _first_cause(error: BaseException | None) -> BaseException | None:
    """The exception of aiohttp that ``error`` comes from."""
    while error is not None and not isinstance(error, aiohttp.ClientError | TimeoutError):
        error = error.__cause__
    return error


def _refusal_of(error: BaseException | None) -> tuple[str, str]:
    """The code and the message of a failed connection; empty where there is no more to say."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return UNTRUSTED, str(getattr(error.certificate_error, "verify_message", ""))
    if isinstance(error, aiohttp.ClientSSLError):
        return NO_TLS, ""
    return (UNKNOWN_HOST if isinstance(error, aiohttp.ClientConnectorDNSError) else ""), ""


def _answer(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, _headers(response), response.content)


def _headers(response: httpx2.Response) -> dict[str, str]:
    return dict(response.headers)  # names are in lower case


async def _chain(begun: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun
    async for part in rest:
        yield part


def _is_whole(data: str) -> bool:
    if data.strip() == "[DONE]":
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
