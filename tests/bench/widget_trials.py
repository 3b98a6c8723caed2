"""What is tried with many widgets at one server: sockets, talk, a slow neighbour, a restart."""

import asyncio
import os
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.bench.report import Figures, spread
from tests.bench.widget_kill import Served
from tests.bench.widget_load import Speaker, connected, pings, talk_at, texts
from tests.fakes.widget_client import WidgetClient

#: Messages a second that are tried one after the other, until one is too much.
LADDER = (10, 25, 50, 75, 100, 125, 150, 200, 250, 300, 400, 500)
STEP_SECONDS, WITHIN_MS = 10.0, 100.0
#: Seconds that a row is kept from the handler that wants it; rounds without and with a slow one.
HELD, TURNS = 2.0, 3


async def many_sockets(served: Served, site: dict[str, Any], wanted: int) -> Figures:
    """So many who are there and say nothing: memory of each, and how soon a ping is answered."""
    page = served.page(site)
    async with connected([WidgetClient(page) for _ in range(50)]):
        await asyncio.sleep(3)  # what is loaded by the first ones is not theirs
    before, began = served.program.rss_mb(), time.perf_counter()
    clients = [WidgetClient(page) for _ in range(wanted)]
    async with connected(clients):
        seconds = time.perf_counter() - began
        await asyncio.sleep(3)
        grown = served.program.rss_mb() - before
        waited = await pings(clients, 50, 10)
        greeted = [seconds for client in clients for seconds in client.greeted]
        return {
            "sockets": wanted,
            "sockets_not_welcomed": wanted - sum(client.ready.is_set() for client in clients),
            "sockets_kb_each": grown * 1024 / wanted,
            "sockets_connected_per_s": wanted / seconds,
            **spread("sockets_welcome", greeted),
            **spread("sockets_ping", waited),
        }


async def much_talk(
    served: Served,
    site: dict[str, Any],
    people: int,
    rate: float,
    seconds: float,
    answering: float,
) -> Figures:
    """Ever more messages by so many people, until it is too much; then at the given rate, when a
    share of the people answer what they are asked and the others let it time out."""
    page, words = served.page(site), texts()
    speakers = [Speaker(page, answers=False) for _ in range(people)]
    async with connected([speaker.client for speaker in speakers]):
        first = await talk_at(speakers[:1], 2, 1, words)
        await talk_at(speakers, 10, 5, words)
        figures = spread("talk_first_question", first.questions[:1] * 2)
        figures |= await _ladder(served, speakers, words)
        await _drained(speakers)
        chance = random.Random(3)  # noqa: S311 - no secret
        for speaker in speakers:
            speaker.answers = chance.random() < answering
        cpu = _cpu_seconds(served)
        main = await talk_at(speakers, rate, seconds, words)
        cpu = _cpu_seconds(served) - cpu
        await _drained(speakers)
        return figures | {
            "talk_people": people,
            "talk_sent": main.sent,
            **spread("talk_question", main.questions),
            **spread("talk_ack", main.acks),
            **spread("talk_answer_ack", main.answered),
            **spread("talk_late", main.late),
            "talk_lost": sum(speaker.client.waiting for speaker in speakers),
            "talk_refused": dict(main.refused),
            "talk_answers": main.answers,
            "talk_cpu_ms_per_message": 1000 * cpu / max(1, main.sent),
            "sent_in_all": sum(speaker.written for speaker in speakers),
            "asked_in_all": sum(speaker.asked for speaker in speakers),
        }


async def _ladder(served: Served, speakers: list[Speaker], words: Iterator[str]) -> Figures:
    """Ever more messages a second until the questions, or the acks, come late."""
    held, figures = 0, {}
    for rate in LADDER:
        cpu, waited, began = _cpu_seconds(served), _kept_waiting(served), time.perf_counter()
        step = await talk_at(speakers, rate, STEP_SECONDS, words)
        waited = (_kept_waiting(served) - waited) / (time.perf_counter() - began)
        took = spread("p", step.questions) | spread("ack", step.acks) | spread("late", step.late)
        figures[f"talk_at_{rate}"] = measured = {
            "question_p50": round(took.get("p_p50_ms", -1)),
            "question_p95": round(took.get("p_p95_ms", -1)),
            "ack_p95": round(took.get("ack_p95_ms", -1)),
            "late_p95": round(took["late_p95_ms"]),
            "asked": round(len(step.questions) / step.sent, 2),
            "cpu_ms": round(1000 * (_cpu_seconds(served) - cpu) / step.sent, 1),
            "kept_waiting": round(waited, 2),
        }
        print(rate, measured, file=sys.stderr, flush=True)
        if not 0 <= measured["question_p95"] <= WITHIN_MS or step.waiting:
            break
        held = rate
    return {"talk_holds_per_s": held, **figures}


async def _drained(speakers: list[Speaker]) -> None:
    """Until nothing waits for an ack any more, or two minutes."""
    until = time.monotonic() + 120
    while any(speaker.client.waiting for speaker in speakers) and time.monotonic() < until:
        await asyncio.sleep(1)
        await asyncio.gather(*(speaker.settled() for speaker in speakers))


async def slow_neighbour(served: Served, site: dict[str, Any], heavy: dict[str, Any]) -> Figures:
    """How long others wait while the frames of ``one`` keep the database, and while none does; in
    turns, as the machine is not the same from one moment to the next."""
    page, words = served.page(site), texts()
    speakers = [Speaker(page, answers=False) for _ in range(100)]
    slow = WidgetClient(page, heavy["token"])
    calm, hindered, slow_ms = _Waits(), _Waits(), list[float]()
    async with connected([slow, *(speaker.client for speaker in speakers)]):
        await talk_at(speakers, 5, 5, words)  # what the first messages load is no matter here
        for _ in range(TURNS):
            await _others(speakers, words, calm)
            hindering = asyncio.create_task(_hinder(served, slow, heavy, slow_ms))
            await _others(speakers, words, hindered)
            hindering.cancel()
            await asyncio.gather(hindering, return_exceptions=True)
            await _drained(speakers)
    return {
        "isolation_slow_frames": len(slow_ms),
        "isolation_slow_frame_ms": sum(slow_ms) / max(1, len(slow_ms)),
        **spread("isolation_ping", hindered.pings),
        **spread("isolation_ack", hindered.acks),
        **spread("isolation_calm_ping", calm.pings),
        **spread("isolation_calm_ack", calm.acks),
    }


@dataclass(slots=True)
class _Waits:
    """Seconds to each pong and each ack."""

    pings: list[float] = field(default_factory=list)
    acks: list[float] = field(default_factory=list)


async def _others(speakers: list[Speaker], words: Iterator[str], into: _Waits) -> None:
    clients = [speaker.client for speaker in speakers]
    waited, talked = await asyncio.gather(pings(clients, 20, 6), talk_at(speakers, 10, 6, words))
    into.pings += waited
    into.acks += talked.acks


async def _hinder(
    served: Served, slow: WidgetClient, heavy: dict[str, Any], took: list[float]
) -> None:
    """One frame after the other that takes the database two seconds and more."""
    while True:
        began = time.perf_counter()
        if served.stack.database:
            async with _locked(served.stack.database, heavy["question"]):
                done = await slow.push("dismiss", qid=heavy["question"], how="timeout")
                await asyncio.sleep(HELD)
            await done
        else:
            await (await slow.push("export"))
        took.append(1000 * (time.perf_counter() - began))


@asynccontextmanager
async def _locked(database: str, question: str) -> AsyncIterator[None]:
    """A row that the handler wants is somebody else's meanwhile."""
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute(
            "SELECT 1 FROM authors_question WHERE uid = %s FOR UPDATE", [question]
        )
        yield


async def restart(served: Served, site: dict[str, Any], people: int) -> Figures:
    """All come back at once after the server was killed and started again."""
    clients = [WidgetClient(served.page(site)) for _ in range(people)]
    async with connected(clients):
        await asyncio.sleep(2)
        for client in clients:
            client.greeted.clear()
        killed = time.perf_counter()
        await asyncio.to_thread(served.kill)
        up, cpu = time.perf_counter(), _cpu_seconds(served)
        while sum(map(len, (client.greeted for client in clients))) < people:
            if time.perf_counter() - up > 120:
                break
            await asyncio.sleep(0.05)
        back = time.perf_counter()
        greeted = [seconds for client in clients for seconds in client.greeted]
        return {
            "storm_people": people,
            "storm_s": back - up,
            "storm_since_kill_s": back - killed,
            "storm_not_resumed": sum(not client.welcome["resumed"] for client in clients)
            + sum(not client.greeted for client in clients),
            "storm_cpu_share": (_cpu_seconds(served) - cpu) / (back - up),
            **spread("storm_welcome", greeted),
        }


def _cpu_seconds(served: Served) -> float:
    stat = Path(f"/proc/{served.program.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _kept_waiting(served: Served) -> float:
    """Seconds that the server's first thread was ready and had no processor."""
    stat = Path(f"/proc/{served.program.process.pid}/schedstat").read_text()
    return int(stat.split()[1]) / 1e9
