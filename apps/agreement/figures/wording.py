"""What pictures say: names cut to fit, numbers with their doubt, cells of tables."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.common.figures import DrawnFigure, draw_figure
from labelhub.core.agreement.reports.reasons import WORDS

#: A digit or small letter of the pictures' type; names are cut by it.
LETTER = 6.9
DASH = "–"
#: The share of the room that the end of a name takes where its middle is cut out.
TAIL = 0.45

Cell = str | int | float | None
Table = tuple[Sequence[str], Sequence[Sequence[Cell]]]
AnyFigure = Mapping[str, Any]

#: What ``figure_cells`` fills.
FIGURE_COLUMNS = ("value", "low", "high", "n", "method", "note")

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]|\\s+")
_JOINING = ("\u200d", "\ufe0f", "\ufe0e")


def clean(text: object) -> str:
    """``text`` without what no XML file may hold."""
    return _UNSAFE.sub("\ufffd", str(text))


def width_of(text: str) -> float:
    """About how wide ``text`` stands, in the widest of the common fonts."""
    return LETTER * sum(map(_size, text))


def cut(text: object, room: float) -> str:
    """``text`` as fits ``room``, on one line, with an ellipsis where some is missing.

    What turns the direction of writing is taken out: it would turn what stands beside it.
    """
    whole = _TURNING.sub(" ", clean(text)).strip()
    if width_of(whole) <= room:
        return whole
    used, kept = 1.2, ""
    for letter in whole:
        used += _size(letter)
        if used * LETTER > room:
            break
        kept += letter
    return f"{kept.rstrip(' ').rstrip(''.join(_JOINING))}…"


def cut_apart(names: Sequence[str], room: float) -> list[str]:
    """Each name as fits ``room``; where two would read the same, cut ones keep both their ends."""
    found = [cut(name, room) for name in names]
    if len(set(found)) == len(set(names)):
        return found
    return [_ends_of(name, room) for name in names]


def _ends_of(name: str, room: float) -> str:
    whole = _TURNING.sub(" ", clean(name)).strip()
    if width_of(whole) <= room:
        return whole
    last = len(whole)
    while last and width_of(whole[last - 1 :]) <= room * TAIL:
        last -= 1
    tail = whole[last:].lstrip(" ")
    return f"{cut(whole, room - width_of(tail))}{tail}"


def _size(letter: str) -> float:
    if letter in _JOINING or unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 2.0
    if letter in "ijl.,:;|!'() ":
        return 0.6
    return 1.4 if letter in "MWmw@%" else 1.1 if letter.isupper() else 1.0


def share_words(value: float) -> str:
    """A share on an axis: ``60 %``."""
    return f"{value * 100:.3g} %"


def number_words(value: float) -> str:
    """A coefficient on an axis: ``0.4``, ``−0.2``."""
    return f"{value:.3g}".replace("-", "−")


def tick_words(*, percent: bool) -> Callable[[float], str]:
    """How an axis says its values."""
    return share_words if percent else number_words


def told(figure: AnyFigure | None, *, percent: bool = False) -> DrawnFigure:
    """The words of a figure; a reason in words where there is no number."""
    drawn = draw_figure(figure, percent=percent)
    return DrawnFigure(reason=WORDS.get(drawn.reason, drawn.reason)) if drawn.reason else drawn


def sentence(figure: AnyFigure | None, *, percent: bool = False) -> str:
    """All of a figure in one line: ``0.62 (0.58 to 0.66), n 800``."""
    drawn = told(figure, percent=percent)
    if drawn.reason:
        return f"no number: {drawn.reason}"
    between = f" ({drawn.low} to {drawn.high})" if drawn.low else ""
    return f"{drawn.value}{between}{f', n {drawn.n}' if drawn.n else ''}"


def ends(figure: AnyFigure | None) -> tuple[float, float, float] | None:
    """Low, value, high; the value thrice without an interval, None without a number."""
    value = (figure or {}).get("value")
    if figure is None or value is None or not math.isfinite(value):
        return None
    low, high = figure.get("low"), figure.get("high")
    return (value if low is None else low, value, value if high is None else high)


def figure_cells(figure: AnyFigure | None) -> list[Cell]:
    """A figure in a table, in the order of ``FIGURE_COLUMNS``."""
    given = figure or {}
    note = given.get("doubt", "") if ends(figure) else told(figure).reason
    return [*(given.get(name) for name in FIGURE_COLUMNS[:-1]), note]


def cell_words(cell: Cell) -> str:
    """A cell as people read it."""
    if cell is None:
        return DASH
    if isinstance(cell, float):
        return f"{cell:.4g}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else clean(cell)
