"""The one shape of a number shown to people: with its n and interval, or null with the reason."""

import math
from typing import TypedDict

from labelhub.core.agreement.intervals import WILSON, wilson


class Figure(TypedDict, total=False):
    """``{"value", "low", "high", "n", "method"}``, or ``{"value": None, "reason"}``.

    ``doubt``: why the interval covers less than it says, where it does.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str
    doubt: str


def figure(value: float, *, low: float, high: float, n: int, method: str) -> Figure:
    """A known number; an interval that could not be computed is null, never NaN."""
    return {"value": value, "low": _finite(low), "high": _finite(high), "n": n, "method": method}


def undefined(reason: str) -> Figure:
    """A number that cannot be computed, and why."""
    return {"value": None, "reason": reason}


def share(part: int, whole: int, *, reason: str) -> Figure:
    """``part`` of ``whole`` with its Wilson interval; undefined for ``reason`` when whole is 0."""
    if whole == 0:
        return undefined(reason)
    low, high = wilson(part, whole)
    return figure(part / whole, low=low, high=high, n=whole, method=WILSON)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
