"""Which queues this process serves, and whether any worker serves them."""

import os
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, cast

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.timesince import timesince

from apps.common.models import WorkerSign
from apps.common.queues import QUEUES

#: Seconds between two heartbeats of a worker.
EVERY = 10.0
#: Without any heartbeat for so long, no worker is alive.
SILENCE = timedelta(minutes=1)
#: For so long a killed worker is listed.
KEPT = timedelta(days=1)
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
    if time.monotonic() < _next_heartbeat:
        return
    _next_heartbeat = time.monotonic() + EVERY
    if _own_signs().update(seen_at=Now()) < len(SERVED):
        WorkerSign.objects.filter(seen_at__lt=Now() - KEPT).exclude(process="").delete()
        _write_signs(SERVED, _process_name())
        expect_workers()


def forget_worker() -> None:
    """Called when this worker ends in good order: others count its absence from now."""
    WorkerSign.objects.filter(queue__in=SERVED, process="").update(seen_at=Now())
    _own_signs().delete()


def expect_workers() -> None:
    """Called when a server starts: from now on a queue without a worker is reported."""
    _write_signs(QUEUES, "")


def _write_signs(queues: Iterable[str], process: str) -> None:
    signs = [WorkerSign(queue=queue, process=process, seen_at=Now()) for queue in queues]
    WorkerSign.objects.bulk_create(signs, ignore_conflicts=True)


def _own_signs() -> QuerySet[WorkerSign]:
    return WorkerSign.objects.filter(queue__in=SERVED, process=_process_name())


def _process_name() -> str:
    return f"{socket.gethostname()} {os.getpid()}"[-100:]


class Worker(NamedTuple):
    """A worker process; ``age``: since it last showed itself."""

    name: str
    queues: list[str]
    age: timedelta


def list_workers() -> list[Worker]:
    """The worker processes of all machines; those that were killed for a day."""
    found: dict[str, Worker] = {}
    for queue, process, age in _signs():
        if process:
            found.setdefault(process, Worker(process, [], age)).queues.append(queue)
    return sorted(found.values(), key=lambda worker: worker.age)


def heartbeat_ages() -> dict[str, timedelta]:
    """Queue → time since a worker that serves it last showed itself, by the database's clock, which
    all processes share. Empty before the first server has started."""
    ages: dict[str, timedelta] = {}
    for queue, _, age in _signs():
        ages[queue] = min(ages.get(queue, age), age)
    return {queue: ages[queue] for queue in QUEUES if queue in ages}


def _signs() -> list[tuple[str, str, timedelta]]:
    rows = WorkerSign.objects.filter(queue__in=QUEUES).order_by("pk")
    found = rows.values_list("queue", "process", "seen_at", Now())
    return [
        (queue, process, now - seen)
        for queue, process, seen, now in cast("list[tuple[str, str, datetime, datetime]]", found)
    ]


def worker_silence(queue: str = "") -> str:
    """How long no worker of the queue (or no worker at all) has been alive, such as "3 minutes"; ""
    if one is, or if no server has started yet."""
    ages = heartbeat_ages()
    age = ages.get(queue, timedelta()) if queue else min(ages.values(), default=timedelta())
    return in_words(age) if age > SILENCE else ""


def in_words(age: timedelta) -> str:
    """Such as "3 minutes"."""
    return timesince(_ANY, _ANY + age).replace("\xa0", " ")
