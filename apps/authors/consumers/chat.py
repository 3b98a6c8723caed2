"""Chat mode: the site's chat model answers what the author writes, piece by piece.

What the model reads is kept without personal data, and never longer than the connection.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from django.utils import timezone

from apps.authors.consumers.session import Session, log_failure
from apps.authors.database import in_database
from apps.authors.errors import BadField, Erased
from apps.authors.models import Author, Message
from apps.authors.services import messages
from apps.authors.services.chat import ChatLine, ReplyProgress, stream_reply
from apps.authors.services.limits import (
    REPLY,
    LimitReached,
    count_cost,
    person_of,
    reserve,
    unknown_person,
)
from apps.authors.services.privacy import open_text
from apps.authors.translations import LIMIT_REACHED, translated
from labelhub.core.errors import LabelhubError
from labelhub.core.interview import frames
from labelhub.core.interview.frames import Frame
from labelhub.core.interview.redaction import finder, redact

logger = logging.getLogger(__name__)

#: Messages of a conversation that the chat shows when it is opened again.
SHOWN = 50
#: Seconds between two pieces of a reply: an eye sees no more.
PIECE = 0.05
NO_ANSWER = "No answer came. Please try again."
#: Whose last message is this young when they come back is still waiting for its reply.
MOMENT = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class PastConversation:
    """What was said in a conversation: for the model, and as frames for its author's own eyes.
    ``unanswered`` is the id of a message that waits for a reply, if there is one."""

    conversation: str
    lines: list[ChatLine]
    shown: list[dict[str, Any]]
    unanswered: str


async def send_history(session: Session) -> None:
    """What was said before in the author's latest conversation; what they were not answered
    because the connection broke is answered now."""
    earlier = await session.act(_latest_conversation)
    if earlier is None:
        return
    for line in earlier.lines:
        session.talk.add(line)
    shown = {"conv": earlier.conversation, "messages": earlier.shown}
    await session.socket.send("history", shown)
    mid = earlier.unanswered
    if mid and session.agreed_to and (session.owner_id, mid) not in session.registry.replying:
        _queue(session, mid)


async def begin_reply(session: Session, sent: frames.Msg, stored: str = "") -> None:
    """Answer a message in the background; messages that arrive meanwhile are answered in turn.

    Args:
        stored: the same text without personal data, where it is kept.
    """

    def redacted_text() -> str:
        # In a thread: this takes time, and the first call of the finder loads a model.
        return redact(sent.text, region=session.known.site.region, names=finder()).text

    text = stored or await asyncio.to_thread(redacted_text)
    session.talk.add(ChatLine(sent.mid, sent.conv, sent.role, text))
    _queue(session, sent.mid)


async def on_retry(session: Session, frame: Frame) -> None:
    await session.check()
    mid = cast(frames.Retry, frame.d).mid
    if not session.talk.waits(mid):
        raise BadField("mid: no such message is waiting for a reply.")
    await session.socket.ack(frame.id)
    if mid not in session.talk.queue:
        _queue(session, mid)


def _queue(session: Session, mid: str) -> None:
    session.talk.queue.append(mid)
    session.registry.replying.add((session.owner_id, mid))
    if len(session.talk.queue) == 1:
        session.spawn(_reply_to_all(session))


async def _reply_to_all(session: Session) -> None:
    queue = session.talk.queue
    try:
        while queue:
            await session.ready()
            await log_failure(_reply(session, queue[0]))
            session.registry.replying.discard((session.owner_id, queue.pop(0)))
    finally:  # the rest is answered when the author comes back
        session.registry.replying.difference_update((session.owner_id, mid) for mid in queue)
        queue.clear()


async def _reply(session: Session, to: str) -> None:
    mid, progress = f"r-{uuid.uuid4().hex}", ReplyProgress()
    about: dict[str, Any] = {"mid": mid, "to": to}
    answered = session.talk.find(to)
    conversation = answered.conversation if answered else ""
    try:
        await in_database(_reserve, session)
        await _stream(session, about, progress)
    except asyncio.CancelledError:  # nobody reads it; what it has cost is counted
        await _store(session, "", conversation, mid, progress)
        raise
    except LabelhubError as error:
        logger.warning("A reply in chat failed: %s", error)
        over = isinstance(error, LimitReached)
        failed = {"failed": True, "code": error.code, "retry": not over}
        words = translated(LIMIT_REACHED, session.language) if over else NO_ANSWER
        await _send_reply(session, about | failed | {"message": words})
        await _store(session, "", conversation, mid, progress)
        return
    for listener in {session, _listener(session)}:
        listener.talk.answer(to, ChatLine(mid, conversation, Message.Role.ASSISTANT, progress.text))
    await _send_reply(session, about | {"final": True, "text": progress.text})
    await _store(session, progress.text, conversation, mid, progress)


def _listener(session: Session) -> Session:
    """The session to send a reply to: the sender's, or if it is closed the author's newest chat."""
    chats = [page for page in session.registry.of(session.author_id) if page.mode == "chat"]
    return next((chat for chat in (session, *chats[::-1]) if chat.open), session)


async def _send_reply(session: Session, d: Mapping[str, Any]) -> None:
    await _listener(session).socket.send("reply", d)


async def _store(
    session: Session, text: str, conversation: str, mid: str, progress: ReplyProgress
) -> None:
    """Count the cost of a reply, also of a failed one, and store it as context unless the author
    stays unknown."""
    if progress.cost_nanousd:
        await in_database(count_cost, session.known.site.pk, progress.cost_nanousd)
    if session.author_id and text:
        sent = messages.Incoming(ref=mid, conversation=conversation, role="assistant", text=text)
        await session.act(_store_reply, sent, progress.cost_nanousd)


async def _stream(session: Session, about: Mapping[str, Any], progress: ReplyProgress) -> None:
    """Send the pieces as they come, several together where they come faster than eyes read."""
    waiting, sent_at = "", 0.0
    history = session.talk.until(about["to"])
    stream = stream_reply(session.known.site, history, progress)
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            waiting += piece
            if time.monotonic() - sent_at >= PIECE:
                await _send_reply(session, {**about, "delta": waiting})
                waiting, sent_at = "", time.monotonic()
    if waiting:
        await _send_reply(session, {**about, "delta": waiting})


def _store_reply(author: Author, incoming: messages.Incoming, cost: int) -> None:
    heard = messages.store_message(author.site, author.pk, incoming)
    if heard.fresh and cost:
        Message.objects.filter(pk=heard.message.pk).update(cost_nanousd=cost)


def _reserve(session: Session) -> None:
    # A former author keeps one limit, whether or not new messages are kept.
    author = Author.objects.filter(pk=session.owner_id).first()
    if author is None and session.author_id:
        raise Erased("Your data was deleted.")
    unknown = unknown_person(session.subject, session.network, session.uid)
    reserve(session.known.site, REPLY, person_of(author) if author else unknown)


def _latest_conversation(author: Author) -> PastConversation | None:
    conversation = author.conversations.order_by("-pk").first()
    if conversation is None:
        return None
    ref, recent = conversation.ref, list(conversation.messages.order_by("-pk")[:SHOWN])[::-1]
    last = recent[-1] if recent and recent[-1].role == Message.Role.AUTHOR else None
    young = last is not None and timezone.now() - last.received_at < MOMENT
    return PastConversation(
        conversation=ref,
        # The model reads what was kept without personal data, never what was written.
        lines=[
            ChatLine(message.ref, ref, message.role, message.text)
            for message in recent
            if message.text
        ],
        shown=[
            {
                "mid": message.ref,
                "role": message.role,
                "text": open_text(message.text, message.sealed),
                "ts": int(message.received_at.timestamp() * 1000),
            }
            for message in recent
        ],
        unanswered=last.ref if last is not None and young and last.text else "",
    )
