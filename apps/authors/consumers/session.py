"""One author at one socket: who they are, what they were sent last."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from apps.authors.consumers.crowd import Crowd
from apps.authors.consumers.socket import LEFT, REFUSED, Socket
from apps.authors.database import in_database
from apps.authors.models import Author, Consent, Question
from apps.authors.refusals import IdentRequired, NotYours, OriginRefused, SiteDisabled
from apps.authors.selectors.sites import KnownSite, check_open, known_site, still_known
from apps.authors.selectors.waiting import question_words
from apps.authors.services.showing import next_question
from apps.common.prepared import prepared
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.identity import IdentExpired

#: Messages of a chat that are kept in memory.
REMEMBERED = 40

Result = TypeVar("Result")

logger = logging.getLogger(__name__)


class Gone(LabelhubError):
    """The author's data was deleted while they were connected."""

    code = "erased"


class Session:
    """What is known of whoever sits at a socket, once they have said hello."""

    def __init__(self, socket: Socket, crowd: Crowd, known: KnownSite, mode: str) -> None:
        self.socket, self.crowd, self.mode = socket, crowd, mode
        self.key = known.site.public_key
        self.known = known
        self.author_id = 0
        self.consent: Consent | None = None
        self.ident_until: datetime | None = None
        self.language = ""
        self.heard_at = time.monotonic()
        self.began_at = timezone.now()
        self.pushed: UUID | None = None
        #: Chat mode: who said what lately, without personal data, and in which conversation.
        self.talk: list[tuple[str, str]] = []
        self.conversation = ""
        self.last_mid = ""
        self.replying = False
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on beside this socket. It outlives the socket: what it stores is
        wanted even when nobody waits for it any more."""
        task = asyncio.get_running_loop().create_task(_to_its_end(work))
        _running.add(task)
        self._tasks.add(task)
        task.add_done_callback(_running.discard)
        task.add_done_callback(self._tasks.discard)

    def remember(self, role: str, text: str) -> None:
        """Keep what was said for the chat's next reply; never longer than the connection."""
        self.talk = [*self.talk, (role, text)][-REMEMBERED:]

    def become_unknown(self) -> None:
        """Go on as somebody of whom nothing is kept."""
        self.crowd.leave(self, self.author_id)
        self.author_id, self.consent, self.pushed = 0, None, None

    @property
    def busy(self) -> int:
        """How much goes on beside this socket."""
        return len(self._tasks)

    async def check(self) -> None:
        """Look whether this author may still speak here: on every message and answer, not only at
        the hello.

        Raises:
            SiteDisabled, OriginRefused, IdentRequired, IdentExpired: no more.
        """
        known = still_known(self.key)
        self.known = await in_database(known_site, self.key) if known is None else known
        site = self.known.site
        check_open(site, self.socket.origin)
        if self.ident_until is None and site.identity == site.Identity.VERIFIED:
            raise IdentRequired("This site asks only people whom its host has signed in.")
        if self.ident_until is not None and self.ident_until <= timezone.now():
            raise IdentExpired("The identity token has expired; ask the site for a new one.")

    async def act(self, work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """Do ``work(author, …)`` in the database, with the author as they are now.

        Raises:
            NotYours: they chose to stay unknown.
            Gone: they are no more.
        """
        if not self.author_id:
            raise NotYours("You chose to chat without being asked; nothing of it is kept.")
        return await in_database(_as_author, self.author_id, self.known, work, args, kwargs)

    @property
    def open(self) -> bool:
        """Whether anything can be sent."""
        return not self.socket.closed

    async def push_question(self) -> None:
        """Send the question whose turn it is, if there is one that this socket has not got."""
        if not self.open:
            return
        found = await self.act(_whose_turn)
        if found is not None:
            await self.send_question(*found)

    async def send_question(self, question: Question, of: int) -> None:
        """Send a question of a survey of so many, unless it was sent here last."""
        if question.uid == self.pushed:
            return
        self.pushed = question.uid
        words = question_words(question, question.message.author, of=of)
        await self.socket.send("question", words, seq=question.pk, re=question.message.ref)

    async def retract_elsewhere(self, uid: UUID, why: str) -> None:
        """Tell the author's other pages that a question is settled."""
        for other in self.crowd.of(self.author_id):
            if other is not self and other.pushed == uid:
                other.pushed = None
                await other.socket.send("retract", {"qid": str(uid), "why": why})

    async def refuse(self, re: str, error: LabelhubError) -> None:
        """Say that something was not taken, and end the connection where nothing ever will be."""
        more = {"after_ms": error.data["after_ms"]} if "after_ms" in error.data else {}
        await self.socket.nack(re, error.code, error.message, retry=error.retryable, **more)
        if isinstance(error, SiteDisabled | OriginRefused):
            await self.socket.close(REFUSED, error.message)
        elif isinstance(error, Gone):
            await self.socket.close(LEFT, error.message)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Gone:  # their data was deleted meanwhile: there is nothing left to do
        return
    except Exception:  # nobody waits for the task who could be told
        logger.exception("What went on beside a socket failed")


#: Tasks are kept from being collected while they run.
_running: set[asyncio.Task[None]] = set()


async def wait_for_tasks(seconds: float = 5.0) -> None:
    """Let what goes on beside the sockets come to its end, for so long."""
    mine = [task for task in _running if task.get_loop() is asyncio.get_running_loop()]
    if mine:
        await asyncio.wait(mine, timeout=seconds)


def _whose_turn(author: Author) -> tuple[Question, int] | None:
    question = next_question(author)
    if question is None:
        return None
    question.message.author = author
    return question, question.message.questions.count()


@prepared
def _author(pk: int) -> QuerySet[Author]:
    return Author.objects.select_related("annotator").filter(pk=pk)


def _as_author(
    author_id: int,
    known: KnownSite,
    work: Callable[..., Result],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Result:
    author = _author.first(author_id)
    if author is None:
        raise Gone("Your data was deleted.")
    author.site = known.site
    return work(author, *args, **kwargs)
