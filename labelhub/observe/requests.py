"""Observe each request and each socket from its first byte on."""

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from http import HTTPStatus
from typing import Any

import structlog

from apps.common.metrics import SOCKETS
from apps.common.request_log import end_request
from apps.common.request_record import (
    HEADER,
    RECORD,
    RequestRecord,
    request_context,
    request_id_from,
    security,
)
from apps.common.traces import SERVER, Span, span
from labelhub.web.asgi_types import App, Message, Receive, Send

access = structlog.get_logger("labelhub.access")

#: The status of a request whose client has left before its body was complete.
CLIENT_LEFT = 499
_HEADER = HEADER.lower().encode()
#: Asked for by machines, or dozens of times for a page.
UNTRACED = ("/metrics", "/health/", "/static/")
WIDGET = "/ws/v1/widget/"
#: Close codes of sockets by which somebody is refused.
REFUSALS = range(4400, 4410)


def observe_requests(app: App) -> App:
    """Give each request its id, and log, count and trace it, also if it never reaches Django."""

    async def observed(scope: Message, receive: Receive, send: Send) -> None:
        headers = _text_headers(scope)
        record = RequestRecord(
            id=request_id_from(headers.get(HEADER.lower(), "")),
            address=_address_of(scope),
            method=scope["method"],
            path=scope["path"],
        )
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                found = message.setdefault("headers", [])
                if not any(name.lower() == _HEADER for name, _ in found):
                    message["headers"] = [*found, (_HEADER, record.id.encode())]
            await send(message)

        with (
            request_context(record),
            _request_span(record, headers) as traced,
        ):
            try:
                await app({**scope, RECORD: record}, receive, send_on)
            except Exception:
                status = status or HTTPStatus.INTERNAL_SERVER_ERROR.value
                raise
            finally:
                status = status or CLIENT_LEFT
                end_request(record, status)
                traced.rename(f"{record.method} {record.route}")
                traced.set("http.route", record.route)
                traced.set("http.response.status_code", status)
                if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    traced.fail(str(status))

    return observed


def _request_span(
    record: RequestRecord, headers: Mapping[str, str]
) -> AbstractContextManager[Span]:
    if record.path.startswith(UNTRACED):
        return nullcontext(Span())
    about = {"http.request.method": record.method, "labelhub.request_id": record.id}
    return span(record.method, kind=SERVER, attributes=about, parent=headers)


def observe_sockets(app: App) -> App:
    """Count open websockets, and log each at its end."""

    async def observed(scope: Message, receive: Receive, send: Send) -> None:
        route = "widget" if scope["path"].startswith(WIDGET) else "run"
        started, code = time.monotonic(), 0

        async def send_on(message: Message) -> None:
            nonlocal code
            if message["type"] == "websocket.close":
                code = code or message.get("code", 1000)
            await send(message)

        async def receive_on() -> Message:
            nonlocal code
            message = await receive()
            if message["type"] == "websocket.disconnect":
                code = code or message.get("code", 1006)
            return message

        record = RequestRecord(
            id=request_id_from(_text_headers(scope).get(HEADER.lower(), "")),
            address=_address_of(scope),
        )
        open_here = SOCKETS.labels(route)
        with request_context(record):
            open_here.inc()
            try:
                await app(scope, receive_on, send_on)
            finally:
                open_here.dec()
                level, logger = (
                    (logging.WARNING, security) if code in REFUSALS else (logging.INFO, access)
                )
                seconds = round(time.monotonic() - started, 1)
                logger.log(level, "socket", route=route, code=code, seconds=seconds)

    return observed


def _text_headers(scope: Message) -> dict[str, str]:
    return {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}


def _address_of(scope: Message) -> str:
    """The client's address as trusted proxies say: uvicorn has put it there."""
    client: Any = scope.get("client")
    return str(client[0]) if client else ""
