"""What is done with each kind of frame: one service called, and acknowledged once committed."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TypeAlias, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.authors.consumers.chat import begin_reply, on_retry
from apps.authors.consumers.session import Session, SomebodyElse, next_in_survey
from apps.authors.consumers.socket import LEFT
from apps.authors.database import in_database, with_pauses
from apps.authors.errors import Erased, NotYours, OptedOut
from apps.authors.models import Author, Consent, Message, Question
from apps.authors.selectors.authors import question_uid
from apps.authors.selectors.sites import KnownSite
from apps.authors.services import answers, authors, messages, privacy, questions
from apps.authors.services.locking import lock_author
from apps.authors.services.message_lease import (
    AskingTask,
    Permission,
    permit_asking,
    plan_asking,
)
from apps.authors.services.messages import is_crisis
from apps.authors.services.site_config import offers
from labelhub.core.interview import frames
from labelhub.core.interview.frames import Frame

Handler: TypeAlias = Callable[[Session, Frame], Awaitable[None]]

_COUNTRY = re.compile("[A-Za-z]{2}")
#: Messages of one socket that the models are asked about at once.
MOST_AT_ONCE = 2
#: Pieces of a large frame that are written without a pause; about a millisecond of work.
PIECES = 2_000


async def on_message(session: Session, frame: Frame) -> None:
    """Store what was written; what the models make of it comes when it comes."""
    sent = cast(frames.Msg, frame.d)
    if not session.author_id:
        if session.mode != "chat":
            raise NotYours("You agreed to chat only.")
        await session.check()
        await session.socket.ack(frame.id)
        await begin_reply(session, sent)
        return
    await session.check()
    header = session.known.site.country_header
    country = session.socket.header(header) if header else ""
    heard, task = await in_database(
        _store_and_claim,
        session.author_id,
        session.known,
        messages.Incoming(
            ref=sent.mid,
            conversation=sent.conv,
            role=sent.role,
            text=sent.text,
            language=session.language,
            country=country if _COUNTRY.fullmatch(country) else "",
        ),
        len(session.tasks) < MOST_AT_ONCE,
    )
    await session.socket.ack(frame.id)
    if is_crisis(heard.message):
        session.spawn(session.registry.retract(session.registry.of(session.author_id)))
    if task is not None:
        session.spawn(_ask_models(session, task))
    if session.mode == "chat" and sent.role == "author" and heard.fresh:
        await begin_reply(session, sent, heard.message.text)


async def on_shown(session: Session, frame: Frame) -> None:
    sent, now = cast(frames.Shown, frame.d), timezone.now()
    if not await in_database(questions.mark_shown, session.author_id, question_uid(sent.qid), now):
        await session.act(lambda _author: None)  # shown before, or there is no such author
    await session.socket.ack(frame.id)


async def on_early(session: Session, frame: Frame) -> None:
    sent = cast(frames.Early, frame.d)
    await session.act(questions.note_early, question_uid(sent.qid), sent.ms)
    await session.socket.ack(frame.id)


async def on_answer(session: Session, frame: Frame) -> None:
    """Take an answer: acknowledged when it, its label and its reward are committed."""
    sent = cast(frames.Answer, frame.d)
    answer = answers.SubmittedAnswer(
        ref=frame.id,
        option=sent.opt,
        word=sent.val,
        visible_ms=sent.ms,
        keyboard=sent.kb,
        connected=session.began_at,
    )
    await _answer(session, frame, question_uid(sent.qid), answer)


async def on_dismiss(session: Session, frame: Frame) -> None:
    """No answer: a fact about the moment, or, where nothing fits, about the question."""
    sent = cast(frames.Dismiss, frame.d)
    uid = question_uid(sent.qid)
    if sent.how == "nofit":
        answer = answers.SubmittedAnswer(ref=frame.id, word=sent.val, nofit=True)
        await _answer(session, frame, uid, answer)
        return
    await session.check()
    following = await session.act(_dismiss, uid, sent.how)
    await session.socket.ack(frame.id)
    await _after_answer(session, uid, following)


async def on_undo(session: Session, frame: Frame) -> None:
    """Take the last answer back, whatever text the site has by now."""
    uid = question_uid(cast(frames.Undo, frame.d).qid)
    await session.check_access()
    await session.act(answers.undo, uid)
    session.pushed = uid
    await session.socket.ack(frame.id)


async def on_offered(session: Session, frame: Frame) -> None:
    sent = cast(frames.Offered, frame.d)
    await session.check_access()
    uid = question_uid(sent.oid)
    await session.act(offers().record_event, uid, sent.what, frame.id, sent.feature)
    if sent.what == "close":
        session.offers.discard(uid)
    await session.socket.ack(frame.id)


async def on_ident(session: Session, frame: Frame) -> None:
    """A fresh signature for the same person. Somebody else's ends the connection: nothing that
    they write may be taken for the first one's."""
    sent = cast(frames.Ident, frame.d)
    ident = await in_database(authors.check_ident, session.known.site, sent.ident)
    if ident is None or ident.sub != session.subject:
        raise SomebodyElse(
            "This token belongs to another user; open a new connection for that user."
        )
    session.ident, session.ident_until = sent.ident, ident.expires_at
    await session.socket.ack(frame.id)


async def on_consent(session: Session, frame: Frame) -> None:
    """The present text was agreed to, also by somebody who had said no before; or, in a chat, to
    nothing but the chat from now on."""
    agreed = cast(frames.Agreed, frame.d)
    asked = "questions" in agreed.scope
    if session.author_id and not asked:  # a no counts whichever text it was said to
        await session.act(authors.opt_out)
        await session.become_unknown()
    await session.check_access()
    known = session.known
    arrival = authors.Arrival(
        consent_version=agreed.v, consent_hash=agreed.hash, consent_by=agreed.by
    )
    authors.check_consent(known, arrival)
    if asked:
        session.consent = await session.act(_store_consent, known, arrival.consent_by)
    session.agreed_to = known.consent.pk
    await session.socket.ack(frame.id)


async def on_optout(session: Session, frame: Frame) -> None:
    """Never again. Asked neither for a signature nor for consent: a no is taken from anybody."""
    await session.act(authors.opt_out)
    await session.socket.ack(frame.id)
    why = OptedOut("You will not be asked again.")
    await session.registry.dismiss(session.author_id, why)


async def on_export(session: Session, frame: Frame) -> None:
    """Show my data, whatever text the site has by now; also to who chats unknown since."""
    await session.check_access()

    def data_frame(author: Author) -> str:
        # In the database's thread: it may be megabytes, and the event loop has others to serve.
        pieces = frames.frame_in_pieces("data", privacy.author_data(author), re=frame.id)
        return "".join(with_pauses(pieces, every=PIECES))

    await session.socket.send_text(await session.act_as_owner(data_frame))


async def on_erase(session: Session, frame: Frame) -> None:
    """Delete my data. Asked neither for a signature nor for consent: it is never too late for it;
    also for who chats unknown since."""
    session.registry.erasing.add(session.owner_id)
    try:
        erasure = await session.act_as_owner(privacy.erase_author)
        until = erasure.limits_until.isoformat(timespec="seconds") if erasure.limits_until else None
        proof = {"receipt": str(erasure.receipt), "limits_until": until}
        await session.socket.ack(frame.id, **proof, done=True)
    finally:
        session.registry.erasing.discard(session.owner_id)
    await session.registry.dismiss(session.owner_id, Erased("Your data was deleted."))
    await session.socket.close(LEFT, "Your data was deleted.")


async def on_ping(session: Session, frame: Frame) -> None:
    await session.socket.send("pong", {}, re=frame.id)


#: By the kind of frame.
HANDLERS: Mapping[str, Handler] = {
    "msg": on_message,
    "shown": on_shown,
    "early": on_early,
    "answer": on_answer,
    "dismiss": on_dismiss,
    "undo": on_undo,
    "retry": on_retry,
    "offered": on_offered,
    "ident": on_ident,
    "consent": on_consent,
    "optout": on_optout,
    "export": on_export,
    "erase": on_erase,
    "ping": on_ping,
}


async def _answer(
    session: Session, frame: Frame, uid: UUID, answer: answers.SubmittedAnswer
) -> None:
    received = timezone.now()
    await session.check()
    following = await session.act(_record_answer, uid, answer, session.consent, received)
    await session.socket.ack(frame.id, undo_ms=answers.UNDO_MS)
    await _after_answer(session, uid, following)


async def _after_answer(
    session: Session, uid: UUID, following: tuple[Question, int] | None
) -> None:
    """Take the question off the author's other pages, and bring the following one."""
    if session.pushed == uid:  # nothing is left to take back, unless it is undone
        session.pushed = None
    for other in session.registry.of(session.author_id):
        if other is not session and other.pushed == uid:
            await other.retract("answered_elsewhere")
    if following is not None:
        await session.send_question(*following)


def _dismiss(author: Author, uid: UUID, how: str) -> tuple[Question, int] | None:
    answers.dismiss(author, uid, how)
    return next_in_survey(author)


def _record_answer(
    author: Author,
    uid: UUID,
    answer: answers.SubmittedAnswer,
    consent: Consent | None,
    received: datetime,
) -> tuple[Question, int] | None:
    answers.record_answer(author, uid, answer, consent=consent, received=received)
    return next_in_survey(author)


async def _ask_models(session: Session, task: AskingTask) -> None:
    asked = await questions.ask_about(task, ready=session.ready, send=True)
    here = [page for page in session.registry.of(task.message.author_id) if page.open]
    if asked and here:
        first = session if session in here else here[0]
        await first.send_question(asked[0], of=len(asked))


def _store_and_claim(
    author_id: int,
    known: KnownSite,
    incoming: messages.Incoming,
    ask: bool,  # noqa: FBT001 - passed on as it is
) -> tuple[messages.StoredMessage, AskingTask | None]:
    permission: Permission | None = None

    def permit(message: Message) -> None:
        nonlocal permission
        if message.author.opted_out_at is not None:
            raise OptedOut("You asked not to be asked again; nothing was stored.")
        if ask and message.status == Message.Status.RECEIVED:
            permission = permit_asking(message)

    heard = messages.store_message(known.site, author_id, incoming, claim=ask, within=permit)
    if permission is None or not heard.fresh:
        return heard, None
    return heard, plan_asking(heard.message, permission)


@transaction.atomic
def _store_consent(author: Author, known: KnownSite, by: str) -> Consent:
    if lock_author(author.pk) is None:
        raise Erased("Your data was deleted; nothing was stored.")
    if author.opted_out_at is not None:
        authors.opt_in(author)
    return authors.consent_of(author, known.consent, by)
