"""How many files the server reads at once, in all of its processes: a lock file for each.

The kernel drops a lock with the process that reads, however that ends.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

from labelhub.core.errors import Unavailable

#: Each may take ``MAX_MEMORY`` and a processor.
PLACES = 2
LOOK_EVERY = 0.1
BUSY = (
    "The server is reading as many files as it can at once, so this request was not completed. "
    "Try again in a moment."
)

#: Called again and again while no place is free, with the seconds waited so far; may raise.
Meanwhile = Callable[[float], None]


def wait_on(_waited: float) -> None:
    """What those do meanwhile who have the time."""


def refuse_after(seconds: float) -> Meanwhile:
    """What those do meanwhile who cannot wait for longer."""

    def refuse(waited: float) -> None:
        if waited >= seconds:
            raise Unavailable(BUSY)

    return refuse


@contextmanager
def place_to_read(meanwhile: Meanwhile) -> Iterator[int]:
    """An open lock file for the process that reads to inherit: the place is taken while either of
    the two has it open."""
    started = monotonic()
    while (place := _free_place()) is None:
        meanwhile(monotonic() - started)
        sleep(LOOK_EVERY)
    try:
        yield place
    finally:
        os.close(place)


def _free_place() -> int | None:
    # The process that reads imports this module, too, and has no Django.
    from django.conf import settings  # noqa: PLC0415

    for number in range(1, PLACES + 1):
        path = settings.DATA_DIR / f"reader-{number}.lock"
        place = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return place
        os.close(place)
    return None
