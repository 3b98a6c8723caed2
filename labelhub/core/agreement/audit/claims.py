"""Findings about tests of significance: p-values no counts reach, t values, and Holm over all."""

from collections.abc import Iterator

from labelhub.core.agreement.audit.arithmetic import Check
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.differences import MOST_ITEMS, mcnemar_pairs, paired_t_follows
from labelhub.core.agreement.audit.findings import DOUBT, NOTE, Finding
from labelhub.core.agreement.audit.printed import Printed
from labelhub.core.agreement.audit.relations import Broken, finding
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import LEVEL

#: Beyond so many p-values the pairs are not searched: that is no table people read.
MOST_TESTS = 100


def check_t(grid: Grid) -> Iterator[Finding]:
    """t values against two lists of runs in the same row, with the hint at Welch's test."""
    paired = 0
    for at, row in enumerate(grid.table.rows):
        lists = [cell for cell in row.values() if isinstance(cell, tuple) and len(cell) > 1]
        said = grid.at(at, "t")
        if said is None or len(lists) != 2 or len(lists[0]) != len(lists[1]):
            continue
        found = paired_t_follows(lists[0], lists[1], said)
        grid.tested["t"] += 1
        paired += found.follows is True
        if found.follows is False and found.paired is not None:
            check = Check(follows=False, expected=round(found.paired, 4))
            words = f"the runs give {found.paired:.4g} paired"
            yield finding(grid, Broken(at, grid.columns["t"], check), "t_does_not_follow", words)
    if paired:
        yield Finding(
            "runs_paired",
            NOTE,
            f"{paired} t values pair run with run: the runs of two models have no partners, so"
            " Welch's test is the honest one, and neither speaks for other items.",
            columns=(grid.columns["t"],),
        )


def check_p(grid: Grid) -> Iterator[Finding]:
    """p-values: whether McNemar's test reaches each, and how many are left after Holm."""
    cells = _p_values(grid)
    for at, column, cell in cells[:MOST_TESTS]:
        difference, items = grid.at(at, "diff_items"), _items(grid, at)
        if difference is None or items is None or difference.value % 1:
            continue
        if abs(difference.value) > items:
            continue
        grid.tested["p"] += 1
        pairs = mcnemar_pairs(cell, int(difference.value), items)
        if not pairs.reached or not pairs.exact:
            yield _not_reached(
                grid, Broken(at, column, Check(follows=False, expected=None)), reached=pairs.reached
            )
    if len(cells) > 1:
        yield from _after_holm(cells)


def _not_reached(grid: Grid, broken: Broken, *, reached: bool) -> Finding:
    if reached:
        words = "only a chi-square form of McNemar's test reaches it, not the exact one"
        return finding(grid, broken, "p_not_exact", words, NOTE)
    words = "no discordant pair with that difference gives it in any form of McNemar's test"
    return finding(grid, broken, "p_not_reached", words, DOUBT)


def _after_holm(cells: list[tuple[int, str, Printed]]) -> Iterator[Finding]:
    values = [cell.value for _, _, cell in cells]
    before = sum(value < LEVEL for value in values)
    adjusted = holm(values)
    after = sum(value < LEVEL for value in adjusted)
    lost = before - after
    yield Finding(
        "after_holm",
        DOUBT if lost else NOTE,
        f"Of {len(values)} p-values {before} are below {LEVEL}, {after} after Holm's correction"
        f" (smallest {min(adjusted):.3g}).",
        columns=tuple(dict.fromkeys(column for _, column, _ in cells)),
        follows={"below_level": before, "after_holm": after, "smallest": round(min(adjusted), 6)},
    )


def _p_values(grid: Grid) -> list[tuple[int, str, Printed]]:
    """Of the column of p-values, or of all columns where the corner of the table says so."""
    columns = [grid.columns["p"]] if grid.has("p") else grid.p_columns()
    return [
        (at, column, row[column])
        for at, row in enumerate(grid.numbers)
        for column in columns
        if column in row and 0 <= row[column].value <= 1
    ]


def _items(grid: Grid, at: int) -> int | None:
    cell = grid.at(at, "n")
    found = grid.known.items if cell is None else int(cell.value)
    return found if found is not None and 1 <= found <= MOST_ITEMS else None
