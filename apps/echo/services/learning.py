"""Learning from the log: whoever has the lease applies what is new, in the order of its numbers.

A state and how far it has learnt are written in one transaction: killed at any point, the next one
goes on where the last one was written, and comes to the same bits.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.echo.models import Echo, LogEvent, Snapshot
from apps.echo.services.gathering import WITHIN, gather_answers
from apps.echo.services.news import DUE, echoes_with_news
from apps.echo.services.rewarding import gather_rewards
from apps.echo.services.withdrawing import restore_standing, withdraw_fallen
from apps.echo.states import (
    Parts,
    snapshot_state,
    store_parts,
    store_state,
    stored_state,
    take_snapshot,
)
from labelhub.core.echo.events import RolledBack, from_json
from labelhub.core.echo.history import Controls, Entry
from labelhub.core.echo.packing import digest, parts_sum
from labelhub.core.echo.state import EchoState, learn
from labelhub.core.errors import InvalidInput

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
#: Events that are learnt from between two writings, and between two snapshots.
AT_ONCE, SNAPSHOT_EVERY = 200, 1_000
#: Snapshots that are kept; of older ones every other.
KEPT = 20


def keep_up(within: timedelta = WITHIN, *, trust: bool = True) -> int:
    """Write down what happened at each site with Echo, and learn from it; events learnt from.

    The arguments are those of :func:`~apps.echo.services.news.echoes_with_news`.
    """
    done = 0
    behind = echoes_with_news(timezone.now(), within, trust=trust)
    for echo in Echo.objects.filter(pk__in=behind).select_related("site"):
        try:
            done += keep_up_with(echo)
        except Exception:  # one site must not keep the others from learning
            logger.exception("Echo of site %s could not learn", echo.site_id)
    return done


def keep_up_with(echo: Echo) -> int:
    """The same for one site."""
    if echo.on:
        gather_answers(echo, timezone.now())
        gather_rewards(echo, timezone.now())
    while withdraw_fallen(echo):
        pass
    while restore_standing(echo):
        pass
    return learn_from_log(echo)


def learn_from_log(echo: Echo) -> int:
    """Learn what is new in the log; how many events. 0 where somebody else is at it."""
    now = timezone.now()
    free = Echo.objects.filter(pk=echo.pk).filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    )
    if not free.filter(DUE).update(lease_until=now + LEASE):
        return 0
    echo.refresh_from_db()
    try:
        return _learn_all(echo)
    finally:
        Echo.objects.filter(pk=echo.pk, lease_until=echo.lease_until).update(lease_until=None)


def rebuilt(echo: Echo, come_to: Callable[[int], None] | None = None) -> EchoState:
    """The state that the whole log makes, from nothing; what is stored is not looked at.

    ``come_to`` is told the number of an event now and then.
    """
    state = EchoState()
    for done, entry in enumerate(_lessons(echo, 0, echo.learnt), start=1):
        learn(state, entry.event)  # type: ignore[arg-type]  # controls are not among them
        if come_to is not None and done % AT_ONCE == 0:
            come_to(entry.number)
    return state


def verify(echo: Echo) -> bool:
    """Whether what is stored is, to the last bit, what the log makes."""
    return (
        digest(rebuilt(echo)) == digest(stored_state(echo)) == (echo.digest or digest(EchoState()))
    )


@dataclass(frozen=True, slots=True)
class _Start:
    """Where learning goes on: a state that has learnt up to ``number``. parts: the sum of the parts
    it holds (``packing.parts_sum``); None where it holds all, which replace what is stored."""

    state: EchoState
    number: int
    parts: int | None


def _learn_all(echo: Echo) -> int:
    """From where the state stands, or from before what has been withdrawn or rolled back."""
    until = echo.logged
    start = _begun(echo, until)
    done = 0
    for entry in _lessons(echo, start.number, until):
        learn(start.state, entry.event)  # type: ignore[arg-type]  # controls are not among them
        done += 1
        if done % AT_ONCE == 0 and not _still_ours(echo):
            return 0
        if done % SNAPSHOT_EVERY == 0 and start.parts is None:
            take_snapshot(echo, start.state, entry.number)
    return done if _written(echo, start, until) else 0


def _still_ours(echo: Echo) -> bool:
    """Whether nobody has taken it up since; if so, ours for longer."""
    held, until = echo.lease_until, timezone.now() + LEASE
    ours = Echo.objects.filter(pk=echo.pk, lease_until=held).update(lease_until=until)
    echo.lease_until = until
    return bool(ours)


@transaction.atomic
def _written(echo: Echo, start: _Start, until: int) -> bool:
    """Write what was learnt; False where somebody else has taken it up since."""
    if not _still_ours(echo):
        return False
    if start.parts is None:
        store_state(echo, start.state, until)
    else:
        store_parts(echo, start.state, until, start.parts)
    # Whoever was deleted meanwhile may be in it: then it is made anew once more.
    Echo.objects.filter(pk=echo.pk, erased=echo.erased).update(erased=0)
    last = echo.snapshots.values_list("number", flat=True).first() or 0
    if until - last >= SNAPSHOT_EVERY:
        take_snapshot(echo, stored_state(echo), until)
    _thin_out(echo)
    return True


def _begun(echo: Echo, until: int) -> _Start:
    """The state to go on from."""
    if echo.erased:
        return _anew(echo)
    first = _first_changed(echo, until)
    if first is not None:
        echo.snapshots.filter(number__gte=first).delete()
        snapshot = echo.snapshots.first()
        return _opened(snapshot) if snapshot is not None else _Start(EchoState(), 0, None)
    try:
        return _going_on(echo, until)
    except InvalidInput as fault:
        logger.warning("Echo of site %s is learnt anew. %s", echo.pk, fault)
        return _anew(echo)


def _anew(echo: Echo) -> _Start:
    """Nothing that was made of the log before is used again."""
    echo.snapshots.all().delete()
    return _Start(EchoState(), 0, None)


def _going_on(echo: Echo, until: int) -> _Start:
    """Where the stored state stands; of few news the parts that they are about."""
    if until - echo.learnt > SNAPSHOT_EVERY:
        return _Start(stored_state(echo), echo.learnt, None)
    state = stored_state(echo, _concerned(echo, until))
    return _Start(state, echo.learnt, parts_sum(state))


def _opened(snapshot: Snapshot) -> _Start:
    try:
        return _Start(snapshot_state(snapshot), snapshot.number, None)
    except InvalidInput:  # of another version: everything is made anew
        return _Start(EchoState(), 0, None)


def _concerned(echo: Echo, until: int) -> Parts:
    """The models and authors that the news are about."""
    news = echo.log.filter(number__gt=echo.learnt, number__lte=until)
    told = news.filter(kind__in=(LogEvent.Kind.ANSWERED, LogEvent.Kind.REWARDED))
    about = list(told.values_list("feature", "data__author"))
    return Parts({feature for feature, _ in about}, {author for _, author in about})


def _first_changed(echo: Echo, until: int) -> int | None:
    """The first event already learnt that counts no more, or again; None where there is none."""
    news = echo.log.filter(number__gt=echo.learnt, number__lte=until)
    back = _entries(news.filter(kind=LogEvent.Kind.ROLLED_BACK))
    firsts = [each.event.to + 1 for each in back if isinstance(each.event, RolledBack)]
    about = news.filter(kind__in=(LogEvent.Kind.WITHDRAWN, LogEvent.Kind.RESTORED))
    told = echo.log.filter(ref__in=about.values("about"), number__lte=echo.learnt)
    firsts += list(told.order_by("number").values_list("number", flat=True)[:1])
    changed = [first for first in firsts if first <= echo.learnt]
    return min(changed) if changed else None


def _lessons(echo: Echo, after: int, until: int) -> Iterator[Entry]:
    """What is to be learnt from between two numbers, in order."""
    told = echo.log.filter(number__lte=until)
    rows = told.filter(number__gt=after).exclude(kind__in=LogEvent.CONTROLS)
    switches = told.filter(kind__in=(LogEvent.Kind.FROZEN, LogEvent.Kind.ROLLED_BACK))
    about = told.filter(about__in=rows.values("ref"))
    controls = Controls(_entries(chain(switches, about)))
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
            told = "Echo of site %s: line %s of the log is passed over. %s"
            logger.warning(told, row.echo_id, row.number, fault)
        else:
            yield Entry(row.number, event)


def _thin_out(echo: Echo) -> None:
    """Keep the newest, and of the others every other: what is older is gone back to more rarely."""
    old = list(echo.snapshots.values_list("pk", flat=True)[KEPT:])
    if len(old) >= KEPT:
        Snapshot.objects.filter(pk__in=old[1::2]).delete()
