"""Requests on their way in: whole, of a known length, and none larger than its address takes."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self

from django.conf import settings

from apps.common.outages import find_outage
from labelhub.core.errors import Unavailable
from labelhub.web.asgi_types import App, Message, Receive, Send

logger = logging.getLogger(__name__)

#: Bytes that stay in memory, and that are written and handed on at a time.
PIECE = 256 * 1024
#: Seconds in which a client must send something of its request.
PATIENCE = 30.0
#: What a form wraps around a file.
SLACK = 1024 * 1024
#: Seconds for which a refused client may go on sending, so that it gets to read the refusal.
LINGER = 5.0

IMPORT_PATH = re.compile(r"/(?:p|api/v1/projects)/[-\w]+/import/?")


class Refused(Exception):
    """A request that is answered here; ``code``, ``detail`` and ``retryable`` as in every
    problem+json."""

    def __init__(
        self, status: HTTPStatus, code: str, detail: str, *, retryable: bool = False
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.retryable = retryable


class Body:
    """A request's body: in memory, and in a nameless file as soon as it is larger."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):  # on a full disk what it has not written yet is lost anyway
                self._file.close()

    async def add(self, piece: bytes) -> None:
        """Append; files are written in other threads, or everybody would wait for the disk."""
        self.size += len(piece)
        self._memory += piece
        if len(self._memory) >= PIECE:
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed with us
            await self._flush(self._file)

    async def rewind(self) -> None:
        """Everything is there: :meth:`receive` hands it out from its beginning."""
        if self._file is not None:
            await self._flush(self._file)
            await asyncio.to_thread(self._file.seek, 0)

    async def receive(self) -> Message:
        """The next piece, as ASGI asks for it."""
        if self._file is None:
            whole, self._memory = bytes(self._memory), bytearray()
            return {"type": "http.request", "body": whole, "more_body": False}
        piece = await asyncio.to_thread(self._file.read, PIECE)
        return {"type": "http.request", "body": piece, "more_body": len(piece) == PIECE}

    async def _flush(self, file: IO[bytes]) -> None:
        full, self._memory = self._memory, bytearray()
        await asyncio.to_thread(file.write, full)


def whole_bodies(
    app: App,
    *,
    file_limit: int,
    known: Callable[[Mapping[bytes, bytes]], bool],
    patience: float = PATIENCE,
) -> App:
    """Let only whole request bodies through, once they are there.

    Half an upload must not look like a short one; and a body that trickles in must not occupy one
    of the few threads, or a handful of slow clients would stop the server for everybody.

    Args:
        app: what gets the requests.
        file_limit: bytes that a file to import may have.
        known: whether headers are of somebody who may send such a file; called in a thread.
        patience: seconds within which a client must send something more.
    """

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        with Body(settings.SPOOL_DIR) as body:
            try:
                limit = await _limit(scope, file_limit, known)
                if not await _gathered(body, receive, limit=limit, patience=patience):
                    return  # the client went away: nobody waits for an answer
            except Refused as refusal:
                await _refuse(refusal, receive, send)
            else:
                await app(_without_disguises(scope), body.receive, send)

    return guarded


async def _limit(
    scope: Message, file_limit: int, known: Callable[[Mapping[bytes, bytes]], bool]
) -> int:
    """How many bytes this request may have.

    Raises:
        Refused: more are announced, or it is not said how many.
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


async def _gathered(body: Body, receive: Receive, *, limit: int, patience: float) -> bool:
    """Whether all of the request's body has come; it is in ``body`` then.

    Raises:
        Refused: it is larger than announced and allowed, nothing more came in time, or the disk
            has no room for it.
    """
    while (message := await _next(receive, patience))["type"] == "http.request":
        try:
            await body.add(message.get("body", b""))
            if not message.get("more_body", False):
                await body.rewind()
        except OSError as error:
            raise _no_room(error) from error
        if body.size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return True
    return False


def _no_room(error: OSError) -> Refused:
    outage = find_outage(error)
    detail = outage.message if outage else f"The server cannot keep this request ({error})."
    logger.error("%s (%s)", detail, error)
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, Unavailable.code, detail, retryable=True)


async def _next(receive: Receive, patience: float) -> Message:
    try:
        async with asyncio.timeout(patience):
            return await receive()
    except TimeoutError:
        detail = f"Nothing more came for {patience:.0f} seconds; send it again."
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail) from None


def _without_disguises(scope: Message) -> Message:
    """To WSGI a header X_Forwarded_Proto looks as X-Forwarded-Proto, which only a proxy may set."""
    return {**scope, "headers": [header for header in scope["headers"] if b"_" not in header[0]]}


def _too_large(limit: int) -> Refused:
    detail = (
        f"This address takes at most {limit // 1024**2} MB. Files to import may be larger; send "
        "them to the project's import/, signed in or with an API key."
    )
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", detail)


async def _refuse(refusal: Refused, receive: Receive, send: Send) -> None:
    problem = {
        "type": "about:blank",
        "title": refusal.status.phrase,
        "status": refusal.status.value,
        "code": refusal.code,
        "detail": str(refusal),
    } | ({"retryable": True} if refusal.retryable else {})
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
    """Drop what still comes: to a client in the midst of sending, a connection that is closed at
    once is an error of the network, and the refusal is lost."""
    try:
        async with asyncio.timeout(LINGER):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return
