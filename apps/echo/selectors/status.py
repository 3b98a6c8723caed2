"""The state of a site's Echo in figures: what is logged and learnt, and what became of its offers.

What came while learning was frozen, and what was withdrawn, is logged and not learnt.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.echo.models import Echo, LogEvent
from apps.echo.selectors.searches import searches_mark

_KIND = LogEvent.Kind
#: Rewards are looked at among so many of the newest.
MOST_REWARDS = 1_000


@dataclass(frozen=True, slots=True)
class EchoStatus:
    """How far it has learnt.

    lag: events that are not learnt yet. learnt_at: when the newest event that was learnt happened.
    answers, rewards: those that were learnt and count, beside those in the log.
    """

    frozen: bool
    lag: int
    learnt_at: datetime | None
    answers: int
    answers_logged: int
    rewards: int
    rewards_logged: int


@dataclass(frozen=True, slots=True)
class OfferResults:
    """What became of the newest offers: how many, how many were clicked; how often authors said
    whether one helped, and that it did. since, until: when the first and last of them happened."""

    offers: int = 0
    clicked: int = 0
    said: int = 0
    helpful: int = 0
    since: datetime | None = None
    until: datetime | None = None


def status_of(echo: Echo) -> EchoStatus:
    """How far it has learnt, in five queries."""
    log = echo.log.order_by("number")
    freezes = [
        (number, data["on"])
        for number, data in log.filter(kind=_KIND.FROZEN).values_list("number", "data")
        if "on" in data  # else the line is damaged
    ]
    learnt = echo.log.filter(_outside(freezes), number__lte=echo.learnt)
    logged, all_learnt = _counts(echo.log.all()), _counts(learnt)
    withdrawn = _counts(learnt.filter(ref__in=_withdrawn(echo)))
    return EchoStatus(
        frozen=bool(freezes and freezes[-1][1]),
        lag=echo.logged - echo.learnt,
        learnt_at=log.filter(number__lte=echo.learnt).values_list("at", flat=True).last(),
        answers=all_learnt["answers"] - withdrawn["answers"],
        answers_logged=logged["answers"],
        rewards=all_learnt["rewards"] - withdrawn["rewards"],
        rewards_logged=logged["rewards"],
    )


def offer_results_of(echo: Echo) -> OfferResults:
    """What became of the newest :data:`MOST_REWARDS` offers."""
    rewards = echo.log.filter(kind=_KIND.REWARDED).order_by("-number")
    told = list(rewards.values_list("ref", "data__value", "at")[:MOST_REWARDS])
    offers = [value for ref, value, _ in told if ref.startswith("reward-")]
    said = [value for ref, value, _ in told if ref.startswith("helpful-")]
    moments = [at for ref, _, at in told if ref.startswith("reward-")]
    span = (min(moments), max(moments)) if moments else (None, None)
    return OfferResults(len(offers), _successes(offers), len(said), _successes(said), *span)


def mark_of(echo: Echo) -> str:
    """Changes with anything that moves on the page; two queries."""
    newest = echo.selections.order_by("-pk").values_list("pk", flat=True).first()
    searched = sorted(searches_mark(echo).items())
    shown = (echo.on, echo.logged, echo.learnt, echo.era, echo.k, newest, searched)
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def _outside(freezes: list[tuple[int, bool]]) -> Q:
    """The events that came while learning was not frozen."""
    found = Q()
    for (start, frozen), (end, _) in pairwise([*freezes, (None, False)]):
        if frozen:
            within = Q(number__gt=start) if end is None else Q(number__range=(start, end))
            found &= ~within
    return found


def _withdrawn(echo: Echo) -> QuerySet[LogEvent, Any]:
    """Names of events whose last word is that they are withdrawn."""
    later = echo.log.filter(about=OuterRef("about"), number__gt=OuterRef("number"))
    return echo.log.filter(~Exists(later), kind=_KIND.WITHDRAWN).values("about")


def _counts(rows: QuerySet[LogEvent]) -> dict[str, int]:
    return rows.aggregate(
        answers=Count("pk", filter=Q(kind=_KIND.ANSWERED)),
        rewards=Count("pk", filter=Q(kind=_KIND.REWARDED)),
    )


def _successes(values: list[Any]) -> int:
    return sum(value >= 0.5 for value in values)
