"""Ratings to measure with: the same every time, as arrays in files that every child reads.

Five of twenty raters choose among five categories; seven times in ten they know the right one, else
they draw. Needs only NumPy: the peers' Python has nothing of ours.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RATERS, CATEGORIES, EACH = 20, 5, 5
KNOWN = 0.7
SEED = 1


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


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
    print("{}")
