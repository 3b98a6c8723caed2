"""Learning from the log: the job applies new events in the order of their numbers.

The state and the number of its last event are written in one transaction. After a kill at any point
the next run continues from the last write, and reaches the same state, bit for bit.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.db.models import F, Q
from django.utils import timezone

from apps.authors.models import Erasure
from apps.common.jobs import JobRun, job, work_on
from apps.echo.models import Echo, LogEvent, Snapshot
from apps.echo.selectors.learning import counted_events
from apps.echo.services.configuration import log_priors
from apps.echo.services.events import (
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
from apps.echo.states import snapshot_state, store_state, stored_state, take_snapshot
from labelhub.core.echo.events import from_json
from labelhub.core.echo.state import EchoState, Lesson, digest, learn
from labelhub.core.errors import Conflict, InvalidInput

logger = logging.getLogger(__name__)

KIND = "echo.learn"
#: Events per page of the log and per renewal of the lease, and between snapshots.
AT_ONCE, SNAPSHOT_EVERY = 200, 1_000
#: Number of newest snapshots that are all kept.
KEPT = 20
#: There are events to learn, or erased authors to forget.
DUE = Q(logged__gt=F("learnt")) | Q(erased__gt=0)


def echoes_with_news(now: datetime, within: timedelta, *, trust: bool) -> set[int]:
    """The keys of Echoes whose log or state is behind, by a few queries for all sites.

    Args:
        now: the present time, which decides whether answers and offers are due.
        within: how far back to look for answers and offers.
        trust: also look for changed trust in authors.
    """
    on = {"question__site__echo__on": True}
    answers = unlogged_answers(now, within).filter(**on).order_by()
    found = set(answers.values_list("question__site", flat=True).distinct())
    for offers in unlogged_offers(now, within):
        running = offers.filter(echo__on=True).order_by()
        found |= set(running.values_list("echo", flat=True).distinct())
    found |= set(Echo.objects.filter(DUE).values_list("pk", flat=True))
    if trust:
        invalid = invalid_answers().order_by()
        found |= set(invalid.values_list("question__site", flat=True).distinct())
        for events in (doubtful_rewards(), withdrawn_of_believed()):
            found |= set(events.order_by().values_list("echo", flat=True).distinct())
    return found and set(
        Echo.objects.filter(pk__in=found, site__project__loading=False).values_list("pk", flat=True)
    )


def keep_up_with(echo: Echo) -> int:
    """Log a site's new events and learn from them at once; returns the number of learnt events.
    0 if a worker is already learning."""
    learnt: list[int] = []
    work_on(KIND, echo.pk, report=learnt.append)
    echo.refresh_from_db()
    return sum(learnt)


def rebuild_state(echo: Echo) -> bool:
    """Rebuild the state from the log and store it; returns whether the stored state was equal, bit
    for bit.

    Raises:
        Conflict: a worker is learning from the log.
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
    """Log a site's new events and learn from them.

    Args:
        report: called with the number of learnt events.
        compare: rebuild the state too; called with whether the stored state was equal.
    """
    echo = Echo.objects.filter(pk=run.subject).select_related("site__project").first()
    if echo is None or echo.site.project.loading:
        return
    if echo.on:
        log_priors(echo)
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
        try:
            before = digest(stored_state(echo))
        except InvalidInput:
            before = ""
        start = _start_anew(echo)
        _learn_from(run, echo, start, echo.learnt)
        compare(digest(start.state) == before)


@dataclass(frozen=True, slots=True)
class _Start:
    """A state that has learnt up to event ``number``. whole: it holds all parts and replaces the
    stored state; otherwise the other stored parts stay."""

    state: EchoState
    number: int
    whole: bool


def _learn_from(run: JobRun, echo: Echo, start: _Start, until: int) -> int:
    """Learn the events after ``start`` and store the state; returns their number."""
    done = 0
    for number, lesson in _lessons(echo, start.number, until):
        learn(start.state, lesson)
        done += 1
        if done % AT_ONCE == 0:
            run.keep()
        if done % SNAPSHOT_EVERY == 0 and start.whole:
            take_snapshot(echo, start.state, number)
    with run.chunk():
        store_state(echo, start.state, until, whole=start.whole)
        # An author erased meanwhile may be in the state: ``erased`` then stays above 0, and the
        # next run rebuilds it.
        Echo.objects.filter(pk=echo.pk, erased=echo.erased).update(erased=0)
        last = echo.snapshots.values_list("number", flat=True).first() or 0
        if until - last >= SNAPSHOT_EVERY:
            take_snapshot(echo, stored_state(echo), until)
        # Keep every other one of the older snapshots.
        old = list(echo.snapshots.values_list("pk", flat=True)[KEPT:])
        if len(old) >= KEPT:
            Snapshot.objects.filter(pk__in=old[1::2]).delete()
    return done


def _find_start(echo: Echo, until: int) -> _Start:
    """The state to continue from: the stored one, or one before the first changed event."""
    if echo.erased:
        return _start_anew(echo)
    news = echo.log.filter(number__gt=echo.learnt, number__lte=until)
    reversals = news.filter(kind__in=(LogEvent.Kind.WITHDRAWN, LogEvent.Kind.RESTORED))
    changed = echo.log.filter(ref__in=reversals.values("about"), number__lte=echo.learnt)
    first = changed.order_by("number").values_list("number", flat=True).first()
    try:
        if first is not None:
            echo.snapshots.filter(number__gte=first).delete()
            snapshot = echo.snapshots.first()
            if snapshot is None:
                return _start_anew(echo)
            return _Start(snapshot_state(snapshot), snapshot.number, whole=True)
        if until - echo.learnt > SNAPSHOT_EVERY:
            return _Start(stored_state(echo), echo.learnt, whole=True)
        kinds = (LogEvent.Kind.ANSWERED, LogEvent.Kind.REWARDED, LogEvent.Kind.NAMED)
        taught = news.filter(kind__in=kinds)
        about = list(taught.values_list("feature", "data__author"))
        features, authors = {feature for feature, _ in about}, {author for _, author in about}
        return _Start(stored_state(echo, features, authors), echo.learnt, whole=False)
    except InvalidInput as fault:
        logger.warning("The state of Echo at site %s is rebuilt. %s", echo.pk, fault)
        return _start_anew(echo)


def _start_anew(echo: Echo) -> _Start:
    """An empty state; deletes all snapshots."""
    echo.snapshots.all().delete()
    return _Start(EchoState(), 0, whole=True)


def _lessons(echo: Echo, after: int, until: int) -> Iterator[tuple[int, Lesson]]:
    """The readable events to learn after one number and up to another, in order, with their
    numbers. A damaged one is named in the log of the server and skipped, so that it does not stop a
    site from learning."""
    counted = counted_events(echo, until).order_by("number")
    # In pages: learning renews its lease while it reads the log, and SQLite refuses to write after
    # another process during an open statement.
    while page := list(counted.filter(number__gt=after)[:AT_ONCE]):
        for row in page:
            try:
                event = from_json(row.kind, row.ref, row.data)
            except InvalidInput as fault:
                warning = "Echo at site %s: event %s of the log is damaged and skipped. %s"
                logger.warning(warning, row.echo_id, row.number, fault)
            else:
                yield row.number, cast("Lesson", event)
        after = page[-1].number


def forget_erased_author(instance: Erasure, **_signal: Any) -> None:
    """Rebuild the state after an author's erasure, as their events are deleted."""
    Echo.objects.filter(site=instance.site_id).update(erased=F("erased") + 1)
