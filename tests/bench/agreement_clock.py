"""Processor time of a piece of work, and the memory it needs; for children of the benchmark."""

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

#: Iterations whose time is taken; those before them pay for the setting up.
BEFORE, COUNTED = 2, 10


class Work(NamedTuple):
    """``once``: what is timed, and gives a number to compare. With ``iterations`` it is told how
    many to do, and the time of one is taken."""

    once: Callable[..., float]
    repeats: int = 5
    iterations: bool = False


def measured(work: Work) -> dict[str, float]:
    """Seconds of this process, the best of its repeats, and what the work found."""
    if not work.iterations:
        seconds, found = _best(work.once, work.repeats)
        return {"seconds": seconds, "found": found}
    few, _ = _best(lambda: work.once(BEFORE), work.repeats)
    many, found = _best(lambda: work.once(BEFORE + COUNTED), work.repeats)
    return {"seconds": (many - few) / COUNTED, "found": found}


def resident_mb() -> float:
    """What this process holds now; 0 where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_mb() -> float:
    """The most it has held. A child inherits the peak of its parent: keep the parent small."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def tell(figures: dict[str, float]) -> None:
    """To the parent: one line of JSON."""
    print(json.dumps(figures))


def _best(once: Callable[[], float], repeats: int) -> tuple[float, float]:
    best, found = float("inf"), float("nan")
    for _ in range(repeats):
        began = time.process_time()
        found = once()
        best = min(best, time.process_time() - began)
    return best, found
