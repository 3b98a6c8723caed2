"""Writing the log: numbered one after the other, each event once."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.echo.models import Echo, LogEvent
from labelhub.core.echo.events import (
    Answered,
    Event,
    Expected,
    Restored,
    Withdrawn,
    kind_of,
    to_json,
)


@transaction.atomic
def log(
    echo: Echo,
    events: Sequence[tuple[Event, int | None]],
    *,
    at: datetime | None = None,
) -> int:
    """Write events with the keys of the authors they go with; how many were news.

    Whoever writes has the row of ``echo`` first: numbers have no gaps that somebody could fill
    after they were learnt past.
    """
    if not events:
        return 0
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    refs = [event.id for event, _ in events]
    known = set(locked.log.filter(ref__in=refs).values_list("ref", flat=True))
    rows = []
    for event, author in events:
        if event.id not in known:
            known.add(event.id)
            locked.logged += 1
            rows.append(_row(locked, event, author, at or timezone.now()))
    LogEvent.objects.bulk_create(rows)
    if rows:
        locked.save(update_fields=["logged"])
    echo.logged = locked.logged
    return len(rows)


def _row(echo: Echo, event: Event, author: int | None, at: datetime) -> LogEvent:
    return LogEvent(
        echo=echo,
        number=echo.logged,
        ref=event.id,
        kind=kind_of(event),
        feature=event.feature if isinstance(event, Answered | Expected) else "",
        about=event.about if isinstance(event, Withdrawn | Restored) else "",
        author_id=author,
        data=to_json(event),
        at=at,
    )
