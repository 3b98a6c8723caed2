"""What a column holds, by its name, and its cells as printed numbers."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from labelhub.core.agreement.audit.findings import RowName
from labelhub.core.agreement.audit.printed import Printed, clean, parse
from labelhub.core.agreement.audit.tables import Table

COUNT_ROLES = ("TP", "FP", "FN", "TN")
METRIC_ROLES = ("accuracy", "precision", "recall", "specificity", "f1")
VALUE = "value"

#: Names by role, lower case, everything but letters and digits read as a space.
ALIASES: dict[str, str] = {
    "TP": "tp|true positive|true positives",
    "FP": "fp|false positive|false positives",
    "FN": "fn|false negative|false negatives",
    "TN": "tn|true negative|true negatives",
    "accuracy": "accuracy|acc|stated accuracy",
    "precision": "precision|prec|ppv|positive predictive value|pr",
    "recall": "recall|rec|r|sensitivity|sens|tpr|true positive rate",
    "specificity": "specificity|spec|tnr|true negative rate",
    "f1": "f1|f|f 1|f1 score|f score|f measure|fscore|f1 measure|binary f1",
    "n": "n|items|n items|size|sample size|samples|number of items|support",
    "positives": "positives|positive|pos|n positive|n positives|number of positives",
    "p": "p value|pvalue|p val|stated p|p",
    "t": "t|abs t|t value|t statistic|stated t",
    "d_rate": "d rate|drate",
    "calls": "k|calls|votes|n calls|number of calls",
    "average": "avg|average|mean|stated avg|stated mean|average accuracy|mean accuracy",
    "difference": "difference|diff|delta|δ|gain|change|stated delta|improvement",
    "diff_items": "diff items|difference in items|b c|b minus c",
    "increase": "increase|stated increase|stated increase pct|relative increase|lift",
    "before": "before|baseline|base|old|control",
    "after": "after|new|treatment|ours|proposed",
    "rate": "rate|ctr|share of total|click through rate|conversion rate|percentage|proportion",
    "part": "clicks|successes|correct|hits|conversions|k correct|numerator",
    "whole": "impressions|impr|total|trials|views|denominator|attempts",
    "share": "ratio|ratio amb|share|share amb|amb ratio|proportion ambiguous|share ambiguous",
    "acc_of_share": "acc amb|amb|ambiguous|accuracy ambiguous|acc ambiguous|amb acc",
    "acc_of_rest": "acc nor|nor|normal|accuracy normal|acc normal|nor acc",
    "overall": "overall|overall accuracy|acc overall|accuracy overall|all|table3 1shot",
}
_ROLE_OF = {name: role for role, names in ALIASES.items() for name in names.split("|")}
_OTHER = re.compile(r"[\W_]+")


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


def read_grid(table: Table, known: Known) -> Grid:
    """Roles of the columns and numbers of the cells."""
    numbers = _with_lost_noughts(table, tuple(_numbers(row) for row in table.rows))
    columns = _roles(table, numbers)
    return Grid(table, columns, numbers, known)


def plain(name: str) -> str:
    """A column's name as the aliases are written."""
    return _OTHER.sub(" ", clean(name).lower()).strip()


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
        role = _ROLE_OF.get(plain(column), VALUE)
        if role != VALUE and column in used:
            found.setdefault(role, column)
    # A lone P is a p-value, beside recall or F1 it is precision.
    if (
        "precision" not in found
        and plain(found.get("p", "")) == "p"
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
