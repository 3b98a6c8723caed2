"""Which queues this process serves, and whether any worker serves them."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import cast

from django.db.models.functions import Now
from django.utils.timesince import timesince

from apps.common.models import WorkerSign
from apps.common.queues import QUEUES

#: Seconds between two heartbeats of a worker.
EVERY = 10.0
#: Without any heartbeat for so long, no worker is alive.
SILENCE = timedelta(minutes=1)
#: The queues whose jobs this process does.
SERVED = set(QUEUES)

_ANY = datetime(2000, 1, 1, tzinfo=UTC)
_next_heartbeat = 0.0


def serve_queues(names: Iterable[str]) -> None:
    """Do jobs of these queues only, in this process."""
    SERVED.clear()
    SERVED.update(names)


def write_heartbeat() -> None:
    """Write this worker's heartbeat; of frequent calls, one in ten seconds writes."""
    global _next_heartbeat  # noqa: PLW0603 - one worker per process
    if time.monotonic() >= _next_heartbeat:
        _next_heartbeat = time.monotonic() + EVERY
        if WorkerSign.objects.filter(queue__in=SERVED).update(seen_at=Now()) < len(SERVED):
            expect_workers()


def expect_workers() -> None:
    """Called when a server starts: from now on a queue without a worker is reported."""
    signs = [WorkerSign(queue=queue, seen_at=Now()) for queue in QUEUES]
    WorkerSign.objects.bulk_create(signs, ignore_conflicts=True)


def heartbeat_ages() -> dict[str, timedelta]:
    """Queue → time since a worker that serves it last showed itself, by the database's clock, which
    all processes share. Empty before the first server has started."""
    rows = WorkerSign.objects.filter(queue__in=QUEUES).values_list("queue", "seen_at", Now())
    found = cast("list[tuple[str, datetime, datetime]]", list(rows))
    return {queue: now - seen for queue, seen, now in found}


def worker_silence(queue: str = "") -> str:
    """How long no worker of the queue (or no worker at all) has been alive, such as "3 minutes"; ""
    if one is, or if no server has started yet."""
    ages = heartbeat_ages()
    age = ages.get(queue, timedelta()) if queue else min(ages.values(), default=timedelta())
    return in_words(age) if age > SILENCE else ""


def in_words(age: timedelta) -> str:
    """Such as "3 minutes"."""
    return timesince(_ANY, _ANY + age).replace("\xa0", " ")
