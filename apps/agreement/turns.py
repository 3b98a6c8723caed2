"""One at a time: a report of many labels takes seconds of a processor and much memory.

Whoever asks while the same project is being measured waits for their turn, and then mostly finds
the report stored.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from labelhub.core.errors import Conflict

#: Seconds; each who waits holds a thread.
PATIENCE = 60.0
#: Who wait at once, for whatever project: the other threads answer everybody else.
MOST_WAITING = 6
#: Seconds that others stand for a seat: a small project is measured in less, and nobody refused.
BRIEFLY = 2.0

_turns: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
_seats = threading.BoundedSemaphore(MOST_WAITING)


class MeasuringBusy(Conflict):
    """The project was being measured for others all the time; try again."""

    code = "measuring"
    retryable: ClassVar[bool] = True


@contextmanager
def turn(project_id: int, *, patience: float = PATIENCE) -> Iterator[bool]:
    """Measure the project while nobody else of this process does; whether one had to wait for it.

    Raises:
        MeasuringBusy: others took longer than ``patience`` seconds, or too many wait already.
    """
    lock = _turns[project_id]
    at_once = lock.acquire(blocking=False)
    if not at_once and not _waited(lock, patience):
        raise MeasuringBusy("Others have this project measured just now. Try again in a minute.")
    try:
        yield not at_once
    finally:
        lock.release()


def _waited(lock: threading.Lock, patience: float) -> bool:
    if not _seats.acquire(timeout=min(patience, BRIEFLY)):
        return False
    try:
        return lock.acquire(timeout=patience)
    finally:
        _seats.release()
