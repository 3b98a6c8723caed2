"""Celery's way in, and what the worker's housekeeping does for Echo."""

import time
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from apps.echo.services.events import WITHIN
from apps.echo.services.learning import keep_up
from apps.echo.services.offer_decisions import decide_about, expire_decisions, messages_due
from apps.echo.services.prompt_search import begin_searches

#: Seconds between two rounds of learning in a process, and between two looks for searches to begin.
EVERY, BEGIN_EVERY = 2.0, 60.0
#: Seconds between two looks whose word counts no more or again, as often as authors are judged; and
#: between two looks at all that may still be told. Between those only the last hour is looked at.
TRUST_EVERY, ALL_EVERY, LATELY = 15.0, 600.0, timedelta(hours=1)
_last: dict[str, float] = {}


@shared_task(name="echo.decide_about")
def decide_about_task(message_id: int) -> None:
    """Decide what to offer at a message."""
    decide_about(message_id)


def keep_offers() -> int:
    """Send a task for each message that an offer is to be decided about; how many."""
    now = timezone.now()
    expire_decisions(now)
    due = messages_due(now)
    for message_id in due:
        decide_about_task.delay(message_id)
    return len(due)


def keep_echo() -> None:
    """Begin searches, and learn from what happened since the last round."""
    if _is_time("begin", BEGIN_EVERY):
        begin_searches()
    if _is_time("learn", EVERY):
        within = WITHIN if _is_time("all", ALL_EVERY) else LATELY
        keep_up(within, trust=_is_time("trust", TRUST_EVERY))


def _is_time(what: str, every: float) -> bool:
    """Whether this process did it long enough ago; it counts as done now."""
    now = time.monotonic()
    if what in _last and now - _last[what] < every:
        return False
    _last[what] = now
    return True
