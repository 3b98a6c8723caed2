"""An answer that nobody takes holds nothing: no thread, no generator, no connection."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from a2wsgi import WSGIMiddleware

from labelhub.web.asgi_types import Message, Receive, Send
from labelhub.web.connection import TRANSPORT
from labelhub.web.responses import PIECE, cut_off_slow_clients, stop_unread_responses
from tests.core.llm.clockwork import clock, simulated

WITHIN = 0.05
LONG = 10_000


class Transport:
    """A connection as the answer sees it."""

    cut = False

    def abort(self) -> None:
        """Cut the client off."""
        self.cut = True

    def is_closing(self) -> bool:
        """Whether nobody is there any more."""
        return self.cut


class Export:
    """A streamed answer of many pieces; knows how many were made and whether it was closed."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        while self.made < LONG:
            self.made += 1
            yield b"x"

    def close(self) -> None:
        """As Django's responses have it."""
        self.closed = True


async def receive() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def fetch(export: Export, send: Send, transport: Transport) -> None:
    """One request, answered by a thread as in the product."""

    def wsgi(environ: dict[str, Any], start_response: Any) -> Export:
        start_response("200 OK", [("content-type", "text/plain")])
        return export

    answered = WSGIMiddleware(stop_unread_responses(wsgi), workers=1, send_queue_size=2)  # type: ignore[arg-type]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [],
        "state": {TRANSPORT: transport},
    }
    await cut_off_slow_clients(answered, WITHIN)(scope, receive, send)  # type: ignore[arg-type]


def test_only_a_piece_has_its_time_not_the_answer() -> None:
    """By a clock that no other process can make late."""
    transport, taken = Transport(), []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        for _ in range(200):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def take(message: Message) -> None:
        await asyncio.sleep(0.9 * WITHIN)
        taken.append(message["body"])

    async def answered() -> float:
        await cut_off_slow_clients(app, WITHIN)({"state": {TRANSPORT: transport}}, receive, take)
        return clock()

    assert simulated(answered) == pytest.approx(200 * 0.9 * WITHIN)
    assert b"".join(taken) == b"x" * 200
    assert not transport.cut


async def test_a_client_that_takes_nothing_is_cut_off_and_the_answer_closed() -> None:
    export, transport = Export(), Transport()

    async def send(message: Message) -> None:
        await asyncio.Event().wait()

    await fetch(export, send, transport)
    assert transport.cut
    assert export.closed
    assert export.made < LONG


async def test_a_send_that_fails_frees_the_thread_and_is_reported_afterwards() -> None:
    export, transport, calls = Export(), Transport(), []

    async def send(message: Message) -> None:
        calls.append(message)
        raise RuntimeError("unable to perform operation on a closed transport")

    with pytest.raises(RuntimeError, match="closed transport"):
        await fetch(export, send, transport)
    assert len(calls) == 1
    assert transport.cut
    assert export.closed
    assert export.made < LONG


async def test_an_export_ends_when_its_reader_has_left() -> None:
    export, transport = Export(), Transport()

    async def send(message: Message) -> None:
        transport.cut = True  # what follows, uvicorn drops without a word

    await fetch(export, send, transport)
    assert export.closed
    assert export.made < LONG


@pytest.mark.parametrize("last", [True, False])
async def test_a_large_message_goes_out_in_pieces_that_each_have_their_time(last: bool) -> None:
    body = b"0123456789" * PIECE
    sent = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": not last})

    async def send(message: Message) -> None:
        sent.append(message)

    await cut_off_slow_clients(app)({"type": "http"}, receive, send)
    assert b"".join(message["body"] for message in sent) == body
    assert {len(message["body"]) for message in sent} == {PIECE}
    assert [message["more_body"] for message in sent] == [True] * 9 + [not last]
