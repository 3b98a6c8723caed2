"""HTTP/1.1 by hand, as little of it as clients of an API need, and cheap.

Kept connections, bodies by Content-Length, several requests in one packet: answers leave in the
order of their requests, however long each takes.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeAlias, cast

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection:[ \t]*close", re.IGNORECASE)
_LONGEST_HEAD = 64 * 1024
_LONGEST_BODY = 64 * 1024 * 1024
_START = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}

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
    head = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return _START[status] + head.encode() + body


def answer_json(status: int, data: Any, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole answer that holds ``data``."""
    return answer(status, json.dumps(data).encode(), headers)


def answer_error(status: int, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A refusal in the form that OpenAI-compatible endpoints have."""
    return answer_json(status, {"error": {"message": message, "code": None}}, headers)


@dataclass(slots=True, eq=False)
class Slot:
    """A request's place in the row of answers."""

    last: bool
    answer: bytes | None = None


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._buffer = bytearray()
        self._row: deque[Slot] = deque()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where answers go."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it; what is still worked on goes nowhere."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Hand over every request that is complete."""
        self._buffer += data
        while self._transport is not None and self._take():
            pass

    def _take(self) -> bool:
        """Take one request out of the buffer; False while it holds none that is complete."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return len(self._buffer) > _LONGEST_HEAD and self._refuse(431)
        head = bytes(self._buffer[:end])
        stated = _LENGTH.search(head)
        length = int(stated[1]) if stated else 0
        if _CHUNKED.search(head) or length > _LONGEST_BODY:
            return self._refuse(411)
        whole = end + 4 + length
        if len(self._buffer) < whole:
            return False
        parts = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        if len(parts) != 3:
            return self._refuse(400)
        body = bytes(self._buffer[end + 4 : whole])
        del self._buffer[:whole]
        slot = Slot(last=_CLOSE.search(head) is not None)
        self._row.append(slot)
        self._handle(parts[0], parts[1].partition("?")[0], body, partial(self._put, slot))
        return True

    def _put(self, slot: Slot, ready: bytes) -> None:
        slot.answer = ready
        while self._row and self._row[0].answer is not None and self._transport is not None:
            first = self._row.popleft()
            self._transport.write(first.answer or b"")
            if first.last:
                self._transport.close()

    def _refuse(self, status: int) -> bool:
        """Give the connection up: where the next request begins is not known."""
        self._buffer.clear()
        slot = Slot(last=True)
        self._row.append(slot)
        self._put(slot, answer_error(status, "This cannot be read."))
        return False
