"""The life of a socket: opened, greeted by its first frame, heard frame by frame, closed."""

import asyncio
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from django.db import transaction
from django.utils import timezone

from apps.authors.consumers import chat
from apps.authors.consumers.handlers import HANDLERS
from apps.authors.consumers.session import Session, connection_registry, network_of
from apps.authors.consumers.socket import (
    BAD_FRAME,
    LEFT,
    NO_AUTH,
    REFUSED,
    TOO_MUCH,
    Receive,
    Scope,
    Send,
    Socket,
    frame_id,
)
from apps.authors.database import in_database
from apps.authors.errors import Erased, OriginRefused
from apps.authors.models import Author, Event
from apps.authors.selectors.sites import KnownSite, check_open, known_site, money_words
from apps.authors.services.authors import (
    Arrival,
    admit_author,
    check_consent,
    check_ident,
    network_hash,
)
from apps.authors.services.locking import lock_author
from apps.authors.services.rewards import balance
from apps.common.outages import find_outage
from apps.common.sealing import digest
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.frames import BadFrame, Frame, Hello, read_frame
from labelhub.core.interview.identity import VerifiedVisitor

#: Seconds between two signs of life of the widget.
HEARTBEAT = 25


async def admit(
    socket: Socket, frame: Frame, network: str
) -> tuple[Session, dict[str, Any]] | None:
    """Check a hello frame: return the session with the fields of its welcome, or send the reason
    and close."""
    hello = cast(Hello, frame.d)
    try:
        known = await in_database(known_site, hello.key)
        if not socket.origin:
            raise OriginRefused("Only browsers may connect here; servers use the REST API.")
        check_open(known.site, socket.origin)
    except LabelhubError as error:
        await socket.nack(frame.id, error.code, error.message)
        await socket.close(REFUSED, error.message)
        return None
    session = Session(socket, connection_registry(), known, hello.mode)
    session.language, session.ident = hello.lang[:2].lower(), hello.ident
    session.network = network_hash(network)
    enter = _admit_author if "questions" in hello.consent.scope else _admit_unknown
    try:
        consented_ms = hello.consent.agreed_ms
        words = await enter(
            session,
            Arrival(
                token=hello.tok,
                sid=hello.sid,
                ident=hello.ident,
                consent_version=hello.consent.v,
                consent_hash=hello.consent.hash,
                consent_by=hello.consent.by,
                consented_at=datetime.fromtimestamp(consented_ms / 1000, UTC)
                if consented_ms
                else None,
                network=network,
            ),
        )
        return session, words
    except LabelhubError as error:
        await socket.nack(frame.id, error.code, error.message, retry=error.retryable)
        await socket.close(LEFT if isinstance(error, Erased) else NO_AUTH, error.message)
        return None


async def greet(session: Session, frame: Frame, words: Mapping[str, Any]) -> None:
    """Welcome who said the hello, with what waits for them. Whoever calls this looks after their
    leaving."""
    try:
        await session.registry.join(session)
        await session.socket.send("welcome", words, seq=0)
        if not session.author_id:
            return
        if session.mode == "chat":
            await chat.send_history(session)
        await session.recall(cast(Hello, frame.d).last)
        await session.push_question()
    except LabelhubError as error:  # such as: their data was deleted at this moment
        await session.refuse(frame.id, error)


async def _admit_author(session: Session, arrival: Arrival) -> dict[str, Any]:
    found = await in_database(admit_author, session.known, arrival)
    author = found.author
    session.author_id = session.owner_id = author.pk
    session.consent, session.ident_until = found.consent, found.ident_until
    session.agreed_to = found.consent.text_id if found.consent else None
    session.subject = author.subject
    return _welcome_fields(
        session.known,
        sid=author.uid.hex,
        tok=found.token,
        resumed=found.resumed,
        state="opted_out" if author.opted_out_at else "asking",
        verified=author.verified,
        reward=await in_database(_reward_words, author, session.known),
    )


async def _admit_unknown(session: Session, arrival: Arrival) -> dict[str, Any]:
    """Somebody who wants to chat and not to be asked: nothing of them is kept. What was kept of
    them before stays theirs, and their token with it."""
    check_consent(session.known, arrival)
    owner, ident = await in_database(_find_owner, session.known, arrival)
    session.owner_id = owner.pk if owner else 0
    session.agreed_to = session.known.consent.pk
    if ident is not None:
        session.subject, session.ident_until = ident.sub, ident.expires_at
    tok = arrival.token if owner and ident is None else ""
    return _welcome_fields(session.known, state="chat_only", tok=tok)


def _welcome_fields(known: KnownSite, **fields: Any) -> dict[str, Any]:
    nobody = {"sid": "", "tok": "", "resumed": False, "verified": False, "reward": None}
    always = {
        "server_time": int(timezone.now().timestamp() * 1000),
        "hb": HEARTBEAT,
        "consent_version": known.consent.version,
    }
    return nobody | always | fields


def _find_owner(known: KnownSite, arrival: Arrival) -> tuple[Author | None, VerifiedVisitor | None]:
    """The author that a signature or a token names; none is made, and nothing of them changes."""
    ident = check_ident(known.site, arrival.ident)
    if ident is not None:
        return known.site.authors.filter(subject=ident.sub).first(), ident
    if not arrival.token:
        return None, None
    with_token = known.site.authors.filter(token_digest=digest(arrival.token))
    return with_token.filter(token_until__gt=timezone.now()).first(), None


def _reward_words(author: Author, known: KnownSite) -> dict[str, str] | None:
    site = known.site
    if not (site.reward_cents and author.verified):
        return None
    total, held = balance(author)
    return {
        "balance": money_words(total, site.currency),
        "held": money_words(held, site.currency),
    }


logger = logging.getLogger(__name__)

#: Seconds in which the first frame must come.
GREETING = 5.0


async def widget_socket(scope: Scope, receive: Receive, send: Send) -> None:
    socket = Socket(scope, receive, send)
    await receive()  # websocket.connect
    await socket.accept()
    client = scope.get("client")
    network = network_of(client[0]) if client else ""
    if not connection_registry().may_connect(network):
        await socket.close(TOO_MUCH, "Too many connections from your network; try again later.")
        return
    first = await _receive_hello(socket)
    admitted = await admit(socket, first, network) if first is not None else None
    if first is None or admitted is None:
        return
    session, words = admitted
    try:
        await greet(session, first, words)
        await _listen(session)
    finally:
        socket.closed = True
        await session.leave()


async def _receive_hello(socket: Socket) -> Frame | None:
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
    frame = await _read_frame(socket, raw)
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
            if socket.floods:
                await in_database(_note_flood, session.author_id, session.known.site.pk)
                await socket.close(TOO_MUCH, "Too many frames at once; try again in a minute.")
            continue
        frame = await _read_frame(socket, raw)
        if frame is not None:
            await _handle(session, frame)


async def _read_frame(socket: Socket, raw: str | bytes) -> Frame | None:
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


async def _handle(session: Session, frame: Frame) -> None:
    handler = HANDLERS.get(frame.t)
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
