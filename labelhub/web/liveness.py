"""``/health/live`` and what a request hears that a stopping server interrupts, both as JSON."""

import asyncio
import json
from http import HTTPStatus
from typing import Any

from apps.common.health import OK, STOPPING, stopping
from apps.common.request_record import RECORD
from labelhub.web.asgi_types import App, Message, Receive, Send

PATH = "/health/live"


def answer_liveness(app: App) -> App:
    """Answer ``/health/live`` on the event loop, and with 503 what is cancelled at the end.

    A server whose threads are all busy lives: a balancer that took it out would burden the others.
    """

    async def answered(scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == PATH:
            scope[RECORD].route = PATH
            state = STOPPING if stopping.is_set() else OK
            await _send_json(send, {"status": state}, unavailable=state == STOPPING)
            return
        started = False

        async def send_on(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await app(scope, receive, send_on)
        except asyncio.CancelledError:
            if started:
                raise
            again = {"detail": "The server is restarting. Try again.", "retryable": True}
            await _send_json(send, again, unavailable=True)

    return answered


async def _send_json(send: Send, body: dict[str, Any], *, unavailable: bool) -> None:
    status = HTTPStatus.SERVICE_UNAVAILABLE if unavailable else HTTPStatus.OK
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    if unavailable:
        headers.append((b"retry-after", b"2"))
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
