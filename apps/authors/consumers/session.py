"""The sessions of authors: each one's identity, consent and last question, and the registry of all
that are connected to this process."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary, WeakSet

from django.db.models import QuerySet
from django.utils import timezone

from apps.authors.consumers.socket import IDLE, LEFT, NO_AUTH, REFUSED, REPLACED, Socket
from apps.authors.database import in_database
from apps.authors.errors import (
    ConsentOutdated,
    Erased,
    IdentRequired,
    NotYours,
    OptedOut,
    OriginRefused,
    SiteDisabled,
)
from apps.authors.models import Author, Consent, Question, Site
from apps.authors.selectors.messages import (
    authors_to_wake,
    erased_among,
    question_words,
    withdrawn_questions,
)
from apps.authors.selectors.sites import KnownSite, cached_site, check_open, known_site
from apps.authors.services.authors import check_ident, close_unattended, has_returned
from apps.authors.services.chat import ChatHistory
from apps.authors.services.questions import next_question
from apps.authors.services.site_config import next_offer, offers
from apps.common.prepared import prepared
from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.interview.identity import IdentExpired
from labelhub.core.interview.limits import TokenBucket, network_prefix

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


#: Seconds in which somebody who goes from one page to the next is back: until then nothing new is
#: asked of a model for them, and what is under way goes on. Less than ``message_lease.UNCLAIMED``:
#: what nobody has begun by then is not begun by a worker either.
GRACE = 4.0
#: Seconds between two looks for whether they are.
LOOK_EVERY = 0.1
#: Why a question or an offer goes off a page, where it was not answered on another one.
TAKEN_BACK = "taken_back"


class VisitorLeft(LabelhubError):
    code = "left"


class SomebodyElse(NotYours):
    """Another person has signed in and must connect anew."""


class Session:
    """State of a socket after its hello frame."""

    def __init__(
        self, socket: Socket, registry: "ConnectionRegistry", known: KnownSite, mode: str
    ) -> None:
        self.socket, self.registry, self.mode = socket, registry, mode
        #: Its own name, for what is counted where nothing says who sits there.
        self.uid = uuid4().hex
        self.key = known.site.public_key
        self.known = known
        #: Of whom what is written here is kept; 0 for somebody who wants to stay unknown. What
        #: was kept of them before is ``owner_id``'s: theirs to see and to delete.
        self.author_id = self.owner_id = 0
        self.consent: Consent | None = None
        #: The text that was agreed to at this socket, also where it was for a chat only.
        self.agreed_to: int | None = None
        #: What the host has signed last: whom it means, and until when.
        self.ident, self.subject = "", ""
        #: Keyed hash of where they come from; empty where that is not known.
        self.network = ""
        self.ident_until: datetime | None = None
        self.language = ""
        self.heard_at = time.monotonic()
        self.began_at = timezone.now()
        self.pushed: UUID | None = None
        #: Offers that may be on this page.
        self.offers: set[UUID] = set()
        self.talk = ChatHistory()
        #: Running background work.
        self.tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work`` in the background until it ends or :meth:`stop` is called."""
        task = asyncio.get_running_loop().create_task(log_failure(work))
        _running.add(task)
        self.tasks.add(task)
        task.add_done_callback(_running.discard)
        task.add_done_callback(self.tasks.discard)

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    @property
    def attended(self) -> bool:
        """Whether this socket or another page of its author is open."""
        pages = self.registry.of(self.author_id) if self.author_id else []
        return self.open or any(page.open for page in pages)

    async def ready(self) -> None:
        """Go on with asking models; of somebody who has just left, wait whether they come back.

        Raises:
            VisitorLeft: they do not.
        """
        until = time.monotonic() + GRACE
        # What is under way when the server ends is brought to its end.
        while not self.attended and asyncio.get_running_loop() not in _ending:
            if not self.author_id or time.monotonic() > until:
                raise VisitorLeft("The author has left.")
            await asyncio.sleep(LOOK_EVERY)

    async def leave(self) -> None:
        """The socket is closed. Where its author does not come back, also not to another server,
        what was begun for them ends, and so does the question that was before their eyes."""
        self.registry.leave(self)
        if self.tasks or self.pushed:
            away = asyncio.get_running_loop().create_task(self._end_unattended(timezone.now()))
            _leaving.add(away)
            away.add_done_callback(_leaving.discard)

    async def _end_unattended(self, since: datetime) -> None:
        if self.author_id:
            await asyncio.sleep(GRACE)
        if self.attended:
            return
        if self.author_id and await in_database(has_returned, self.author_id, since):
            return
        self.stop()
        if self.author_id:
            await in_database(close_unattended, self.author_id)

    async def become_unknown(self) -> None:
        """Continue without storing anything from now on."""
        self.registry.leave(self)
        self.author_id, self.consent, self.pushed = 0, None, None
        self.offers.clear()
        self.agreed_to = None
        await self.registry.join(self)

    async def check(self) -> None:
        """Look whether what this author sends now may be taken: on every message and answer, not
        only at the hello.

        Raises:
            SiteDisabled, OriginRefused, IdentRequired, IdentExpired, IdentInvalid: no more.
            ConsentOutdated: not before the present text was agreed to at this socket.
            OptedOut: they do not want it.
        """
        await self.check_access()
        outdated = self.known.site.consent_by == Site.ConsentBy.WIDGET and (
            self.agreed_to != self.known.consent.pk
        )
        if self.agreed_to is None and self.author_id:
            opted_out_at = await self.act(lambda author: author.opted_out_at)
            if opted_out_at is not None:
                raise OptedOut("You asked not to be asked again; nothing was stored.")
        if self.agreed_to is None or outdated:
            raise ConsentOutdated(
                "The author must agree to the present consent text; ask for consent."
            )

    async def check_access(self) -> None:
        """Look whether this page and this person still have access, agreed to what they may.

        Raises:
            SiteDisabled, OriginRefused, IdentRequired, IdentExpired, IdentInvalid: they have not.
        """
        known = cached_site(self.key)
        if known is None:
            known = await in_database(known_site, self.key)
        site = known.site
        check_open(site, self.socket.origin)
        if self.ident_until is None and site.identity == site.Identity.VERIFIED:
            raise IdentRequired("This site asks only authors whom its host has signed in.")
        if self.ident_until is not None and self.ident_until <= timezone.now():
            raise IdentExpired("The identity token has expired; ask the site for a new one.")
        if known is not self.known and self.ident:  # its signing key may be revoked by now
            await in_database(check_ident, site, self.ident)
        self.known = known

    async def act(self, work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """Do ``work(author, …)`` in the database, with the author as they are now.

        Raises:
            NotYours: they chose to stay unknown.
            Erased: they are no more.
        """
        if not self.author_id:
            raise NotYours("You chose to chat without questions; nothing was stored.")
        return await in_database(_with_author, self.author_id, self.known, work, args, kwargs)

    async def act_as_owner(self, work: Callable[..., Result], *args: Any) -> Result:
        """The same for the author whom their token names, also where they stay unknown now: what
        was kept of them before is theirs.

        Raises:
            NotYours: nothing was ever kept of them.
            Erased: they are no more.
        """
        if not self.owner_id:
            raise NotYours("There is no stored data about you.")
        return await in_database(_with_author, self.owner_id, self.known, work, args, {})

    @property
    def open(self) -> bool:
        return not self.socket.closed

    async def recall(self, last: int) -> None:
        """Take off a page that comes back what was taken back while it was away: the question of
        that number, which it got last, and offers."""

        def withdrawn(author: Author) -> tuple[UUID | None, set[UUID]]:
            question = _retracted.first(author.pk, last) if last else None
            return question.uid if question else None, offers().delivered(author)

        self.pushed, self.offers = await self.act(withdrawn)
        await self.registry.retract([self])

    async def push_question(self) -> None:
        """Send the question whose turn it is, if there is one that this socket has not got."""
        if not self.open:
            return
        found = await self.act(next_in_survey)
        if found is not None:
            await self.send_question(*found)

    async def send_question(self, question: Question, of: int) -> None:
        """Send a question of a survey of so many, unless it was sent here last."""
        if question.uid == self.pushed:
            return
        self.pushed = question.uid
        words = question_words(question, question.message.author, of=of)
        await self.socket.send("question", words, seq=question.pk, re=words["re"])

    async def push_offer(self) -> None:
        """Send the offer that waits for this author, if there is one."""
        if not self.open:
            return
        found = await self.act(next_offer)
        if found is not None:
            self.offers.add(UUID(str(found["oid"])))
            await self.socket.send("offer", dict(found), re=str(found["re"]))

    async def retract(self, why: str) -> None:
        uid, self.pushed = self.pushed, None
        await self.socket.send("retract", {"qid": str(uid), "why": why})

    async def refuse(self, re: str, error: LabelhubError) -> None:
        """Say that something was not taken, and end the connection where nothing ever will be."""
        more = {"after_ms": error.data["after_ms"]} if "after_ms" in error.data else {}
        await self.socket.nack(re, error.code, error.message, retry=error.retryable, **more)
        if isinstance(error, SiteDisabled | OriginRefused):
            await self.socket.close(REFUSED, error.message)
        elif isinstance(error, Erased):
            await self.registry.dismiss(self.owner_id, error)
            await self.socket.close(LEFT, error.message)
        elif isinstance(error, SomebodyElse):
            await self.socket.close(NO_AUTH, error.message)


async def log_failure(work: Coroutine[Any, Any, None]) -> None:
    """Do what nobody waits for: what goes wrong is written down, and ends nothing else."""
    try:
        await work
    except (Erased, VisitorLeft):  # there is nobody left to do it for
        return
    except Exception:  # nobody waits for the task who could be told
        logger.exception("What went on beside a socket failed")


#: Tasks are kept from being collected while they run.
_running: set[asyncio.Task[None]] = set()
_leaving: set[asyncio.Task[None]] = set()
#: Event loops that are about to end.
_ending: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


async def wait_for_tasks(within: float) -> None:
    """Once nothing goes on beside a socket of this event loop any more, or ``within`` seconds from
    now: a reply that was sent is to be stored before the loop ends."""
    loop = asyncio.get_running_loop()
    _ending.add(loop)
    # A copy first: other loops of the process add theirs meanwhile.
    ours = [task for task in tuple(_running) if task.get_loop() is loop]
    if ours:
        await asyncio.wait(ours, timeout=within)


@prepared
def _retracted(author: int, pk: int) -> QuerySet[Question]:
    return Question.objects.filter(pk=pk, author=author, status=Question.Status.RETRACTED)


def next_in_survey(author: Author) -> tuple[Question, int] | None:
    """The question whose turn it is, marked as sent, and how many there are about its message."""
    question = next_question(author)
    if question is None:
        return None
    question.message.author = author
    return question, question.message.questions.count()


@prepared
def _author(pk: int) -> QuerySet[Author]:
    return Author.objects.select_related("annotator").filter(pk=pk)


def _with_author(
    author_id: int,
    known: KnownSite,
    work: Callable[..., Result],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Result:
    author = _author.first(author_id)
    if author is None:
        raise Erased("Your data was deleted.")
    author.site = known.site
    return work(author, *args, **kwargs)


#: Sockets of one author; one more closes the oldest.
MOST_PER_AUTHOR = 5
#: New sockets a minute from one network. This machine itself is not counted: a proxy on it that
#: does not say for whom it asks would be everybody.
CONNECTS_A_MINUTE = 60
#: Seconds without a frame after which a socket is closed, and between two rounds.
SILENT, ROUND = 600.0, 2.0


class ConnectionRegistry:
    """The sessions of one event loop, by author; and those of people who want to stay unknown."""

    def __init__(self) -> None:
        self._sessions: defaultdict[int, list[Session]] = defaultdict(list)
        self._unknown: set[Session] = set()
        #: (author, id of their message) that are being replied to in a chat.
        self.replying: set[tuple[int, str]] = set()
        #: Authors who are being erased from a page here, which is to get its receipt first.
        self.erasing: set[int] = set()
        self._networks: dict[str, TokenBucket] = {}
        self._keeper: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return sum(len(sessions) for sessions in self._sessions.values()) + len(self._unknown)

    def may_connect(self, network: str) -> bool:
        """Whether another socket from there is taken at present."""
        if not network or network.startswith(("127.", "::")):
            return True
        if len(self._networks) > 10_000:
            self._networks.clear()
        bucket = self._networks.get(network)
        if bucket is None:
            bucket = TokenBucket(CONNECTS_A_MINUTE / 60, CONNECTS_A_MINUTE)
            self._networks[network] = bucket
        return bucket.take()

    async def join(self, session: Session) -> None:
        """Add a session; if its author has too many sockets, close the oldest."""
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        if not session.author_id:
            self._unknown.add(session)
            return
        sessions = self._sessions[session.author_id]
        sessions.append(session)
        if len(sessions) > MOST_PER_AUTHOR:
            await sessions.pop(0).socket.close(
                REPLACED, "A newer page has replaced this connection."
            )

    def leave(self, session: Session) -> None:
        """Remove a session; no error if it was never added."""
        self._unknown.discard(session)
        sessions = self._sessions.get(session.author_id, [])
        if session in sessions:
            sessions.remove(session)
        if not sessions:
            self._sessions.pop(session.author_id, None)

    def of(self, author_id: int) -> list[Session]:
        """The author's sessions here, oldest first."""
        return list(self._sessions.get(author_id, ()))

    async def dismiss(self, author_id: int, why: LabelhubError) -> None:
        """End all that goes on for an author and close all of their sockets for good. That they
        were erased is sent in a frame first: idle pages have to forget them too."""
        unknown = [session for session in self._unknown if session.owner_id == author_id != 0]
        for session in [*self.of(author_id), *unknown]:
            session.stop()
            if isinstance(why, Erased):
                await session.socket.nack("", why.code, why.message)
            await session.socket.close(LEFT, why.message)

    async def retract(self, sessions: Iterable[Session]) -> None:
        """Remove withdrawn questions and offers from these pages."""
        showing = [session for session in sessions if session.pushed or session.offers]
        questions = {session.pushed for session in showing if session.pushed}
        offered = set[UUID]().union(*(session.offers for session in showing))
        gone = await in_database(withdrawn_questions, questions) if questions else set()
        ended = await in_database(offers().withdrawn, offered) if offered else set()
        for session in showing:
            if session.pushed in gone:
                await session.retract(TAKEN_BACK)
            for uid in session.offers & ended:
                session.offers.discard(uid)
                await session.socket.send("retract", {"oid": str(uid), "why": TAKEN_BACK})

    async def _keep(self) -> None:
        """Until nobody is left: close silent sockets and those of authors who were erased
        elsewhere, and bring questions that others have made (a server's message, a worker that took
        up what a killed process left)."""
        while self._sessions or self._unknown:
            await asyncio.sleep(ROUND)
            try:
                await self._close_silent()
                await self._close_erased()
                await self.retract(chain.from_iterable(self._sessions.values()))
                here = list(self._sessions)
                for author_id in await in_database(authors_to_wake, here):
                    for session in self.of(author_id)[-1:]:
                        await session.push_question()
                for author_id in await in_database(offers().waiting, here):
                    for session in self.of(author_id)[-1:]:
                        await session.push_offer()
            except Exception:  # one bad round must not end the keeping
                logger.exception("Looking after the widget's sockets failed; it is tried again.")

    async def _close_silent(self) -> None:
        late = time.monotonic() - SILENT
        known = chain.from_iterable(self._sessions.values())
        for session in [session for session in (*known, *self._unknown) if session.heard_at < late]:
            await session.socket.close(IDLE, "No frame arrived for ten minutes.")

    async def _close_erased(self) -> None:
        owners = {*self._sessions, *(session.owner_id for session in self._unknown)} - {0}
        for author_id in await in_database(erased_among, owners):
            if author_id not in self.erasing:
                await self.dismiss(author_id, Erased("Your data was deleted."))


_registries: WeakKeyDictionary[asyncio.AbstractEventLoop, ConnectionRegistry] = WeakKeyDictionary()


def connection_registry() -> ConnectionRegistry:
    return _registries.setdefault(asyncio.get_running_loop(), ConnectionRegistry())


def network_of(address: str) -> str:
    """The network an address is in; nothing for what is no address."""
    try:
        return network_prefix(address)
    except InvalidInput:
        return ""
