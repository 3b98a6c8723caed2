"""A processor of its own for the threads that answer requests.

Python lets one thread work at a time. Where its threads are spread over processors, each hand-over
wakes another processor up, some hundred times per request; in a virtual machine that takes a
quarter of a label's time (docs/adr/0010-one-processor.md).
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

#: What the names begin with that servers claim processors by.
NAME = "labelhub-processor"


@contextmanager
def one_processor() -> Iterator[int | None]:
    """Keep this thread, and all threads that it starts, on one processor within the block.

    Servers of one machine take different ones.

    Yields:
        The processor's number; None where there is but one, where all are taken by other servers,
        or where the system does not allow it.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
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
    if len(allowed) > 1:
        for number in sorted(allowed, reverse=True):  # interrupts of devices come to the first ones
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


def _moved_to(processors: set[int]) -> bool:
    try:
        os.sched_setaffinity(0, processors)
    except OSError:  # a container may forbid it
        return False
    return True
