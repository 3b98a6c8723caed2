"""Findings about rows that sum up the rows above them: averages, weighted averages, totals."""

from collections.abc import Iterator

from labelhub.core.agreement.audit.arithmetic import (
    Check,
    f1_follows,
    mean_follows,
    mixture_follows,
)
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.findings import DOUBT, FAULT, Finding
from labelhub.core.agreement.audit.printed import Printed
from labelhub.core.agreement.audit.relations import Broken, finding
from labelhub.core.agreement.audit.roles import MEAN, TOTAL, WEIGHTED
from labelhub.core.errors import InvalidInput

#: Columns that no row averages.
_NO_MEANS = ("n", "positives", "p", "t", "df", "calls", "whole", "low", "high", "chi2", "z")


def check_summaries(grid: Grid) -> Iterator[Finding]:
    """Rows named average or total against the rows above: the last block of them, or all.

    Nothing is said where no cell of the row follows: then other rows than these are summed up.
    """
    kinds = [grid.summary(row) for row in range(len(grid.numbers))]
    for at, kind in enumerate(kinds):
        if kind not in {MEAN, WEIGHTED, TOTAL}:
            continue
        every = [row for row in range(at) if not kinds[row]]
        found = [_broken(grid, at, kind, rows) for rows in (_last_block(kinds, at), every)]
        broken, kept = min(found, key=lambda each: (len(each[0]) - each[1], len(each[0])))
        if not kept and len(broken) != 1:
            continue
        grid.tested[kind] += kept + len(broken)
        severity = FAULT if kept >= len(broken) else DOUBT
        for each in broken:
            words = f"the rows above give {each.check.expected:.6g}"
            yield finding(grid, each, f"{kind}_row_does_not_follow", words, severity)


def _last_block(kinds: list[str], at: int) -> list[int]:
    end = at
    while end and kinds[end - 1]:
        end -= 1
    start = end
    while start and not kinds[start - 1]:
        start -= 1
    return list(range(start, end))


def _broken(grid: Grid, at: int, kind: str, rows: list[int]) -> tuple[list[Broken], int]:
    """The cells that do not follow, and how many do."""
    broken, kept = [], 0
    sizes = [grid.at(row, "n") for row in rows]
    for column, cell in grid.numbers[at].items():
        parts = [grid.numbers[row].get(column) for row in rows]
        known = [part for part in parts if part is not None]
        if len(known) < 2 or len(known) < len(rows):
            continue
        checks = list(_checks(grid, kind, column, (cell, known, sizes)))
        if not checks:
            continue
        if any(check.follows for check in checks) or _is_f1_of_means(grid, at, column):
            kept += 1
        else:
            broken.append(Broken(at, column, checks[0]))
    return broken, kept


def _checks(
    grid: Grid,
    kind: str,
    column: str,
    cells: tuple[Printed, list[Printed], list[Printed | None]],
) -> Iterator[Check]:
    """The ways in which a cell may sum up its column, the likeliest first."""
    cell, parts, sizes = cells
    whole = all(part.digits == 0 and not part.percent for part in (cell, *parts))
    if kind == TOTAL:
        if whole:
            total = sum(part.value for part in parts)
            yield Check(total == cell.value, total)
        return
    if column in {grid.columns.get(role) for role in _NO_MEANS}:
        return
    weights = [size.value for size in sizes if size is not None]
    if len(weights) == len(parts):
        try:
            weighted = mixture_follows(list(zip(weights, parts, strict=True)), cell)
        except InvalidInput:
            return
        if kind == WEIGHTED:
            yield weighted
            return
        yield mean_follows(parts, cell)
        yield weighted
    elif kind == MEAN:
        yield mean_follows(parts, cell)


def _is_f1_of_means(grid: Grid, at: int, column: str) -> bool:
    precision, recall = grid.at(at, "precision"), grid.at(at, "recall")
    if column != grid.columns.get("f1") or precision is None or recall is None:
        return False
    return f1_follows(precision, recall, grid.numbers[at][column]).follows is True
