"""Numbers for people: with their intervals, without insignificant digits, in the page's language.

Separators and the place of a currency follow the language; units (``s``, ``min``, ``h``, ``d``),
``%`` and ``n`` are the same in each. Files and REST never use these functions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.formats import date_format, get_format
from django.utils.translation import get_language_bidi, gettext, gettext_lazy, gettext_noop

from apps.common.methods import method_words, without_code
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase

_NANO = 1_000_000_000
_MOST_DOLLARS = 1_000_000_000
_NOT_COMPUTED = gettext_lazy("not computed")
#: Decimals of a coefficient; fixed, so that columns align.
_DIGITS = 2
# Columns of files stay English; a page looks up their translations.
_COLUMNS = (
    gettext_noop("value"),
    gettext_noop("low"),
    gettext_noop("high"),
    gettext_noop("n"),
    gettext_noop("method"),
)


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """Texts and positions (0 to 100 on the bar) of a figure; ``reason``: why it has no value,
    ``note``: why it has no interval."""

    value: str = ""
    low: str = ""
    high: str = ""
    n: str = ""
    x: str = ""
    x_low: str = ""
    x_high: str = ""
    method: str = ""
    reason: str = ""
    note: str = ""


def draw_figure(figure: Mapping[str, Any] | None, *, percent: bool = False) -> DrawnFigure:
    """Lay out ``{"value", "low", "high", "n", "method"}`` or ``{"value": None, "reason"}``.

    ``percent`` shows a share in [0, 1] as per cent. The bar runs from 0 to 1, or from -1 to 1 if
    the interval reaches below 0.
    """
    value = (figure or {}).get("value")
    if figure is None or value is None or not math.isfinite(value):
        reason = (figure or {}).get("reason")
        return DrawnFigure(reason=gettext(reason) if reason else str(_NOT_COMPUTED))
    n = figure.get("n")
    words = count_words(n) if isinstance(n, int) else ""
    method = method_words(str(figure.get("method") or ""))
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None:
        decimals = _decimals(None, percent=percent)
        return DrawnFigure(
            value=_format(value, decimals, percent=percent),
            n=words,
            method=method,
            x=_bar_position(value, -1.0 if value < 0 else 0.0),
            note=method_words(without_code(str(figure.get("doubt") or ""))),
        )
    decimals = _decimals((high - low) / 2, percent=percent)
    least = -1.0 if min(low, value) < 0 else 0.0
    return DrawnFigure(
        value=_format(value, decimals, percent=percent),
        low=_format(low, decimals, percent=percent),
        high=_format(high, decimals, percent=percent),
        n=words,
        method=method,
        x=_bar_position(value, least),
        x_low=_bar_position(low, least),
        x_high=_bar_position(high, least),
    )


def ends(figure: Mapping[str, Any] | None) -> tuple[float, float, float] | None:
    """Low, value and high; three times the value without an interval, None without a value."""
    value = (figure or {}).get("value")
    if figure is None or value is None or not math.isfinite(value):
        return None
    low, high = figure.get("low"), figure.get("high")
    return (value if low is None else low, value, value if high is None else high)


def figure_row(figure: Mapping[str, Any] | None) -> dict[str, Any]:
    """A figure as columns of a table; None for unknown ones."""
    return {name: (figure or {}).get(name) for name in _COLUMNS}


def localise(number: str) -> str:
    """A number as Python writes it (``-1,234.5``), with the separators of the language."""
    comma, point = get_format("THOUSAND_SEPARATOR"), get_format("DECIMAL_SEPARATOR")
    return number.translate({ord(","): comma, ord("."): point, ord("-"): "−"})


def count_words(number: float) -> str:
    """A whole number with thousands separators."""
    return localise(f"{int(number):,}")


def day_words(day: date) -> str:
    """``3 Nov``, in German ``3. Nov``."""
    return date_format(day, "MONTH_DAY_FORMAT")


def range_words(low: str, high: str) -> str:
    """``0.58 to 0.66``."""
    return gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def number_words(value: float) -> str:
    """A coefficient with two decimals: ``−0.05``."""
    return _format(value, _DIGITS, percent=False)


def percent_words(number: str) -> str:
    """``80 %``, on one line; isolated where a text from right to left would move the sign."""
    words = f"{localise(number)}\xa0%"
    return f"\u2066{words}\u2069" if get_language_bidi() else words


def share_words(value: float) -> str:
    """A share in whole per cent: ``80 %``."""
    return _format(value, 0, percent=True)


def money(nano_usd: float | None) -> str:
    """Nano-dollars as dollars, below a cent with two significant digits: ``$0.0012``, ``$3.40``."""
    if nano_usd is None:
        return "—"
    amount = usd(abs(nano_usd))
    return f"−{amount}" if nano_usd < 0 else str(amount)


def usd(nano_usd: float) -> Phrase:
    """The amount that :func:`money` prints, for a message."""
    dollars = float(nano_usd) / _NANO
    decimals = 2 if dollars else 0
    if 0 < dollars < 0.00995:
        decimals = min(9, 1 - math.floor(math.log10(dollars)))
    return Phrase("$%(amount)s", amount=Decimal(f"{dollars:.{decimals}f}"))


def dollar_tick(dollars: float) -> str:
    """All digits of a round number; :func:`money` would print several lines of a grid alike."""
    amount = Decimal(f"{dollars:.3g}")
    decimals = max(2, len(f"{amount:f}".partition(".")[2])) if amount else 0
    return str(Phrase("$%(amount)s", amount=Decimal(f"{amount:.{decimals}f}")))


def nanousd(dollars: Decimal | None) -> int | None:
    """Dollars as nano-dollars, the stored unit; None stays None."""
    return None if dollars is None else int(dollars * _NANO)


def read_budget(text: str | None) -> int | None:
    """An amount of USD in text as nano-dollars; None stays None.

    Raises:
        InvalidInput: it is no amount, negative or over a billion.
    """
    if text is None:
        return None
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or not 0 <= dollars <= _MOST_DOLLARS:
        raise InvalidInput("budget: '%(text)s' is not an amount in USD, such as 2.50.", text=text)
    return nanousd(dollars)


def duration(seconds: float | None) -> str:
    """Seconds in at most two units: ``0.8 s``, ``12 s``, ``3 min 20 s``, ``2 h``."""
    if seconds is None or not math.isfinite(seconds):
        return "—"
    if seconds < 1:
        return localise(f"{max(seconds, 0):.1f} s")
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
    """Two for coefficients; none for per cent, or one if the interval is narrower than ±1 %."""
    if not percent:
        return _DIGITS
    return int(half_width is not None and 0 < half_width * 100 < 1)


def _format(value: float, decimals: int, *, percent: bool) -> str:
    # Adding 0 turns -0.0 into 0.0.
    shown = round(value * (100 if percent else 1), decimals) + 0.0
    words = f"{shown:.{decimals}f}"
    return percent_words(words) if percent else localise(words)


def _bar_position(value: float, least: float) -> str:
    share = (value - least) / (1 - least)
    return f"{min(max(share, 0), 1) * 100:.1f}"
