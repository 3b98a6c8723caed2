"""Answers on their way to clients that may read slowly, not at all, or leave in the midst."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from labelhub.web.asgi_types import App, Message, Receive, Send
from labelhub.web.connection import PATIENCE, TRANSPORT

#: Bytes handed on at a time: the least that a client must take within the time it is given.
PIECE = 64 * 1024

#: Where the scope of a request has its :class:`Answer`.
ANSWER = "labelhub.answer"

WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]


class Answer:
    """One response: sent on until a message fails or takes too long; the rest is dropped.

    Whoever produces it is never kept waiting for a client that does not read, and never sees an
    error of ``send``: a2wsgi's threads would then wait for ever.
    """

    def __init__(self, send: Send, transport: Any, patience: float) -> None:
        self._send = send
        self._transport = transport
        self._patience = patience
        self._stopped = False
        self.fault: Exception | None = None

    @property
    def unwanted(self) -> bool:
        """Whether nobody will read any more of it."""
        return self._stopped or (self._transport is not None and self._transport.is_closing())

    async def send(self, message: Message) -> None:
        """Send ``message`` on in pieces, or drop it."""
        for piece in _pieces(message):
            if self._stopped:
                return
            try:
                async with asyncio.timeout(self._patience):
                    await self._send(piece)
            except TimeoutError:
                self._stop()
            except Exception as fault:  # noqa: BLE001 - raised again once the thread is free
                self.fault = fault
                self._stop()

    def _stop(self) -> None:
        self._stopped = True
        if self._transport is not None:
            self._transport.abort()  # close() would wait until the client has read everything


def patient(app: App, patience: float = PATIENCE) -> App:
    """Give clients ``patience`` seconds for each piece of an answer, and cut them off after that.

    A client that reads steadily, however large the answer, is never cut off.
    """

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        answer = Answer(send, scope.get("state", {}).get(TRANSPORT), patience)
        await app({**scope, ANSWER: answer}, receive, answer.send)
        if answer.fault is not None:
            raise answer.fault  # the server logs it

    return guarded


def while_wanted(wsgi: WsgiApp) -> WsgiApp:
    """End streamed answers, such as long exports, as soon as nobody reads them."""

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer: Answer = environ["asgi.scope"][ANSWER]
        return _while_wanted(wsgi(environ, start_response), answer)

    return application


def _while_wanted(pieces: Iterable[bytes], answer: Answer) -> Iterator[bytes]:
    try:
        for piece in pieces:
            yield piece
            if answer.unwanted:
                return
    finally:
        getattr(pieces, "close", lambda: None)()


def _pieces(message: Message) -> Iterator[Message]:
    """A large body in several messages: the time given is for a piece, not for all of it."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        yield message
        return
    for start in range(0, len(body), PIECE):
        rest = start + PIECE < len(body)
        more = rest or message.get("more_body", False)
        yield {**message, "body": body[start : start + PIECE], "more_body": more}
