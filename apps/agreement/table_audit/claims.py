"""Claims of significance of a table, each beside what can be computed: t values and p-values."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from labelhub.core.agreement.audit import mcnemar_pairs, paired_t_follows
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.differences import MOST_ITEMS
from labelhub.core.errors import InvalidInput

#: Discordant pairs are looked for among so many items where nobody says how many there are.
WITHIN = 1_000
MOST_ROWS = 200


def t_values(grid: Grid) -> list[dict[str, Any]]:
    """Each printed t value with |t| of the paired test and of Welch's over the runs of its row."""
    return list(_t_values(grid))


def p_values(grid: Grid) -> list[dict[str, Any]]:
    """Each printed p-value with the discordant pairs (b, c) that give it, by form of the test."""
    return list(_p_values(grid)) if has_differences(grid) else []


def has_differences(grid: Grid) -> bool:
    """Whether there are p-values and the differences in items they belong to."""
    return grid.has("p", "diff_items")


def _t_values(grid: Grid) -> Iterator[dict[str, Any]]:
    for at, row in enumerate(grid.table.rows[:MOST_ROWS]):
        said, runs = grid.at(at, "t"), _pair([cell for cell in row.values() if _is_runs(cell)])
        if said is None or runs is None:
            continue
        found = paired_t_follows(*runs, said)
        yield {"row": str(grid.name(at)), "stated": said.value, **asdict(found)}


def _pair(lists: Sequence[Any]) -> tuple[Any, Any] | None:
    if len(lists) != 2 or len(lists[0]) != len(lists[1]):
        return None
    return lists[0], lists[1]


def _is_runs(cell: object) -> bool:
    return isinstance(cell, tuple) and len(cell) > 1


def _p_values(grid: Grid) -> Iterator[dict[str, Any]]:
    for at in range(min(len(grid.numbers), MOST_ROWS)):
        p, difference = grid.at(at, "p"), grid.at(at, "diff_items")
        if p is None or difference is None or difference.value % 1:
            continue
        named = grid.at(at, "n")
        items = int(named.value) if named else grid.known.items or WITHIN
        try:
            pairs = mcnemar_pairs(p, int(difference.value), min(items, MOST_ITEMS))
        except InvalidInput:
            continue
        yield {
            "row": str(grid.name(at)),
            "stated": p.value,
            "difference": int(difference.value),
            "items": items,
            **asdict(pairs),
        }
