"""What takes several requests, as generators without I/O (see :mod:`labelhub.client.wire`)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from labelhub.client import calls, endpoints
from labelhub.client.calls import Page
from labelhub.client.errors import (
    ClientError,
    Fault,
    Invalid,
    NotFound,
    Problem,
    RunStopped,
    WaitedTooLong,
    WrongUse,
)
from labelhub.client.progress import Meter, Show
from labelhub.client.records import DONE, FAILED, ImportOutcome, RowFault
from labelhub.client.rows import Part, Source
from labelhub.client.runs import CANCELLED, PAUSED, Run
from labelhub.client.sending import Retries
from labelhub.client.wire import Request, Sleep, Steps

T = TypeVar("T")

#: Seconds between two looks at something that goes on, at first and at most.
FIRST_LOOK, LAST_LOOK, SLOWER = 0.2, 3.0, 1.4


@dataclass(frozen=True, slots=True)
class Ways:
    """What every flow of one client has: how to try again, whom to tell how far it is."""

    retries: Retries
    show: Show


def page(ways: Ways, request: Request[Page[T]]) -> Steps[Page[T]]:
    """A page of a list; none where the list has become shorter than it was."""
    try:
        return (yield from ways.retries.asked(request))
    except NotFound:
        if request.params.get("page") == "1":
            raise
        return Page((), None)


def imported(
    ways: Ways, slug: str, source: Source, *, strict: bool, columns: Mapping[str, Any]
) -> Steps[ImportOutcome]:
    """All parts of a source; what became of all rows together.

    Raises:
        ClientError: a part could not be sent or read; a note says what is in by then.
    """
    whole = ImportOutcome()
    with Meter(ways.show, "Import", total=source.total, unit=source.unit) as meter:
        before = 0
        for part in source.parts:
            reached = meter.done
            try:
                outcome = yield from _part(ways, slug, part, strict, columns, meter)
            except ClientError as error:
                error.shifted(before)
                if before:
                    error.add_note(
                        f"Rows 1 to {before} are in; importing again leaves them as they are."
                    )
                raise
            whole = joined(whole, outcome, before)
            before += part.rows or 0
            meter.reach(reached + part.weight)
    return whole


def _part(ways: Ways, slug: str, part: Part, *how: Any) -> Steps[ImportOutcome]:
    strict, columns, meter = how
    request = calls.imported(slug, part, strict=strict, columns=columns)
    if isinstance(part.body, Path):
        request = replace(request, sent=meter.reach)
    outcome: ImportOutcome = yield from ways.retries.asked(request)
    at = {"slug": slug, "batch_id": outcome.id}
    look = calls.one(endpoints.IMPORT_STATUS, ImportOutcome, at=at)
    pause = FIRST_LOOK
    while outcome.status not in (DONE, FAILED):  # a large file: the server's worker is at it
        meter.reach(meter.done, f"the server has read {outcome.rows:,} rows")
        yield Sleep(pause)
        pause = min(LAST_LOOK, pause * SLOWER)
        outcome = yield from ways.retries.asked(look)
    if outcome.status == FAILED:
        faults = tuple(Fault(field=x.field, message=x.message, row=x.row) for x in outcome.errors)
        raise Invalid(
            outcome.message or "The import failed.",
            Problem(code="import_failed", errors=faults),
        )
    return outcome


COUNTS = ("rows", "created", "filled", "unchanged", "conflicts", "failed", "labels_created")


def joined(whole: ImportOutcome, part: ImportOutcome, before: int) -> ImportOutcome:
    """Both together, where so many rows stand ``before`` those of ``part``."""

    def moved(faults: tuple[RowFault, ...]) -> tuple[RowFault, ...]:
        return tuple(replace(fault, row=fault.row + before) for fault in faults)

    return replace(
        part,
        errors=whole.errors + moved(part.errors),
        conflict_rows=whole.conflict_rows + moved(part.conflict_rows),
        **{name: getattr(whole, name) + getattr(part, name) for name in COUNTS},
    )


def waited(ways: Ways, run_id: int, timeout: float | None) -> Steps[Run]:
    """The run once it is done.

    Raises:
        RunStopped: it is paused, and will not go on by itself, or cancelled.
        WaitedTooLong: ``timeout`` seconds of pauses are over; the run goes on.
    """
    if timeout is not None and timeout < 0:
        raise WrongUse("timeout: no negative seconds.")
    look = calls.one(endpoints.RUN, Run, at={"run_id": run_id})
    pause, slept = FIRST_LOOK, 0.0
    with Meter(ways.show, f"Run {run_id}", total=None, unit="debates") as meter:
        while True:
            run: Run = yield from ways.retries.asked(look)
            meter.total = run.progress.total
            meter.reach(run.progress.done, _note(run))
            if run.stopped:
                return _ended(run)
            if timeout is not None and slept >= timeout:
                raise WaitedTooLong(
                    f"Run {run_id} is not done after {timeout:g} s; it goes on.",
                    Problem(code="waited_too_long", retryable=True),
                )
            pause = pause if timeout is None else max(0.01, min(pause, timeout - slept))
            yield Sleep(pause)
            slept += pause
            pause = min(LAST_LOOK, pause * SLOWER)


def _ended(run: Run) -> Run:
    if run.status == DONE:
        return run
    todo = {
        PAUSED: "resume() goes on with it, where it was out of money with another budget",
        CANCELLED: "start another",
    }
    words = (
        f"Run {run.id} is {run.status}: {run.message or 'no reason is known'} ({todo[run.status]})."
    )
    code = run.pause_code or run.status
    raise RunStopped(words, Problem(code=code, data={"run": run.id, "status": run.status}))


def _note(run: Run) -> str:
    if run.status == PAUSED:
        return run.message
    left = run.progress.seconds_left
    parts = [f"about {left:,.0f} s left" if left is not None else "", run.progress.limited_by]
    return ", ".join(part for part in parts if part)
