"""A processor of its own for the threads that answer requests.

Python lets one thread work at a time. Where its threads are spread over processors, each hand-over
wakes another processor up, some hundred times per request; in a virtual machine that takes a
quarter of a label's time (docs/adr/0010-one-processor.md).
"""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

#: More processors than this are a machine for many programs: two containers of ours could choose
#: the same one while others idle, and not all of them may be equally fast.
MANY = 4
#: What the names begin with that servers claim processors by.
NAME = "labelhub-processor"


@contextmanager
def one_processor() -> Iterator[int | None]:
    """Keep this thread on one processor within the block, and threads that it starts there.

    Servers of one machine take different ones, except that containers know nothing of each other.

    Yields:
        The processor's number; None where there is but one, where there are many, where all are
        taken by other servers, or where the system does not allow it.
    """
    allowed = _allowed()
    number, claim = _free_one(allowed)
    with claim or nullcontext():
        if claim is None or not _moved_to({number}):
            yield None
            return
        try:
            yield number
        finally:
            _moved_to(allowed)


def _free_one(allowed: set[int]) -> tuple[int, socket.socket | None]:
    """A processor that no other server has, and what keeps it ours while it is open."""
    if 1 < len(allowed) <= MANY:
        for number in random.sample(sorted(allowed), len(allowed)):
            if claim := _claim(number):
                return number, claim
    return -1, None


def _claim(number: int) -> socket.socket | None:
    """A name without a file: the kernel takes it back when the process ends, however it does."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0{NAME}-{number}")
    except OSError:
        claim.close()
        return None
    return claim


def _allowed() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except (AttributeError, OSError):  # not on this system; not in this container
        return set()


def _moved_to(processors: set[int]) -> bool:
    try:
        os.sched_setaffinity(0, processors)
    except OSError:  # a container may forbid it
        return False
    return True
