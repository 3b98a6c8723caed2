"""HTTP/1.1 by hand, as little of it as clients of an API need, and cheap.

Kept connections, bodies by Content-Length, one request at a time.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias, cast

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)

Reply: TypeAlias = Callable[[bytes], None]
#: Called with method, path, body, and what to call with the whole answer, now or later.
Handler: TypeAlias = Callable[[str, str, bytes, Reply], None]


def answer(
    status: int,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> bytes:
    """A whole answer as it goes over the wire."""
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    )
    return head.encode() + body


def answer_json(status: int, data: Any, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole answer that holds ``data``."""
    return answer(status, json.dumps(data).encode(), headers)


def answer_error(status: int, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A refusal in the form that OpenAI-compatible endpoints have."""
    return answer_json(status, {"error": {"message": message, "code": None}}, headers)


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where answers go."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand over the request once it is complete."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end])
        stated = _LENGTH.search(head)
        whole = end + 4 + (int(stated[1]) if stated else 0)
        if len(self._buffer) < whole:
            return
        method, path, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        body = bytes(self._buffer[end + 4 : whole])
        self._buffer.clear()
        self._handle(method, path, body, self._put)

    def _put(self, ready: bytes) -> None:
        """Answer, unless the client has hung up."""
        if not self._transport.is_closing():
            self._transport.write(ready)
