"""Waiting for what a worker makes of a message, without holding up everybody else."""

import time
from threading import BoundedSemaphore

from apps.authors.models import Message

#: Requests of one process that wait at once; each holds a thread. Whoever comes when as many wait
#: already is answered at once.
MOST_WAITING = 4
#: Seconds between two looks.
LOOK_EVERY = 0.1

_places = BoundedSemaphore(MOST_WAITING)


def wait_until_asked(message: Message, *, until: float) -> None:
    """Look for what became of ``message`` and put it there, until it is known or the time is over.

    Args:
        until: on the monotonic clock, in seconds.
    """
    if not _open(message) or time.monotonic() >= until or not _places.acquire(blocking=False):
        return
    try:
        while _open(message) and (left := until - time.monotonic()) > 0:
            time.sleep(min(LOOK_EVERY, left))
            _look(message)
    finally:
        _places.release()


def _open(message: Message) -> bool:
    return message.status == Message.Status.RECEIVED


def _look(message: Message) -> None:
    fields = ("status", "dropped_at", "reason")
    row = Message.objects.filter(pk=message.pk).values(*fields).first()
    for field, value in (row or {"status": Message.Status.DROPPED}).items():
        setattr(message, field, value)
