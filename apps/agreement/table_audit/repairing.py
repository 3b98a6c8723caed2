"""The table with what is certain put right: cells, and the names of two swapped columns."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.common.spreadsheets import guard
from labelhub.core.agreement.audit import Audit, Finding, Table
from labelhub.core.agreement.audit.columns import Grid, Known, read_grids, usual_digits
from labelhub.core.agreement.audit.findings import FAULT
from labelhub.core.agreement.audit.printed import Printed
from labelhub.core.agreement.audit.roles import COUNT_ROLES

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
    grids = read_grids(table, Known())
    names = {name: name for name in table.columns} | _exchanged(found)
    rows = [{name: cell_text(row.get(name)) for name in table.columns} for row in table.rows]
    changed: dict[Place, str] = {}
    wanted = _signs(found, rows)
    wanted |= {
        (at, column): written(_grid_of(grids, [column]), at, column, value)
        for (at, column), value in _changes(grids, found).items()
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
    pairs = [each.columns for each in found.findings if each.code == SWAPPED]
    return {
        name: new
        for one, other in (pair for pair in pairs if len(pair) == 2)
        for name, new in ((one, other), (other, one))
    }


def _grid_of(grids: Sequence[Grid], columns: Sequence[str]) -> Grid:
    """The group of columns that these are in."""
    found = (grid for grid in grids if set(columns) <= set(grid.table.columns))
    return next(found, grids[0])


def _changes(grids: Sequence[Grid], found: Audit) -> dict[Place, float]:
    """The first finding that has a repair for a cell decides."""
    exchanged = _exchanged(found)
    changes: dict[Place, float] = {}
    for each in found.findings:
        if each.severity == FAULT and each.row is not None and each.code not in NEAREST:
            grid = _grid_of(grids, each.columns)
            swapped = not exchanged.keys().isdisjoint(grid.table.columns)
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
