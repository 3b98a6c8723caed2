"""Results of the log are kept until it changes; those of a large one are renewed beside a request.

Of 100,000 decisions a report takes a few seconds: too long for everybody who looks. Whoever looks
sees the last one, and a worker makes the next.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.db.models import Count, Max, Q

from apps.authors.querysets import who_counts
from apps.echo.models import Echo, Experiment, OfferEvent

#: Decisions from which on a log is large, and seconds for which its results then stand.
LARGE, STANDS = 5_000, 60.0
#: Seconds for which a result is kept, so that none is older; and in which a worker renews it.
KEPT, RENEWING = 3_600, 120
VERSION = 1

Value = TypeVar("Value")
Stamp = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Of:
    """What results are of: all offers of a site about messages since then, or an experiment."""

    echo: Echo
    experiment: Experiment | None = None
    since: datetime | None = None

    @property
    def key(self) -> str:
        """The same for the same, in every process."""
        place = f"experiment-{self.experiment.pk}" if self.experiment else f"site-{self.echo.pk}"
        return f"{place}-{self.since.timestamp():.0f}" if self.since else place


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Value]):
    """``made``: seconds since 1970; processes share no other clock."""

    value: Value
    stamp: Stamp
    made: float = field(default_factory=time.time)


def kept(what: str, of: Of, make: Callable[[], Value], *, renew: bool = False) -> Value:
    """What ``make`` made of the log as it stands, or as it stood when it is large.

    Args:
        what: the name of the result, as the task that renews it knows it.
        of: what it is a result of.
        make: computes it.
        renew: compute it in any case.
    """
    key, stamp = f"echo-{what}-{VERSION}-{of.key}", _stamp(of)
    found: _Kept[Value] | None = None if renew else cache.get(key)
    if found is not None and found.stamp == stamp:
        return found.value
    if found is not None and int(stamp[0]) >= LARGE:
        if time.time() - found.made >= STANDS and cache.add(f"{key}-renewing", what, RENEWING):
            _launch(what, of)
        return found.value
    value = make()
    cache.set(key, _Kept(value, stamp), KEPT)
    cache.delete(f"{key}-renewing")
    return value


def _launch(what: str, of: Of) -> None:
    from apps.echo.tasks import launch_renewing  # noqa: PLC0415 - tasks stand above what they call

    launch_renewing(what, of)


def _stamp(of: Of) -> Stamp:
    """What differs once anything of the log does that is counted; first the decisions."""
    rows = of.echo.decisions.all()
    if of.experiment is not None:
        # With those that were not decided about, which know of no experiment.
        rows = rows.filter(Q(experiment=of.experiment) | Q(experiment=None, policy=""))
    counted = rows.aggregate(
        n=Count("pk"),
        last=Max("pk"),
        shown=Count("shown_at"),
        decided=Count("pk", filter=~Q(policy="")),
    )
    events = OfferEvent.objects.filter(kind=OfferEvent.Kind.CLICKED)
    clicks = events.filter(decision__in=rows.values("pk")).count()
    believed = of.echo.site.authors.filter(who_counts()).count()
    return (*counted.values(), clicks, believed)
