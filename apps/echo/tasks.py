"""Celery tasks of Echo, and its part of the worker's housekeeping."""

import time
from datetime import timedelta

from celery import shared_task
from django.db.models import QuerySet
from django.utils import timezone

from apps.common.jobs import ensure_jobs
from apps.common.prepared import prepared
from apps.echo.models import Echo
from apps.echo.services.events import WITHIN
from apps.echo.services.learning import KIND, echoes_with_news
from apps.echo.services.offer_decisions import decide_about, expire_decisions, messages_due

#: Seconds between rounds of learning in a process.
EVERY = 2.0
#: Seconds between checks for changed trust in authors, and between checks of all events that may
#: still be logged. Other rounds check the last hour only.
TRUST_EVERY, ALL_EVERY, LATELY = 15.0, 600.0, timedelta(hours=1)
_last: dict[str, float] = {}


@shared_task(name="echo.decide_about")
def decide_about_task(message_id: int) -> None:
    """Decide about an offer for a message."""
    decide_about(message_id)


def keep_offers() -> int:
    """Send a task for each message without a decision about an offer; returns their number."""
    if not _has_echoes():
        return 0
    now = timezone.now()
    expire_decisions(now)
    due = messages_due(now)
    for message_id in due:
        decide_about_task.delay(message_id)
    return len(due)


def keep_echo() -> None:
    """Start a job of learning for each site with events since the last round."""
    if _is_time("learn", EVERY) and _has_echoes():
        within = WITHIN if _is_time("all", ALL_EVERY) else LATELY
        trust = _is_time("trust", TRUST_EVERY)
        ensure_jobs(KIND, echoes_with_news(timezone.now(), within, trust=trust))


@prepared
def _echoes() -> QuerySet[Echo, tuple[int]]:
    return Echo.objects.values_list("pk")[:1]


def _has_echoes() -> bool:
    """Whether any site has an Echo; most servers have none, and look for its work in vain."""
    return _echoes.first() is not None


def _is_time(what: str, every: float) -> bool:
    """Whether ``what`` is due in this process; if so, it counts as done now."""
    now = time.monotonic()
    if what in _last and now - _last[what] < every:
        return False
    _last[what] = now
    return True
