"""How a line connects: over aiohttp, and to no forbidden address, whatever a name resolves to.

Imported when a line is opened and never at start-up: a server that only shows pages has no need of
a client. Why no client library for these endpoints stands between: ``docs/adr/11``.
"""

import json
import socket
from collections.abc import Mapping
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
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        return await self._send("POST", path, body, {"Content-Type": "application/json"})

    async def get(self, path: str) -> Answer:
        """Ask for ``path``. Raises as :meth:`post`."""
        return await self._send("GET", path)

    async def close(self) -> None:
        """Close all of them."""
        await self._session.close()

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        async with self._session.request(
            method,
            self._base_url + path,
            data=body,
            headers=headers,
            proxy=self._proxy,
            proxy_headers=self._proxy_headers,
            # A redirection could lead to an address that was never checked.
            allow_redirects=False,
        ) as response:
            if (response.content_length or 0) > LONGEST_ANSWER:
                raise TooMuch("The answer is longer than any completion.")
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, found, await _whole(response))


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


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    """The body; its length may be told wrongly, not at all, or as it was before unpacking."""
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > LONGEST_ANSWER:
            raise TooMuch("The answer is longer than any completion.")
    return bytes(body)


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
