"""What a column holds, by its name, and its cells as printed numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from labelhub.core.agreement.audit.findings import RowName
from labelhub.core.agreement.audit.pasted import GROUP
from labelhub.core.agreement.audit.printed import Printed, clean, parse
from labelhub.core.agreement.audit.roles import VALUE, plain, role_of, summary_kind
from labelhub.core.agreement.audit.tables import Table


@dataclass(frozen=True, slots=True)
class Known:
    """What the reader knows besides the table."""

    items: int | None = None
    positives: int | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its numbers read: ``columns`` by role, ``numbers`` by row and column."""

    table: Table
    columns: Mapping[str, str]
    numbers: tuple[Mapping[str, Printed], ...]
    known: Known = field(default_factory=Known)
    #: How many cells were held against others, by what they were held against.
    tested: Counter[str] = field(default_factory=Counter)

    def at(self, row: int, role: str) -> Printed | None:
        """The number of a row in the column of a role."""
        column = self.columns.get(role)
        return None if column is None else self.numbers[row].get(column)

    def has(self, *roles: str) -> bool:
        """Whether there is a column for each."""
        return all(role in self.columns for role in roles)

    def name(self, row: int) -> RowName:
        """Number and identifying cells: the text ones, and small whole numbers that name a run."""
        cells = self.table.rows[row]
        named = {
            column: clean(cell)
            for column, cell in cells.items()
            if isinstance(cell, str) and (column not in self.numbers[row] or _names_run(column))
        }
        return RowName(row + 1, dict(list(named.items())[:6]))

    def summary(self, row: int) -> str:
        """Which kind of summary of other rows a row is by its first words; empty for none."""
        texts = (clean(cell) for cell in self.table.rows[row].values() if isinstance(cell, str))
        return summary_kind(next((text for text in texts if text), ""))

    def value_columns(self) -> list[str]:
        """Columns of numbers that have no role of their own, in order."""
        taken = set(self.columns.values())
        free = [name for name in self.table.columns if name not in taken and not _names_run(name)]
        return [name for name in free if any(name in row for row in self.numbers)]

    def p_columns(self) -> list[str]:
        """All columns of numbers where the first column is text and named p-value."""
        first = self.table.columns[0]
        named = plain(first) in {"p value", "p values", "pvalue"}
        return self.value_columns() if named else []


def read_grids(table: Table, known: Known) -> list[Grid]:
    """A grid for each group of columns that a header spans, each with what stands beside them."""
    groups: dict[str, list[str]] = {}
    for column in table.columns:
        over, _, name = column.rpartition(GROUP)
        if over and role_of(name) != VALUE:
            groups.setdefault(over, []).append(column)
    spanning = [columns for columns in groups.values() if len(columns) > 1]
    if not spanning:
        return [read_grid(table, known)]
    grouped = {column for columns in spanning for column in columns}
    parts = [grouped.difference(columns) for columns in spanning]
    return [read_grid(_without(table, others), known) for others in parts]


def _without(table: Table, columns: set[str]) -> Table:
    rows = ({name: cell for name, cell in row.items() if name not in columns} for row in table.rows)
    return Table(tuple(name for name in table.columns if name not in columns), tuple(rows))


def read_grid(table: Table, known: Known) -> Grid:
    """Roles of the columns and numbers of the cells."""
    numbers = _with_lost_noughts(table, tuple(_numbers(row) for row in table.rows))
    columns = _roles(table, numbers)
    return Grid(table, columns, numbers, known)


def usual_digits(grid: Grid, columns: list[str]) -> int:
    """The number of digits most cells of these columns are printed with."""
    counted = Counter(row[name].digits for row in grid.numbers for name in columns if name in row)
    return max(counted, key=lambda digits: (counted[digits], digits), default=0)


def _numbers(row: Mapping[str, object]) -> dict[str, Printed]:
    parsed = ((column, parse(cell)) for column, cell in row.items())
    return {column: number for column, number in parsed if number is not None}


def _with_lost_noughts(
    table: Table, numbers: tuple[dict[str, Printed], ...]
) -> tuple[dict[str, Printed], ...]:
    """Cells that are numbers, not text, have lost the noughts at their end: 0.7 stood as 0.70."""
    usual: dict[str, Counter[int]] = {}
    for row, cells in zip(numbers, table.rows, strict=True):
        for column, cell in row.items():
            if not isinstance(cells[column], str):
                usual.setdefault(column, Counter())[cell.digits] += 1
    digits = {column: max(seen, key=lambda d: (seen[d], d)) for column, seen in usual.items()}
    return tuple(
        {
            column: cell
            if isinstance(cells[column], str)
            else replace(cell, digits=max(cell.digits, digits[column]))
            for column, cell in row.items()
        }
        for row, cells in zip(numbers, table.rows, strict=True)
    )


def _roles(table: Table, numbers: tuple[Mapping[str, Printed], ...]) -> dict[str, str]:
    """The first column of each role that holds a number."""
    used = {name for row in numbers for name in row}
    found: dict[str, str] = {}
    for column in table.columns:
        role = role_of(column)
        if role != VALUE and column in used:
            found.setdefault(role, column)
    # A lone P is a p-value, beside recall or F1 it is precision.
    if (
        "precision" not in found
        and plain(found.get("p", "").rpartition(GROUP)[2]) == "p"
        and {"recall", "f1"} & set(found)
    ):
        found["precision"] = found.pop("p")
    return found


def _names_run(column: str) -> bool:
    return plain(column) in {
        "iteration",
        "run",
        "seed",
        "fold",
        "id",
        "no",
        "trial",
        "rank",
        "year",
    }
