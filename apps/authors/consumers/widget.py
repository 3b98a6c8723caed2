"""The life of a socket: opened, greeted, heard frame by frame, closed."""

import asyncio
import logging
import time

from django.db import transaction

from apps.authors.consumers.crowd import crowd, network_of
from apps.authors.consumers.handlers import HANDLERS
from apps.authors.consumers.hello import greet, let_in
from apps.authors.consumers.session import Session
from apps.authors.consumers.socket import (
    BAD_FRAME,
    NO_AUTH,
    TOO_MUCH,
    Receive,
    Scope,
    Send,
    Socket,
    frame_id,
)
from apps.authors.database import in_database
from apps.authors.models import Event
from apps.authors.services.locking import lock_author
from apps.common.outages import find_outage
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.frames import BadFrame, Frame, Hello, read_frame

logger = logging.getLogger(__name__)

#: Seconds in which the first frame must come.
GREETING = 5.0


async def widget_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application of the widget's address."""
    socket = Socket(scope, receive, send)
    await receive()  # websocket.connect
    await socket.accept()
    client = scope.get("client")
    network = network_of(client[0]) if client else ""
    if not crowd().may_connect(network):
        await socket.close(TOO_MUCH, "Too many connections from your network; come back later.")
        return
    first = await _first(socket)
    entry = await let_in(socket, first, network) if first is not None else None
    if entry is None:
        return
    try:
        await greet(entry)
        await _listen(entry.session)
    finally:
        socket.closed = True
        await entry.session.leave()


async def _first(socket: Socket) -> Frame | None:
    """The frame that says hello; None where there is none, and it is closed."""
    deadline = asyncio.get_running_loop().call_later(
        GREETING, lambda: asyncio.ensure_future(socket.close(NO_AUTH, "No hello within 5 s."))
    )
    try:
        raw = await socket.receive()
        if raw is None or socket.closed:
            return None
    finally:
        deadline.cancel()
    frame = await _read(socket, raw)
    if frame is None or not isinstance(frame.d, Hello):
        # Nothing is known of who is there: there is no going on.
        await socket.close(NO_AUTH, "The first frame must be a hello.")
        return None
    return frame


async def _listen(session: Session) -> None:
    socket = session.socket
    while not socket.closed:
        raw = await socket.receive()
        if raw is None:
            return
        session.heard_at = time.monotonic()
        if not await socket.has_room(raw):
            await _end_flood(session)
            continue
        frame = await _read(socket, raw)
        if frame is not None:
            await _handle(session, frame)


async def _read(socket: Socket, raw: str | bytes) -> Frame | None:
    try:
        return read_frame(raw)
    except BadFrame as fault:
        if fault.close is not None:
            await socket.close(fault.close, fault.message)
        elif isinstance(raw, bytes):
            await socket.close(BAD_FRAME, "Frames are text.")
        else:
            await socket.nack(fault.id or frame_id(raw), fault.code, fault.message)
        return None


async def _end_flood(session: Session) -> None:
    if session.socket.floods:
        await in_database(_note_flood, session.author_id, session.known.site.pk)
        await session.socket.close(TOO_MUCH, "Too much at once; come back in a minute.")


async def _handle(session: Session, frame: Frame) -> None:
    handler = HANDLERS.get(type(frame.d))
    if handler is None:  # a kind of a later version: passed over
        return
    try:
        await handler(session, frame)
    except LabelhubError as error:
        await session.refuse(frame.id, error)
    except Exception as error:  # one frame must not end the others; what failed is not acknowledged
        code, words = "busy", "This did not work; it is tried again."
        if outage := find_outage(error):
            code, words = outage.code, outage.message
        logger.error("A frame '%s' failed: %s", frame.t, words, exc_info=not outage)
        await session.socket.nack(frame.id, code, words, retry=True, after_ms=1000)


@transaction.atomic
def _note_flood(author_id: int, site_id: int) -> None:
    # Locked, unless their data was deleted meanwhile.
    author = lock_author(author_id) if author_id else None
    Event.objects.create(site_id=site_id, author=author, kind=Event.Kind.FLOOD)
