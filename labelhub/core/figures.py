"""The one shape of a number shown to people: with its n and interval, or null with the reason."""

from typing import TypedDict


class Figure(TypedDict, total=False):
    """``{"value", "low", "high", "n", "method"}``, or ``{"value": None, "reason"}``.

    ``doubt``: why the interval is missing or may cover less than 95 %.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str
    doubt: str


def undefined(reason: str) -> Figure:
    """A number that cannot be computed, and why."""
    return {"value": None, "reason": reason}
