"""Findings about figures that others leave little room: kappa, accuracy, values and intervals."""

from collections.abc import Iterator, Sequence
from itertools import product

from labelhub.core.agreement.audit.arithmetic import Check
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.findings import DOUBT, FAULT, Finding
from labelhub.core.agreement.audit.printed import Interval, Printed, interval, unit
from labelhub.core.agreement.audit.relations import Broken, finding, meant, positives_of
from labelhub.core.agreement.audit.roles import role_of

#: What no interval is about.
_NO_VALUES = ("n", "p", "t", "df", "z", "chi2", "low", "high", "interval", "positives", "calls")


def check_kappas(grid: Grid) -> Iterator[Finding]:
    """Kappa against the share of agreement: never above it, for chance is never below 0.

    And never below (a - 1)/(a + 1) at agreement a, which chance reaches at the most; with the
    agreement by chance in a column it follows exactly.
    """
    for column in (name for name in grid.table.columns if role_of(name) == "kappa"):
        for at, row in enumerate(grid.numbers):
            agreement, kappa = grid.at(at, "agreement"), row.get(column)
            if agreement is None or kappa is None:
                continue
            low, high = _kappas(agreement, grid.at(at, "chance"))
            scale = _whole(kappa)
            slack = kappa.tolerance + 1e-9
            grid.tested["kappa"] += 1
            if not low * scale - slack <= kappa.value <= high * scale + slack:
                words = (
                    f"with an agreement of {agreement.text} it is from {low * scale:.4g} to"
                    f" {high * scale:.4g}"
                )
                broken = Broken(at, column, Check(follows=False, expected=None))
                yield finding(grid, broken, "impossible_kappa", words)


def _kappas(agreement: Printed, chance: Printed | None) -> tuple[float, float]:
    off = agreement.tolerance / _whole(agreement)
    least = max(0.0, agreement.value / _whole(agreement) - off)
    most = min(1.0, least + 2 * off)
    if chance is None:
        return (least - 1) / (least + 1), most
    by = chance.value / _whole(chance)
    room = chance.tolerance / _whole(chance)
    ends = [
        (a - e) / (1 - e)
        for a, e in product((least, most), (max(0.0, by - room), by + room))
        if e < 1
    ]
    return (min(ends), max(ends)) if ends else (-1.0, 1.0)


def check_accuracies(grid: Grid) -> Iterator[Finding]:
    """Accuracy against precision and recall (or F1) of one class, where no counts say more.

    Of n items at least those outside the union of found and wanted are right: accuracy is never
    below 1/(1/P + 1/R - 1) = F1/(2 - F1). With n and the positives known it follows exactly.
    """
    if not grid.has("accuracy") or grid.has("TP"):
        return
    column, broken, checked = grid.columns["accuracy"], [], 0
    for at in range(len(grid.numbers)):
        accuracy, limits = grid.at(at, "accuracy"), _accuracies(grid, at)
        if accuracy is None or limits is None:
            continue
        checked += 1
        slack, scale = accuracy.tolerance, _whole(accuracy)
        low, high = (each * scale for each in limits)
        if not low - slack - 1e-9 <= accuracy.value <= high + slack + 1e-9:
            nearest = low if accuracy.value < low else high
            broken.append(Broken(at, column, Check(follows=False, expected=round(nearest, 4))))
    if not meant(broken, checked):
        return
    grid.tested["accuracy"] += checked
    for each in broken:
        words = f"the other metrics, if they are of one class, leave {each.check.expected:.4g}"
        yield finding(grid, each, "accuracy_out_of_bounds", words, DOUBT)


def _accuracies(grid: Grid, at: int) -> tuple[float, float] | None:
    """Least and most accuracy that the other metrics leave, as fractions."""
    precision, recall, f1 = (_ends(grid.at(at, role)) for role in ("precision", "recall", "f1"))
    items, positives = positives_of(grid, at)
    if precision and recall and items and positives:
        wrong = [
            positives * (1 - r) + positives * r * (1 - p) / p
            for p, r in product(precision, recall)
            if p > 0
        ]
        return (1 - max(wrong) / items, 1 - min(wrong) / items) if wrong else None
    if precision and recall and precision[0] > 0 and recall[0] > 0:
        return 1 / (1 / precision[0] + 1 / recall[0] - 1), 1.0
    return (f1[0] / (2 - f1[0]), 1.0) if f1 else None


def _ends(cell: Printed | None) -> tuple[float, float] | None:
    if cell is None:
        return None
    scale = _whole(cell)
    ends = ((cell.value - cell.tolerance) / scale, (cell.value + cell.tolerance) / scale)
    return max(0.0, ends[0]), min(1.0, ends[1])


def check_intervals(grid: Grid) -> Iterator[Finding]:
    """Values against their intervals: in the cell, in a column, or in one for each end."""
    for column in grid.table.columns:
        own = {at: row[column].interval for at, row in enumerate(grid.numbers) if column in row}
        yield from _outside(grid, column, {at: each for at, each in own.items() if each})
    for column, intervals in _columns_of_intervals(grid):
        place = grid.table.columns.index(column)
        free = [
            name
            for name in reversed(grid.table.columns[:place])
            if role_of(name) not in _NO_VALUES and any(name in row for row in grid.numbers)
        ]
        if free:
            value = min(free, key=lambda name: len(_apart(grid, name, intervals)))
            yield from _outside(grid, value, intervals)


def _columns_of_intervals(grid: Grid) -> Iterator[tuple[str, dict[int, Interval]]]:
    names = grid.table.columns
    for at, column in enumerate(names):
        if role_of(column) == "interval":
            cells = {row: interval(each.get(column)) for row, each in enumerate(grid.table.rows)}
            yield column, {row: each for row, each in cells.items() if each is not None}
        elif role_of(column) == "low":
            high = next((name for name in names[at + 1 : at + 3] if role_of(name) == "high"), "")
            pairs = {
                row: (each[column], each[high])
                for row, each in enumerate(grid.numbers)
                if column in each and high in each
            }
            yield (
                column,
                {
                    row: Interval(low.value, top.value, min(low.digits, top.digits))
                    for row, (low, top) in pairs.items()
                },
            )


def _apart(grid: Grid, column: str, intervals: dict[int, Interval]) -> list[int]:
    """The rows whose value lies outside its interval."""
    return [
        at
        for at, each in intervals.items()
        if (cell := grid.numbers[at].get(column)) is not None and not _inside(cell, each)
    ]


def _outside(grid: Grid, column: str, intervals: dict[int, Interval]) -> Iterator[Finding]:
    checked = sum(column in grid.numbers[at] for at in intervals)
    apart = _apart(grid, column, intervals)
    broken = [Broken(at, column, Check(follows=False, expected=None)) for at in apart]
    if not meant(broken, checked):
        return
    grid.tested["interval"] += checked
    for each in broken:
        low, high, _ = intervals[each.row]
        words = f"its interval is from {low:g} to {high:g}"
        severity = FAULT if checked > 1 or grid.numbers[each.row][column].interval else DOUBT
        yield finding(grid, each, "outside_interval", words, severity)


def _inside(cell: Printed, limits: Interval) -> bool:
    """In either unit: shares may stand beside an interval in per cent."""
    return any(
        abs(cell.value - min(max(cell.value, limits.low * scale), limits.high * scale))
        <= cell.tolerance + unit(limits.digits) * scale
        for scale in _scales(cell, limits)
        if limits.low <= limits.high
    )


def _scales(cell: Printed, limits: Interval) -> Sequence[float]:
    share = max(abs(limits.low), abs(limits.high)) <= 1
    if share and (cell.percent or abs(cell.value) > 1):
        return (1.0, 100.0)
    return (1.0, 0.01) if not share and abs(cell.value) <= 1 and not cell.percent else (1.0,)


def _whole(cell: Printed) -> float:
    return 100.0 if cell.percent or abs(cell.value) > 1 else 1.0
