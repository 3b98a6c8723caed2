"""The one shape of a number of an experiment: with its n and interval, or null with the reason."""

import math
from typing import TypedDict

CONFIDENCE = 0.95


class Figure(TypedDict, total=False):
    """``{"value", "low", "high", "n", "method"}``, or ``{"value": None, "reason"}``.

    ``doubt``: why the interval is missing or covers less than it says, where it does.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str
    doubt: str


def figure(
    value: float, bounds: tuple[float, float], *, n: int, method: str, doubt: str = ""
) -> Figure:
    """A known number; an end of its interval that could not be computed is null, never NaN."""
    low, high = (end if math.isfinite(end) else None for end in bounds)
    found: Figure = {"value": value, "low": low, "high": high, "n": n, "method": method}
    if doubt:
        found["doubt"] = doubt
    return found


def undefined(reason: str) -> Figure:
    """A number that cannot be computed, and why."""
    return {"value": None, "reason": reason}
