"""Requests, answers and pauses as data: what the transports carry and everything else is made of.

What takes several steps (retries, imports, waiting for a run) is a generator that yields
:class:`Send` and :class:`Sleep` and is given what came of each; it does no I/O itself. So it is the
same code for the synchronous and the asynchronous client, and for tests.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import httpx

from labelhub.client.endpoints import Endpoint

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One request, and how its answer is read."""

    endpoint: Endpoint
    #: The endpoint's path with its places filled in.
    path: str
    #: From decoded JSON (None where there was no body) to what the caller gets.
    parse: Callable[[Any], T]
    params: Mapping[str, str] = field(default_factory=dict)
    #: Bytes, or a file that is sent as it is read; read anew with each attempt.
    body: bytes | Path | None = None
    content_type: str = "application/json"
    #: Told how many bytes of a file are sent.
    sent: Callable[[int], None] | None = None

    @property
    def streamed(self) -> bool:
        """Whether the answer is a file, which is not read into memory."""
        return self.endpoint.answer is None and self.endpoint.method == "GET"

    def __str__(self) -> str:
        return f"{self.endpoint.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that is here completely; ``stream`` is one that is yet to be read, and closed."""

    status: int
    headers: httpx.Headers
    content: bytes = b""
    stream: httpx.Response | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """No answer. ``reached`` is False where the server cannot have seen the request."""

    words: str
    reached: bool
    timeout: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """Send this once; comes back as :class:`Reply` or :class:`Broken`."""

    request: Request[Any]


@dataclass(frozen=True, slots=True)
class Sleep:
    """Go on after so many seconds."""

    seconds: float


Steps = Generator[Send | Sleep, Reply | Broken | None, T]

#: Raised before anything was written to a connection.
BEFORE_SENDING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def broken(error: httpx.RequestError) -> Broken:
    """What a transport raised, without the request in it: that holds the key."""
    words = str(error) or type(error).__name__
    reached = not isinstance(error, BEFORE_SENDING)
    return Broken(words, reached=reached, timeout=isinstance(error, httpx.TimeoutException))
