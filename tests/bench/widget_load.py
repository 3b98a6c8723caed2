"""Many widgets at once against one server, and the clock around what they send."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count

from tests.fakes.widget_client import Embedding, Frame, WidgetClient

#: Widgets that are on their way to a welcome at the same time.
CONNECTING = 24
#: Seconds in which what was sent must have been answered.
PATIENCE = 30.0
#: Seconds that a question which is not answered stays on the screen.
LOOKED_AT = 0.2

_KINDS = "quiet cheap light sturdy small large red silver warm fast slim soft loud bright new used"
_THINGS = "laptop phone camera tent lamp jacket bicycle printer sofa mixer watch guitar desk oven"
_WHOM = "neighbour friend colleague boss wife husband uncle aunt cousin partner flatmate client"
_WHEN = "tomorrow tonight Friday Monday Christmas Easter summer autumn winter spring June March"


def texts() -> Iterator[str]:
    """Messages of somebody who wants to buy something, no two alike."""
    words = [line.split() for line in (_KINDS, _THINGS, _WHOM, _WHEN)]
    for number in count():
        kind, thing, whom, when = (
            some[(number * step) % len(some)]
            for some, step in zip(words, (1, 3, 5, 7), strict=True)
        )
        yield (
            f"I need a {kind} {thing} number {number} for my {whom} before {when}, "
            f"which one would you buy if it must not cost more than {100 + number % 900} dollars?"
        )


@asynccontextmanager
async def connected(clients: Sequence[WidgetClient]) -> AsyncIterator[None]:
    """All of them welcomed, a few at a time; they leave at the end."""
    gate = asyncio.Semaphore(CONNECTING)
    lives: list[asyncio.Task[None]] = []

    async def enter(client: WidgetClient) -> None:
        async with gate:
            lives.append(asyncio.create_task(client.run()))
            await asyncio.wait_for(client.ready.wait(), PATIENCE)

    try:
        await asyncio.gather(*map(enter, clients))
        yield
    finally:
        await asyncio.gather(*(client.close() for client in clients))
        await asyncio.gather(*lives)


async def pings(clients: Sequence[WidgetClient], rate: float, seconds: float) -> list[float]:
    """Seconds to each pong, of pings by random clients at that rate."""
    chance = random.Random(1)  # noqa: S311 - no secret
    tasks = [
        asyncio.create_task(chance.choice(clients).ping())
        async for _ in _beats(rate, seconds, chance)
    ]
    return list(await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE))


@dataclass(slots=True)
class Talk:
    """What became of messages: seconds from sending each to its ack, and to its first question.

    ``late``: how much later than planned each was sent; says how busy this client was.
    ``refused``: code → messages and answers that were not taken.
    """

    sent: int = 0
    #: Messages without an ack or a nack so far.
    waiting: int = 0
    acks: list[float] = field(default_factory=list)
    questions: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    answers: int = 0
    answered: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class Speaker:
    """Somebody who writes, and settles each question: by answering as soon as it can be read, or
    by letting it time out, which counts as no dismissal."""

    def __init__(self, page: Embedding, *, answers: bool) -> None:
        self.client = WidgetClient(page, on_frame=self._heard)
        self.answers = answers
        self.talk = Talk()
        #: Messages of theirs, and those that led to a question.
        self.written = self.asked = 0
        self._asked_at: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def write(self, text: str, mid: str, talk: Talk) -> None:
        """Send a message; what becomes of it is told to ``talk``."""
        self.talk, began = talk, time.perf_counter()
        self._asked_at[mid] = began
        talk.sent += 1
        talk.waiting += 1
        self.written += 1
        done = await self.client.push("msg", text=text, mid=mid, conv="talk", role="author")
        done.add_done_callback(lambda done: _note_message(done, talk, began))

    async def settled(self) -> None:
        """Once nothing is under way here."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _heard(self, frame: Frame) -> None:
        if frame["t"] != "question":
            return
        began = self._asked_at.pop(frame["re"], None)
        if began is not None:
            self.asked += 1
            self.talk.questions.append(time.perf_counter() - began)
        task = asyncio.get_running_loop().create_task(self._settle(frame, first=began is not None))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _settle(self, frame: Frame, *, first: bool) -> None:
        d = frame["d"]
        await self.client.push("shown", qid=d["qid"], lat=20)
        if not (self.answers and first and d["opts"]):
            await asyncio.sleep(LOOKED_AT)
            # After an answer, closing the next question counts against nobody.
            how = "close" if self.answers and not first else "timeout"
            await self.client.push("dismiss", qid=d["qid"], how=how)
            return
        await asyncio.sleep(d["min_ms"] / 1000 + LOOKED_AT)
        talk, began = self.talk, time.perf_counter()
        talk.answers += 1
        answer = {"qid": d["qid"], "opt": d["opts"][0]["id"], "ms": d["min_ms"], "kb": False}
        done = await self.client.push("answer", **answer)
        done.add_done_callback(lambda done: _note(done, talk, talk.answered, began))


def _note_message(done: "asyncio.Future[Frame]", talk: Talk, began: float) -> None:
    talk.waiting -= 1
    _note(done, talk, talk.acks, began)


def _note(done: "asyncio.Future[Frame]", talk: Talk, into: list[float], began: float) -> None:
    frame = done.result()
    if frame["t"] == "ack":
        into.append(time.perf_counter() - began)
    else:
        talk.refused[frame["d"]["code"]] += 1


async def talk_at(
    speakers: Sequence[Speaker], rate: float, seconds: float, words: Iterator[str]
) -> Talk:
    """Messages at that rate, each by another speaker in turn; ends when all is settled, or after
    :data:`PATIENCE`."""
    talk, chance = Talk(), random.Random(2)  # noqa: S311 - no secret
    turns = iter(range(10**9))
    prefix = f"m{time.time_ns()}"
    async for late in _beats(rate, seconds, chance):
        due = next(turns)
        talk.late.append(late)
        await speakers[due % len(speakers)].write(next(words), f"{prefix}-{due}", talk)
    with suppress(TimeoutError):  # what is missing then is counted as lost
        await asyncio.wait_for(_quiet(speakers, talk), PATIENCE)
    return talk


async def _quiet(speakers: Sequence[Speaker], talk: Talk) -> None:
    """Until every message has its ack or nack, and for a second nothing new came."""
    before = -1
    while talk.waiting or before != len(talk.questions):
        before = len(talk.questions)
        await asyncio.sleep(1)
        await asyncio.gather(*(speaker.settled() for speaker in speakers))


async def _beats(rate: float, seconds: float, chance: random.Random) -> AsyncIterator[float]:
    """Moments as independent people would choose them; yields how late each is."""
    began = time.perf_counter()
    planned = began
    while (planned := planned + chance.expovariate(rate)) < began + seconds:
        await asyncio.sleep(max(0.0, planned - time.perf_counter()))
        yield time.perf_counter() - planned
