"""Whether any worker is alive."""

import os
import socket
import time
from datetime import datetime, timedelta
from typing import cast

from django.db.models.functions import Now
from django.utils.timesince import timesince

from apps.common.jobs import served_queues
from apps.common.models import WorkerProcess, WorkerSign

#: Seconds between two heartbeats of a worker.
EVERY = 10.0
#: Without any heartbeat for so long, no worker is alive.
SILENCE = timedelta(minutes=1)
#: For so long an ended worker is listed.
LISTED = timedelta(days=1)

_ONLY = 1
_next_heartbeat = 0.0


def write_heartbeat() -> None:
    """Write this worker's heartbeat; of frequent calls, one in ten seconds writes."""
    global _next_heartbeat  # noqa: PLW0603 - one worker per process
    if time.monotonic() >= _next_heartbeat:
        _next_heartbeat = time.monotonic() + EVERY
        if not WorkerSign.objects.filter(pk=_ONLY).update(seen_at=Now()):
            expect_worker()
        _show_process()


def _show_process() -> None:
    """This process in the list of workers; forgets those that ended long ago."""
    name = _process_name()
    seen = {"queues": ", ".join(served_queues()), "seen_at": Now()}
    if not WorkerProcess.objects.filter(name=name).update(**seen):
        WorkerProcess.objects.get_or_create(name=name, defaults=seen)
        WorkerProcess.objects.filter(seen_at__lt=Now() - LISTED).delete()


def forget_process() -> None:
    """Called when this worker ends in good order: its absence is no fault."""
    WorkerProcess.objects.filter(name=_process_name()).delete()


def _process_name() -> str:
    return f"{socket.gethostname()} {os.getpid()}"[-100:]


def expect_worker() -> None:
    """Called when a server starts: from now on a missing worker is reported."""
    WorkerSign.objects.get_or_create(pk=_ONLY, defaults={"seen_at": Now()})


def worker_silence() -> str:
    """How long no worker has been alive, such as "3 minutes"; "" if one is, or if no server has
    started yet. By the database's clock, which all processes share."""
    row = WorkerSign.objects.values_list("seen_at", Now()).first()
    if row is None:
        return ""
    seen, now = cast("tuple[datetime, datetime]", row)
    return timesince(seen, now).replace("\xa0", " ") if now - seen > SILENCE else ""
