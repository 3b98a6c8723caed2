"""Chat mode: what the author writes is answered by the site's chat model, piece by piece."""

import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, cast

from apps.authors.consumers.session import Session
from apps.authors.database import in_database
from apps.authors.models import Author, Message
from apps.authors.refusals import BadField
from apps.authors.services import hearing
from apps.authors.services.chatting import Spoken, stream_reply
from apps.authors.services.privacy import written
from apps.authors.services.taking_up import budget_spent
from labelhub.core.errors import LabelhubError
from labelhub.core.interview import frames
from labelhub.core.interview.frames import Frame
from labelhub.core.interview.redaction import redact
from labelhub.core.llm.errors import ModelUnreachable

logger = logging.getLogger(__name__)

#: Messages of a conversation that the chat shows when it is opened again, and that the model reads.
SHOWN, READ = 50, 20
#: Seconds between two pieces of a reply: an eye sees no more.
PIECE = 0.05


async def send_history(session: Session) -> None:
    """What was said before in the author's latest conversation."""
    found = await session.act(_latest)
    if found is None:
        return
    conversation, messages = found
    session.talk = [(role, text) for _, role, text, _ in messages if text][-READ:]
    await session.socket.send(
        "history",
        {
            "conv": conversation,
            "messages": [
                {"mid": mid, "role": role, "text": text, "ts": at}
                for mid, role, text, at in messages
            ],
        },
    )


def begin_reply(session: Session, sent: frames.Msg) -> None:
    """Answer a message beside the socket; what comes while one is answered is answered after."""
    session.remember("author", redact(sent.text, region=session.known.site.region).text)
    session.conversation, session.last_mid = sent.conv, sent.mid
    if not session.replying:
        session.spawn(_reply_to_all(session))


async def on_retry(session: Session, frame: Frame) -> None:
    """Answer the last message once more, where that failed."""
    await session.check()
    if not session.talk or session.talk[-1][0] != "author":
        raise BadField("mid: there is no message here that waits for an answer.")
    await session.socket.ack(frame.id)
    session.last_mid = cast(frames.Retry, frame.d).mid
    if not session.replying:
        session.spawn(_reply_to_all(session))


async def _reply_to_all(session: Session) -> None:
    session.replying = True
    try:
        answered = ""
        while answered != session.last_mid:
            answered = session.last_mid
            await _reply(session, answered)
    finally:
        session.replying = False


async def _reply(session: Session, to: str) -> None:
    mid, spoken = f"r-{uuid.uuid4().hex}", Spoken()
    about: dict[str, Any] = {"mid": mid, "to": to}
    conversation = session.conversation
    try:
        if await in_database(budget_spent, session.known.site):
            raise ModelUnreachable("The site's budget for today is spent.")
        await _stream(session, about, spoken)
    except LabelhubError as error:
        logger.warning("A reply in chat failed: %s", error)
        failed = {"failed": True, "code": error.code, "retry": True}
        words = {"message": "No answer came. Please try again."}
        await session.socket.send("reply", about | failed | words)
        await _store(session, "", conversation, mid, spoken)
        return
    session.remember("assistant", spoken.text)
    await session.socket.send("reply", about | {"final": True, "text": spoken.text})
    await _store(session, spoken.text, conversation, mid, spoken)


async def _store(session: Session, text: str, conversation: str, mid: str, spoken: Spoken) -> None:
    """Keep a reply as context, and what it cost also where it failed; of who wants to stay
    unknown, nothing."""
    if session.author_id and (text or spoken.cost_nanousd):
        sent = hearing.Incoming(ref=mid, conversation=conversation, role="assistant", text=text)
        await session.act(_store_reply, sent, spoken.cost_nanousd)


async def _stream(session: Session, about: Mapping[str, Any], spoken: Spoken) -> None:
    """Send the pieces as they come, several together where they come faster than eyes read."""
    waiting, sent_at = "", 0.0
    stream = stream_reply(session.known.site, session.talk[-READ:], spoken)
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            waiting += piece
            if time.monotonic() - sent_at >= PIECE:
                await session.socket.send("reply", {**about, "delta": waiting})
                waiting, sent_at = "", time.monotonic()
    if waiting:
        await session.socket.send("reply", {**about, "delta": waiting})


def _store_reply(author: Author, incoming: hearing.Incoming, cost: int) -> None:
    heard = hearing.hear(author.site, author, incoming)
    if heard.fresh and cost:
        Message.objects.filter(pk=heard.message.pk).update(cost_nanousd=cost)


def _latest(author: Author) -> tuple[str, list[tuple[str, str, str, int]]] | None:
    conversation = author.conversations.order_by("-pk").first()
    if conversation is None:
        return None
    recent = list(conversation.messages.order_by("-pk")[:SHOWN])[::-1]
    return conversation.ref, [
        (each.ref, each.role, written(each), int(each.received_at.timestamp() * 1000))
        for each in recent
    ]
