"""Findings about means and differences: of runs, of a row, of another table, from a base."""

from collections.abc import Iterator, Mapping
from itertools import permutations

from labelhub.core.agreement.audit.arithmetic import difference_follows, mean_follows
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.findings import Finding
from labelhub.core.agreement.audit.printed import Printed, clean, parse
from labelhub.core.agreement.audit.relations import Broken, finding, meant
from labelhub.core.agreement.audit.roles import COUNT_ROLES, METRIC_ROLES, plain, role_of

MEAN_WORDS = frozenset({"mean", "avg", "average", "stated"})
#: How many rows back the row is looked for that differences are taken from.
BACK = 12
#: Among so many columns the two are looked for that a column of differences is of.
MOST_COMPARED = 8


def check_row_means(grid: Grid) -> Iterator[Finding]:
    """A column of averages against the other numbers of each row."""
    column, others = grid.columns.get("average"), grid.value_columns()
    if column is None or len(others) < 2:
        return
    broken, checked = [], 0
    for at, row in enumerate(grid.numbers):
        runs = [row[name] for name in others if name in row]
        if column in row and len(runs) >= 2:
            checked += 1
            check = mean_follows(runs, row[column])
            if check.follows is False:
                broken.append(Broken(at, column, check))
    if meant(broken, checked):
        grid.tested["mean"] += checked
        for each in broken:
            words = f"the mean of the row is {each.check.expected:.6g}"
            yield finding(grid, each, "mean_does_not_follow", words)


def check_run_means(grid: Grid) -> Iterator[Finding]:
    """A number named like a list of runs, and as a mean, against the mean of the list."""
    for at, row in enumerate(grid.table.rows):
        lists = {name: cell for name, cell in row.items() if isinstance(cell, tuple) and cell}
        for column, cell in grid.numbers[at].items():
            words = set(plain(column).split())
            named = _nearest(words - MEAN_WORDS, list(lists)) if words & MEAN_WORDS else None
            if named is None:
                continue
            check = mean_follows(lists[named], cell)
            grid.tested["mean"] += 1
            if check.follows is False:
                told = f"the mean of {named} is {check.expected:.6g}"
                yield finding(grid, Broken(at, column, check), "mean_does_not_follow", told)


def check_differences(grid: Grid) -> Iterator[Finding]:
    """A column of differences against the two other columns of numbers."""
    column = grid.columns.get("difference")
    pair = [grid.columns[role] for role in ("before", "after") if grid.has(role)]
    others = pair if len(pair) == 2 else grid.value_columns()
    if column is None:
        return
    told = len(others) == 2
    if not told:
        others = [name for name in grid.table.columns if _has_values(grid, name) and name != column]
    ways = [_against(grid, column, way) for way in permutations(others[:MOST_COMPARED], 2)]
    broken, checked = min(ways, key=lambda way: len(way[0]), default=([], 0))
    # Which two columns are meant is guessed: most rows must say so.
    if meant(broken, checked) if told else len(broken) * 2 < checked > 1:
        grid.tested["difference"] += checked
        for each in broken:
            words = f"the two columns differ by {each.check.expected:.6g}"
            yield finding(grid, each, "difference_does_not_follow", words)


def _has_values(grid: Grid, column: str) -> bool:
    no_value = role_of(column) in {"n", "p", "t", "df", "low", "high", "positives", "calls"}
    return not no_value and any(column in row for row in grid.numbers)


def check_deltas(grid: Grid) -> Iterator[Finding]:
    """Differences in brackets, as in "0.76 (+0.35)", against the row most of them start from."""
    cells = [
        (at, column, cell)
        for at, row in enumerate(grid.numbers)
        for column, cell in row.items()
        if cell.delta is not None
    ]
    if not cells:
        return
    bases = [_first_bases(grid, back) for back in range(BACK)]
    tried = [_of_bases(cells, base) for base in (*bases, _previous_bases(grid))]
    known = [each for each in tried if each[1]]
    if not known:
        return
    broken, checked = min(known, key=lambda each: (len(each[0]) - each[1], len(each[0])))
    if len(broken) * 2 <= checked:
        grid.tested["difference"] += checked
        for each in broken:
            words = f"the difference in brackets should be {each.check.expected:+.6g}"
            yield finding(grid, each, "difference_does_not_follow", words)


def check_means_of(averages: Grid, runs: Grid) -> Iterator[Finding]:
    """Rows of means against the rows of another table with the same name: all but the run's."""
    found: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(runs.numbers)):
        found.setdefault(_label(runs, at), []).append(at)
    for at in range(len(averages.numbers)):
        members = found.get(_label(averages, at), [])
        for role in (*METRIC_ROLES, *COUNT_ROLES):
            cell = averages.at(at, role)
            values = [value for each in members if (value := runs.at(each, role)) is not None]
            if cell is None or len(values) < 2:
                continue
            check = mean_follows(values, cell)
            averages.tested["mean"] += 1
            if check.follows is False:
                words = f"the mean of its {len(values)} runs is {check.expected:.6g}"
                broken = Broken(at, averages.columns[role], check)
                yield finding(averages, broken, "mean_does_not_follow", words)


def _label(grid: Grid, at: int) -> tuple[str, ...]:
    """The texts that name a row in their order, without the number of its run."""
    cells = grid.table.rows[at].items()
    texts = (clean(cell) for _, cell in cells if isinstance(cell, str) and parse(cell) is None)
    return tuple(text.lower() for text in texts)


def _nearest(words: set[str], lists: list[str]) -> str | None:
    """The list whose name differs least; one name must contain the other."""
    apart = {}
    for name in lists:
        other = set(plain(name).split())
        if words and (words <= other or other <= words):
            apart[name] = len(words ^ other)
    return min(apart, key=lambda name: apart[name], default=None)


def _against(grid: Grid, column: str, pair: tuple[str, str]) -> tuple[list[Broken], int]:
    broken, checked = [], 0
    for at, row in enumerate(grid.numbers):
        if column in row and pair[0] in row and pair[1] in row:
            checked += 1
            check = difference_follows(row[pair[0]], row[pair[1]], row[column])
            if not check.follows:
                broken.append(Broken(at, column, check))
    return broken, checked


def _of_bases(
    cells: list[tuple[int, str, Printed]], bases: Mapping[tuple[int, str], Printed]
) -> tuple[list[Broken], int]:
    broken, checked = [], 0
    for at, column, cell in cells:
        base = bases.get((at, column))
        if base is None or cell.delta is None:
            continue
        checked += 1
        said = Printed(cell.text, cell.delta, max(cell.digits, base.digits))
        check = difference_follows(cell, base, said)
        if not check.follows:
            broken.append(Broken(at, column, check))
    return broken, checked


def _first_bases(grid: Grid, back: int) -> dict[tuple[int, str], Printed]:
    """For every cell: the number in one row of its column that has no difference behind it."""
    if back >= len(grid.numbers):
        return {}
    base = grid.numbers[back]
    return {
        (at, column): base[column]
        for at, row in enumerate(grid.numbers)
        for column in row
        if at != back and column in base and base[column].delta is None
    }


def _previous_bases(grid: Grid) -> dict[tuple[int, str], Printed]:
    """For every cell: the last number above it that has no difference behind it."""
    last: dict[str, Printed] = {}
    bases: dict[tuple[int, str], Printed] = {}
    for at, row in enumerate(grid.numbers):
        for column in row:
            if column in last:
                bases[at, column] = last[column]
        last |= {column: cell for column, cell in row.items() if cell.delta is None}
    return bases
