"""Send responses to clients that read slowly, not at all, or disconnect."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from labelhub.web.asgi_types import App, Message, Receive, Send
from labelhub.web.connection import PATIENCE, TRANSPORT

#: Bytes sent at a time, which a client must take within its time.
PIECE = 64 * 1024

#: Key of the :class:`ResponseSender` in the scope of a request.
SENDER = "labelhub.sender"

WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]


class ResponseSender:
    """Sends one response until a message fails or times out; drops the rest.

    The producer neither waits for a client that does not read nor sees errors of ``send``, which
    would make a2wsgi's threads wait for ever.
    """

    def __init__(self, send: Send, transport: Any, patience: float) -> None:
        self._send = send
        self._transport = transport
        self._patience = patience
        self._stopped = False
        self.fault: Exception | None = None

    @property
    def unwanted(self) -> bool:
        """Whether the client will read no more of it."""
        return self._stopped or (self._transport is not None and self._transport.is_closing())

    async def send(self, message: Message) -> None:
        """Send ``message`` in pieces, or drop it."""
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
            self._transport.abort()  # close() would wait for the client to read everything


def cut_off_slow_clients(app: App, patience: float = PATIENCE) -> App:
    """Disconnect clients that do not take a piece of a response within ``patience`` seconds.

    Clients that keep reading are never disconnected, however large the response.
    """

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        sender = ResponseSender(send, scope.get("state", {}).get(TRANSPORT), patience)
        await app({**scope, SENDER: sender}, receive, sender.send)
        if sender.fault is not None:
            raise sender.fault  # the server logs it

    return guarded


def stop_unread_responses(wsgi: WsgiApp) -> WsgiApp:
    """End streamed responses, such as long exports, when the client is gone."""

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sender: ResponseSender = environ["asgi.scope"][SENDER]
        pieces = wsgi(environ, start_response)  # not in the generator: it sends the status

        def read() -> Iterator[bytes]:
            try:
                for piece in pieces:
                    yield piece
                    if sender.unwanted:
                        return
            finally:
                getattr(pieces, "close", lambda: None)()

        return read()

    return application


def _pieces(message: Message) -> Iterator[Message]:
    """A large body in several messages, as the timeout is for each piece."""
    body = message.get("body", b"")
    if len(body) <= PIECE:
        yield message
        return
    for start in range(0, len(body), PIECE):
        rest = start + PIECE < len(body)
        more = rest or message.get("more_body", False)
        yield {**message, "body": body[start : start + PIECE], "more_body": more}
