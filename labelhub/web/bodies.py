"""Receive whole request bodies of a known length, within the limit of their address."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, Self

from django.conf import settings

from apps.common.api.errors import problem_body
from apps.common.outages import find_outage
from labelhub.core.errors import Unavailable
from labelhub.web.asgi_types import App, Message, Receive, Send

logger = logging.getLogger(__name__)

#: Bytes kept in memory, and written and passed on at a time.
PIECE = 256 * 1024
#: Seconds within which a client must send more of its request.
PATIENCE = 30.0
#: Room for the form around a file.
SLACK = 1024 * 1024
#: Seconds for which a refused client may keep sending, so that it reads the refusal.
LINGER = 5.0

IMPORT_PATH = re.compile(r"/(?:p|api/v1/projects)/[-\w]+/import/?|/projects/new/")


class Refused(Exception):
    """A request refused with this problem+json."""

    def __init__(
        self, status: HTTPStatus, code: str, detail: str, *, retryable: bool = False
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retryable = retryable


class Body:
    """A request's body: in memory, or in an unnamed file if it is larger than ``PIECE``."""

    def __init__(self, folder: Path) -> None:
        self._file = SpooledTemporaryFile(PIECE, dir=str(folder))  # noqa: SIM115 - closed with us
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # the disk may be full
            self._file.close()

    async def add(self, piece: bytes) -> None:
        self.size += len(piece)
        await self._do(self._file.write, piece)

    async def rewind(self) -> None:
        """Prepare :meth:`receive` to read from the start."""
        await self._do(self._file.seek, 0)

    async def receive(self) -> Message:
        """The next piece, as an ASGI message."""
        piece = await self._do(self._file.read, PIECE)
        more = self.size > PIECE and len(piece) == PIECE
        return {"type": "http.request", "body": piece, "more_body": more}

    async def _do(self, work: Callable[[Any], Any], argument: Any) -> Any:
        """Another thread works on a file on disk, to keep the event loop free."""
        if self.size <= PIECE:
            return work(argument)
        return await asyncio.to_thread(work, argument)


def require_whole_bodies(
    app: App,
    *,
    file_limit: int,
    known: Callable[[Mapping[bytes, bytes]], bool],
    patience: float = PATIENCE,
) -> App:
    """Pass requests on once their bodies are complete.

    Half an upload must not look like a short one, and slow uploads must not occupy the few threads.

    Args:
        app: receives the requests.
        file_limit: maximum size in bytes of a file to import.
        known: whether the headers are from a caller who may send such a file; runs in a thread.
        patience: seconds within which a client must send more.
    """

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        with Body(settings.SPOOL_DIR) as body:
            try:
                limit = await _find_limit(scope, file_limit, known)
                if not await _read_body(body, receive, limit=limit, patience=patience):
                    return  # the client has disconnected
            except Refused as refusal:
                await _refuse(refusal, receive, send)
            else:
                # WSGI cannot tell X_Forwarded_Proto from X-Forwarded-Proto, which proxies set.
                headers = [header for header in scope["headers"] if b"_" not in header[0]]
                await app({**scope, "headers": headers}, body.receive, send)

    return guarded


async def _find_limit(
    scope: Message, file_limit: int, known: Callable[[Mapping[bytes, bytes]], bool]
) -> int:
    """The maximum size of this request's body in bytes.

    Raises:
        Refused: its Content-Length exceeds the limit or is missing.
    """
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"")
    if not length and b"transfer-encoding" in headers:
        raise Refused(HTTPStatus.LENGTH_REQUIRED, "length_required", "Send a Content-Length.")
    announced = int(length) if length.isdigit() else 0
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + SLACK
    is_import = IMPORT_PATH.fullmatch(scope["path"]) is not None
    if announced > limit and is_import and await asyncio.to_thread(known, headers):
        limit = max(limit, file_limit + SLACK)
    if announced > limit:
        raise _too_large(limit)
    return limit


async def _read_body(body: Body, receive: Receive, *, limit: int, patience: float) -> bool:
    """Read the request's body into ``body``. Returns whether it is complete.

    Raises:
        Refused: it exceeds ``limit``, the client is too slow, or the disk has no room.
    """
    while (message := await _next_message(receive, patience))["type"] == "http.request":
        try:
            await body.add(message.get("body", b""))
            if not message.get("more_body", False):
                await body.rewind()
        except OSError as error:
            outage = find_outage(error)
            detail = outage.message if outage else f"The server cannot keep this request ({error})."
            logger.error("%s (%s)", detail, error)
            status = HTTPStatus.SERVICE_UNAVAILABLE
            raise Refused(status, Unavailable.code, detail, retryable=True) from error
        if body.size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return True
    return False


async def _next_message(receive: Receive, patience: float) -> Message:
    try:
        async with asyncio.timeout(patience):
            return await receive()
    except TimeoutError:
        detail = f"The client sent nothing for {patience:.0f} seconds: send the request again."
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail) from None


def _too_large(limit: int) -> Refused:
    detail = (
        f"This address takes at most {limit // 1024**2} MB. Send larger files to the project's "
        "import/, signed in or with an API key."
    )
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail)


async def _refuse(refusal: Refused, receive: Receive, send: Send) -> None:
    problem = problem_body(refusal.status.value, refusal.code, str(refusal))
    if refusal.retryable:
        problem["retryable"] = True
    body = json.dumps(problem).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if refusal.status is not HTTPStatus.REQUEST_TIMEOUT:
        await _linger(receive)
    await send({"type": "http.response.body", "body": b""})


async def _linger(receive: Receive) -> None:
    """Drop the rest of the body: if the connection closed at once, a client that is still sending
    would see a network error and lose the refusal."""
    try:
        async with asyncio.timeout(LINGER):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return
