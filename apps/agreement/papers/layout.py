"""A table as the paper lays it out: every figure with its interval and n."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from apps.common.spreadsheets import guard
from labelhub.core.agreement.figures import Figure

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Style:
    """How a number is written: times ``scale``, with ``digits`` decimals and ``suffix``."""

    scale: float
    digits: int
    suffix: str = ""

    def words(self, number: float, *, suffix: bool = True) -> str:
        """The number; a minus sign never stands before a zero."""
        text = f"{number * self.scale:.{self.digits}f}"
        text = text.removeprefix("-") if float(text) == 0 else text
        return text + (self.suffix if suffix else "")


PERCENT = Style(100, 2, "%")
POINTS = Style(100, 1)
FRACTION = Style(1, 4)
HUNDREDTHS = Style(1, 2)
COUNT = Style(1, 1)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure in a table.

    Args:
        figure: as statistics give it; shares are in [0, 1].
        style: how it is written.
        mark: stands behind the number, such as ``*``.
        change: its difference from a baseline, written behind it as the papers do.
        more: what else programs are told of it.
        best: the highest of its column, which the papers print in bold.
    """

    figure: Figure
    style: Style = PERCENT
    mark: str = ""
    change: Figure | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    best: bool = False

    def words(self) -> str:
        """The number as the paper prints it."""
        value = self.figure["value"]
        if value is None:
            return NOTHING
        number = self.style.words(value)
        return (f"**{number}**" if self.best else number) + self.mark + self._change()

    def interval(self) -> str:
        """``[low, high]``; empty where there is no number, or nothing says how sure it is."""
        low, high = self.figure.get("low"), self.figure.get("high")
        if low is None or high is None:
            return "" if self.figure["value"] is None else "[–]"
        ends = (self.style.words(end, suffix=False) for end in (low, high))
        return f"[{', '.join(ends)}]"

    def to_json(self) -> dict[str, Any]:
        """The figure, with its change where there is one."""
        change = {} if self.change is None else {"change": self.change}
        return {**self.figure, **change, **self.more, **({"best": True} if self.best else {})}

    def _change(self) -> str:
        value = None if self.change is None else self.change["value"]
        if value is None:
            return ""
        words = self.style.words(abs(value), suffix=False)
        arrow = "-" if float(words) == 0 else "↑ " if value > 0 else "↓ "
        return f" ({arrow}{words})"


Cell: TypeAlias = str | Shown
Row: TypeAlias = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """``rows`` have a cell for each of ``columns``, whose names differ; ``notes`` go below."""

    columns: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """Rows as objects by column; empty cells are left out."""
        return {
            "columns": list(self.columns),
            "rows": [
                {
                    name: cell.to_json() if isinstance(cell, Shown) else cell
                    for name, cell in zip(self.columns, row, strict=True)
                    if cell != ""
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }

    def figures(self) -> Iterator[Figure]:
        """All that are shown."""
        return (cell.figure for row in self.rows for cell in row if isinstance(cell, Shown))


BOLD = "**…**: the highest of its column, as the papers print in bold; it may be so by chance."


def with_best(table: Table, columns: Sequence[str]) -> Table:
    """The table with the highest figure of each of ``columns`` marked, where there are several."""
    places = [at for at, name in enumerate(table.columns) if name in columns]
    most = {at: max(_values(table, at), default=None) for at in places}
    rows = [[_marked(cell, most.get(at)) for at, cell in enumerate(row)] for row in table.rows]
    several = any(len(_values(table, at)) > 1 for at in places)
    return Table(table.columns, rows, [*table.notes, BOLD]) if several else table


def _values(table: Table, at: int) -> list[float]:
    cells = (row[at] for row in table.rows)
    shown = (cell.figure["value"] for cell in cells if isinstance(cell, Shown))
    return [value for value in shown if value is not None]


def _marked(cell: Cell, most: float | None) -> Cell:
    if isinstance(cell, Shown) and most is not None and cell.figure["value"] == most:
        return replace(cell, best=True)
    return cell


def text_lines(table: Table) -> list[str]:
    """For people: each row as in the paper, then the intervals, then n where they differ."""
    body = [lines for row in table.rows for lines in _lines_of(row)]
    head = [*table.columns, "n"]
    widths = [max(len(line[at]) for line in [head, *body]) for at in range(len(head))]
    left = _words_columns(table)
    ruled = ["  ".join("-" * width for width in widths)]
    return [
        *(_aligned(line, widths, left) for line in [head]),
        *ruled,
        *(_aligned(line, widths, left) for line in body),
        *ruled,
        *_below(table),
    ]


def csv_rows(table: Table) -> list[list[str]]:
    """A heading and the rows; each column of figures is four: value, low, high, n."""
    words = _words_columns(table)
    parts = ("", " low", " high", " n")
    head = [
        name if at in words else f"{name}{part}"
        for at, name in enumerate(table.columns)
        for part in (("",) if at in words else parts)
    ]
    return [head, *(_csv_row(row, words) for row in table.rows)]


def _csv_row(row: Row, words: set[int]) -> list[str]:
    cells: list[str] = []
    for at, cell in enumerate(row):
        if isinstance(cell, Shown):
            told = (cell.figure.get(name) for name in ("value", "low", "high", "n"))
            cells += ["" if each is None else str(each) for each in told]
        else:
            cells += [guard(cell), *([] if at in words else ["", "", ""])]
    return cells


def _words_columns(table: Table) -> set[int]:
    """Places of the columns that hold words only."""
    return {
        at
        for at in range(len(table.columns))
        if not any(isinstance(row[at], Shown) for row in table.rows)
    }


def _lines_of(row: Row) -> list[list[str]]:
    shown = [cell for cell in row if isinstance(cell, Shown)]
    sizes = [f"{n:,}" for cell in shown if (n := cell.figure.get("n")) is not None]
    alike = len(set(sizes)) == 1
    first = [cell.words() if isinstance(cell, Shown) else cell for cell in row]
    second = [cell.interval() if isinstance(cell, Shown) else "" for cell in row]
    lines = [[*first, sizes[0] if alike else ""], [*second, ""]]
    if sizes and not alike:
        each = [_n(cell) if isinstance(cell, Shown) else "" for cell in row]
        lines.append([*each, ""])
    return lines


def _n(cell: Shown) -> str:
    n = cell.figure.get("n")
    return "" if n is None else f"n={n:,}"


def _aligned(line: Sequence[str], widths: Sequence[int], left: set[int]) -> str:
    cells = (
        text.ljust(width) if at in left else text.rjust(width)
        for at, (text, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def _below(table: Table) -> Iterator[str]:
    methods = sorted({found["method"] for found in table.figures() if "method" in found})
    yield f"In brackets: 95 % intervals ({'; '.join(methods) or 'none could be computed'})."
    reasons = dict.fromkeys(found["reason"] for found in table.figures() if "reason" in found)
    yield from (f"{NOTHING} {reason}" for reason in reasons)
    yield from (note if note.startswith("*") else f"Note: {note}" for note in table.notes)
