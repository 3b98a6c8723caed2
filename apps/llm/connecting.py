"""How a line connects: over aiohttp, and to no forbidden address, whatever a name resolves to.

Imported when a line is opened and never at start-up: a server that only shows pages has no need of
a client. Why no client library for these endpoints stands between: ``docs/adr/11``.
"""

import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.abc import ResolveResult
from yarl import URL

from apps.llm.addresses import check_address
from apps.llm.failures import Cause

AGENT = "LabelHub"
#: Longer answers are not read: no completion has so many bytes.
LONGEST_ANSWER = 32 * 1024 * 1024


class TooMuch(aiohttp.ClientPayloadError):
    """An answer is longer than any completion can be."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is an answer, and neither an error nor a redirection."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Incoming:
    """An answer of which the head is here; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    _response: aiohttp.ClientResponse

    @property
    def ok(self) -> bool:
        """As :attr:`Answer.ok`."""
        return 200 <= self.status < 300

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes in.

        Raises:
            TooMuch: it is longer than any completion.
        """
        if (self._response.content_length or 0) > LONGEST_ANSWER:
            raise TooMuch("The answer is longer than any completion.")
        length = 0
        async for part in self._response.content.iter_any():
            # Counted: a length may be told wrongly, not at all, or as it was before unpacking.
            length += len(part)
            if length > LONGEST_ANSWER:
                raise TooMuch("The answer is longer than any completion.")
            yield part

    async def whole(self) -> Answer:
        """The answer with all of its body. Raises as :meth:`parts`."""
        body = b"".join([part async for part in self.parts()])
        return Answer(self.status, self.headers, body)


class Connections:
    """The connections to one base URL. Belong to the event loop that they were made in.

    Args:
        base_url: without the slash at its end.
        headers: sent with every request.
        connect_timeout: seconds.
        read_timeout: seconds for the whole answer once connected.
    """

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        connect_timeout: float,
        read_timeout: float,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._proxy, self._proxy_headers = proxy_for(base_url)
        self._only_connecting = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout)
        self._session = aiohttp.ClientSession(
            # How many there are at once is the limiter's affair.
            connector=aiohttp.TCPConnector(resolver=CheckedResolver(), limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": AGENT, **headers},
            timeout=aiohttp.ClientTimeout(
                total=connect_timeout + read_timeout, sock_connect=connect_timeout
            ),
        )

    async def post(self, path: str, content: Mapping[str, Any]) -> Answer:
        """Send ``content`` as JSON. Raises what aiohttp raises, or ``AddressRefused``."""
        async with self._asked("POST", path, content) as incoming:
            return await incoming.whole()

    async def get(self, path: str) -> Answer:
        """Ask for ``path``. Raises as :meth:`post`."""
        async with self._asked("GET", path) as incoming:
            return await incoming.whole()

    def stream(
        self, path: str, content: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[Incoming]:
        """Send ``content`` as JSON; the answer once its head is here. Who leaves before its end
        closes the connection; how long it may take is the caller's affair. Raises as :meth:`post`.
        """
        return self._asked("POST", path, content, timeout=self._only_connecting)

    async def close(self) -> None:
        """Close all of them."""
        await self._session.close()

    @asynccontextmanager
    async def _asked(
        self, method: str, path: str, content: Mapping[str, Any] | None = None, **more: Any
    ) -> AsyncIterator[Incoming]:
        if content is not None:
            body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
            more |= {"data": body, "headers": {"Content-Type": "application/json"}}
        async with self._session.request(
            method,
            self._base_url + path,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
            # A redirection could lead to an address that was never checked.
            allow_redirects=False,
            **more,
        ) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            yield Incoming(response.status, found, response)


class CheckedResolver(aiohttp.ThreadedResolver):
    """Refuses what the connection would be opened to: a look at the name beforehand proves nothing,
    as the next answer may be another (DNS rebinding)."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of ``host``.

        Raises:
            AddressRefused: one of them is forbidden.
        """
        found = await super().resolve(host, port, family)
        for each in found:
            check_address(each["host"], host)
        return found


def proxy_for(base_url: str) -> tuple[URL | None, dict[str, str]]:
    """The proxy that the environment names for ``base_url``, and the headers it wants.

    Looked up once: aiohttp itself would read files for every request.
    """
    url = URL(base_url)
    found = getproxies().get(url.scheme) or getproxies().get("all")
    if not found or proxy_bypass(url.host or ""):
        return None, {}
    proxy = URL(found if "://" in found else f"http://{found}")
    if proxy.user is None:
        return proxy, {}
    who = aiohttp.encode_basic_auth(proxy.user, proxy.password or "")
    return proxy.with_user(None), {"Proxy-Authorization": who}


def cause_of(error: BaseException) -> Cause:
    """Why no answer came."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return Cause.NO_CONNECTION
    return Cause.TIMED_OUT if isinstance(error, TimeoutError) else Cause.BROKEN_OFF


def unread(error: BaseException) -> int:
    """How long an answer may be that was written and never read: models go on writing when nobody
    waits any more, and a body begins when all of it is written."""
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return 0
    hung_up = isinstance(error, TimeoutError | aiohttp.ClientPayloadError)
    return LONGEST_ANSWER if hung_up else 0
