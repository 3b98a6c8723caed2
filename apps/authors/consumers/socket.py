"""One websocket: what may come through it, how fast, and how it is closed."""

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from labelhub.core.interview.frames import frame
from labelhub.core.interview.limits import TokenBucket

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[None]]

SUBPROTOCOL = "al.v1"
#: Frames a second, and how many at once after a pause (author-widget.md, 2.4).
RATE, BURST = 5.0, 20.0
#: The same of signs of life, which must not be held back by what else is sent.
PING_RATE, PING_BURST = 1.0, 10.0
#: Seconds in which no frame is taken once one was refused: those that were sent right behind it,
#: and are still on their way, must not overtake it.
PAUSE = 1.0
#: Close the connection after so many refused frames in a row.
FLOOD = 40
#: Frames that wait for a slow reader.
MOST_WAITING = 32

#: Characters of a sign of life, and what it has in it.
MOST_OF_PING = 200
_PING = re.compile(r'"t"\s*:\s*"ping"')

BAD_FRAME, NO_AUTH, REFUSED, IDLE = 4400, 4401, 4403, 4408
REPLACED, LEFT, TOO_BIG, TOO_MUCH = 4409, 4410, 4413, 4429


class Socket:
    """Sending and closing in good order; frames of one socket never overtake each other."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive, self._send = receive, send
        self._lock = asyncio.Lock()
        self._waiting = 0
        self.closed = False
        self._bucket = TokenBucket(RATE, BURST)
        self._pings = TokenBucket(PING_RATE, PING_BURST)
        self.refused = 0

    @property
    def origin(self) -> str:
        """The page's origin as its browser says, in lower case; empty where none does."""
        return self.header("origin").lower()

    def header(self, name: str) -> str:
        wanted = name.lower().encode()
        found = next((value for key, value in self.scope["headers"] if key == wanted), b"")
        return bytes(found).decode("latin-1")

    async def has_room(self, raw: str | bytes) -> bool:
        """Whether this frame is not one too many, before anything of it is read. What does not fit
        is to be sent again, each later than the one before, when there is room for all of them;
        who goes on regardless is found in :attr:`floods`."""
        # Told from its outside. What only looks like one has the fewer tokens for it.
        ping = isinstance(raw, str) and len(raw) <= MOST_OF_PING and bool(_PING.search(raw))
        bucket = self._pings if ping else self._bucket
        if bucket.take():
            self.refused = self.refused if ping else 0
            return True
        self.refused += 1
        bucket.shut(PAUSE)
        wait = bucket.wait(min(self.refused, PING_BURST if ping else BURST))
        after = math.ceil(wait * 1000)
        await self.nack(frame_id(raw), "rate", "Too much at once.", retry=True, after_ms=after)
        return False

    @property
    def floods(self) -> bool:
        """Whether so much was refused in a row that the other side does not listen."""
        return self.refused >= FLOOD

    async def accept(self) -> None:
        """Open it. Refusals come afterwards: before, a browser would not be told the code."""
        offered = self.scope.get("subprotocols", [])
        chosen = SUBPROTOCOL if SUBPROTOCOL in offered else None
        await self._send({"type": "websocket.accept", "subprotocol": chosen})

    async def receive(self) -> str | bytes | None:
        """The next frame; None once the other side is gone."""
        while True:
            event = await self._receive()
            if event["type"] == "websocket.disconnect":
                self.closed = True
                return None
            if event["type"] == "websocket.receive":
                text = event.get("text")
                return text if text is not None else event.get("bytes") or b""

    async def send(self, kind: str, d: Mapping[str, Any], **envelope: Any) -> None:
        """Send a frame; a reader that is far behind is cut off, to come back when it can."""
        await self.send_text(frame(kind, d, **envelope))

    async def send_text(self, text: str) -> None:
        """Send a frame that is written already."""
        if self.closed:
            return
        if self._waiting >= MOST_WAITING:
            await self.close(TOO_MUCH, "You read too slowly.")
            return
        self._waiting += 1
        try:
            async with self._lock:
                if not self.closed:
                    await self._send({"type": "websocket.send", "text": text})
        except (OSError, RuntimeError):  # it was closed from the other side meanwhile
            self.closed = True
        finally:
            self._waiting -= 1

    async def ack(self, re: str, **d: Any) -> None:
        """What was sent under this id is done, and kept."""
        await self.send("ack", d, re=re)

    async def nack(self, re: str, code: str, message: str, **d: Any) -> None:
        """What was sent under this id is not done; ``retry`` says whether to send it again."""
        await self.send("nack", {"code": code, "message": message, "retry": False} | d, re=re)

    async def close(self, code: int, reason: str = "") -> None:
        """End it. The reason is at most 123 bytes long (RFC 6455)."""
        if self.closed:
            return
        self.closed = True
        short = reason.encode()[:120].decode(errors="ignore")
        try:
            await self._send({"type": "websocket.close", "code": code, "reason": short})
        except (OSError, RuntimeError):
            return


def frame_id(raw: str | bytes) -> str:
    """The id of a frame that is refused unread, so that its sender knows which."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    known = found.get("id") if isinstance(found, dict) else None
    return known if isinstance(known, str) and len(known) <= 64 else ""
