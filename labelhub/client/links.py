"""The only I/O: what drives the flows, once with blocking calls and once with awaited ones."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx

from labelhub.client.calls import Page
from labelhub.client.flows import Ways, page
from labelhub.client.sending import lost
from labelhub.client.settings import Settings
from labelhub.client.wire import Broken, Reply, Request, Sleep, Steps, broken

T = TypeVar("T")

PIECE = 256 * 1024


class Link:
    """Drives flows with blocking calls; may be used by several threads at once."""

    def __init__(
        self, settings: Settings, ways: Ways, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.settings, self.ways = settings, ways
        self._http = httpx.Client(transport=transport, headers=settings.headers())

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def ask(self, request: Request[T]) -> T:
        """One request with its retries."""
        return self.run(self.ways.retries.asked(request))

    def run(self, steps: Steps[T]) -> T:
        """A flow to its end."""
        outcome: Reply | Broken | None = None
        with closing(steps):
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as end:
                    return cast(T, end.value)
                if isinstance(step, Sleep):
                    outcome = None
                    time.sleep(step.seconds)
                else:
                    outcome = self._send(step.request)

    def each(self, first: Request[Page[T]]) -> Iterator[T]:
        """All rows of a list, page by page as they are needed."""
        following: Request[Page[T]] | None = first
        while following is not None:
            here = self.run(page(self.ways, following))
            yield from here.results
            following = here.following

    def pieces(self, request: Request[httpx.Response]) -> Generator[bytes, None, None]:
        """A file as it arrives.

        Raises:
            AnswerLost: it broke off; what came so far is not all.
        """
        with closing(self.ask(request)) as response:
            arriving = response.iter_bytes()
            while True:
                try:
                    piece = next(arriving, None)
                    fault = None
                except httpx.RequestError as error:
                    piece, fault = None, broken(error)
                if fault is not None:
                    raise lost(str(request), fault)
                if piece is None:
                    return
                yield piece

    def _send(self, request: Request[Any]) -> Reply | Broken:
        try:
            body = _opened(request) if isinstance(request.body, Path) else request.body
            sent = _built(self._http, self.settings, request, body)
            response = self._http.send(sent, stream=True)
            if request.streamed and response.status_code == HTTPStatus.OK:
                return Reply(response.status_code, response.headers, stream=response)
            with closing(response):
                return Reply(response.status_code, response.headers, response.read())
        except httpx.RequestError as error:
            return broken(error)


class AsyncLink:
    """Drives flows in an event loop of asyncio; may be used by several tasks at once."""

    def __init__(
        self, settings: Settings, ways: Ways, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.settings, self.ways = settings, ways
        self._http = httpx.AsyncClient(transport=transport, headers=settings.headers())

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def ask(self, request: Request[T]) -> T:
        """One request with its retries."""
        return await self.run(self.ways.retries.asked(request))

    async def run(self, steps: Steps[T]) -> T:
        """A flow to its end."""
        outcome: Reply | Broken | None = None
        with closing(steps):
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration as end:
                    return cast(T, end.value)
                if isinstance(step, Sleep):
                    outcome = None
                    await asyncio.sleep(step.seconds)
                else:
                    outcome = await self._send(step.request)

    async def each(self, first: Request[Page[T]]) -> AsyncIterator[T]:
        """All rows of a list, page by page as they are needed."""
        following: Request[Page[T]] | None = first
        while following is not None:
            here = await self.run(page(self.ways, following))
            for row in here.results:
                yield row
            following = here.following

    async def pieces(self, request: Request[httpx.Response]) -> AsyncGenerator[bytes, None]:
        """A file as it arrives.

        Raises:
            AnswerLost: it broke off; what came so far is not all.
        """
        response = await self.ask(request)
        try:
            arriving = response.aiter_bytes()
            while True:
                try:
                    piece = await anext(arriving, None)
                    fault = None
                except httpx.RequestError as error:
                    piece, fault = None, broken(error)
                if fault is not None:
                    raise lost(str(request), fault)
                if piece is None:
                    return
                yield piece
        finally:
            await response.aclose()

    async def _send(self, request: Request[Any]) -> Reply | Broken:
        try:
            body = _opened_beside(request) if isinstance(request.body, Path) else request.body
            sent = _built(self._http, self.settings, request, body)
            response = await self._http.send(sent, stream=True)
            if request.streamed and response.status_code == HTTPStatus.OK:
                return Reply(response.status_code, response.headers, stream=response)
            async with aclosing(response):
                return Reply(response.status_code, response.headers, await response.aread())
        except httpx.RequestError as error:
            return broken(error)


def _built(
    http: httpx.Client | httpx.AsyncClient, settings: Settings, request: Request[Any], body: Any
) -> httpx.Request:
    headers = {"Content-Type": request.content_type} if request.body is not None else {}
    if isinstance(request.body, Path):
        # A known length: the server and what stands before it can refuse at once, or tell how far.
        headers["Content-Length"] = str(request.body.stat().st_size)
    return http.build_request(
        request.endpoint.method,
        settings.url(request),
        params=dict(request.params),
        content=body,
        headers=headers,
        timeout=settings.patience(request),
    )


def _opened(request: Request[Any]) -> Iterator[bytes]:
    """The file in pieces, telling how far it is."""
    size = 0
    with cast(Path, request.body).open("rb") as file:
        while piece := file.read(PIECE):
            yield piece
            size += len(piece)
            if request.sent is not None:
                request.sent(size)


async def _opened_beside(request: Request[Any]) -> AsyncIterator[bytes]:
    """The same, read in a thread: others in the loop need not wait for the disk."""
    pieces = _opened(request)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
