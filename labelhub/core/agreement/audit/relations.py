"""Findings about figures that follow from others: marks, GRIM, D-rates, rates, mixtures.

Where a column does not say what it was computed from, a relation counts as meant only if at least
half of the rows keep it: then the others break it. That keeps false alarms out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from labelhub.core.agreement.audit.arithmetic import (
    MOST_CALLS,
    RATIO_AS_INCREASE,
    Check,
    f1_follows,
    grim,
    increase_follows,
    mixture_follows,
    possible_d_rates,
    rate_follows,
)
from labelhub.core.agreement.audit.columns import Grid, usual_digits
from labelhub.core.agreement.audit.findings import DOUBT, FAULT, NOTE, Finding
from labelhub.core.agreement.audit.printed import Printed
from labelhub.core.agreement.audit.roles import COUNT_ROLES, METRIC_ROLES
from labelhub.core.errors import InvalidInput

#: From so many cells on, a relation that fewer than half of them keep was not meant.
MANY = 4
#: So many rows must keep a relation for each that breaks it, where another reading is at hand.
FEW_BREAK = 3
#: Macro F1 lies some hundredths below the harmonic mean of macro precision and recall.
FAR_BELOW = 0.04


@dataclass(frozen=True, slots=True)
class Broken:
    """A cell that breaks a relation, and the check it failed."""

    row: int
    column: str
    check: Check


def finding(grid: Grid, broken: Broken, code: str, words: str, severity: str = FAULT) -> Finding:
    """The finding of one cell; ``words`` complete "is printed as x; "."""
    name, text = grid.name(broken.row), grid.numbers[broken.row][broken.column].text
    expected = broken.check.expected
    given = {} if expected is None else {broken.column: expected}
    return Finding(
        code,
        severity,
        f"{name}: {broken.column} is printed as {text}; {words}.",
        row=name,
        columns=(broken.column,),
        printed={broken.column: text},
        follows=given,
        repair=given or None,
    )


def meant(broken: list[Broken], checked: int) -> bool:
    """Whether a relation was meant at all: few cells, or at least half of them keep it."""
    return checked < MANY or len(broken) * 2 <= checked


def check_marks(grid: Grid) -> Iterator[Finding]:
    """A per cent sign at a count, or none where the rest of the column has one."""
    for role in (*COUNT_ROLES, *METRIC_ROLES):
        column = grid.columns.get(role, "")
        cells = [(at, row[column]) for at, row in enumerate(grid.numbers) if column in row]
        signed = sum(cell.percent for _, cell in cells)
        for at, cell in cells:
            if role in COUNT_ROLES and cell.percent:
                yield _mark(grid, at, column, "stray_percent", "a count has no per cent sign")
            elif role in METRIC_ROLES and not cell.percent and signed * 2 > len(cells):
                yield _mark(grid, at, column, "missing_percent", "the rest of the column has a %")


def check_ranges(grid: Grid) -> Iterator[Finding]:
    """Numbers that nothing can be: shares above 100 % or below 0, p above 1, negative counts."""
    limits = dict.fromkeys(METRIC_ROLES, 100.0) | {"p": 1.0} | dict.fromkeys(COUNT_ROLES, 1e12)
    for role, highest in limits.items():
        column = grid.columns.get(role, "")
        for at, row in enumerate(grid.numbers):
            grid.tested["range"] += column in row
            if column in row and not 0 <= row[column].value <= highest:
                broken = Broken(at, column, Check(follows=False, expected=None))
                yield finding(grid, broken, "impossible_value", f"a {role} cannot be that")


def check_f1(grid: Grid) -> Iterator[Finding]:
    """F1 from precision and recall, where no counts say more.

    A mean of F1 over classes or runs is at most the F1 of the means, for the harmonic mean is
    concave: what lies above cannot be one, what lies below may.
    """
    if not grid.has("precision", "recall", "f1") or grid.has("TP"):
        return
    broken, checked = [], 0
    for at in range(len(grid.numbers)):
        p, r, f = (grid.at(at, role) for role in ("precision", "recall", "f1"))
        if p is None or r is None or f is None or grid.summary(at):
            continue
        check = f1_follows(p, r, f)
        checked += 1
        if not check.follows:
            broken.append((Broken(at, grid.columns["f1"], check), f.value > (check.expected or 0)))
    grid.tested["f1"] += checked
    kept = checked - len(broken)
    told = checked < MANY and all(
        high or _far_below(each.check, grid, each.row) for each, high in broken
    )
    if broken and kept < len(broken) and not told:
        yield Finding(
            "f1_of_another_kind",
            NOTE,
            "F1 does not follow from precision and recall in"
            f" {len(broken)} of {checked} rows: it may be a mean over classes or runs.",
        )
        return
    for each, high in broken:
        words = f"precision and recall give {each.check.expected:.4g}"
        mean = "" if high else " (a mean over classes or runs may lie below)"
        severity = FAULT if high or kept >= FEW_BREAK * len(broken) else DOUBT
        yield finding(grid, each, "f1_does_not_follow", words + mean, severity)


def _far_below(check: Check, grid: Grid, at: int) -> bool:
    """Further than a mean of F1 usually lies below the F1 of the means."""
    said, expected = grid.at(at, "f1"), check.expected or 0.0
    return said is not None and expected - said.value > FAR_BELOW * (100 if expected > 1 else 1)


def check_grim(grid: Grid) -> Iterator[Finding]:
    """Shares that no whole number of items gives."""
    if grid.has("TP") or not (grid.has("n") or grid.known.items):
        return
    for column in _shares(grid):
        broken, checked = [], 0
        for at, row in enumerate(grid.numbers):
            cell, n = row.get(column), _items(grid, at)
            if cell is None or n is None or not 0 <= cell.value <= 100 or grid.summary(at):
                continue
            check = grim(cell, n)
            checked += check.follows is not None
            grid.tested["whole_items"] += check.follows is not None
            if check.follows is False:
                broken.append(Broken(at, column, check))
        if grid.has("n") or meant(broken, checked):
            for each in broken:
                words = f"no whole number of {_items(grid, each.row)} items gives that"
                yield finding(grid, each, "grim", words)


def check_d_rates(grid: Grid) -> Iterator[Finding]:
    """D-rates that so many calls cannot give."""
    for at in range(len(grid.numbers)):
        said, named = grid.at(at, "d_rate"), grid.at(at, "calls")
        calls = int(named.value) if named is not None else grid.known.calls
        if said is None or calls is None or not 1 <= calls <= MOST_CALLS:
            continue
        grid.tested["d_rate"] += 1
        possible = possible_d_rates(calls)
        nearest = min(possible, key=lambda each: abs(each - said.value))
        if abs(nearest - said.value) > said.tolerance:
            broken = Broken(at, grid.columns["d_rate"], Check(follows=False, expected=nearest))
            listed = ", ".join(f"{each:.4g}" for each in possible[:12])
            yield finding(
                grid, broken, "impossible_d_rate", f"{calls} calls can give only {listed}"
            )


def check_rates(grid: Grid) -> Iterator[Finding]:
    """Rates that their counts do not give."""
    role = "rate" if grid.has("rate") else "accuracy"
    if not grid.has("part", role):
        return
    for at in range(len(grid.numbers)):
        part, rate = grid.at(at, "part"), grid.at(at, role)
        whole = grid.at(at, "whole") or grid.at(at, "n") or grid.known.items
        if part is None or rate is None or whole is None:
            continue
        check = rate_follows(part, whole, rate)
        grid.tested["rate"] += check.follows is not None
        if check.follows is False and check.expected is not None:
            of = whole.text if isinstance(whole, Printed) else f"{whole:,}"
            words = f"{part.text} of {of} is {check.expected:.4g}"
            broken = Broken(at, grid.columns[role], check)
            yield finding(grid, broken, "rate_does_not_follow", words)


def check_parts(grid: Grid) -> Iterator[Finding]:
    """Shares of counts that no total stands beside: of the total row, or of all rows together."""
    if not grid.has("part", "rate") or grid.has("whole") or grid.has("n") or grid.known.items:
        return
    parts = {at: cell for at in range(len(grid.numbers)) if (cell := grid.at(at, "part"))}
    whole = sum(cell.value for at, cell in parts.items() if not grid.summary(at))
    broken, checked = [], 0
    for at, part in parts.items():
        rate = grid.at(at, "rate")
        if rate is not None and whole > 0 and not grid.summary(at):
            checked += 1
            check = rate_follows(part, whole, rate)
            if check.follows is False:
                broken.append(Broken(at, grid.columns["rate"], check))
    if len(broken) * 2 >= checked:
        return
    grid.tested["rate"] += checked
    for each in broken:
        words = f"{parts[each.row].text} of all {whole:,.10g} is {each.check.expected:.4g}"
        yield finding(grid, each, "rate_does_not_follow", words)


def check_increases(grid: Grid) -> Iterator[Finding]:
    """Increases in per cent that the values before and after do not give."""
    for at in range(len(grid.numbers)):
        before, after = grid.at(at, "before"), grid.at(at, "after")
        said = grid.at(at, "increase")
        if before is None or after is None or said is None:
            continue
        check = increase_follows(before, after, said)
        grid.tested["increase"] += check.follows is not None
        if check.follows is False:
            broken = Broken(at, grid.columns["increase"], check)
            read = (
                " (the ratio was read as the increase)" if check.reason == RATIO_AS_INCREASE else ""
            )
            words = f"from {before.text} to {after.text} it is {check.expected:.4g} %{read}"
            yield finding(grid, broken, check.reason or "increase_does_not_follow", words)


def check_mixtures(grid: Grid) -> Iterator[Finding]:
    """Overall accuracies that those of two groups do not give, or those of cells with their n."""
    for at in range(len(grid.numbers)):
        overall = grid.at(at, "overall") or grid.at(at, "accuracy") or grid.at(at, "average")
        parts = _groups(grid, at)
        if overall is None or len(parts) < 2:
            continue
        try:
            check = mixture_follows(parts, overall)
        except InvalidInput:
            continue
        grid.tested["mixture"] += 1
        if check.follows is False:
            column = next(name for name, cell in grid.numbers[at].items() if cell is overall)
            words = f"its groups together give {check.expected:.4g}"
            yield finding(grid, Broken(at, column, check), "mixture_does_not_follow", words, DOUBT)


def _groups(grid: Grid, at: int) -> list[tuple[Printed | float, Printed]]:
    sized = [cell for cell in grid.numbers[at].values() if cell.n]
    if len(sized) >= 2:
        return [(float(cell.n or 0), cell) for cell in sized]
    share = grid.at(at, "share")
    one, rest = grid.at(at, "acc_of_share"), grid.at(at, "acc_of_rest")
    if share is None or one is None or rest is None:
        return []
    whole = 100.0 if share.percent or share.value > 1 else 1.0
    other = Printed(share.text, whole - share.value, share.digits)
    return [(share, one), (other, rest)]


def _shares(grid: Grid) -> list[str]:
    """Columns to ask for whole items: accuracy, else numbers of no role that look like shares."""
    if grid.has("accuracy"):
        return [grid.columns["accuracy"]]
    if any(grid.has(role) for role in (*METRIC_ROLES, "p", "t", "share", "d_rate")):
        return []
    return [name for name in grid.value_columns() if usual_digits(grid, [name]) >= 1]


def positives_of(grid: Grid, at: int) -> tuple[int | None, int | None]:
    """How many items a row is of, and how many of them are positive, where that is told."""
    cell = grid.at(at, "positives")
    found = grid.known.positives if cell is None or cell.percent else int(cell.value)
    return _items(grid, at), found if found is not None and 1 <= found <= 10**9 else None


def _items(grid: Grid, at: int) -> int | None:
    cell = grid.at(at, "n")
    found = grid.known.items if cell is None else int(cell.value)
    return found if found is not None and 1 <= found <= 10**9 else None


def _mark(grid: Grid, at: int, column: str, code: str, words: str) -> Finding:
    named = Broken(at, column, Check(follows=False, expected=None))
    return finding(grid, named, code, words, NOTE)
