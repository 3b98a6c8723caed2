"""Keep the threads that answer requests on one processor.

Python runs one thread at a time. With threads on several processors, each switch wakes another
processor, about a hundred times per request; in a virtual machine that takes a quarter of the time
of a label (docs/adr/0010-one-processor.md).
"""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

#: A machine with more processors runs many programs: two containers could choose the same
#: processor while others idle, and processors may differ in speed.
MANY = 4
#: Prefix of the socket names by which servers claim processors.
NAME = "labelhub-processor"


@contextmanager
def one_processor() -> Iterator[int | None]:
    """Keep this thread, and threads that it starts within the block, on one processor.

    Servers of one machine take different processors; containers do not see each other.

    Yields:
        The processor's number; None if there is only one, if there are many, if other servers have
        taken all, or if the system does not allow it.
    """
    allowed = _allowed_processors()
    number, claim = _claim_any(allowed)
    with claim or nullcontext():
        if claim is None or not _set_processors({number}):
            yield None
            return
        try:
            yield number
        finally:
            _set_processors(allowed)


def _claim_any(allowed: set[int]) -> tuple[int, socket.socket | None]:
    """A processor that no other server has, and the open socket that claims it."""
    if 1 < len(allowed) <= MANY:
        for number in random.sample(sorted(allowed), len(allowed)):
            if claim := _claim(number):
                return number, claim
    return -1, None


def _claim(number: int) -> socket.socket | None:
    """Bind an abstract socket name, which the kernel frees when the process ends."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0{NAME}-{number}")
    except OSError:
        claim.close()
        return None
    return claim


def _allowed_processors() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except (AttributeError, OSError):  # not on this system; not in this container
        return set()


def _set_processors(processors: set[int]) -> bool:
    try:
        os.sched_setaffinity(0, processors)
    except OSError:  # a container may forbid it
        return False
    return True
