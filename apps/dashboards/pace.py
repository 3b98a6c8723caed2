"""How fast people work, and when they will be through."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil, sqrt
from typing import Any

from django.db.models import Count, F, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.reviews.models import Decision

#: Days that are drawn, and those of them whose pace the forecast goes by.
DRAWN, RECENT = 28, 7
#: Of the normal distribution, for 95 %.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Day:
    """What was labelled on one day. ``height``: 0 to 100, of the busiest day."""

    day: date
    labels: int
    height: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the queue will be empty if people go on as they do: days from now, with an interval.

    ``low`` and ``high`` come from how much the recent days differ (95 %, normal); ``high`` is None
    where they differ so much that no end can be told.
    """

    wanted: int
    a_day: float
    days: int
    low: int
    high: int | None


def days_of(project: Project, user: User | None = None) -> list[Day]:
    """The last four weeks, day by day, today last: answers that stand, of all or of ``user``."""
    today = timezone.localdate()
    first = today - timedelta(days=DRAWN - 1)
    rows = Decision.objects.filter(
        project=project,
        undone_at__isnull=True,
        label__rejected=False,
        created_at__gte=_midnight(first),
    )
    if user is not None:
        rows = rows.filter(reviewer=user)
    counted = rows.order_by().annotate(day=TruncDate("created_at")).values_list("day")
    found = dict(counted.annotate(n=Count("pk")))
    most = max(found.values(), default=0) or 1
    days = [first + timedelta(days=at) for at in range(DRAWN)]
    return [Day(day, found.get(day, 0), ceil(100 * found.get(day, 0) / most)) for day in days]


def forecast(project: Project, days: Sequence[Day]) -> Forecast | None:
    """From the pace of the last seven days; None where nobody labelled in them, or nothing waits.

    Today is left out where somebody worked on one of them: it is not over.
    """
    wanted = _labels_wanted(project)
    recent = [day.labels for day in days[-RECENT - 1 : -1]]
    if not any(recent):
        recent = [days[-1].labels]
    pace = sum(recent) / len(recent)
    if not wanted or not pace:
        return None
    spread = sqrt(sum((n - pace) ** 2 for n in recent) / max(1, len(recent) - 1) / len(recent))
    slow, quick = pace - _Z * spread, pace + _Z * spread
    return Forecast(
        wanted=wanted,
        a_day=pace,
        days=ceil(wanted / pace),
        low=ceil(wanted / quick),
        high=ceil(wanted / slow) if slow > 0 else None,
    )


def _labels_wanted(project: Project) -> int:
    """Labels of people that are still to come by the plan."""
    queued = ItemState.objects.filter(project=project, queued=True).order_by()
    left: dict[str, Any] = queued.aggregate(left=Sum(F("wanted") - F("labels_by_people")))
    return left["left"] or 0


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, datetime.min.time()))
