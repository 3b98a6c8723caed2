"""A slice: a worker drives a run for a while, in one event loop with its own gateway.

The loop keeps a window of debates in flight; all database work happens in one thread of its own.
After a while, or when the run is paused or cancelled, the slice starts no further call, waits for
those under way and puts unfinished debates back: their turns are stored, nothing is paid twice.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar

from django.db import DatabaseError, connections
from django.utils import timezone

from apps.common.jobs import is_closing
from apps.debates import events
from apps.debates.models import Run, Turn
from apps.debates.services.driving.answers import Answer, AnswerCache
from apps.debates.services.driving.budget import Budget
from apps.debates.services.driving.call_executor import CallExecutor, DebateProgress, Models
from apps.debates.services.driving.results import ClaimedDebate, FailedTries, FinishedDebate, Writer
from apps.debates.services.driving.retrieval import Retrieval
from apps.debates.services.driving.stop_signal import Reason, StopSignal
from apps.debates.services.driving.store import RunGone, SliceStore, finish_run
from apps.debates.services.run_spec import RunSpec, run_spec_of
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.selectors import keys_changed
from apps.llm.traffic import (
    ADAPTIVE_LIMIT,
    CONCURRENCY_SETTING,
    PROVIDER_RATE,
    RATE_LIMIT,
    TIME_OUTS,
    LineState,
)
from labelhub.core.debate.outcome import Outcome, run_debate
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.limiter import LimitChange
from labelhub.core.phrases import Phrase


@dataclass(frozen=True, slots=True)
class WorkerTimings:
    """Timings of a slice, in seconds. ``width``: debates in flight; None: as many as the providers
    allow. ``grace``: how long calls under way may take once time is up."""

    width: int | None = None
    claim: int = 100
    lease: float = 10.0
    beat: float = 2.5
    flush_rows: int = 100
    flush: float = 0.25
    slice: float = 75.0
    grace: float = 130.0
    announce: float = 0.5


PACE = WorkerTimings()
#: How often the loop looks at the clock, seconds.
TICK = 0.25


P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """One thread with one database connection for an event loop; it runs its work in order.

    A context manager, to be entered outside of a running loop; leaving it closes the connection.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` in the thread, after all earlier work."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *args, **kwargs))


OFFLINE = Phrase("This machine: the text matcher works here.")
#: Number of last changes of a limit in a report.
CHANGES = 5


def pulse_of(run_spec: RunSpec, models: Models, calls: int) -> dict[str, Any]:
    """The report of a slice: ``calls`` under way, ``limited_by`` as data of a phrase, and
    ``limits``, an entry for each provider (see :func:`limits_of`)."""
    limits = limits_of(run_spec, models)
    words = next((limit["words"] for limit in limits if limit["words"]), "")
    return {
        "calls": calls,
        "limited_by": OFFLINE.data() if run_spec.offline else words,
        "limits": limits,
    }


def limits_of(run_spec: RunSpec, models: Models) -> list[dict[str, Any]]:
    """The state of the line to each provider, JSON-ready.

    Each has ``provider`` (its name), ``limit``, ``in_flight``, ``waiting``, ``limited_by`` (as
    ``LineState``), ``words`` for it, ``refused_share``, ``breaker_open`` and ``changes``; words and
    changes are data of phrases.
    """
    providers = {
        model.provider_id: model.provider for model in run_spec.models if not model.offline
    }
    return [
        _line_json(provider, models.state_of(provider))
        for provider in sorted(providers.values(), key=lambda provider: provider.name)
    ]


def _line_json(provider: Provider, state: LineState) -> dict[str, Any]:
    return {
        "provider": provider.name,
        "limit": state.limit,
        "in_flight": state.in_flight,
        "waiting": state.waiting,
        "limited_by": state.limited_by,
        "words": _limit_words(provider, state).data(),
        "refused_share": round(state.refused_share, 3),
        "breaker_open": state.breaker_open,
        "changes": [_change_words(change).data() for change in state.changes[-CHANGES:]],
    }


def _change_words(change: LimitChange) -> Phrase:
    return Phrase("%(old)s to %(new)s: %(why)s", old=change.old, new=change.new, why=change.why)


def _limit_words(provider: Provider, state: LineState) -> Phrase:
    name, limit = provider.name, state.limit
    if state.breaker_open:
        return Phrase(
            "%(name)s: too many calls in a row failed; no more calls are sent.", name=name
        )
    if state.limited_by == RATE_LIMIT:
        return Phrase(
            "Rate limit. %(name)s: the last answer was 'too many requests' (429).", name=name
        )
    if state.limited_by == TIME_OUTS:
        return Phrase(
            "Time-outs. %(name)s: no answer within %(seconds)s s to the last call; at most "
            "%(limit)s at a time now.",
            "Time-outs. %(name)s: no answer within %(seconds)s s to the last %(count)s calls; at "
            "most %(limit)s at a time now.",
            name=name,
            seconds=provider.read_timeout,
            count=state.unanswered,
            limit=limit,
        )
    if state.limited_by == PROVIDER_RATE:
        return _rate_words(name, state)
    if state.limited_by == CONCURRENCY_SETTING:
        return Phrase(
            "The setting for %(name)s: at most %(limit)s calls at a time.", name=name, limit=limit
        )
    if state.limited_by == ADAPTIVE_LIMIT:
        return Phrase(
            "%(name)s: %(limit)s calls at a time, as many as it has accepted so far.",
            name=name,
            limit=limit,
        )
    return Phrase("")


def _rate_words(name: str, state: LineState) -> Phrase:
    calls = Phrase("%(rate)s calls a minute", rate=state.rpm or 0)
    tokens = Phrase("%(rate)s tokens a minute", rate=state.tpm or 0)
    known = [words for words, rate in ((calls, state.rpm), (tokens, state.tpm)) if rate]
    taken = known or Phrase("no more calls for the moment")
    return Phrase("%(name)s: it accepts %(rates)s.", name=name, rates=taken)


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
    pace: WorkerTimings = PACE,
    open_models: OpenModels = Gateway.open,
    renew: Callable[[], object] = lambda: None,
) -> SliceEnd:
    """Drive the run for one slice. Safe to call at any time, in any process, for any run.

    ``renew`` renews the lease of the run's job, or raises that it is lost.
    """
    # Lookups have a thread of their own: behind the writes, every call would wait for a batch.
    with Database(f"run-{run_id}") as database, Database(f"answers-{run_id}") as reading:
        return asyncio.run(_run_slice(run_id, (database, reading), pace, open_models, renew))


async def _run_slice(
    run_id: int,
    threads: tuple[Database, Database],
    pace: WorkerTimings,
    open_models: OpenModels,
    renew: Callable[[], object],
) -> SliceEnd:
    database = threads[0]
    context = await database(_begin_slice, run_id, pace, renew)
    if isinstance(context, SliceEnd):
        return context
    stop_signal = StopSignal(context.recent_ends)
    try:
        async with open_models(context.models) as models:
            await RunWorker(
                context, models=models, stop_signal=stop_signal, threads=threads, pace=pace
            ).run()
    except RunGone:
        return SliceEnd.STOPPED
    except LabelhubError as error:
        stop_signal.stop_for(error)
    except Exception:
        logger.exception("A slice of run %s broke", run_id)
        stop_signal.stop_for_fault()
    finally:
        await database(_release, context.store)
    return await database(_end_slice, context.store, stop_signal.reason)


@dataclass(frozen=True, slots=True)
class SliceContext:
    """A started slice: store, spec, retrieval, keys of stored answers, last results."""

    store: SliceStore
    run_spec: RunSpec
    retrieval: Retrieval
    answered: frozenset[str] | None
    recent_ends: Sequence[tuple[bool, str]]

    @property
    def models(self) -> list[ModelSpec]:
        """All models that the slice may call."""
        embedder = self.retrieval.model
        return [*self.run_spec.models, *([embedder] if embedder else [])]


def _begin_slice(
    run_id: int, pace: WorkerTimings, renew: Callable[[], object]
) -> "SliceEnd | SliceContext":
    """Start a slice: the context to drive, or why there is nothing to drive."""
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
        run_spec = run_spec_of(run)
        retrieval = Retrieval.of_run(run, run_spec.settings, run_spec.models)
        return SliceContext(store, run_spec, retrieval, store.answered_keys(), store.recent_ends())
    except LabelhubError as error:
        store.release()
        store.pause(error.code, error.message)
    except Exception:
        logger.exception("Run %s could not be taken up", run_id)
        store.release()
        store.pause_for_fault()
    return SliceEnd.STOPPED


def _release(store: SliceStore) -> None:
    try:
        store.release()
    except DatabaseError:
        logger.exception("Run %s could not be released; its leases lapse", store.run.pk)


def _end_slice(store: SliceStore, reason: Reason | None) -> SliceEnd:
    """Set the run's status once the slice has released its debates."""
    try:
        if reason is not None and reason.fault:
            store.pause_for_fault()
            return SliceEnd.STOPPED
        store.clear_faults()
        if reason is None:
            return SliceEnd.FINISHED if finish_run(store.run.pk) else SliceEnd.BUSY
        if reason.code:
            store.pause(reason.code, reason.message, reason.resume_at)
        return SliceEnd.MORE if reason.again else SliceEnd.STOPPED
    finally:
        events.announce_run(store.run.pk)


class RunWorker:
    """The window of debates in flight. Use once, within one event loop."""

    def __init__(
        self,
        context: SliceContext,
        *,
        models: Models,
        stop_signal: StopSignal,
        threads: tuple[Database, Database],
        pace: WorkerTimings,
    ) -> None:
        self._store, self._run_spec, self._retrieval = (
            context.store,
            context.run_spec,
            context.retrieval,
        )
        self._stop_signal = stop_signal
        (self._database, self._reading), self._pace = threads, pace
        self._width = self._pace.width or context.run_spec.width
        self._grace = max(pace.grace, context.run_spec.longest_answer)
        self._writer = Writer(self._write, rows=self._pace.flush_rows, seconds=self._pace.flush)
        run = self._store.run
        self._budget = Budget(run.budget_nanousd, run.cost_nanousd, unread=run.unread_nanousd)
        self._executor = CallExecutor(
            roles=context.run_spec.roles,
            models=models,
            budget=self._budget,
            writer=self._writer,
            stop_signal=stop_signal,
            answers=AnswerCache(self._stored_answers, keys=context.answered),
        )
        # Half a claim waits here while the next one is fetched.
        self._ready: asyncio.Queue[ClaimedDebate | None] = asyncio.Queue(
            max(1, self._pace.claim // 2)
        )
        self._models = models
        self._announced = 0.0

    async def run(self) -> None:
        """Drive debates until none is left or a stop is asked for."""
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
        """Wait for the workers; raise the error of any task."""
        deadline = time.monotonic() + self._pace.slice
        while not all(worker.done() for worker in workers):
            going = [task for task in (*workers, *others) if not task.done()]
            done, _ = await asyncio.wait(going, timeout=TICK, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            now = time.monotonic()
            if is_closing():
                self._stop_signal.stop()
            if now > deadline:
                self._stop_signal.stop(Reason(again=True))
            if not self._stop_signal.is_set:
                continue
            # Requests in flight are paid for: wait for them, within reason. Calls that wait for
            # their turn or for another try are not, and are left to the next slice.
            self._models.hold()
            if self._models.in_flight() == 0 or now > deadline + self._grace:
                return

    async def _feed(self) -> None:
        await self._retrieval.begin(self._models, self._budget, self._stop_signal)
        while not self._stop_signal.is_set:
            claimed = await self._database(self._store.claim, self._pace.claim)
            if not claimed:
                break
            for debate in await self._retrieval.attach(claimed):
                await self._ready.put(debate)
        for _ in range(self._width):
            await self._ready.put(None)

    async def _work(self) -> None:
        while (claimed := await self._ready.get()) is not None:
            await self._debate(claimed)

    async def _debate(self, claimed: ClaimedDebate) -> None:
        progress = DebateProgress(claimed)
        outcome = await self._outcome(progress)
        error = progress.error if outcome.failed else ""
        self._writer.conclude(
            FinishedDebate(claimed, outcome, progress.spent, timezone.now(), error)
        )
        self._stop_signal.note(outcome.failed, error)

    async def _outcome(self, progress: DebateProgress) -> Outcome:
        try:
            debate = self._run_spec.start(progress.claimed.debate_item)
            return await run_debate(debate, partial(self._executor.ask, progress))
        except LabelhubError as error:
            progress.error = error.message
        except Exception:
            # An item that triggers a server fault must not keep the run from its end.
            logger.exception("Debate %s of run %s broke", progress.claimed.pk, self._store.run.pk)
            progress.error = Phrase("The protocol failed on this item; see the server's log.")
        return Outcome(value=None, failed=True)

    async def _stored_answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        return await self._reading(self._store.answers, keys)

    async def _write(
        self,
        turns: Sequence[Turn],
        finished: Sequence[FinishedDebate],
        tries: Sequence[FailedTries] = (),
    ) -> None:
        other_cost = self._retrieval.unbooked
        status = await self._database(self._store.write, turns, finished, tries, other_cost)
        self._follow_status(status)
        self._retrieval.unbooked -= other_cost
        now = time.monotonic()
        if now - self._announced >= self._pace.announce:
            self._announced = now
            await self._database(events.announce_run, self._store.run.pk)

    async def _beat(self) -> None:
        while True:
            status = await self._database(self._store.beat, self._pulse())
            self._follow_status(status)
            if await self._database(keys_changed, self._run_spec.models):
                # The next slice takes the new key, or pauses the run as there is none.
                self._stop_signal.stop(Reason(again=True))
            await asyncio.sleep(self._pace.beat)

    def _follow_status(self, status: str) -> None:
        """Stop if the run was paused, cancelled or deleted."""
        if status != Run.Status.RUNNING:
            self._stop_signal.stop()

    def _pulse(self) -> dict[str, Any]:
        return pulse_of(self._run_spec, self._models, self._models.in_flight())
