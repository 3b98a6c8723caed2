"""The audit of whatever was given: one table, or every table of a file that holds many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.agreement.table_audit.claims import WITHIN, has_differences, p_values, t_values
from apps.agreement.table_audit.collection import Found, collected, runs_of
from apps.agreement.table_audit.reading import Asked, audited
from labelhub.core.agreement.audit import Audit, Table
from labelhub.core.agreement.audit.columns import Grid, Known, read_grid
from labelhub.core.agreement.audit.findings import FAULT
from labelhub.core.agreement.audit.tables import table_of
from labelhub.core.errors import InvalidInput

#: Discordant pairs are searched for so many at most, some milliseconds each.
MOST_P_VALUES = 300


@dataclass(frozen=True, slots=True)
class Report:
    """One audited table.

    ``name`` is empty for the only one, else its path in the file; ``runs`` is the name of the table
    of single runs it was held against.
    """

    name: str
    table: Table
    found: Audit
    t_values: Sequence[Mapping[str, Any]]
    p_values: Sequence[Mapping[str, Any]]
    runs: str = ""

    @property
    def faults(self) -> int:
        """How much cannot be right."""
        return sum(finding.severity == FAULT for finding in self.found.findings)

    def to_json(self) -> dict[str, Any]:
        """The audit, and the claims of significance beside what can be computed."""
        claims = {"t_values": list(self.t_values), "p_values": list(self.p_values)}
        told = {name: values for name, values in claims.items() if values}
        names = {"name": self.name, "runs": self.runs}
        return {name: text for name, text in names.items() if text} | self.found.to_json() | told


def reports_of(asked: Asked) -> list[Report]:
    """One report for each table in what was given.

    Raises:
        InvalidInput: as ``audited``; or runs were given beside many tables.
    """
    tables = collected(asked.table) if isinstance(asked.table, str) else []
    if len(tables) < 2:
        rows = tables[0].rows if tables else asked.table
        return [_report("", replace(asked, table=rows))]
    if asked.runs:
        raise InvalidInput.at("runs", "In a file of many tables the runs are found by themselves.")
    p_rows = sum(len(each.rows) for each in tables if has_differences(_grid(each)))
    if p_rows > MOST_P_VALUES:
        raise InvalidInput.at("table", f"The tables hold more than {MOST_P_VALUES} p-values.")
    return [_of_many(each, tables, asked) for each in tables]


def to_json(reports: Sequence[Report]) -> dict[str, Any]:
    """The one report, or ``tables`` with one for each; ``faults`` counts what cannot be right."""
    faults = {"faults": sum(report.faults for report in reports)}
    if len(reports) == 1:
        return faults | reports[0].to_json()
    return faults | {"tables": [report.to_json() for report in reports]}


def _of_many(one: Found, tables: Sequence[Found], asked: Asked) -> Report:
    """Items and positives are those of tables of counts: others may be about other items."""
    grid = _grid(one)
    runs = runs_of(one, tables)
    if not grid.has("TP"):
        within = (asked.items or WITHIN) if has_differences(grid) else None
        asked = replace(asked, items=within, positives=None)
    report = _report(one.name, replace(asked, table=one.rows, runs=runs.rows if runs else None))
    return replace(report, runs=runs.name if runs else "")


def _grid(one: Found) -> Grid:
    return read_grid(table_of(one.rows), Known())


def _report(name: str, asked: Asked) -> Report:
    table, found = audited(asked)
    grid = read_grid(table, Known(asked.items, asked.positives, asked.calls))
    return Report(name, table, found, t_values(grid), p_values(grid))
