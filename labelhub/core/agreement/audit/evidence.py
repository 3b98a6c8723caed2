"""From the cells of a table to the evidence of each row: scale, tolerance, and what is known."""

from collections import Counter
from dataclasses import replace
from math import isfinite, nan

from labelhub.core.agreement.audit.columns import Grid, usual_digits
from labelhub.core.agreement.audit.confusion import Claim, Evidence, Four, follows
from labelhub.core.agreement.audit.printed import UNITS, Printed, unit
from labelhub.core.agreement.audit.roles import COUNT_ROLES, METRIC_ROLES

#: Precision and F1 of summed counts differ from the mean of the runs' own; this much is usual.
LOOSE = 0.002
#: Means of truncated metrics of means are off by more than a unit, but not by much.
AVERAGED = 0.0005
#: So many rows at least, and more than half of all, must share a sum for it to count as known.
FEWEST = 3


def scales(grid: Grid, printed: list[Four]) -> dict[str, float]:
    """By metric: 100 where its column is in per cent, 1 where it is a fraction.

    A per cent sign, or most numbers above 1, decide; else what more rows' counts give.
    """
    found = {}
    for role in METRIC_ROLES:
        cells = [grid.at(row, role) for row in range(len(grid.numbers))]
        numbers = [cell for cell in cells if cell is not None]
        above = sum(number.value > 1 for number in numbers)
        if any(number.percent for number in numbers) or above * 2 > len(numbers):
            found[role] = 100.0
        else:
            fits = {scale: _fits(role, cells, scale, printed) for scale in (1.0, 100.0)}
            found[role] = 100.0 if (fits[100.0], above) > (fits[1.0], 0) else 1.0
    return found


def row_evidence(grid: Grid) -> tuple[list[Evidence], dict[str, float]]:
    """The evidence of every row with counts as printed, and the scale of each metric."""
    printed = [_counts(grid, row) for row in range(len(grid.numbers))]
    scale = scales(grid, printed)
    step = _step(printed)
    usual = usual_digits(grid, [grid.columns[role] for role in METRIC_ROLES if grid.has(role)])
    place = grid.table.columns.index
    order = sorted(
        (role for role in METRIC_ROLES if grid.has(role)),
        key=lambda role: place(grid.columns[role]),
    )
    digits = {role: min(usual, _most_digits(grid, role)) for role in order}
    rows = []
    for row, counts in enumerate(printed):
        cells = [(role, grid.at(row, role)) for role in order]
        claims = tuple(
            _claim(role, cell, scale[role], digits[role], step)
            for role, cell in cells
            if cell is not None
        )
        rows.append(Evidence(counts, claims, step=step))
    return rows, scale


def with_sums(grid: Grid, rows: list[Evidence]) -> list[Evidence]:
    """The evidence with items and positives: of the row, as told, or as most rows have them.

    To be called with FP and FN in their right places, or the positives are not theirs.
    """
    items = _usual([sum(row.counts) for row in rows], rows)
    positives = _usual([row.counts[0] + row.counts[2] for row in rows], rows)
    return [
        replace(
            row,
            items=told_items(grid, at) or items,
            positives=_told(grid, at, "positives", grid.known.positives) or positives,
        )
        for at, row in enumerate(rows)
    ]


def told_items(grid: Grid, row: int) -> float | None:
    """The number of items that the row or the caller names."""
    return _told(grid, row, "n", grid.known.items)


def _told(grid: Grid, row: int, role: str, known: int | None) -> float | None:
    cell = grid.at(row, role)
    if cell is not None and cell.value > 0 and cell.digits == 0 and not cell.percent:
        return cell.value
    return known


def _counts(grid: Grid, row: int) -> Four:
    tp, fp, fn, tn = (grid.at(row, role) for role in COUNT_ROLES)
    return (_value(tp), _value(fp), _value(fn), _value(tn))


def _value(cell: Printed | None) -> float:
    return nan if cell is None else cell.value


def _step(printed: list[Four]) -> float:
    """1 for whole counts; where most rows have a fraction they are means of runs."""
    known = [counts for counts in printed if any(map(isfinite, counts))]
    broken = sum(any(isfinite(each) and each % 1 for each in counts) for counts in known)
    return 0.1 if broken * 2 > len(known) else 1.0


def _claim(role: str, cell: Printed, scale: float, usual: int, step: float) -> Claim:
    """A cell with fewer digits than its column has lost its noughts: 97.9 there is 97.90."""
    tolerance = unit(max(cell.digits, usual)) * UNITS / scale
    if step < 1:
        loose = role in {"precision", "f1", "specificity"}
        tolerance = max(2 * tolerance, LOOSE if loose else AVERAGED)
    return Claim(role, cell.value / scale, tolerance + 1e-9)


def _most_digits(grid: Grid, role: str) -> int:
    column = grid.columns[role]
    return max(row[column].digits for row in grid.numbers if column in row)


def _fits(role: str, cells: list[Printed | None], scale: float, printed: list[Four]) -> int:
    fits = 0
    for cell, (tp, fp, fn, tn) in zip(cells, printed, strict=True):
        if cell is not None and isfinite(tp):
            claim = Claim(role, cell.value / scale, unit(cell.digits) * UNITS / scale + 1e-9)
            fits += follows(claim, (tp, fp, fn, tn)) or follows(claim, (tp, fn, fp, tn))
    return fits


def _usual(sums: list[float], rows: list[Evidence]) -> float | None:
    complete = [round(each, 6) for each in sums if isfinite(each)]
    if not complete or not rows:
        return None
    value, often = Counter(complete).most_common(1)[0]
    return value if often >= FEWEST and often * 2 > len(complete) and value > 0 else None
