"""Figures of agreement: shares, ratios and their intervals.

Shares and ratios of items that are answered several times, or that belong to authors, are drawn by
item or author.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core import figures
from labelhub.core.agreement.intervals import (
    BOOTSTRAP,
    CONFIDENCE,
    DRAWS,
    EFFECTIVE,
    WILSON,
    draw_weights,
    wilson,
    wilson_of_units,
)
from labelhub.core.agreement.ratings import Floats, Ints, divide

Figure: TypeAlias = figures.Figure
undefined = figures.undefined


@dataclass(frozen=True, slots=True)
class Record:
    """A part of a report whose JSON-ready form has its fields, and ``figures`` by their names."""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        plain = {field.name: as_json(getattr(self, field.name)) for field in fields(self)}
        figures = plain.pop("figures", {})
        return {**plain, **figures}


def as_json(member: Any) -> Any:
    """The JSON-ready form of records in mappings and sequences, or of anything plain."""
    if isinstance(member, Record):
        return member.to_json()
    if isinstance(member, Mapping):
        return {name: as_json(inner) for name, inner in member.items()}
    return [as_json(inner) for inner in member] if isinstance(member, list | tuple) else member


def figure(value: float, *, low: float, high: float, n: int, method: str) -> Figure:
    """A known number; an interval that could not be computed is null, never NaN."""
    return {"value": value, "low": _finite(low), "high": _finite(high), "n": n, "method": method}


def share(part: int, whole: int, *, reason: str) -> Figure:
    """``part`` of ``whole`` with its Wilson interval; undefined for ``reason`` when whole is 0."""
    if whole == 0:
        return undefined(reason)
    low, high = wilson(part, whole)
    return figure(part / whole, low=low, high=high, n=whole, method=WILSON)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


Columns = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.number[Any]]


FEW = 8


#: Draws that differ by less are equal.
SAME = 1e-12


CLUSTERED = f"{BOOTSTRAP}; the passes of an item go together"


BY_AUTHOR = f"{BOOTSTRAP.replace('items', 'authors')}; the items of an author go together"


@dataclass(frozen=True, slots=True)
class Resample:
    """Weights of ``items`` in each draw, shape (draws, items).

    ``authors``: shape (items,), a number from 0 for each author whose items are drawn together;
    None where every item is drawn by itself.
    """

    items: int
    weights: Floats
    authors: Ints | None = None

    def method(self, passes: Columns) -> str:
        """How an interval is made; ``passes``: how many an item has, shape (items,)."""
        if self.authors is not None:
            return BY_AUTHOR
        return CLUSTERED if passes.max(initial=0) > 1 else BOOTSTRAP

    def simple(self, passes: Ints) -> bool:
        """Whether an item counts at most once and belongs to nothing."""
        return self.authors is None and passes.max(initial=0) <= 1

    def sums(self, columns: Columns) -> Floats:
        """Of columns, shape (items, k), in each draw: shape (draws, k)."""
        table = columns.astype(np.float64)
        if table.shape[1] > FEW:
            return np.asarray(self.weights @ table)
        # A few columns one by one take a fraction of the time of a product with a thin matrix.
        return np.column_stack([self.weights @ np.ascontiguousarray(column) for column in table.T])


def resample(items: int, authors: Ints | None = None) -> Resample:
    """Draw ``items``, or ``authors`` with all their items, with replacement, again and again."""
    if items == 0:
        return Resample(0, np.empty((DRAWS, 0)))
    if authors is None:
        return Resample(items, draw_weights(np.ones(items, dtype=np.int64)))
    drawn = draw_weights(np.ones(int(authors.max()) + 1, dtype=np.int64))
    return Resample(items, drawn[:, authors], authors)


def percentile_ends(drawn: Floats) -> tuple[float, float]:
    """Percentile interval of one statistic's draws; NaN where all are undefined or the same."""
    known = drawn[~np.isnan(drawn)]
    # Sums of weights differ in their last digits where nothing varies.
    if known.size == 0 or known.max() - known.min() < SAME:
        return float("nan"), float("nan")
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return float(low), float(high)


def ratio(sample: Resample, part: Columns, whole: Columns, *, reason: str, n: int) -> Figure:
    """Sum of ``part`` over sum of ``whole``, both by item, with the bootstrap's interval.

    ``n`` is how many items the figure rests on; undefined for ``reason`` when ``whole`` sums to 0.
    """
    total = float(whole.sum())
    if total == 0:
        return undefined(reason)
    drawn = sample.sums(np.stack([part, whole], axis=1))
    low, high = percentile_ends(divide(drawn[:, 0], drawn[:, 1]))
    value = float(part.sum()) / total
    return figure(value, low=low, high=high, n=n, method=sample.method(whole))


def clustered_share(sample: Resample, part: Columns, whole: Columns, *, reason: str) -> Figure:
    """``part`` of ``whole`` passes of each item, with Wilson's interval over items or authors.

    ``n`` counts items, never passes.
    """
    if not whole.any():
        return undefined(reason)
    if sample.authors is None and (np.isin(whole, (0, 1)) & np.isin(part, (0, 1))).all():
        return share(int(part.sum()), int(whole.sum()), reason=reason)
    few = sample.authors is not None
    numbers = np.arange(len(part)) if sample.authors is None else sample.authors
    parts = np.bincount(numbers, part).astype(np.float64)
    wholes = np.bincount(numbers, whole).astype(np.float64)
    low, high = wilson_of_units(parts, wholes, np.ones(len(parts), dtype=np.int64), few=few)
    n, method = int((whole > 0).sum()), EFFECTIVE.format(unit="authors" if few else "items")
    return figure(float(part.sum() / whole.sum()), low=low, high=high, n=n, method=method)
