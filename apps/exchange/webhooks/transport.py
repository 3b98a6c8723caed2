"""One POST to a receiver: to the address that was checked, within ten seconds in all.

Managers of projects choose addresses, so a webhook must not reach servers that only this server can
reach. The form of an address is checked when it is saved; the addresses that its name resolves to
are checked for each request, and the connection goes to one of those. Private networks are allowed
where an operator says so (``LABELHUB_WEBHOOK_PRIVATE``), this machine in development as well;
link-local and metadata addresses never are.
"""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import certifi
import httpx
from django.conf import settings

from apps.common.targets import is_public, numeric
from apps.llm.addresses import FORBIDDEN_HOSTS, AddressRefused, check_address
from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.phrases import Phrase
from labelhub.core.version import NAME, VERSION

SECONDS = 10.0
#: Bytes of an answer that are read, and characters that are kept.
MOST_READ = 64 * 1024
MOST_KEPT = 1000
#: Addresses of a name that are tried.
MOST_ADDRESSES = 3
AGENT = f"{NAME}/{VERSION} webhooks"
LONGEST = 2000
#: A name or a numeric address.
HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a receiver; without one ``status`` is None and ``error`` has the reason."""

    status: int | None
    seconds: float
    text: str = ""
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the receiver has accepted the message."""
        return self.status is not None and 200 <= self.status < 300


#: Sends a body with headers to an address.
Post = Callable[[str, bytes, Mapping[str, str]], Answer]


class Refused(LabelhubError):
    """The name leads to an address that the server must not connect to."""


@contextmanager
def sending() -> Iterator[Post]:
    """A connection to one receiver, with its own event loop, for a thread that may wait. Errors of
    the receiver or the network are in the answer.

    The loop limits the time of a whole exchange: a slow receiver could otherwise keep a thread
    forever.
    """
    with asyncio.Runner() as runner:
        # No proxies of the environment: they could connect to any address.
        client = httpx.AsyncClient(
            verify=_certificates(), timeout=SECONDS, trust_env=False, follow_redirects=False
        )
        try:
            yield lambda url, body, headers: runner.run(_post(client, url, body, headers))
        finally:
            runner.run(client.aclose())


async def _post(
    client: httpx.AsyncClient, url: str, body: bytes, headers: Mapping[str, str]
) -> Answer:
    began = time.monotonic()
    try:
        async with asyncio.timeout(SECONDS):
            return await _exchange(client, httpx.URL(url), body, headers, began=began)
    except TimeoutError:
        why = Phrase("No whole answer within %(seconds)s seconds.", seconds=SECONDS)
    except Refused as refused:
        why = refused.message
    except (OSError, UnicodeError) as error:
        why = Phrase("The name cannot be resolved (%(error)s).", error=_words(error))
    except httpx.HTTPError as error:
        why = Phrase("The connection failed (%(error)s).", error=_words(error))
    return Answer(None, time.monotonic() - began, error=why)


async def _exchange(
    client: httpx.AsyncClient,
    url: httpx.URL,
    body: bytes,
    headers: Mapping[str, str],
    *,
    began: float,
) -> Answer:
    *others, last = await _resolve(url)

    async def send_to(address: str) -> Answer:
        async with client.stream(
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
            # The certificate must be that of the name, not of the numeric address.
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        ) as response:
            text = await _read_beginning(response)
            seconds = time.monotonic() - began
            return Answer(response.status_code, seconds, text, headers=dict(response.headers))

    for address in others:
        with suppress(httpx.ConnectError, httpx.ConnectTimeout):
            return await send_to(address)
    return await send_to(last)


async def _resolve(url: httpx.URL) -> list[str]:
    """The numeric addresses of the receiver, all of them checked."""
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    # As it is sent and certified; the resolver would encode some names in an older way.
    name = url.raw_host.decode("ascii")
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses or not all(is_allowed(address) for address in addresses):
        raise Refused(refusal_message(url.host))
    return addresses[:MOST_ADDRESSES]


async def _read_beginning(response: httpx.Response) -> str:
    read = b""
    async for part in response.aiter_raw():
        read += part
        if len(read) > MOST_READ:
            break
    text = read[: MOST_KEPT * 4].decode("utf-8", "replace").replace("\0", "")
    return text[:MOST_KEPT]


@cache
def _certificates() -> ssl.SSLContext:
    """The usual authorities, and those of the machine."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


def _words(error: Exception) -> str:
    reason: Any = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(reason)[:300]


def check_url(url: str) -> str:
    """The address of a receiver in its kept form.

    Raises:
        InvalidInput: it is no http(s) address, holds a password, or names a forbidden host.
    """
    url = url.strip()
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidInput.at("url", "This cannot be read as an address.") from None
    if parts.scheme not in ("http", "https") or not HOST.fullmatch(parts.raw_host):
        raise InvalidInput.at("url", "Write a whole address that begins with https:// or http://.")
    if len(url) > LONGEST:
        raise InvalidInput.at(
            "url", "The address is longer than %(longest)s characters.", longest=LONGEST
        )
    if parts.userinfo or parts.fragment:
        raise InvalidInput.at(
            "url",
            "Leave out the user name, the password and '#'; deliveries are signed instead.",
        )
    if parts.port is not None and not 0 < parts.port < 65_536:
        raise InvalidInput.at("url", "There is no port %(port)s.", port=str(parts.port))
    _check_host(parts.host)
    return url


def _check_host(host: str) -> None:
    """The checks that need no DNS request."""
    named = host.rstrip(".").lower()
    refused = named in FORBIDDEN_HOSTS
    try:
        refused = refused or not is_allowed(host)
    except ValueError:
        local = named == "localhost" or named.endswith(".localhost")
        refused = refused or (local and not settings.LABELHUB_WEBHOOK_LOOPBACK)
    if refused:
        raise InvalidInput.at("url", refusal_message(host))


def is_allowed(address: str) -> bool:
    """Whether the server may connect to this numeric address.

    Raises:
        ValueError: it is a name.
    """
    found = numeric(address)
    try:
        check_address(address, address)
    except AddressRefused:
        return False
    if found.is_unspecified:
        return False
    if found.is_loopback:
        return bool(settings.LABELHUB_WEBHOOK_LOOPBACK)
    return is_public(found) or bool(settings.LABELHUB_WEBHOOK_PRIVATE)


def refusal_message(host: str) -> Phrase:
    """The reason why nothing is sent to ``host``."""
    return Phrase(
        "'%(host)s' is not in the open network: it leads to this machine, a private network or a "
        "reserved address. An operator can allow private receivers (LABELHUB_WEBHOOK_PRIVATE).",
        host=host,
    )
