"""An endpoint that streams what the test's own function writes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

DONE = b"data: [DONE]\n\n"


@dataclass
class Answering:
    """One request, and the way to answer it."""

    request: web.Request
    body: dict[str, Any]
    number: int
    response: web.StreamResponse = field(default_factory=web.StreamResponse)

    async def begin(self, content_type: str = "text/event-stream") -> None:
        """Send the head."""
        self.response.content_type = content_type
        await self.response.prepare(self.request)

    async def write(self, *parts: bytes) -> None:
        """Send ``parts``, each by itself; the head first, if it was not sent."""
        if not self.response.prepared:
            await self.begin()
        for part in parts:
            await self.response.write(part)
            await asyncio.sleep(0)

    async def say(self, *texts: str) -> None:
        """Send ``texts`` as they come from an endpoint."""
        await self.write(*(text_event(text) for text in texts))

    async def end(self, finish: str = "stop", usage: Any = None) -> None:
        """Finish as endpoints do."""
        await self.write(event(choices=[{"delta": {}, "finish_reason": finish}]))
        if usage:
            await self.write(event(choices=[], usage=usage))
        await self.write(DONE)

    def break_off(self) -> None:
        """Drop the connection."""
        if self.request.transport is not None:
            self.request.transport.abort()

    async def refuse(self, status: int, **error: Any) -> None:
        """Answer with an error."""
        self.response = web.json_response({"error": error}, status=status)
        await self.response.prepare(self.request)


@dataclass
class StreamingEndpoint:
    """``base_url`` for a provider; what was asked, from where, and how many hung up."""

    base_url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    peers: set[Any] = field(default_factory=set)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


Write = Callable[[Answering], Awaitable[None]]


def event(**data: Any) -> bytes:
    """One event with ``data``."""
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def text_event(text: str | None, **more: Any) -> bytes:
    """An event that says ``text``; ``more`` is part of its delta."""
    return event(choices=[{"index": 0, "delta": {"content": text, **more}, "finish_reason": None}])


def saying(*texts: str, finish: str = "stop", usage: Mapping[str, int] | None = None) -> Write:
    """Says ``texts`` to everybody."""

    async def write(answering: Answering) -> None:
        await answering.say(*texts)
        await answering.end(finish, usage)

    return write


def writing(*parts: bytes) -> Write:
    """Writes ``parts`` to everybody."""
    return lambda answering: answering.write(*parts)


def first_then(first: Write, then: Write) -> Write:
    """``first`` for the first request, ``then`` for all others."""
    return lambda answering: (then if answering.number else first)(answering)


@asynccontextmanager
async def streaming_endpoint(write: Write) -> AsyncIterator[StreamingEndpoint]:
    """The endpoint, in the test's own event loop."""
    endpoint = StreamingEndpoint()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        endpoint.bodies.append(body)
        endpoint.peers.add(request.transport and request.transport.get_extra_info("peername"))
        answering = Answering(request, body, len(endpoint.bodies) - 1)
        try:
            await write(answering)
        except (ConnectionError, asyncio.CancelledError):
            endpoint.hung_up.set()
            raise
        return answering.response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    async with TestServer(app, handler_cancellation=True) as server:
        endpoint.base_url = str(server.make_url("/v1"))
        yield endpoint
