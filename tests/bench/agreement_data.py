"""Ratings to measure with: the same every time, as arrays in files that every child reads; and the
processor time and memory of what a child does with them.

Five of twenty raters choose among five categories; seven times in ten they know the right one, else
they draw. Needs only NumPy: the peers' Python has nothing of ours.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RATERS, CATEGORIES, EACH = 20, 5, 5
KNOWN = 0.7
SEED = 1
#: Iterations whose time is taken; those before them pay for the setting up.
BEFORE, COUNTED = 2, 10


class Ratings(NamedTuple):
    """``items``, ``raters``, ``codes`` of shape (labels,); ``truth`` of shape (items,)."""

    items: Any
    raters: Any
    codes: Any
    truth: Any


def make(folder: Path, labels: int) -> None:
    """Write ``labels`` ratings, five of each item."""
    rng, n = np.random.default_rng(SEED), max(1, labels // EACH)
    truth = rng.integers(0, CATEGORIES, n)
    raters = np.argsort(rng.random((n, RATERS)), axis=1)[:, :EACH]
    guesses = rng.integers(0, CATEGORIES, (n, EACH))
    codes = np.where(rng.random((n, EACH)) < KNOWN, truth[:, None], guesses)
    columns = (np.repeat(np.arange(n), EACH), raters.ravel(), codes.ravel(), truth)
    for name, column in zip(Ratings._fields, columns, strict=True):
        np.save(folder / f"{name}.npy", column)


def load(folder: Path) -> Ratings:
    """What was written."""
    return Ratings(*(np.load(folder / f"{name}.npy") for name in Ratings._fields))


def right(posterior: Any, truth: Any) -> float:
    """Share of the items whose likeliest category is the true one."""
    return float((np.asarray(posterior).argmax(axis=1) == truth).mean())


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


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
    print("{}")
