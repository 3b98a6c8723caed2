"""How a site's Echo stands: what is logged and learnt, and what became of its offers."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.echo.models import Check, Echo, LogEvent
from apps.echo.selectors.known import Known, known_of
from apps.echo.selectors.searches import searches_mark

#: Rewards are looked at among so many of the newest.
MOST_REWARDS = 1_000


@dataclass(frozen=True, slots=True)
class Standing:
    """The state in figures; ``at``: when the newest event that was learnt happened."""

    echo: Echo
    known: Known
    at: datetime | None
    check: Check | None

    @property
    def frozen(self) -> bool:
        """Whether nothing is learnt now."""
        return self.known.frozen

    @property
    def lag(self) -> int:
        """Events that are not learnt yet."""
        return self.echo.logged - self.echo.learnt


@dataclass(frozen=True, slots=True)
class Pay:
    """What became of the newest offers: how many, how many were clicked; how often it was said
    whether one helped, and that it did. since, until: when the first and last of them happened."""

    offers: int = 0
    clicked: int = 0
    said: int = 0
    helpful: int = 0
    since: datetime | None = None
    until: datetime | None = None


def standing_of(echo: Echo) -> Standing:
    """How it stands now."""
    last = echo.log.filter(number__lte=echo.learnt).order_by("-number").values("at").first()
    return Standing(
        echo=echo,
        known=known_of(echo),
        at=last["at"] if last else None,
        check=_check_of(echo),
    )


def pay_of(echo: Echo) -> Pay:
    """What became of the newest :data:`MOST_REWARDS` offers."""
    rewards = echo.log.filter(kind=LogEvent.Kind.REWARDED).order_by("-number")
    told = list(rewards.values_list("ref", "data__value", "at")[:MOST_REWARDS])
    offers = [value for ref, value, _ in told if ref.startswith("reward-")]
    said = [value for ref, value, _ in told if ref.startswith("helpful-")]
    moments = [at for ref, _, at in told if ref.startswith("reward-")]
    span = (min(moments), max(moments)) if moments else (None, None)
    return Pay(len(offers), _some(offers), len(said), _some(said), *span)


def mark_of(echo: Echo) -> str:
    """Changes with anything that moves on the page; three queries."""
    newest = echo.selections.order_by("-pk").values_list("pk", flat=True).first()
    check = _check_of(echo)
    ran = (check.started_at, check.done, check.ended_at, check.beat_at) if check else None
    searched = sorted(searches_mark(echo).items())
    told = (echo.on, echo.logged, echo.learnt, echo.digest, echo.k, newest, ran, searched)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _check_of(echo: Echo) -> Check | None:
    return Check.objects.filter(echo=echo).first()


def _some(values: list[Any]) -> int:
    return sum(value >= 0.5 for value in values)
