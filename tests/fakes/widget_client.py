"""The widget's side of a real websocket, for many at once: it keeps what it sends until that is
acknowledged, has few frames under way, sends them again under the same id, and comes back with
growing, jittered pauses, as ``apps/authors/widget/outbox.js`` and ``connection.js`` do."""

import asyncio
import json
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

Frame: TypeAlias = Mapping[str, Any]

#: Close codes after which nobody comes back, and the one after which not within a minute.
ENDED, TOO_MUCH = frozenset({4400, 4401, 4403, 4410, 4413}), 4429
RATE_PAUSE, LONGEST_PAUSE, FIRST_PAUSE = 60.0, 30.0, 0.5
#: A timer may ring so many seconds early.
CLOCK = 0.01
#: Frames of one socket that are not acknowledged yet; the others wait for their turn.
MOST_UNDER_WAY = 10
#: Characters beyond which a frame is not read to its end.
LARGE = 1_000_000
#: Kinds that tell how a frame of ours was taken.
OUTCOMES = frozenset({"ack", "nack", "data", "pong"})


def _read(raw: str | bytes) -> Frame:
    """A frame; of one with megabytes the envelope alone, which is all that a test of many looks at:
    to read the rest would keep this client, and what it measures, for a tenth of a second."""
    if len(raw) <= LARGE:
        return dict(json.loads(raw))
    head = raw[:LARGE] if isinstance(raw, str) else raw[:LARGE].decode(errors="ignore")
    before = head.partition(',"d":')[0]
    return dict(json.loads(before + "}")) | {"d": {}}


@dataclass(frozen=True, slots=True)
class Embedding:
    """A page that embeds a site: where the socket is, and what a hello says of the site."""

    url: str
    key: str
    origin: str
    consent: Mapping[str, Any]

    def hello(self, token: str, ident: str) -> dict[str, Any]:
        """The first frame's fields."""
        usual = {"key": self.key, "mode": "companion", "lang": "en", "tz": "UTC", "sdk": "1"}
        return {**usual, "tok": token, "ident": ident, "consent": self.consent}


@dataclass(slots=True)
class Waiting:
    """A frame that is not acknowledged yet. ``sent``: when each copy left, seconds since 1970."""

    frame: dict[str, Any]
    done: asyncio.Future[Frame]
    sent: list[float] = field(default_factory=list)
    again: asyncio.TimerHandle | None = None
    tries: int = 0
    under_way: bool = False


class WidgetClient:
    """One person's widget. ``on_frame`` hears every frame that is no answer to one of ours."""

    def __init__(
        self,
        page: Embedding,
        token: str = "",
        *,
        ident: str = "",
        on_frame: Callable[[Frame], None] = lambda _frame: None,
    ) -> None:
        self.page, self.token, self.ident, self.on_frame = page, token, ident, on_frame
        #: Kind of nack → how often; seconds from each hello to its welcome; copies of each frame.
        self.nacks: Counter[str] = Counter()
        self.greeted: list[float] = []
        self.copies: dict[str, list[float]] = {}
        self.closed_with: Counter[int] = Counter()
        self.welcome: Mapping[str, Any] = {}
        self.ready = asyncio.Event()
        self._outbox: dict[str, Waiting] = {}
        self._pings: dict[str, asyncio.Future[Frame]] = {}
        self._socket: ClientConnection | None = None
        self._wanted, self._failures, self._began = True, 0, 0.0
        self._not_before = 0.0
        self._resends: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """How many frames are not acknowledged."""
        return len(self._outbox)

    async def run(self) -> None:
        """Stay connected, and come back whenever that ends, until :meth:`close`."""
        while self._wanted:
            code = await self._connected()
            self.ready.clear()
            self._socket = None
            self.closed_with[code] += 1
            if code in ENDED:
                return
            if self._wanted:
                await asyncio.sleep(self._pause(code))

    async def push(self, kind: str, /, *, frame_id: str = "", **d: Any) -> asyncio.Future[Frame]:
        """Put a frame into the outbox and send it if there is a connection. The result, once there
        is one: the ack, or the nack after which sending it again is of no use."""
        frame = {"v": 1, "t": kind, "id": frame_id or uuid.uuid4().hex, "ts": 0, "d": d}
        waiting = Waiting(frame, asyncio.get_running_loop().create_future())
        self._outbox[str(frame["id"])] = waiting
        self.copies[str(frame["id"])] = waiting.sent
        await self._pump()
        return waiting.done

    async def ping(self) -> float:
        """Seconds to the pong."""
        frame_id, began = uuid.uuid4().hex, time.perf_counter()
        self._pings[frame_id] = asyncio.get_running_loop().create_future()
        await self._send({"v": 1, "t": "ping", "id": frame_id, "ts": 0, "d": {}})
        await self._pings[frame_id]
        return time.perf_counter() - began

    def drop(self) -> None:
        """Lose the connection without a word, as in a tunnel."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def close(self) -> None:
        """Go for good."""
        self._wanted = False
        for waiting in self._outbox.values():
            if waiting.again is not None:
                waiting.again.cancel()
        if self._socket is not None:
            await self._socket.close()

    async def _connected(self) -> int:
        """One connection from its beginning to its end; the code with which it was closed."""
        try:
            async with connect(
                self.page.url,
                origin=self.page.origin,  # type: ignore[arg-type]  # a plain string does
                subprotocols=["al.v1"],  # type: ignore[list-item]  # the same
                compression=None,
                ping_interval=None,
                max_size=None,
                open_timeout=20,
                close_timeout=1,
            ) as socket:
                self._socket, self._began = socket, time.perf_counter()
                hello = self.page.hello(self.token, self.ident)
                await self._send({"v": 1, "t": "hello", "id": "hello", "ts": 0, "d": hello})
                async for raw in socket:
                    await self._receive(_read(raw))
        except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
            pass
        return (self._socket.close_code if self._socket else None) or 1006

    def _pause(self, code: int) -> float:
        longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._failures)
        self._failures += 1
        jitter = random.random()  # noqa: S311 - no secret
        return (RATE_PAUSE if code == TOO_MUCH else 0.0) + jitter * longest

    async def _receive(self, frame: Frame) -> None:
        kind, about = frame["t"], frame.get("re", "")
        if kind == "welcome":
            await self._welcomed(frame["d"])
        elif kind == "nack" and frame["d"]["retry"] and about in self._outbox:
            self._send_again_later(self._outbox[about], frame["d"])
        elif kind in OUTCOMES and about in self._outbox:
            self._finish(about, frame)
            await self._pump()
        elif kind == "pong" and about in self._pings:
            self._pings.pop(about).set_result(frame)
        else:
            self.on_frame(frame)

    async def _welcomed(self, d: Mapping[str, Any]) -> None:
        self.greeted.append(time.perf_counter() - self._began)
        self.welcome, self.token, self._failures = d, d["tok"], 0
        self.ready.set()
        self._not_before = 0.0
        for waiting in self._outbox.values():
            waiting.under_way = False
        await self._pump()

    def _finish(self, frame_id: str, frame: Frame) -> None:
        waiting = self._outbox.pop(frame_id)
        if frame["t"] == "nack":
            self.nacks[frame["d"]["code"]] += 1
        if waiting.again is not None:
            waiting.again.cancel()
        if not waiting.done.done():
            waiting.done.set_result(frame)

    def _send_again_later(self, waiting: Waiting, nack: Mapping[str, Any]) -> None:
        self.nacks[nack["code"]] += 1
        seconds = nack.get("after_ms", 1000 * 2**waiting.tries) / 1000
        waiting.tries += "after_ms" not in nack
        seconds = min(LONGEST_PAUSE, seconds)
        loop = asyncio.get_running_loop()
        if waiting.again is not None:
            waiting.again.cancel()
        if nack["code"] == "too_early":  # it holds up nothing else
            waiting.again = loop.call_later(seconds, self._later, self._transmit, waiting)
            return
        waiting.under_way = False
        self._not_before = max(self._not_before, loop.time() + seconds)
        waiting.again = loop.call_at(self._not_before, self._later, self._pump)

    def _later(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Waiting) -> None:
        task = asyncio.get_running_loop().create_task(work(*args))
        self._resends.add(task)
        task.add_done_callback(self._resends.discard)

    async def _pump(self) -> None:
        """Send what waits, in its order, as far as the server takes it."""
        now = asyncio.get_running_loop().time() + CLOCK
        if not self.ready.is_set() or now < self._not_before:
            return
        free = MOST_UNDER_WAY - sum(waiting.under_way for waiting in self._outbox.values())
        turn = [waiting for waiting in self._outbox.values() if not waiting.under_way][
            : max(0, free)
        ]
        for waiting in turn:  # all of them marked before the first is awaited
            waiting.under_way = True
        for waiting in turn:
            await self._transmit(waiting)

    async def _transmit(self, waiting: Waiting) -> None:
        if self.ready.is_set() and not waiting.done.done():
            waiting.sent.append(time.time())
            await self._send(waiting.frame)

    async def _send(self, frame: Frame) -> None:
        try:
            if self._socket is not None:
                await self._socket.send(json.dumps(frame))
        except ConnectionClosed:
            return  # it is in the outbox, and goes with the next connection
