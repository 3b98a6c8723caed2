"""The first frame: who comes, from which page, having agreed to what."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from django.utils import timezone

from apps.authors.consumers import chat
from apps.authors.consumers.crowd import crowd
from apps.authors.consumers.session import Session
from apps.authors.consumers.socket import LEFT, NO_AUTH, REFUSED, Socket
from apps.authors.database import in_database
from apps.authors.errors import Erased, OriginRefused
from apps.authors.models import Author
from apps.authors.selectors.sites import KnownSite, check_open, known_site, money_words
from apps.authors.services.authors import (
    Arrival,
    check_consent,
    check_ident,
    network_hash,
    welcome,
)
from apps.authors.services.rewards import balance
from apps.common.sealing import digest
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.frames import Frame, Hello
from labelhub.core.interview.identity import Ident

#: Seconds between two signs of life of the widget.
HEARTBEAT = 25


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody who was let in by the frame ``re``, and the words to welcome them with; ``last``
    is the number of the last question that their page has got."""

    session: Session
    re: str
    words: Mapping[str, Any]
    last: int


async def let_in(socket: Socket, frame: Frame, network: str) -> Entry | None:
    """Let somebody in who said hello, or say why not and close."""
    hello = cast(Hello, frame.d)
    try:
        known = await in_database(known_site, hello.key)
        _check_page(socket, known)
    except LabelhubError as error:
        await socket.nack(frame.id, error.code, error.message)
        await socket.close(REFUSED, error.message)
        return None
    session = Session(socket, crowd(), known, hello.mode)
    session.language, session.ident = hello.lang[:2].lower(), hello.ident
    session.network = network_hash(network)
    enter = _as_author if "questions" in hello.consent.scope else _as_unknown
    try:
        words = await enter(session, _arrival(hello, network))
        return Entry(session, frame.id, words, hello.last)
    except LabelhubError as error:
        await socket.nack(frame.id, error.code, error.message, retry=error.retryable)
        await socket.close(LEFT if isinstance(error, Erased) else NO_AUTH, error.message)
        return None


async def greet(entry: Entry) -> None:
    """Welcome them, with what waits for them. Whoever calls this looks after their leaving."""
    session = entry.session
    try:
        await session.crowd.join(session)
        await session.socket.send("welcome", entry.words, seq=0)
        if not session.author_id:
            return
        if session.mode == "chat":
            await chat.send_history(session)
        await session.recall(entry.last)
        await session.push_question()
    except LabelhubError as error:  # such as: their data was deleted at this moment
        await session.refuse(entry.re, error)


def _check_page(socket: Socket, known: KnownSite) -> None:
    if not socket.origin:
        raise OriginRefused("Only pages of a browser come here; servers use the REST API.")
    check_open(known.site, socket.origin)


def _arrival(hello: Hello, network: str) -> Arrival:
    at = hello.consent.at
    return Arrival(
        token=hello.tok,
        sid=hello.sid,
        ident=hello.ident,
        consent_version=hello.consent.v,
        consent_hash=hello.consent.hash,
        consent_by=hello.consent.by,
        consented_at=datetime.fromtimestamp(at / 1000, UTC) if at else None,
        network=network,
    )


async def _as_author(session: Session, arrival: Arrival) -> dict[str, Any]:
    found = await in_database(welcome, session.known, arrival)
    author = found.author
    session.author_id = session.owner_id = author.pk
    session.consent, session.ident_until = found.consent, found.ident_until
    session.agreed_to = found.consent.text_id if found.consent else None
    session.subject = author.subject
    return _words(
        session.known,
        sid=author.uid.hex,
        tok=found.token,
        resumed=found.resumed,
        state="opted_out" if author.opted_out_at else "asking",
        verified=author.verified,
        reward=await in_database(_earned, author, session.known),
    )


async def _as_unknown(session: Session, arrival: Arrival) -> dict[str, Any]:
    """Somebody who wants to chat and not to be asked: nothing of them is kept. What was kept of
    them before stays theirs, and their token with it."""
    check_consent(session.known, arrival)
    owner, ident = await in_database(_owner, session.known, arrival)
    session.owner_id = owner.pk if owner else 0
    session.agreed_to = session.known.consent.pk
    if ident is not None:
        session.subject, session.ident_until = ident.sub, ident.expires_at
    tok = arrival.token if owner and ident is None else ""
    return _words(session.known, state="chat_only", tok=tok)


def _words(known: KnownSite, **told: Any) -> dict[str, Any]:
    nobody = {"sid": "", "tok": "", "resumed": False, "verified": False, "reward": None}
    always = {
        "server_time": int(timezone.now().timestamp() * 1000),
        "hb": HEARTBEAT,
        "consent_version": known.consent.version,
    }
    return nobody | always | told


def _owner(known: KnownSite, arrival: Arrival) -> tuple[Author | None, Ident | None]:
    """The author that a signature or a token names; none is made, and nothing of them changes."""
    ident = check_ident(known.site, arrival.ident)
    if ident is not None:
        return known.site.authors.filter(subject=ident.sub).first(), ident
    if not arrival.token:
        return None, None
    with_token = Author.objects.with_token(digest(arrival.token), timezone.now())
    return with_token.filter(site=known.site).first(), None


def _earned(author: Author, known: KnownSite) -> dict[str, str] | None:
    site = known.site
    if not (site.reward_cents and author.verified):
        return None
    total, held = balance(author)
    return {
        "balance": money_words(total, site.currency),
        "held": money_words(held, site.currency),
    }
