"""A slice: one worker's turn at a study, in one event loop with its own gateway.

As with runs of debates: after a while, or when the study is paused or cancelled, no further call
is started, those under way are waited for, and the rest stays waiting. A worker that is killed
loses what was under way; all that was written stays, and nothing of it is asked again.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from datetime import timedelta
from typing import TypeAlias

from django.db import DatabaseError

from apps.agreement.models import Study
from apps.agreement.predictivity.outcomes import Outcome, Waiting, answered, failed
from apps.agreement.predictivity.store import StudyStore
from apps.agreement.predictivity.studies import GOING
from apps.debates.services import Pace, SliceEnd
from apps.debates.services.driving.asker import Held, Models
from apps.debates.services.driving.budget import Budget, BudgetReached
from apps.debates.services.driving.halt import (
    TOLERATED_SHARE,
    WINDOW,
    Halt,
    Reason,
    closing,
)
from apps.debates.services.driving.pace import PACE, TICK
from apps.debates.services.driving.slices import OpenModels
from apps.debates.services.driving.threads import Database
from apps.llm.gateway import Gateway
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.errors import ModelError

logger = logging.getLogger(__name__)
MOST_WIDTH = 64
Fetched: TypeAlias = asyncio.Queue[Waiting | None]


def run_study(
    study_id: int, *, pace: Pace = PACE, open_models: OpenModels = Gateway.open
) -> SliceEnd:
    """Drive the study for one slice. Safe to call at any time, in any process, for any study."""
    with Database(f"study-{study_id}") as database:
        return asyncio.run(_run_study(study_id, database, pace, open_models))


async def _run_study(
    study_id: int, database: Database, pace: Pace, open_models: OpenModels
) -> SliceEnd:
    begun = await database(_begin, study_id, pace)
    if isinstance(begun, SliceEnd):
        return begun
    halt = Halt()
    try:
        async with open_models([begun.model]) as models:
            await _Slice(begun, models, halt, database=database, pace=pace).run()
    except LabelhubError as error:
        halt.stop_for(error)
    except Exception:
        logger.exception("A slice of study %s broke", study_id)
        halt.stop_for_fault()
    return await database(_after, begun, halt.reason)


def _begin(study_id: int, pace: Pace) -> "SliceEnd | StudyStore":
    """What to drive, or why there is nothing to drive."""
    told = Study.objects.select_related("project", "prompt", "model__provider")
    study = told.filter(pk=study_id, status__in=GOING).first()
    if study is None:
        return SliceEnd.STOPPED
    store = StudyStore(study, timedelta(seconds=pace.lease))
    if not store.begin():
        return SliceEnd.BUSY
    try:
        store.load()
    except LabelhubError as error:
        store.pause(error.code, error.message)
    except Exception:
        logger.exception("Study %s could not be taken up", study_id)
        store.rest()
    else:
        return store
    store.release()
    return SliceEnd.STOPPED


def _after(store: StudyStore, reason: Reason | None) -> SliceEnd:
    """Settle the study's status and let go of it."""
    try:
        if reason is not None and reason.fault:
            store.rest()
            return SliceEnd.STOPPED
        store.recovered()
        if reason is None:
            # Not finished: tasks were added meanwhile.
            return SliceEnd.FINISHED if store.finish() else SliceEnd.MORE
        if reason.code:
            store.pause(reason.code, reason.message, reason.resume_at)
        return SliceEnd.MORE if reason.again else SliceEnd.STOPPED
    finally:
        try:
            store.release()
        except DatabaseError:
            logger.exception("Study %s could not be released; its lease lapses", store.study.pk)


class _Slice:
    """The calls in flight. Use once, within one event loop."""

    def __init__(
        self, store: StudyStore, models: Models, halt: Halt, *, database: Database, pace: Pace
    ) -> None:
        self._store, self._models, self._halt = store, models, halt
        self._database, self._pace = database, pace
        provider = store.model.provider
        self._width = min(MOST_WIDTH, pace.width or provider.max_concurrency)
        self._grace = max(pace.grace, provider.connect_timeout + provider.read_timeout + 5.0)
        self._budget = Budget(store.study.budget_nanousd, store.study.cost_nanousd)
        self._fetched: Fetched = asyncio.Queue(max(1, pace.claim))
        self._unwritten: list[Outcome] = []
        self._writing, self._over = asyncio.Lock(), asyncio.Event()
        self._failures: deque[bool] = deque(maxlen=WINDOW)

    async def run(self) -> None:
        """Ask until nothing waits or the halt is asked for; what was answered is written."""
        workers = [asyncio.create_task(self._work()) for _ in range(self._width)]
        others = [asyncio.create_task(each) for each in (self._feed(), self._beat())]
        writing = asyncio.create_task(self._write_often())
        try:
            await self._watch(workers, [*others, writing])
        finally:
            for task in (*workers, *others):
                task.cancel()
            # Never cancelled: a transaction whose end nobody hears could not be tried again.
            self._over.set()
            await asyncio.gather(*workers, *others, writing, return_exceptions=True)
            await self._flush()

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
            if closing():
                self._halt.stop()
            if now > deadline:
                self._halt.stop(Reason(again=True))
            if not self._halt.asked:
                continue
            # What is being answered is paid for: wait for it, within reason.
            self._models.hold()
            if self._models.in_flight() == 0 or now > deadline + self._grace:
                return

    async def _feed(self) -> None:
        after: int | None = 0
        while after is not None and not self._halt.asked:
            ready, after = await self._database(
                self._store.next_batch, after, max(1, self._pace.claim)
            )
            for each in ready:
                await self._fetched.put(each)
        for _ in range(self._width):
            await self._fetched.put(None)

    async def _work(self) -> None:
        while not self._halt.asked and (waiting := await self._fetched.get()) is not None:
            await self._predict(waiting)

    async def _predict(self, waiting: Waiting) -> None:
        """Ask, with the worst that each answer may cost set aside before it is asked for."""
        model = self._store.model
        held = Held(self._budget, model, waiting.call)
        cost = 0
        try:
            await held.reserve()
            if self._halt.asked:
                return
            try:
                completion = await self._models.complete(model, waiting.call, held)
                outcome = answered(waiting, model, completion)
            except ModelError as error:
                if error.stops_run:
                    self._halt.stop_for(error)
                outcome = failed(waiting, model, error)
            # Nothing was awaited since the answer came: an answered call is never forgotten.
            self._unwritten.append(outcome)
            cost = outcome.cost or 0
            self._note(outcome)
        except BudgetReached as error:
            self._halt.stop_for(error)
            cost = self._wasted(waiting, held, error)
        except BaseException:
            cost = self._wasted(waiting, held, ModelError("It was stopped before it was answered."))
            raise
        finally:
            held.settle(cost)

    def _wasted(self, waiting: Waiting, held: Held, error: LabelhubError) -> int:
        """Write down what answers of no use have cost before the call was given up."""
        if not (held.useless.tokens_in or held.useless.tokens_out):
            return held.booked
        paid = type(error)(error.message, data={"usage": _told(held)})
        self._unwritten.append(failed(waiting, self._store.model, paid))
        return held.booked

    def _note(self, outcome: Outcome) -> None:
        """Too many failures among the last calls pause the study."""
        broke = outcome.fields["status"] == "failed"
        self._failures.append(broke)
        count = sum(self._failures)
        if len(self._failures) == WINDOW and count > WINDOW * TOLERATED_SHARE:
            why = f"{count} of the last {WINDOW} predictions failed"
            if broke:
                why += f", the last one: {outcome.fields['note']}"
            words = f"{why} Mend the cause, then resume; what failed is tried again."
            self._halt.stop(Reason("too_many_failures", words))

    async def _write_often(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), self._pace.flush)
            await self._flush()

    async def _flush(self) -> None:
        """Write what there is now. What could not be written stays, for the next try."""
        async with self._writing:
            outcomes, self._unwritten = self._unwritten, []
            if not outcomes:
                return
            try:
                if not await self._database(self._store.write, outcomes):
                    self._halt.stop()
            except Exception:
                self._unwritten[:0] = outcomes
                raise

    async def _beat(self) -> None:
        while True:
            if not await self._database(self._store.beat):
                self._halt.stop()
            await asyncio.sleep(self._pace.beat)


def _told(held: Held) -> dict[str, object]:
    useless = held.useless
    return {
        "tokens_in": useless.tokens_in,
        "tokens_out": useless.tokens_out,
        "tokens_cached": useless.tokens_cached,
        "tokens_reasoning": useless.tokens_reasoning,
        "estimated": useless.estimated,
    }
