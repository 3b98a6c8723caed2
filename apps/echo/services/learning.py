"""Learning from the log: whoever has the job applies what is new, in the order of its numbers.

A state and how far it has learnt are written in one transaction: killed at any point, the next one
goes on where the last one was written, and comes to the same bits.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.authors.models import Erasure
from apps.common.jobs import JobRun, ensure_jobs, job, work_on
from apps.echo.models import Echo, LogEvent, SearchReply, Snapshot
from apps.echo.services.events import (
    WITHIN,
    doubtful_rewards,
    gather_answers,
    gather_rewards,
    invalid_answers,
    restore_valid,
    unlogged_answers,
    unlogged_offers,
    withdraw_invalid,
    withdrawn_of_believed,
)
from apps.echo.states import (
    Parts,
    snapshot_state,
    store_parts,
    store_state,
    stored_state,
    take_snapshot,
)
from labelhub.core.echo.events import Controls, Entry, from_json
from labelhub.core.echo.state import EchoState, digest, learn
from labelhub.core.errors import Conflict, InvalidInput

logger = logging.getLogger(__name__)

KIND = "echo.learn"
#: Events that are learnt from between two writings, and between two snapshots.
AT_ONCE, SNAPSHOT_EVERY = 200, 1_000
#: Snapshots that are kept; of older ones every other.
KEPT = 20
#: There is something to learn, or something to forget.
DUE = Q(logged__gt=F("learnt")) | Q(erased__gt=0)


def keep_up(within: timedelta = WITHIN, *, trust: bool = True) -> None:
    """Have workers learn at each site with Echo that something has happened at.

    The arguments are those of :func:`echoes_with_news`.
    """
    ensure_jobs(KIND, echoes_with_news(timezone.now(), within, trust=trust))


def echoes_with_news(now: datetime, within: timedelta, *, trust: bool) -> set[int]:
    """The keys of those whose log or state is behind, found by some queries for all sites.

    Args:
        now: answers and offers are old enough then, or not.
        within: for so long what has happened is looked back at.
        trust: look as well whose word counts no more, or again.
    """
    on = {"question__site__echo__on": True}
    answers = unlogged_answers(now, within).filter(**on).order_by()
    found = set(answers.values_list("question__site", flat=True).distinct())
    for offers in unlogged_offers(now, within):
        running = offers.filter(echo__on=True).order_by()
        found |= set(running.values_list("echo", flat=True).distinct())
    found |= set(Echo.objects.filter(DUE).values_list("pk", flat=True))
    return found | _echoes_with_trust_changes() if trust else found


def _echoes_with_trust_changes() -> set[int]:
    answers = invalid_answers().order_by().values_list("question__site", flat=True)
    found = set(answers.distinct())
    for events in (doubtful_rewards(), withdrawn_of_believed()):
        found |= set(events.order_by().values_list("echo", flat=True).distinct())
    return found


def keep_up_with(echo: Echo) -> int:
    """Write down what happened at a site and learn from it, here and now; how many events. 0 where
    somebody else is at it."""
    learnt: list[int] = []
    work_on(KIND, echo.pk, report=learnt.append)
    echo.refresh_from_db()
    return sum(learnt)


def rebuild_state(echo: Echo) -> bool:
    """Make the state anew from the log and store it; whether what was stored was the same, to the
    last bit.

    Raises:
        Conflict: somebody else is learning from the log.
    """
    same: list[bool] = []
    work_on(KIND, echo.pk, compare=same.append)
    echo.refresh_from_db()
    if not same:
        raise Conflict(
            "A worker is learning from the log, or learning failed (see the server's log); "
            "try again in a minute."
        )
    return same[0]


@job(KIND, threads=2)
def learn_news(
    run: JobRun,
    *,
    report: Callable[[int], object] = lambda _: None,
    compare: Callable[[bool], object] | None = None,
) -> None:
    """Write down what happened at a site and learn from it.

    Args:
        report: is told how many events were learnt from.
        compare: make the state anew as well; is told whether what was stored was the same.
    """
    echo = Echo.objects.filter(pk=run.subject).select_related("site").first()
    if echo is None:
        return
    if echo.on:
        gather_answers(echo, timezone.now())
        gather_rewards(echo, timezone.now())
    while withdraw_invalid(echo):
        pass
    while restore_valid(echo):
        pass
    if due := Echo.objects.filter(DUE, pk=echo.pk).first():
        echo = due
        report(_learn_from(run, echo, _find_start(echo, echo.logged), echo.logged))
    if compare is not None:
        echo.refresh_from_db()
        before, start = _stored_digest(echo), _start_anew(echo)
        _learn_from(run, echo, start, echo.learnt)
        compare(digest(start.state) == before)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where learning goes on: a state that has learnt up to ``number``. whole: it holds all parts,
    which replace what is stored; else some, and the others stay as they are."""

    state: EchoState
    number: int
    whole: bool


def _learn_from(run: JobRun, echo: Echo, start: _Start, until: int) -> int:
    """Learn from there on and write it; how many events."""
    done = 0
    for entry in _lessons(echo, start.number, until):
        learn(start.state, entry.event)  # type: ignore[arg-type]  # controls are not among them
        done += 1
        if done % AT_ONCE == 0:
            run.keep()
        if done % SNAPSHOT_EVERY == 0 and start.whole:
            take_snapshot(echo, start.state, entry.number)
    with run.chunk():
        _write(echo, start, until)
    return done


def _stored_digest(echo: Echo) -> str:
    """The digest of what is stored; "" where it cannot be read."""
    try:
        return digest(stored_state(echo))
    except InvalidInput:
        return ""


def _write(echo: Echo, start: _Start, until: int) -> None:
    """Write what was learnt."""
    store = store_state if start.whole else store_parts
    store(echo, start.state, until)
    # Whoever was deleted meanwhile may be in it: then it is made anew once more.
    Echo.objects.filter(pk=echo.pk, erased=echo.erased).update(erased=0)
    last = echo.snapshots.values_list("number", flat=True).first() or 0
    if until - last >= SNAPSHOT_EVERY:
        take_snapshot(echo, stored_state(echo), until)
    # Of older ones every other is kept: it is gone back to more rarely.
    old = list(echo.snapshots.values_list("pk", flat=True)[KEPT:])
    if len(old) >= KEPT:
        Snapshot.objects.filter(pk__in=old[1::2]).delete()


def _find_start(echo: Echo, until: int) -> _Start:
    """The state to go on from: as it is stored, or before the first event that has changed."""
    if echo.erased:
        return _start_anew(echo)
    unlearnt = echo.log.filter(number__gt=echo.learnt, number__lte=until)
    reversals = unlearnt.filter(kind__in=(LogEvent.Kind.WITHDRAWN, LogEvent.Kind.RESTORED))
    changed = echo.log.filter(ref__in=reversals.values("about"), number__lte=echo.learnt)
    first = changed.order_by("number").values_list("number", flat=True).first()
    if first is not None:
        echo.snapshots.filter(number__gte=first).delete()
        snapshot = echo.snapshots.first()
        return _start_from(snapshot) if snapshot is not None else _Start(EchoState(), 0, whole=True)
    try:
        if until - echo.learnt > SNAPSHOT_EVERY:
            return _Start(stored_state(echo), echo.learnt, whole=True)
        news = echo.log.filter(number__gt=echo.learnt, number__lte=until)
        taught = news.filter(kind__in=(LogEvent.Kind.ANSWERED, LogEvent.Kind.REWARDED))
        about = list(taught.values_list("feature", "data__author"))
        parts = Parts({feature for feature, _ in about}, {author for _, author in about})
        return _Start(stored_state(echo, parts), echo.learnt, whole=False)
    except InvalidInput as fault:
        logger.warning("Echo of site %s is learnt anew. %s", echo.pk, fault)
        return _start_anew(echo)


def _start_anew(echo: Echo) -> _Start:
    """Nothing that was made of the log before is used again."""
    echo.snapshots.all().delete()
    return _Start(EchoState(), 0, whole=True)


def _start_from(snapshot: Snapshot) -> _Start:
    try:
        return _Start(snapshot_state(snapshot), snapshot.number, whole=True)
    except InvalidInput:  # of another version: everything is made anew
        return _Start(EchoState(), 0, whole=True)


def _lessons(echo: Echo, after: int, until: int) -> Iterator[Entry]:
    """What is to be learnt from between two numbers, in order."""
    logged = echo.log.filter(number__lte=until)
    rows = logged.filter(number__gt=after).exclude(kind__in=LogEvent.CONTROLS)
    freezes = logged.filter(kind=LogEvent.Kind.FROZEN)
    about = logged.filter(about__in=rows.values("ref"))
    controls = Controls(_entries(chain(freezes, about)))
    counted = (row for row in _in_pages(rows) if controls.counts(row.number, row.ref))
    return _entries(counted)


def _in_pages(rows: QuerySet[LogEvent]) -> Iterator[LogEvent]:
    """In order. While a statement is open, SQLite refuses to write once another process has: who
    learns writes amid the log that they keep it."""
    after = 0
    while page := list(rows.filter(number__gt=after).order_by("number")[:AT_ONCE]):
        yield from page
        after = page[-1].number


def _entries(rows: Iterable[LogEvent]) -> Iterator[Entry]:
    """The lines that can be read. A damaged one is named and teaches nothing, whoever reads the log
    and however often: one line must not keep a site from learning for ever."""
    for row in rows:
        try:
            event = from_json(row.kind, row.ref, row.data)
        except InvalidInput as fault:
            warning = "Echo of site %s: line %s of the log is passed over. %s"
            logger.warning(warning, row.echo_id, row.number, fault)
        else:
            yield Entry(row.number, event)


def forget_erased_author(instance: Erasure, **_signal: Any) -> None:
    """Whose data was deleted has taught nothing: their events are gone, the rest is learnt anew.
    What models said in a search that is under way may have been said of their words."""
    SearchReply.objects.filter(search__echo=instance.site_id).delete()
    Echo.objects.filter(site=instance.site_id).update(erased=F("erased") + 1)
