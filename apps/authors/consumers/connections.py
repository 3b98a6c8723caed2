"""The connections of this process, and the regular checks that cover all of them."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING
from uuid import UUID
from weakref import WeakKeyDictionary

from apps.authors.consumers.socket import IDLE, LEFT, REPLACED
from apps.authors.database import in_database
from apps.authors.errors import Erased
from apps.authors.selectors.messages import authors_to_wake, erased_among, taken_back
from apps.authors.services.site_config import authors_with_offers, withdrawn_offers
from labelhub.core.errors import InvalidInput, LabelhubError
from labelhub.core.interview.limits import TokenBucket, network_prefix

if TYPE_CHECKING:
    from apps.authors.consumers.session import Session

logger = logging.getLogger(__name__)

#: Sockets of one author; one more closes the oldest.
MOST_PER_AUTHOR = 5
#: New sockets a minute from one network. This machine itself is not counted: a proxy on it that
#: does not say for whom it asks would be everybody.
CONNECTS_A_MINUTE = 60
#: Seconds without a frame after which a socket is closed, and between two rounds.
SILENT, ROUND = 600.0, 2.0
#: Why a question or an offer goes off a page, where it was not answered on another one.
TAKEN_BACK = "taken_back"


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

    async def join(self, session: "Session") -> None:
        """Add a session; if its author has too many sockets, close the oldest."""
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
        if not session.author_id:
            self._unknown.add(session)
            return
        sessions = self._sessions[session.author_id]
        sessions.append(session)
        if len(sessions) > MOST_PER_AUTHOR:
            await sessions.pop(0).socket.close(REPLACED, "A newer page has taken over.")

    def leave(self, session: "Session") -> None:
        """Remove a session; no error if it was never added."""
        self._unknown.discard(session)
        sessions = self._sessions.get(session.author_id, [])
        if session in sessions:
            sessions.remove(session)
        if not sessions:
            self._sessions.pop(session.author_id, None)

    def of(self, author_id: int) -> list["Session"]:
        """The author's sessions here, oldest first."""
        return list(self._sessions.get(author_id, ()))

    def owned_by(self, author_id: int) -> list["Session"]:
        """The author's sessions here, with those in which they chat unknown."""
        unknown = [session for session in self._unknown if session.owner_id == author_id != 0]
        return [*self.of(author_id), *unknown]

    async def dismiss(self, author_id: int, why: LabelhubError) -> None:
        """End all that goes on for an author and close all of their sockets for good. That they
        were erased is sent in a frame first: idle pages have to forget them too."""
        for session in self.owned_by(author_id):
            session.stop()
            if isinstance(why, Erased):
                await session.socket.nack("", why.code, why.message)
            await session.socket.close(LEFT, why.message)

    async def retract(self, sessions: Iterable["Session"]) -> None:
        """Remove withdrawn questions and offers from these pages."""
        showing = [session for session in sessions if session.pushed or session.offers]
        questions = {session.pushed for session in showing if session.pushed}
        offers = set[UUID]().union(*(session.offers for session in showing))
        gone = await in_database(taken_back, questions) if questions else set()
        ended = await in_database(withdrawn_offers, offers) if offers else set()
        for session in showing:
            if session.pushed in gone:
                await session.retract(TAKEN_BACK)
            for uid in session.offers & ended:
                await session.retract_offer(uid)

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
                await self._wake(await in_database(authors_to_wake, here))
                await self._offer(await in_database(authors_with_offers, here))
            except Exception:  # one bad round must not end the keeping
                logger.exception("Looking after the widget's sockets failed; it is tried again.")

    async def _close_silent(self) -> None:
        late = time.monotonic() - SILENT
        known = chain.from_iterable(self._sessions.values())
        for session in [session for session in (*known, *self._unknown) if session.heard_at < late]:
            await session.socket.close(IDLE, "Nothing was heard for ten minutes.")

    async def _close_erased(self) -> None:
        owners = {*self._sessions, *(session.owner_id for session in self._unknown)} - {0}
        for author_id in await in_database(erased_among, owners):
            if author_id not in self.erasing:
                await self.dismiss(author_id, Erased("Your data was deleted."))

    async def _wake(self, author_ids: Iterable[int]) -> None:
        for author_id in author_ids:
            sessions = self.of(author_id)
            if sessions:
                await sessions[-1].push_question()

    async def _offer(self, author_ids: Iterable[int]) -> None:
        for author_id in author_ids:
            sessions = self.of(author_id)
            if sessions:
                await sessions[-1].push_offer()


_registries: WeakKeyDictionary[asyncio.AbstractEventLoop, ConnectionRegistry] = WeakKeyDictionary()


def connection_registry() -> ConnectionRegistry:
    """The registry of the running event loop."""
    return _registries.setdefault(asyncio.get_running_loop(), ConnectionRegistry())


def network_of(address: str) -> str:
    """The network an address is in; nothing for what is no address."""
    try:
        return network_prefix(address)
    except InvalidInput:
        return ""
