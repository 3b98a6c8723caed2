"""Charts: rows, two axes, and five marks (bar, cell, line, point, rule).

A ``Chart`` holds rows and the marks that show them. Page, SVG, PNG, CSV and the table of numbers
come from it.
"""

import math
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from apps.common.charts.text import clean
from apps.common.figures import count_words, localise, percent_words

#: Annotator kinds in their fixed order, and their names.
KIND_WORDS = {
    "llm": "LLM",
    "crowd": gettext_noop("Crowd"),
    "expert": gettext_noop("Expert"),
    "author": gettext_noop("Author"),
    "model": gettext_noop("Model"),
    "gold": gettext_noop("Gold"),
}
#: The name of the built-in annotator that matches words: it is not called an LLM anywhere.
TEXT_MATCHER = gettext_noop("Text matcher (demo)")
#: Width of a chart that fits a phone of 390 pixels without scaling.
WIDTH = 360.0
#: Rows of a table on a page; the CSV file has all.
MOST_ROWS = 150
DASH = "–"

Value = str | int | float | None
Row = Mapping[str, Value]


def kind_order(kind: str) -> int:
    """The position of a kind in the fixed order; unknown kinds come last."""
    return list(KIND_WORDS).index(kind) if kind in KIND_WORDS else len(KIND_WORDS)


def share_tick(value: float) -> str:
    """A share on an axis: ``60 %``."""
    return percent_words(f"{value * 100:.3g}")


def number_tick(value: float) -> str:
    """A number on an axis: ``0.4``, ``−0.2``, ``1,200``."""
    words = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return localise(words)


@dataclass(frozen=True, slots=True)
class Name:
    """A name on an axis. ``kind`` puts the kind's shape before it, ``head`` makes it a heading.

    ``value`` and ``n`` are shown beside the row, ``reason`` within it if there is no value.
    """

    text: str
    kind: str = ""
    head: bool = False
    value: str = ""
    n: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Values from ``low`` to ``high``, or ``names`` at 0, 1, 2, …

    ``ticks``: the labelled values; None takes round numbers. ``step``: height of a row, or minimum
    width of a column, with a name.
    """

    title: str = ""
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    ticks: Sequence[float] | None = None
    words: Callable[[float], str] = share_tick
    names: Sequence[Name] = ()
    step: float = 20.0

    @property
    def ends(self) -> tuple[float, float]:
        """The values at both ends."""
        return (-0.5, len(self.names) - 0.5) if self.names else (self.low, self.high)

    def share(self, value: float) -> float:
        """The relative position of a value on the axis, clipped to 0 to 1."""
        low, high = self.ends
        if self.log:
            low, high, value = (math.log10(max(number, 1e-12)) for number in (low, high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A column from ``base`` to ``top`` over ``x``; ``width`` in units of x."""

    x: float
    top: float
    base: float = 0.0
    width: float = 0.76
    kind: str = "accent"
    name: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a grid of names: ``step`` 0 (empty) to 5 is its shade, ``n`` is below its text."""

    column: int
    row: int
    step: int
    text: str
    n: str = ""
    framed: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value with its shape and optional intervals in both directions.

    ``label`` is shown beside it, ``name`` in the legend. ``quiet`` points are grey.
    """

    x: float
    y: float
    kind: str = "other"
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    label: str = ""
    name: str = ""
    quiet: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Values joined in order; None breaks the line.

    ``dash`` 0 to 6 is its pattern. ``band`` holds x, low and high of a shaded interval. ``stairs``
    draws a step function.
    """

    points: Sequence[tuple[float, float] | None]
    kind: str = "other"
    dash: int = 0
    band: Sequence[tuple[float, float, float]] = ()
    stairs: bool = False
    name: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A line across the chart at ``x`` or ``y``; without both, the diagonal.

    ``name`` is shown beside it, that of the diagonal in the legend.
    """

    x: float | None = None
    y: float | None = None
    name: str = ""
    strong: bool = False


Mark = Bar | Cell | Point | Line | Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart: tidy ``rows`` with all of its numbers; without ``marks`` it is only a table.

    key: unique on the page. description: one sentence for people who cannot see the chart.
    shares: columns that the table shows as per cent. width: minimum of the whole chart. height: of
    the plot, if y has no names. counts: rows of whole numbers below the x axis, by x. note: a line
    at the bottom.
    """

    key: str
    title: str
    rows: Sequence[Row]
    description: str = ""
    shares: Collection[str] = ()
    x: Axis = Axis()
    y: Axis = Axis()
    marks: Sequence[Mark] = ()
    counts: Sequence[tuple[Name, Mapping[float, int]]] = ()
    width: float = WIDTH
    height: float = 160.0
    note: str = ""

    @property
    def prefix(self) -> str:
        """Its HTML id of letters, digits and hyphens; unique for each key."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.key.lower()).strip("-")
        same = plain == self.key
        return f"plot-{plain}" if same else f"plot-{plain}-{zlib.crc32(self.key.encode()):08x}"

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows as text, without empty columns."""
        names = self.rows[0] if self.rows else {}
        header = [name for name in names if any(row[name] not in ("", None) for row in self.rows)]
        shown = [[self._words(name, row[name]) for name in header] for row in self.rows[:MOST_ROWS]]
        return header, shown

    @property
    def rows_left_out(self) -> int:
        """The number of rows that only the file has."""
        return max(0, len(self.rows) - MOST_ROWS)

    def _words(self, name: str, value: Value) -> str:
        if value is None:
            return DASH
        if name in ("kind", "other kind"):
            return gettext(KIND_WORDS.get(str(value), str(value)))
        if isinstance(value, float):
            return share_tick(value) if name in self.shares else localise(f"{value:.4g}")
        return count_words(value) if isinstance(value, int) else clean(value)


def axis_floor(values: Sequence[float]) -> float:
    """The tenth below all ``values``, so that none lies on the axis."""
    least = min(values)
    below = round(math.floor((least - 0.005) / 0.1) * 0.1, 6)
    return max(below, 0.0) if least >= 0 else below


def round_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most about ``most``."""
    rough = (high - low) / most or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 2.5, 5, 10) if size * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * number, 10) for number in range(first, int(high / step + 1e-9) + 1)]
