"""A slice: one worker's turn at driving a run, in one event loop with its own gateway.

The loop keeps a window of debates in flight; all database work happens in one thread of its own.
After a while, or when the run is paused or cancelled, the slice starts no further call, waits for
those under way and puts unfinished debates back: their turns are stored, nothing is paid twice.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias

from django.db import DatabaseError
from django.utils import timezone

from apps.common.jobs import is_closing
from apps.debates import events
from apps.debates.models import Run, Turn
from apps.debates.services.driving.answers import Answer, Answers
from apps.debates.services.driving.asker import Asker, Models, Talk
from apps.debates.services.driving.budget import Budget
from apps.debates.services.driving.closing import finish_run
from apps.debates.services.driving.halt import Halt, Reason
from apps.debates.services.driving.limits import pulse_of
from apps.debates.services.driving.pace import PACE, TICK, Pace
from apps.debates.services.driving.results import Claimed, Finished
from apps.debates.services.driving.retrieval import Retrieval
from apps.debates.services.driving.store import RunGone, SliceStore
from apps.debates.services.driving.threads import Database
from apps.debates.services.driving.writer import FailedTries, Writer
from apps.debates.services.scripts import Script, script_of
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec
from labelhub.core.debate.driver import run_debate
from labelhub.core.debate.outcome import Outcome
from labelhub.core.errors import LabelhubError

logger = logging.getLogger(__name__)

OpenModels: TypeAlias = Callable[[Iterable[ModelSpec]], AbstractAsyncContextManager[Models]]


class SliceEnd(StrEnum):
    """Why a slice ended."""

    FINISHED = "nothing of the run is left to do"
    MORE = "its time is up and there is more"
    STOPPED = "the run is paused, cancelled or gone"
    BUSY = "another worker is at it"


def run_slice(
    run_id: int,
    *,
    pace: Pace = PACE,
    open_models: OpenModels = Gateway.open,
    renew: Callable[[], object] = lambda: None,
) -> SliceEnd:
    """Drive the run for one slice. Safe to call at any time, in any process, for any run.

    ``renew`` renews the lease of the run's job, or raises that it is lost.
    """
    # Answers are looked up beside what is written: behind it, every call would wait for a batch.
    with Database(f"run-{run_id}") as database, Database(f"answers-{run_id}") as reading:
        return asyncio.run(_run_slice(run_id, (database, reading), pace, open_models, renew))


async def _run_slice(
    run_id: int,
    threads: tuple[Database, Database],
    pace: Pace,
    open_models: OpenModels,
    renew: Callable[[], object],
) -> SliceEnd:
    database = threads[0]
    begun = await database(_begin, run_id, pace, renew)
    if isinstance(begun, SliceEnd):
        return begun
    halt = Halt(begun.last_ends)
    try:
        async with open_models(begun.models) as models:
            await Slice(begun, models=models, halt=halt, threads=threads, pace=pace).run()
    except RunGone:
        return SliceEnd.STOPPED
    except LabelhubError as error:
        halt.stop_for(error)
    except Exception:
        logger.exception("A slice of run %s broke", run_id)
        halt.stop_for_fault()
    finally:
        await database(_let_go, begun.store)
    return await database(_after, begun.store, halt.reason)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run taken up: what is read and written, what is played, where precedents come from."""

    store: SliceStore
    script: Script
    retrieval: Retrieval
    answered: frozenset[str] | None
    last_ends: Sequence[tuple[bool, str]]

    @property
    def models(self) -> list[ModelSpec]:
        """All that may be asked."""
        embedder = self.retrieval.model
        return [*self.script.models, *([embedder] if embedder else [])]


def _begin(run_id: int, pace: Pace, renew: Callable[[], object]) -> "SliceEnd | Begun":
    """What to drive, or why there is nothing to drive."""
    if finish_run(run_id):
        events.announce_run(run_id)
        return SliceEnd.FINISHED
    run = (
        Run.objects.going()
        .filter(pk=run_id)
        .select_related("project", "schema", "guideline")
        .first()
    )
    if run is None:
        return SliceEnd.STOPPED
    store = SliceStore(run, timedelta(seconds=pace.lease), renew)
    if not store.begin():
        return SliceEnd.BUSY
    try:
        script = script_of(run)
        retrieval = Retrieval.of_run(run, script.settings, script.models)
        return Begun(store, script, retrieval, store.answered_keys(), store.last_ends())
    except LabelhubError as error:
        store.release()
        store.pause(error.code, error.message)
    except Exception:
        logger.exception("Run %s could not be taken up", run_id)
        store.release()
        store.rest()
    return SliceEnd.STOPPED


def _let_go(store: SliceStore) -> None:
    try:
        store.release()
    except DatabaseError:
        logger.exception("Run %s could not be released; its leases lapse", store.run.pk)


def _after(store: SliceStore, reason: Reason | None) -> SliceEnd:
    """Settle the run's status once the slice has let go of its debates."""
    try:
        if reason is not None and reason.fault:
            store.rest()
            return SliceEnd.STOPPED
        store.recovered()
        if reason is None:
            return SliceEnd.FINISHED if finish_run(store.run.pk) else SliceEnd.BUSY
        if reason.code:
            store.pause(reason.code, reason.message, reason.resume_at)
        return SliceEnd.MORE if reason.again else SliceEnd.STOPPED
    finally:
        events.announce_run(store.run.pk)


class Slice:
    """The window of debates in flight. Use once, within one event loop."""

    def __init__(
        self,
        begun: Begun,
        *,
        models: Models,
        halt: Halt,
        threads: tuple[Database, Database],
        pace: Pace,
    ) -> None:
        self._store, self._script, self._retrieval = begun.store, begun.script, begun.retrieval
        self._halt = halt
        (self._database, self._reading), self._pace = threads, pace
        self._width = self._pace.width or begun.script.width
        self._grace = max(pace.grace, begun.script.longest_answer)
        self._writer = Writer(self._write, rows=self._pace.flush_rows, seconds=self._pace.flush)
        run = self._store.run
        self._budget = Budget(run.budget_nanousd, run.cost_nanousd, unread=run.unread_nanousd)
        self._asker = Asker(
            roles=begun.script.roles,
            models=models,
            budget=self._budget,
            writer=self._writer,
            halt=halt,
            answers=Answers(self._stored_answers, keys=begun.answered),
        )
        # Half a claim waits here while the next one is fetched.
        self._ready: asyncio.Queue[Claimed | None] = asyncio.Queue(max(1, self._pace.claim // 2))
        self._models = models
        self._announced = 0.0

    async def run(self) -> None:
        """Drive debates until none is left or the halt is asked for."""
        writing = asyncio.create_task(self._writer.run())
        workers = [asyncio.create_task(self._work()) for _ in range(self._width)]
        others = [asyncio.create_task(self._feed()), asyncio.create_task(self._beat())]
        try:
            await self._watch(workers, [writing, *others])
        finally:
            for task in (*workers, *others):
                task.cancel()
            self._writer.close()
            await asyncio.gather(*workers, *others, writing, return_exceptions=True)
            await self._writer.flush()
            if self._retrieval.unbooked:
                await self._write((), ())

    async def _watch(
        self, workers: list[asyncio.Task[None]], others: list[asyncio.Task[None]]
    ) -> None:
        """Wait for the workers; raises what any task raised."""
        deadline = time.monotonic() + self._pace.slice
        while not all(worker.done() for worker in workers):
            going = [task for task in (*workers, *others) if not task.done()]
            done, _ = await asyncio.wait(going, timeout=TICK, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            now = time.monotonic()
            if is_closing():
                self._halt.stop()
            if now > deadline:
                self._halt.stop(Reason(again=True))
            if not self._halt.asked:
                continue
            # What is being answered is paid for: wait for it, within reason. A call that still
            # waits for its turn, or to be tried again, is not, and is left to the next slice.
            self._models.hold()
            if self._models.in_flight() == 0 or now > deadline + self._grace:
                return

    async def _feed(self) -> None:
        await self._retrieval.begin(self._models, self._budget, self._halt)
        while not self._halt.asked:
            claimed = await self._database(self._store.claim, self._pace.claim)
            if not claimed:
                break
            for each in await self._retrieval.attach(claimed):
                await self._ready.put(each)
        for _ in range(self._width):
            await self._ready.put(None)

    async def _work(self) -> None:
        while (claimed := await self._ready.get()) is not None:
            await self._debate(claimed)

    async def _debate(self, claimed: Claimed) -> None:
        talk = Talk(claimed)
        outcome = await self._outcome(talk)
        error = talk.error if outcome.failed else ""
        self._writer.conclude(Finished(claimed, outcome, talk.spent, timezone.now(), error))
        self._halt.note(outcome.failed, error)

    async def _outcome(self, talk: Talk) -> Outcome:
        try:
            debate = self._script.start(talk.claimed.debate_item)
            return await run_debate(debate, partial(self._asker.ask, talk))
        except LabelhubError as error:
            talk.error = error.message
        except Exception:
            # One item that trips a fault of ours must not keep the whole run from its end.
            logger.exception("Debate %s of run %s broke", talk.claimed.pk, self._store.run.pk)
            talk.error = "This item made the protocol fail; the server's log has the details."
        return Outcome(value=None, failed=True)

    async def _stored_answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        return await self._reading(self._store.answers, keys)

    async def _write(
        self,
        turns: Sequence[Turn],
        finished: Sequence[Finished],
        tries: Sequence[FailedTries] = (),
    ) -> None:
        other_cost = self._retrieval.unbooked
        status = await self._database(self._store.write, turns, finished, tries, other_cost)
        self._heed(status)
        self._retrieval.unbooked -= other_cost
        now = time.monotonic()
        if now - self._announced >= self._pace.announce:
            self._announced = now
            await self._database(events.announce_run, self._store.run.pk)

    async def _beat(self) -> None:
        while True:
            status = await self._database(self._store.beat, self._pulse())
            self._heed(status)
            await asyncio.sleep(self._pace.beat)

    def _heed(self, status: str) -> None:
        """Stop when somebody has paused, cancelled or deleted the run."""
        if status != Run.Status.RUNNING:
            self._halt.stop()

    def _pulse(self) -> dict[str, Any]:
        return pulse_of(self._script, self._models, self._models.in_flight())
