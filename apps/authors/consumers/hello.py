"""The first frame: who comes, from which page, having agreed to what."""

from django.utils import timezone

from apps.authors.consumers import chat
from apps.authors.consumers.crowd import crowd
from apps.authors.consumers.session import Session
from apps.authors.consumers.socket import NO_AUTH, REFUSED, Socket
from apps.authors.database import in_database
from apps.authors.models import Author
from apps.authors.refusals import OriginRefused
from apps.authors.selectors.sites import KnownSite, check_open, known_site, money_words
from apps.authors.services.rewarding import balance
from apps.authors.services.welcoming import Arrival, Welcome, check_consent, welcome
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.frames import Hello

#: Seconds between two signs of life of the widget.
HEARTBEAT = 25


async def greet(socket: Socket, re: str, hello: Hello, network: str) -> Session | None:
    """Let somebody in, or say why not and close."""
    try:
        known = await in_database(known_site, hello.key)
        _check_page(socket, known)
    except LabelhubError as error:
        await socket.nack(re, error.code, error.message)
        await socket.close(REFUSED, error.message)
        return None
    session = Session(socket, crowd(), known, hello.mode)
    session.language = hello.lang[:2].lower()
    arrival = _arrival(hello, network)
    try:
        if "questions" not in hello.consent.scope:
            await in_database(check_consent, known, arrival)
            await _begin_chat_only(session)
            return session
        found = await in_database(welcome, known, arrival)
    except LabelhubError as error:
        await socket.nack(re, error.code, error.message, retry=error.retryable)
        await socket.close(NO_AUTH, error.message)
        return None
    try:
        await _begin(session, found)
    except LabelhubError as error:  # such as: their data was deleted at this moment
        await session.refuse(re, error)
    return session


def _check_page(socket: Socket, known: KnownSite) -> None:
    if not socket.origin:
        raise OriginRefused("Only pages of a browser come here; servers use the REST API.")
    check_open(known.site, socket.origin)


def _arrival(hello: Hello, network: str) -> Arrival:
    return Arrival(
        token=hello.tok,
        ident=hello.ident,
        consent_version=hello.consent.v,
        consent_hash=hello.consent.hash,
        consent_by=hello.consent.by,
        network=network,
    )


async def _begin(session: Session, found: Welcome) -> None:
    author = found.author
    session.author_id, session.consent = author.pk, found.consent
    session.ident_until = found.ident_until
    await session.crowd.join(session, author.pk)
    await session.socket.send(
        "welcome",
        {
            "sid": author.uid.hex,
            "tok": found.token,
            "server_time": int(timezone.now().timestamp() * 1000),
            "resumed": found.resumed,
            "hb": HEARTBEAT,
            "consent_version": session.known.consent.version,
            "state": "opted_out" if author.opted_out_at else "asking",
            "verified": author.verified,
            "reward": await in_database(_earned, author, session.known),
        },
        seq=0,
    )
    if session.mode == "chat":
        await chat.send_history(session)
    await session.push_question()


async def _begin_chat_only(session: Session) -> None:
    """Somebody who wants to chat and not to be asked: nothing of them is kept."""
    await session.socket.send(
        "welcome",
        {
            "sid": "",
            "tok": "",
            "server_time": int(timezone.now().timestamp() * 1000),
            "resumed": False,
            "hb": HEARTBEAT,
            "consent_version": session.known.consent.version,
            "state": "chat_only",
            "verified": False,
            "reward": None,
        },
        seq=0,
    )


def _earned(author: Author, known: KnownSite) -> dict[str, str] | None:
    site = known.site
    if not (site.reward_cents and author.verified):
        return None
    total, held = balance(author)
    return {
        "balance": money_words(total, site.currency),
        "held": money_words(held, site.currency),
    }
