"""A real server in a thread of the test, and the widget's side of a real websocket."""

import asyncio
import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import uuid4

import jwt
import pytest
import uvicorn
from django.utils import timezone
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from apps.authors import database
from apps.authors.consumers.session import _registries, wait_for_tasks
from apps.authors.models import Author, Site
from apps.authors.selectors.sites import (
    clear_known_sites,
    consent_hash,
    consent_words,
    current_consent,
)
from apps.common.sealing import digest
from labelhub.asgi import application
from labelhub.server import SOCKETS
from tests.factories.authors import ORIGIN, TEXT, later, signing_secret

PATIENCE = 10.0
Frame = dict[str, Any]


class _Server(uvicorn.Server):
    """Ends at once when it is to end: uvicorn looks ten times a second, and waits a tenth more."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._ended = False

    async def main_loop(self) -> None:
        """Until :meth:`end`."""
        self._loop = asyncio.get_running_loop()
        await self.on_tick(0)
        if not self._ended:  # before it began: nobody could tell the loop
            await self._end.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what is open, and wait until the application has heard of it."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        await wait_for_tasks(PATIENCE)

    def end(self) -> None:
        """From another thread."""
        self._ended = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end.set)


@contextmanager
def served() -> Iterator[str]:
    """The address of a server that runs in this process until the block ends."""
    clear_known_sites()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # from here on nobody is refused
    config = uvicorn.Config(application, lifespan="off", log_level="warning", **SOCKETS)
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.end()
        thread.join(PATIENCE)
        listener.close()
        _let_the_database_rest()
        clear_known_sites()


def _let_the_database_rest() -> None:
    """What a cancelled task had begun in the database goes on in its thread: a test that empties
    the tables meanwhile meets its locks. All threads can meet only when none has other work."""
    meeting = threading.Barrier(database.THREADS + 1)
    for _ in range(database.THREADS):
        database._threads.submit(meeting.wait, PATIENCE)
    meeting.wait(PATIENCE)


class Page:
    """A page that embeds the widget; every frame that came is kept in ``heard``."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.heard: list[Frame] = []

    @classmethod
    @contextmanager
    def open(cls, address: str, site: Site, **hello: Any) -> Iterator[Self]:
        """A page that has said hello and was welcomed."""
        with cls.connect(address) as page:
            page.say("hello", **hello_for(site, **hello))
            page.wait_for("welcome")
            yield page

    @classmethod
    @contextmanager
    def connect(cls, address: str, *, origin: str | None = ORIGIN) -> Iterator[Self]:
        """A page that has not said anything yet."""
        named = None if origin is None else Origin(origin)
        url = f"ws://{address}/ws/v1/widget/"
        with connect(url, origin=named, subprotocols=[Subprotocol("al.v1")]) as opened:
            yield cls(opened)

    def say(self, kind: str, *, id: str = "", **d: Any) -> str:  # noqa: A002 - the frame's word
        """Send a frame; its id."""
        frame_id = id or uuid.uuid4().hex
        self.send({"v": 1, "t": kind, "id": frame_id, "ts": 0, "d": d})
        return frame_id

    def send(self, raw: Any) -> None:
        """Send anything at all."""
        self._socket.send(raw if isinstance(raw, str | bytes) else json.dumps(raw))

    def wait_for(self, kind: str, *, re: str = "", within: float = PATIENCE) -> Frame:
        """The next frame of that kind (and about that id); what else comes is kept."""
        return self.until(
            lambda frame: frame["t"] == kind and (not re or frame.get("re") == re), within
        )

    def outcome(self, frame_id: str) -> Frame:
        """How a frame was answered: its ack or nack."""
        return self.until(
            lambda frame: frame["t"] in ("ack", "nack") and frame.get("re") == frame_id, PATIENCE
        )

    def until(self, wanted: Callable[[Frame], bool], within: float) -> Frame:
        """The next frame that is wanted."""
        while True:
            frame: Frame = json.loads(self._socket.recv(timeout=within))
            self.heard.append(frame)
            if wanted(frame):
                return frame

    def nothing_more(self, within: float = 0.3) -> bool:
        """Whether no further frame comes for a moment."""
        try:
            self.heard.append(json.loads(self._socket.recv(timeout=within)))
        except TimeoutError:
            return True
        return False

    def closed_with(self, within: float = PATIENCE) -> int:
        """The code with which the server closes; what comes before is kept."""
        try:
            while True:
                self.heard.append(json.loads(self._socket.recv(timeout=within)))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else 1006

    def drop(self) -> None:
        """Go away without a word, as when a train enters a tunnel."""
        self._socket.socket.shutdown(socket.SHUT_RDWR)


def here() -> int:
    """How many sessions the servers of this process look after."""
    return sum(len(registry) for registry in list(_registries.values()))


def hello_for(site: Site, **changes: Any) -> dict[str, Any]:
    """What a widget says first, having shown the site's present text."""
    consent = current_consent(site)
    agreed = {
        "v": consent.version,
        "hash": consent_hash(consent_words(consent, site.language, site.language)),
        "scope": ["questions"],
        "by": site.consent_by,
    }
    usual = {"key": site.public_key, "mode": "companion", "lang": "en", "tz": "UTC", "sdk": "1"}
    return {**usual, "consent": agreed | changes.pop("consent", {}), **changes}


def write(page: Page, text: str = TEXT, **d: Any) -> str:
    """Send a message; the id of its frame."""
    usual = {"mid": uuid4().hex, "conv": "talk", "role": "author"}
    return page.say("msg", text=text, **(usual | d))


def question_on(page: Page) -> dict[str, Any]:
    """The question that a message led to, shown long enough to be answered."""
    write(page)
    question: dict[str, Any] = page.wait_for("question")["d"]
    page.outcome(page.say("shown", qid=question["qid"], lat=12))
    later(Author.objects.get(), 10)
    return question


def answer(page: Page, question: dict[str, Any], **d: Any) -> dict[str, Any]:
    """How an answer was taken."""
    usual = {"qid": question["qid"], "ms": 6000, "kb": False}
    frame_id = d.pop("id", uuid4().hex)
    if "val" not in d:
        usual["opt"] = question["opts"][0]["id"]
    return page.outcome(page.say("answer", id=frame_id, **(usual | d)))


def end_of_reply(page: Page) -> Frame:
    """How the reply under way ends: its last frame's words."""
    ended: Frame = page.until(
        lambda frame: frame["t"] == "reply" and "delta" not in frame["d"], PATIENCE
    )["d"]
    return ended


def token(site: Site, subject: str = "customer-1", seconds: int = 600, **claims: Any) -> str:
    """What a host signs."""
    kid, secret = signing_secret(site)
    now = timezone.now()
    usual = {
        "sub": subject,
        "aud": site.public_key,
        "iat": now,
        "exp": now + timedelta(seconds=seconds),
    }
    return jwt.encode(usual | claims, secret, algorithm="HS256", headers={"kid": kid})


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """From here on it is so much later."""
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=seconds))


def token_of(author: Author) -> str:
    """A token with which this author comes back."""
    Author.objects.filter(pk=author.pk).update(
        token_digest=digest("t" * 43), token_until=datetime.now(UTC) + timedelta(hours=1)
    )
    return "t" * 43
