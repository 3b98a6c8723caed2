"""Answers from many widgets while what they are sent to is killed, and what is there afterwards."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.bench.child import told_by
from tests.fakes.stack import ROOT, Program, Stack, free_port
from tests.fakes.widget_client import Embedding, Frame, WidgetClient

#: So many answers of one person wait for their ack, and no more are given meanwhile.
MOST_WAITING = 10
#: Seconds between two answers of one person, at most; share of answers after which the connection
#: is lost.
PACE, FLAPS = 0.2, 0.1


def store(stack: Stack, *given: object) -> dict[str, Any]:
    """What ``widget_store.py`` says to a command about the database of ``stack``."""
    return told_by(ROOT / "tests/bench/widget_store.py", *given, env=stack.env)


@dataclass(slots=True)
class Served:
    """A server that is started again on its port."""

    stack: Stack
    port: int = field(default_factory=free_port)
    program: Program = field(init=False)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.program, _ = self.stack.server("--port", str(self.port))

    def kill(self) -> None:
        """SIGKILL, and at once another."""
        self.program.kill()
        self.start()

    def terminate(self) -> None:
        """SIGTERM, and another once it has ended."""
        self.program.stop()
        self.start()

    def page(self, site: dict[str, Any]) -> Embedding:
        """A page that embeds the site of which ``widget_store.py`` has told."""
        url = f"ws://127.0.0.1:{self.port}/ws/v1/widget/"
        return Embedding(url, site["key"], site["origin"], site["consent"])


@dataclass(slots=True)
class Tally:
    """What was sent and what was found; all but the first three must be zero."""

    answers: int
    copies: int
    #: Copies that left when their answer was stored already: made harmless by its id.
    repeated: int
    not_acked: int
    lost: int
    wrong: int
    doubled: int
    #: Answers without a label, labelled items without a decision.
    unlabelled: int
    seconds: float
    nacks: Counter[str]
    closed_with: Counter[int]

    @property
    def faults(self) -> int:
        """Everything that must not be."""
        return self.not_acked + self.lost + self.wrong + self.doubled + self.unlabelled


@dataclass(slots=True)
class Progress:
    """How many answers are acknowledged, all people together."""

    acked: int = 0
    _wanted: int = 0
    _there: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, done: asyncio.Future[Frame]) -> None:
        """One more, unless it was refused."""
        self.acked += done.result()["t"] == "ack"
        if self.acked >= self._wanted:
            self._there.set()

    async def reach(self, wanted: int) -> None:
        """Wait until there are so many."""
        self._wanted = wanted
        if self.acked < wanted:
            self._there.clear()
            await self._there.wait()


@dataclass(slots=True)
class Person:
    """Somebody who answers the questions that were put to them, in their order."""

    client: WidgetClient
    questions: Sequence[str]
    progress: Progress
    #: Id of the frame → question and chosen option.
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def answer_all(self) -> None:
        """Give every answer, and wait until all are acknowledged."""
        waiting: set[asyncio.Future[Frame]] = set()
        chance = random.Random(self.questions[0])  # noqa: S311 - no secret
        for uid in self.questions:
            option = chance.choice("abcd")
            done = await self.client.push("answer", qid=uid, opt=option, ms=6000, kb=False)
            self.answers[next(reversed(self.client.copies))] = (uid, option)
            done.add_done_callback(self.progress.count)
            waiting.add(done)
            await asyncio.sleep(chance.random() * PACE)
            if chance.random() < FLAPS:
                self.client.drop()
            while len(waiting := {task for task in waiting if not task.done()}) >= MOST_WAITING:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if waiting:
            await asyncio.wait(waiting)


async def answer_through(
    served: Served, site: dict[str, Any], faults: Sequence[Callable[[], object]]
) -> tuple[list[Person], float]:
    """Let everybody answer everything; the faults come when equal shares are acknowledged."""
    page, progress, began = served.page(site), Progress(), time.perf_counter()
    people = [
        Person(WidgetClient(page, author["token"]), author["questions"], progress)
        for author in site["authors"]
    ]
    lives = [asyncio.create_task(person.client.run()) for person in people]
    answering = [asyncio.create_task(person.answer_all()) for person in people]
    total = sum(len(person.questions) for person in people)
    for index, fault in enumerate(faults, 1):
        await progress.reach(total * index // (len(faults) + 2))
        await asyncio.to_thread(fault)
    await asyncio.gather(*answering)
    seconds = time.perf_counter() - began
    await asyncio.gather(*(person.client.close() for person in people))
    await asyncio.gather(*lives)
    return people, seconds


def tally(stack: Stack, site: dict[str, Any], people: list[Person], seconds: float) -> Tally:
    """Compare what people said with what the database holds."""
    found = store(stack, "answers", site["key"])
    stored: dict[str, list[Any]] = found["answers"]
    answers = {ref: answer for person in people for ref, answer in person.answers.items()}
    copies = {ref: person.client.copies[ref] for person in people for ref in person.answers}
    return Tally(
        answers=len(answers),
        copies=sum(map(len, copies.values())),
        repeated=sum(
            copy > stored[ref][2] for ref in copies if ref in stored for copy in copies[ref]
        ),
        not_acked=len(answers) - people[0].progress.acked,
        lost=len(answers.keys() - stored.keys()),
        wrong=sum(
            ref in stored and stored[ref][:2] != [uid, site["options"][option]]
            for ref, (uid, option) in answers.items()
        ),
        doubled=sum(
            abs(found[kind] - len(stored)) for kind in ("rows", "items", "labels", "golds")
        ),
        unlabelled=found["labels_missing"] + found["items_off"],
        seconds=seconds,
        nacks=sum((person.client.nacks for person in people), Counter()),
        closed_with=sum((person.client.closed_with for person in people), Counter()),
    )


def survive(
    served: Served, clients: int, questions: int, faults: Sequence[Callable[[], object]]
) -> Tally:
    """Answers from so many clients through all the faults; the server is started here and left."""
    site = store(served.stack, "questions", clients, questions)
    served.start()
    people, seconds = asyncio.run(answer_through(served, site, faults))
    return tally(served.stack, site, people, seconds)
