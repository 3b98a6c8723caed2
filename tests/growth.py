"""Whether the work for a hostile text grows with its length and no faster."""

import time
from collections.abc import Callable

LONGER = 8
#: LONGER times the work is linear, LONGER squared quadratic; a busy machine gets some leave.
MOST_GROWTH = 3 * LONGER
#: Seconds below which a ratio says nothing.
LEAST = 0.02
TRIES = 3


def assert_linear_time(work: Callable[[str], object], seed: str, length: int) -> None:
    """Compare the CPU time for ``length`` characters of ``seed`` with that for 8 times as many."""
    short, long = (seed * max(size // len(seed), 1) for size in (length, LONGER * length))
    ratios = []
    for _ in range(TRIES):
        ratios.append(_seconds(work, long) / max(_seconds(work, short), LEAST))
        if ratios[-1] < MOST_GROWTH:
            return
    raise AssertionError(f"{LONGER} times the text took {ratios} times the work for {seed[:20]!r}")


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
