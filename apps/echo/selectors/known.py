"""How much of its log a state goes by: what came while it was frozen, what was rolled back and what
was withdrawn is logged and counts no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import TruncDate

from apps.echo.models import Echo, LogEvent
from labelhub.core.echo.events import Event, Frozen, RolledBack, from_json
from labelhub.core.errors import InvalidInput

_KIND = LogEvent.Kind
#: Stored states and days that are listed; days among so many of the newest events.
STATES, DAYS, LATELY = 10, 7, 5_000


@dataclass(frozen=True, slots=True)
class Back:
    """The last roll back: to which event and when that was, and when it was rolled back."""

    to: int
    until: datetime | None
    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """Answers and rewards in the log, and those of them that the state goes by."""

    answers: int
    answers_logged: int
    rewards: int
    rewards_logged: int
    frozen: bool
    back: Back | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A state that one may go back to: the last event it knows, when that was, what it would go by,
    and whether it is stored."""

    number: int
    until: datetime | None
    answers: int
    rewards: int
    stored: bool


class Gone:
    """What the switches in a log leave out, as ranges of numbers; one query."""

    def __init__(self, echo: Echo) -> None:
        rows = echo.log.filter(kind__in=(_KIND.FROZEN, _KIND.ROLLED_BACK)).order_by("number")
        self._freezes: list[tuple[int, bool]] = []
        self._backs: list[tuple[int, int, datetime]] = []
        for row in rows:
            event = _read(row)
            if isinstance(event, Frozen):
                self._freezes.append((row.number, event.on))
            elif isinstance(event, RolledBack):
                self._backs.append((event.to, row.number, row.at))

    @property
    def frozen(self) -> bool:
        """Whether nothing is learnt now."""
        return bool(self._freezes and self._freezes[-1][1])

    @property
    def last_back(self) -> tuple[int, int, datetime] | None:
        """The last roll back: to which event, its own number, and when."""
        return self._backs[-1] if self._backs else None

    def counts(self) -> Q:
        """The events that are outside of all ranges."""
        backs = [(to, number) for to, number, _ in self._backs]
        found = Q()
        for after, before in merged([*self._while_frozen(), *backs]):
            gone = Q(number__gt=after)
            if before is not None:
                gone &= Q(number__lt=before)
            found &= ~gone
        return found

    def _while_frozen(self) -> list[tuple[int, int | None]]:
        ends = [*(at for at, _ in self._freezes[1:]), None]
        return [(at, end) for (at, on), end in zip(self._freezes, ends, strict=False) if on]


def known_of(echo: Echo) -> Known:
    """What the state goes by now, in three queries, and one more once it was rolled back."""
    gone = Gone(echo)
    answers, rewards = _counted(echo, gone, [echo.learnt])[0]
    whole = echo.log.aggregate(
        answers=Count("pk", filter=Q(kind=_KIND.ANSWERED)),
        rewards=Count("pk", filter=Q(kind=_KIND.REWARDED)),
    )
    back = gone.last_back
    return Known(
        answers=answers,
        answers_logged=whole["answers"],
        rewards=rewards,
        rewards_logged=whole["rewards"],
        frozen=gone.frozen,
        back=None if back is None else Back(back[0], _moment(echo, back[0]), back[1], back[2]),
    )


def kept_states(echo: Echo) -> list[Kept]:
    """The newest :data:`STATES` stored states and the ends of the last :data:`DAYS` days, the
    newest first, in five queries."""
    until = echo.log.filter(number__lte=OuterRef("number")).order_by("-number").values("at")[:1]
    rows = echo.snapshots.annotate(until=Subquery(until))
    stored = dict(rows.values_list("number", "until")[:STATES])
    told = sorted({**_days(echo), **stored}.items(), reverse=True)
    counted = _counted(echo, Gone(echo), [number for number, _ in told]) if told else []
    return [
        Kept(number, moment, answers, rewards, stored=number in stored)
        for (number, moment), (answers, rewards) in zip(told, counted, strict=True)
    ]


def _days(echo: Echo) -> dict[int, datetime]:
    """The last event of each of the last days but for the newest event, and when it was."""
    lately = echo.log.filter(number__gt=echo.learnt - LATELY, number__lte=echo.learnt)
    days = lately.annotate(day=TruncDate("at")).values("day").annotate(last=Max("number"))
    lasts = days.order_by("-day").values_list("last", flat=True)[: DAYS + 1]
    numbers = [number for number in lasts if number != echo.learnt]
    return dict(echo.log.filter(number__in=numbers).values_list("number", "at"))


def merged(ranges: Sequence[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    """The same numbers in as few ranges as it takes, both ends outside; None: without an end."""
    found: list[tuple[int, int | None]] = []
    for after, before in sorted(ranges, key=lambda each: each[0]):
        last = found[-1] if found else None
        if last is None or (last[1] is not None and last[1] <= after):
            found.append((after, before))
        elif last[1] is not None and (before is None or before > last[1]):
            found[-1] = (last[0], before)
    return found


def _counted(echo: Echo, gone: Gone, until: Sequence[int]) -> list[tuple[int, int]]:
    """Answers and rewards up to each of these events that count; two queries."""
    counts = {
        f"{kind}_{at}": Count("pk", filter=Q(kind=kind, number__lte=number))
        for at, number in enumerate(until)
        for kind in (_KIND.ANSWERED, _KIND.REWARDED)
    }
    standing = echo.log.filter(gone.counts())
    all_told = standing.aggregate(**counts)
    without = standing.filter(ref__in=_withdrawn(echo)).aggregate(**counts)
    left = {name: all_told[name] - without[name] for name in counts}
    return [
        (left[f"{_KIND.ANSWERED}_{at}"], left[f"{_KIND.REWARDED}_{at}"]) for at in range(len(until))
    ]


def _withdrawn(echo: Echo) -> QuerySet[LogEvent, Any]:
    """Names of events whose last word is that they are withdrawn."""
    later = echo.log.filter(about=OuterRef("about"), number__gt=OuterRef("number"))
    return echo.log.filter(~Exists(later), kind=_KIND.WITHDRAWN).values("about")


def _moment(echo: Echo, number: int) -> datetime | None:
    rows = echo.log.filter(number__lte=number).order_by("-number")
    return rows.values_list("at", flat=True).first()


def _read(row: LogEvent) -> Event | None:
    """The event; None where the line is damaged, which the server's log tells when it is learnt."""
    try:
        return from_json(row.kind, row.ref, row.data)
    except InvalidInput:
        return None
