"""Numbers as people should read them: with their doubt, and with no more digits than are known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from labelhub.core.errors import InvalidInput

_NANO = 1_000_000_000
_MOST_DOLLARS = 1_000_000_000
_NOT_COMPUTED = "not computed"
#: Of a coefficient: always as many, or 0.7 would stand beside 0.75.
_DIGITS = 2


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """Words and positions (0 to 100 on the bar) of one figure; ``reason`` when there is none."""

    value: str = ""
    low: str = ""
    high: str = ""
    n: str = ""
    x: str = ""
    x_low: str = ""
    x_high: str = ""
    method: str = ""
    reason: str = ""


def draw_figure(figure: Mapping[str, Any] | None, *, percent: bool = False) -> DrawnFigure:
    """Lay out ``{"value", "low", "high", "n", "method"}`` or ``{"value": None, "reason"}``.

    ``percent`` shows a share in [0, 1] as per cent. The bar runs from 0 to 1, or from -1 to 1 when
    the interval goes below 0.
    """
    value = (figure or {}).get("value")
    if figure is None or value is None or not math.isfinite(value):
        return DrawnFigure(reason=str((figure or {}).get("reason") or _NOT_COMPUTED))
    n = figure.get("n")
    words = f"{n:,}" if isinstance(n, int) else ""
    method = str(figure.get("method") or "")
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None:
        decimals = _decimals(None, percent=percent)
        return DrawnFigure(
            value=_say(value, decimals, percent=percent),
            n=words,
            method=method,
            x=_place(value, -1.0 if value < 0 else 0.0),
        )
    decimals = _decimals((high - low) / 2, percent=percent)
    least = -1.0 if min(low, value) < 0 else 0.0
    return DrawnFigure(
        value=_say(value, decimals, percent=percent),
        low=_say(low, decimals, percent=percent),
        high=_say(high, decimals, percent=percent),
        n=words,
        method=method,
        x=_place(value, least),
        x_low=_place(low, least),
        x_high=_place(high, least),
    )


def ends(figure: Mapping[str, Any] | None) -> tuple[float, float, float] | None:
    """Low, value, high; the value thrice without an interval, None without a number."""
    value = (figure or {}).get("value")
    if figure is None or value is None or not math.isfinite(value):
        return None
    low, high = figure.get("low"), figure.get("high")
    return (value if low is None else low, value, value if high is None else high)


def figure_row(figure: Mapping[str, Any] | None) -> dict[str, Any]:
    """A figure as columns of a table; what is not known is None."""
    return {name: (figure or {}).get(name) for name in ("value", "low", "high", "n", "method")}


def number_words(value: float) -> str:
    """A coefficient, always with two digits so that those side by side compare: ``−0.05``."""
    return _say(value, _DIGITS, percent=False)


def share_words(value: float) -> str:
    """A share as whole per cent: ``80 %``."""
    return _say(value, 0, percent=True)


def money(nano_usd: float | None) -> str:
    """Nano-dollars as dollars, with two known digits for small sums: ``$0.0012``, ``$3.40``."""
    if nano_usd is None:
        return "—"
    dollars = float(nano_usd) / _NANO
    if dollars == 0:
        return "$0"
    size = abs(dollars)
    decimals = 2 if size >= 0.1 else min(9, 1 - math.floor(math.log10(size)))
    return f"{'-' if dollars < 0 else ''}${size:,.{decimals}f}"


def nanousd(dollars: Decimal | None) -> int | None:
    """An amount that people gave, as it is stored and summed; None stays None."""
    return None if dollars is None else int(dollars * _NANO)


def read_budget(text: str | None) -> int | None:
    """The same of an amount of USD in words; None stays None.

    Raises:
        InvalidInput: it is no amount, or more than anybody has.
    """
    if text is None:
        return None
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or not 0 <= dollars <= _MOST_DOLLARS:
        raise InvalidInput(f"budget: '{text}' is not an amount in USD, such as 2.50.")
    return nanousd(dollars)


def duration(seconds: float | None) -> str:
    """Seconds in words, to two units at most: ``0.8 s``, ``12 s``, ``3 min 20 s``, ``2 h``."""
    if seconds is None or not math.isfinite(seconds):
        return "—"
    if seconds < 1:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    parts: list[str] = []
    for size, unit in units:
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2])


def _decimals(half_width: float | None, *, percent: bool) -> int:
    """Two for coefficients; whole per cent, with one digit more where the doubt is below 1 %."""
    if not percent:
        return _DIGITS
    return int(half_width is not None and 0 < half_width * 100 < 1)


def _say(value: float, decimals: int, *, percent: bool) -> str:
    # Adding 0 turns a zero with a minus into a plain one.
    shown = round(value * (100 if percent else 1), decimals) + 0.0
    words = f"{shown:.{decimals}f}".replace("-", "−")
    return f"{words} %" if percent else words


def _place(value: float, least: float) -> str:
    share = (value - least) / (1 - least)
    return f"{min(max(share, 0), 1) * 100:.1f}"
