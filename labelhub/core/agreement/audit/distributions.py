"""Findings about p-values beside the statistic they come from: t, z or chi-square."""

from collections.abc import Callable, Iterator

from scipy.special import chdtrc, ndtr, stdtr

from labelhub.core.agreement.audit.arithmetic import Check
from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.findings import Finding
from labelhub.core.agreement.audit.printed import Printed
from labelhub.core.agreement.audit.relations import Broken, finding, meant

Tail = Callable[[float], float]


def check_tails(grid: Grid) -> Iterator[Finding]:
    """p-values that the statistic in the same row does not give, neither two- nor one-sided."""
    if not grid.has("p"):
        return
    broken, checked = [], 0
    for at in range(len(grid.numbers)):
        p, statistic = grid.at(at, "p"), _statistic(grid, at)
        if p is None or statistic is None or not 0 <= p.value <= 1:
            continue
        cell, tail, sides = statistic
        checked += 1
        if not any(_reached(p, cell, tail, side) for side in sides):
            expected = float(f"{tail(abs(cell.value)):.4g}")
            broken.append(Broken(at, grid.columns["p"], Check(follows=False, expected=expected)))
    if not meant(broken, checked):
        return
    grid.tested["tail"] += checked
    for each in broken:
        words = f"the statistic beside it gives {each.check.expected:.3g}"
        yield finding(grid, each, "p_does_not_follow", words)


def _statistic(grid: Grid, at: int) -> tuple[Printed, Tail, tuple[float, ...]] | None:
    """The statistic, its two-sided p-value, and which parts of that may be printed."""
    t, z, chi2, df = (grid.at(at, role) for role in ("t", "z", "chi2", "df"))
    free = df.value if df is not None and df.value > 0 else None
    found: tuple[Printed, Tail, tuple[float, ...]] | None = None
    if t is not None and free is not None:
        found = t, lambda size: float(2 * stdtr(free, -size)), (1.0, 0.5)
    elif z is not None:
        found = z, lambda size: float(2 * ndtr(-size)), (1.0, 0.5)
    elif chi2 is not None and free is not None and chi2.value >= 0:
        found = chi2, lambda size: float(chdtrc(free, size)), (1.0,)
    return None if found is None or found[0].bound else found


def _reached(p: Printed, cell: Printed, tail: Tail, side: float) -> bool:
    """Whether the printed p is among those of the statistic, give or take a unit of each."""
    size = abs(cell.value)
    most, least = (
        side * tail(each) for each in (max(0.0, size - cell.tolerance), size + cell.tolerance)
    )
    if p.bound:
        return least < p.value
    return least - p.tolerance - 1e-12 <= p.value <= most + p.tolerance + 1e-12
