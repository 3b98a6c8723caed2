"""Whether any worker lives: what is queued waits for one, silently if nobody looked."""

import time
from datetime import datetime, timedelta
from typing import cast

from django.db.models.functions import Now
from django.utils.timesince import timesince

from apps.common.models import WorkerSign

#: Seconds between two signs of a worker.
EVERY = 10.0
#: So long without any sign, and no worker lives.
SILENCE = timedelta(minutes=1)

_ONLY = 1
_next_sign = 0.0


def show_sign() -> None:
    """Show that this worker lives; called again and again, it writes every ten seconds."""
    global _next_sign  # noqa: PLW0603 - of this process, as its worker is
    if time.monotonic() >= _next_sign:
        _next_sign = time.monotonic() + EVERY
        if not WorkerSign.objects.filter(pk=_ONLY).update(seen_at=Now()):
            expect_worker()


def expect_worker() -> None:
    """A server has started: from now on the absence of a worker counts, were there never one."""
    WorkerSign.objects.get_or_create(pk=_ONLY, defaults={"seen_at": Now()})


def worker_silence() -> str:
    """For how long no worker has lived, such as "3 minutes"; empty where one lives, and where no
    server has started yet. By the database's clock, which all processes share."""
    row = WorkerSign.objects.values_list("seen_at", Now()).first()
    if row is None:
        return ""
    seen, now = cast("tuple[datetime, datetime]", row)
    return timesince(seen, now).replace("\xa0", " ") if now - seen > SILENCE else ""
