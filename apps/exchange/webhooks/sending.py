"""One POST to a receiver: to the very address that was checked, within ten seconds in all."""

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, Self

import certifi
import httpx

from apps.exchange.webhooks.targets import is_allowed, words_of_refusal
from labelhub.core.version import NAME, VERSION

SECONDS = 10.0
#: Of an answer: bytes that are read, characters that are kept.
MOST_READ = 64 * 1024
MOST_KEPT = 1000
#: Addresses of a name that are tried, where the first does not answer.
MOST_ADDRESSES = 3
AGENT = f"{NAME}/{VERSION} webhooks"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; ``status`` None where nothing did, and then ``error`` says why."""

    status: int | None
    seconds: float
    text: str = ""
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the receiver has taken the message."""
        return self.status is not None and 200 <= self.status < 300


class Refused(Exception):
    """The name leads to an address that the server must not connect to."""


class Sender:
    """A connection to one receiver, on an event loop of its own: for threads that may wait.

    The loop is what bounds a whole exchange: a receiver that sends a byte now and then would keep
    a thread for good.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._client: httpx.AsyncClient | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._runner.run(self._client.aclose())
        self._runner.close()

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send ``body``. Never raises for what a receiver or the network does."""
        return self._runner.run(self._post(url, body, headers))

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        began = time.monotonic()
        try:
            async with asyncio.timeout(SECONDS):
                return await self._exchange(httpx.URL(url), body, headers, began)
        except TimeoutError:
            why = f"No whole answer within {SECONDS:.0f} seconds."
        except Refused as refused:
            why = str(refused)
        except (OSError, UnicodeError) as error:
            why = f"The name cannot be resolved ({_words(error)})."
        except httpx.HTTPError as error:
            why = f"The connection failed ({_words(error)})."
        return Answer(None, time.monotonic() - began, error=why)

    async def _exchange(
        self, url: httpx.URL, body: bytes, headers: Mapping[str, str], began: float
    ) -> Answer:
        addresses = await _resolved(url)
        for address in addresses[:-1]:
            try:
                return await self._ask(url, address, body, headers, began=began)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._ask(url, addresses[-1], body, headers, began=began)

    async def _ask(
        self,
        url: httpx.URL,
        address: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        began: float,
    ) -> Answer:
        host = url.raw_host.decode("ascii")
        async with self._connected().stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={
                **headers,
                "host": url.netloc.decode("ascii"),
                "content-type": "application/json",
                "user-agent": AGENT,
                "accept-encoding": "identity",
            },
            # The certificate must be that of the name, whatever the number connected to.
            extensions={"sni_hostname": host},
        ) as response:
            text = await _beginning(response)
            seconds = time.monotonic() - began
            return Answer(response.status_code, seconds, text, headers=dict(response.headers))

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            # No proxies of the environment: they would connect to where they please.
            self._client = httpx.AsyncClient(
                verify=_certificates(), timeout=SECONDS, trust_env=False, follow_redirects=False
            )
        return self._client


async def _resolved(url: httpx.URL) -> list[str]:
    """The numeric addresses of the receiver, all of them checked."""
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    # As it is sent and certified; the resolver would spell some names in another, older way.
    name = url.raw_host.decode("ascii")
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses or not all(is_allowed(address) for address in addresses):
        raise Refused(words_of_refusal(url.host))
    return addresses[:MOST_ADDRESSES]


async def _beginning(response: httpx.Response) -> str:
    read = b""
    async for part in response.aiter_raw():
        read += part
        if len(read) > MOST_READ:
            break
    text = read[: MOST_KEPT * 4].decode("utf-8", "replace").replace("\0", "")
    return text[:MOST_KEPT]


@cache
def _certificates() -> ssl.SSLContext:
    """The usual authorities, and those that the machine knows besides."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


def _words(error: Exception) -> str:
    reason: Any = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(reason)[:300]
