"""The table with what is certain put right: cells, and the names of two swapped columns."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apps.common.spreadsheets import guard
from labelhub.core.agreement.audit import Audit, Finding, Table
from labelhub.core.agreement.audit.columns import COUNT_ROLES, Grid, Known, read_grid, usual_digits
from labelhub.core.agreement.audit.findings import FAULT
from labelhub.core.agreement.audit.printed import Printed

#: Findings about counts: their repair is by what a figure is, not by the column it stands in.
BY_ROLE = frozenset(
    {
        "row_swapped",
        "metrics_shifted",
        "counts_do_not_sum",
        "count_wrong",
        "copied_from_row",
        "metric_does_not_follow",
    }
)
#: What they name is only the nearest value that can be; nobody knows which was meant.
NEAREST = frozenset({"grim", "impossible_d_rate"})
SWAPPED = "columns_swapped"
STRAY, MISSING = "stray_percent", "missing_percent"

Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Repaired:
    """``columns``: name as printed → name it should have; ``changed``: place → what was printed."""

    columns: Mapping[str, str]
    rows: tuple[Mapping[str, str], ...]
    changed: Mapping[Place, str]

    @property
    def renamed(self) -> dict[str, str]:
        """The columns whose names change."""
        return {old: new for old, new in self.columns.items() if old != new}


def repaired(table: Table, found: Audit) -> Repaired:
    """Every fault whose repair is known is repaired, and signs of per cent; doubts stay."""
    grid = read_grid(table, Known())
    names = {name: name for name in table.columns} | _exchanged(found)
    rows = [{name: cell_text(row.get(name)) for name in table.columns} for row in table.rows]
    changed: dict[Place, str] = {}
    wanted = _signs(found, rows)
    wanted |= {
        (at, column): written(grid, at, column, value)
        for (at, column), value in _changes(grid, found).items()
    }
    for (at, column), text in wanted.items():
        if rows[at][column] != text:
            changed[at, column] = rows[at][column]
            rows[at][column] = text
    return Repaired(names, tuple(rows), changed)


def csv_text(table: Repaired) -> str:
    """As CSV; cells that a spreadsheet would run begin with an apostrophe."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([guard(name) for name in table.columns.values()])
    writer.writerows([guard(row[name]) for name in table.columns] for row in table.rows)
    return buffer.getvalue()


def cell_text(cell: object) -> str:
    """A cell as text; numbers of runs stand one after the other."""
    if isinstance(cell, tuple):
        return " ".join(f"{number:.10g}" for number in cell)
    if isinstance(cell, float) and cell.is_integer():
        return f"{cell:.0f}"
    return "" if cell is None else str(cell)


def written(grid: Grid, row: int, column: str, value: float) -> str:
    """A number as its column prints numbers; a count that was meant has no sign of per cent."""
    cell = grid.numbers[row].get(column)
    counts = {grid.columns.get(role) for role in COUNT_ROLES}
    if column in counts:
        return f"{value:.10g}"
    digits = max(usual_digits(grid, [column]), cell.digits if cell else 0)
    text = f"{value:.{digits}f}"
    if cell is not None and cell.text.lstrip("+-").startswith("."):
        text = text.replace("0.", ".", 1)
    return text + ("%" if _in_percent(grid, column, cell) else "")


def _in_percent(grid: Grid, column: str, cell: Printed | None) -> bool:
    if cell is not None and cell.percent:
        return True
    cells = [row[column] for row in grid.numbers if column in row]
    return sum(each.percent for each in cells) * 2 > len(cells)


def _signs(found: Audit, rows: list[dict[str, str]]) -> dict[Place, str]:
    """Cells with a sign of per cent too many, or without the one their column has."""
    places = [
        (each.code, each.row.number - 1, column)
        for each in found.findings
        if each.row is not None and each.code in {STRAY, MISSING}
        for column in each.columns
    ]
    return {
        (at, column): rows[at][column].replace("%", "") + ("%" if code == MISSING else "")
        for code, at, column in places
    }


def _exchanged(found: Audit) -> dict[str, str]:
    for each in found.findings:
        if each.code == SWAPPED and len(each.columns) == 2:
            one, other = each.columns
            return {one: other, other: one}
    return {}


def _changes(grid: Grid, found: Audit) -> dict[Place, float]:
    """The first finding that has a repair for a cell decides."""
    swapped = any(each.code == SWAPPED for each in found.findings)
    changes: dict[Place, float] = {}
    for each in found.findings:
        if each.severity == FAULT and each.row is not None and each.code not in NEAREST:
            for column, value in _cells(grid, each, swapped=swapped):
                changes.setdefault((each.row.number - 1, column), value)
    return changes


def _cells(grid: Grid, finding: Finding, *, swapped: bool) -> Iterator[tuple[str, float]]:
    for name, value in (finding.repair or {}).items():
        if finding.code not in BY_ROLE:
            yield name, value
            continue
        role = {"FP": "FN", "FN": "FP"}.get(name, name) if swapped else name
        if role in grid.columns:
            yield grid.columns[role], value
