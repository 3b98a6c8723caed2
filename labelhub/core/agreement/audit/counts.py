"""Findings about confusion counts: swapped columns, shifted metrics, slips, copies, wrong sums."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite

from labelhub.core.agreement.audit.columns import Grid
from labelhub.core.agreement.audit.confusion import (
    AS_PRINTED,
    COUNTS,
    EXCHANGE,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    Evidence,
    Four,
    Repair,
    as_printed,
    metric,
    repairs,
    sums_agree,
    wrong_claims,
)
from labelhub.core.agreement.audit.evidence import row_evidence, told_items, with_sums
from labelhub.core.agreement.audit.findings import DOUBT, FAULT, Finding
from labelhub.core.agreement.audit.orientation import (
    PRINTED,
    SWAPPED,
    UNDECIDABLE,
    Vote,
    decide,
    vote,
)
from labelhub.core.agreement.audit.roles import COUNT_ROLES

ALTERNATIVES = 2
#: In a table of so few rows one typing error could decide which way FP and FN stand.
FEW = 10
#: In a table with more wrong rows than this, nothing is typed wrong here and there: those beyond
#: get their findings, but no search for the count that was meant.
MOST_SEARCHED = 250


@dataclass(frozen=True, slots=True)
class Confusion:
    """The rows of a table with FP and FN where they belong."""

    grid: Grid
    rows: list[Evidence]
    votes: list[Vote]
    swapped: bool
    scale: Mapping[str, float]

    def column(self, name: str) -> str:
        """The printed name of the column that holds a count or metric."""
        other = {"FP": "FN", "FN": "FP"}.get(name, name) if self.swapped else name
        return self.grid.columns.get(other, other)

    def figure(self, name: str, value: float) -> float:
        """A metric in the unit of its column; a count as it is."""
        return round(value * self.scale[name], 4) if name in self.scale else round(value, 4)


def read_confusion(grid: Grid) -> Confusion | None:
    """The confusion counts of a table; None where it has too few to say anything."""
    if not grid.has("TP") or not (grid.has("FP") or grid.has("FN")):
        return None
    rows, scale = row_evidence(grid)
    votes = [
        vote(replace(row, items=told_items(grid, at)), search=len(rows) <= FEW)
        for at, row in enumerate(rows)
    ]
    swapped = decide(votes)
    placed = [row.swapped() for row in rows] if swapped else rows
    return Confusion(grid, with_sums(grid, placed), votes, swapped, scale)


def check_counts(confusion: Confusion) -> Iterator[Finding]:
    """All findings about counts, the one about the whole table first."""
    if confusion.swapped:
        yield _columns_swapped(confusion)
    usual = SWAPPED if confusion.swapped else PRINTED
    wrong_rows = 0
    for at, (row, said) in enumerate(zip(confusion.rows, confusion.votes, strict=True)):
        if said.cost == 0 and said.side not in {usual, UNDECIDABLE}:
            yield _row_swapped(confusion, at)
        else:
            wrong_rows += bool(wrong_claims(row.claims, row.counts))
            yield from _check_row(confusion, at, search=wrong_rows <= MOST_SEARCHED)


def _check_row(confusion: Confusion, at: int, *, search: bool) -> Iterator[Finding]:
    row = confusion.rows[at]
    wrong = wrong_claims(row.claims, row.counts)
    known = told_items(confusion.grid, at)
    testable = [claim for claim in row.claims if metric(claim.metric, row.counts) is not None]
    confusion.grid.tested["counts"] += len(testable) + (known is not None)
    summed = known is None or sums_agree(
        Evidence(row.counts, (), known, None, row.step), row.counts
    )
    if not wrong and summed:
        return
    best, *others = repairs(row) if search else [as_printed(row)]
    if not wrong and best.wrong:
        # The metrics know nothing of the items missing: no repair that breaks them is one.
        best, others = as_printed(row), []
    near = [each for each in others if each.cost <= best.cost + 1 and each.kind != AS_PRINTED]
    yield from _of_repair(confusion, at, best, near[:ALTERNATIVES])


def _of_repair(
    confusion: Confusion, at: int, best: Repair, others: list[Repair]
) -> Iterator[Finding]:
    if best.kind in {SHIFT_LEFT, SHIFT_RIGHT}:
        yield _metrics_shifted(confusion, at, best)
        return
    row = confusion.rows[at]
    if best.changed:
        yield _count_wrong(confusion, at, best, others)
    elif not sums_agree(row, row.counts):
        yield _sum_wrong(confusion, at)
    # Of a negative count, which is a fault by itself, nothing follows.
    if not any(count < 0 for count in best.counts):
        for name in best.wrong:
            yield _metric_wrong(confusion, at, name, best, others)


def _columns_swapped(confusion: Confusion) -> Finding:
    places: dict[str, list[int]] = {PRINTED: [], SWAPPED: [], UNDECIDABLE: []}
    for number, each in enumerate(confusion.votes, start=1):
        places[each.side].append(number)
    columns = tuple(confusion.grid.columns.get(name, name) for name in ("FP", "FN"))
    rows = len(confusion.votes)
    sentence = (
        f"The columns {columns[0]} and {columns[1]} are swapped: precision and recall follow only"
        f" so in {len(places[SWAPPED])} of {rows} rows, {len(places[UNDECIDABLE])} cannot tell."
    )
    follows = {f"rows_{side}": numbers for side, numbers in places.items()}
    return Finding("columns_swapped", FAULT, sentence, columns=columns, follows=follows)


def _row_swapped(confusion: Confusion, at: int) -> Finding:
    name = confusion.grid.name(at)
    true = confusion.rows[at].swapped().counts
    sentence = (
        f"{name}: precision and recall follow only if FP and FN stand the other way round than"
        " in the rest of the table."
    )
    return Finding(
        "row_swapped",
        FAULT,
        sentence,
        row=name,
        columns=(confusion.column("FP"), confusion.column("FN")),
        printed=_texts(confusion, at, ("FP", "FN")),
        repair=_named(true),
    )


def _metrics_shifted(confusion: Confusion, at: int, best: Repair) -> Finding:
    name, row = confusion.grid.name(at), confusion.rows[at]
    names = tuple(claim.metric for claim in row.claims)
    left = best.kind == SHIFT_LEFT
    lost = names[0] if left else names[-1]
    sentence = (
        f"{name}: the metrics stand one column too far to the {'left' if left else 'right'}:"
        f" what is printed as {names[0 if left else 1]} is the {names[1 if left else 0]};"
        f" the {lost} is lost."
    )
    return Finding(
        "metrics_shifted",
        FAULT,
        sentence,
        row=name,
        columns=tuple(confusion.column(each) for each in names),
        printed=_texts(confusion, at, names),
        follows=_metrics(confusion, names, best),
        repair=_metrics(confusion, names, best),
    )


def _count_wrong(confusion: Confusion, at: int, best: Repair, others: list[Repair]) -> Finding:
    name, row = confusion.grid.name(at), confusion.rows[at]
    new = _named(best.counts)
    texts = _texts(confusion, at, best.changed)
    changes = " and ".join(
        f"{new[each]:g} in place of {texts[confusion.column(each)]} in column"
        f" {confusion.column(each)}"
        for each in best.changed
    )
    source = _copied_from(confusion, at, best)
    total = _sum_said(row)
    copied = f" The printed values are those of row {source + 1}." if source is not None else ""
    rest = "everything follows" if not best.wrong else "most of it follows"
    code = "copied_from_row" if source is not None else "count_wrong"
    return Finding(
        "counts_do_not_sum" if total else code,
        FAULT,
        f"{name}: {total}with {changes} {rest}.{copied}",
        row=name,
        columns=tuple(confusion.column(each) for each in best.changed),
        printed=texts,
        follows={each: new[each] for each in best.changed},
        repair=new,
        alternatives=_alternatives(confusion, others, best),
    )


def _sum_wrong(confusion: Confusion, at: int) -> Finding:
    name, row = confusion.grid.name(at), confusion.rows[at]
    counts = [each for each in COUNT_ROLES if confusion.grid.at(at, each) is not None]
    said = _sum_said(row) or "the counts give another number of positives than known, "
    return Finding(
        "counts_do_not_sum",
        FAULT,
        f"{name}: {said}and no change of one count makes everything follow.",
        row=name,
        columns=tuple(confusion.grid.columns[each] for each in counts),
        printed={confusion.grid.columns[each]: _text(confusion.grid, at, each) for each in counts},
        follows={} if row.items is None else {"sum": row.items},
    )


def _metric_wrong(
    confusion: Confusion, at: int, name: str, best: Repair, others: list[Repair]
) -> Finding:
    row, place = confusion.rows[at], confusion.grid.name(at)
    found = confusion.figure(name, metric(name, best.counts) or 0.0)
    text = _text(confusion.grid, at, name)
    return Finding(
        "metric_does_not_follow",
        DOUBT if row.step < 1 else FAULT,
        f"{place}: the {name} is printed as {text}, the counts give {found:.4g}.",
        row=place,
        columns=(confusion.column(name),),
        printed={confusion.column(name): text},
        follows={name: found},
        repair={name: found},
        alternatives=() if best.changed else _alternatives(confusion, others, best),
    )


def _copied_from(confusion: Confusion, at: int, best: Repair) -> int | None:
    """The nearest row before, else after, with the same two printed counts that does follow."""
    if best.kind != EXCHANGE:
        return None
    places = [COUNTS.index(name) for name in best.changed]
    mine = [confusion.rows[at].counts[place] for place in places]
    order: list[int] = [*range(at - 1, -1, -1), *range(at + 1, len(confusion.rows))]
    for other in order:
        row = confusion.rows[other]
        same = [row.counts[place] for place in places] == mine
        if same and not wrong_claims(row.claims, row.counts):
            return other
    return None


def _alternatives(
    confusion: Confusion, others: list[Repair], best: Repair
) -> tuple[Mapping[str, float], ...]:
    return tuple(
        _named(each.counts) | _metrics(confusion, each.wrong, each)
        for each in others
        if each.counts != best.counts
    )


def _named(counts: Four) -> dict[str, float]:
    """Counts by name, those that are not printed left out."""
    pairs = zip(COUNTS, counts, strict=True)
    return {name: round(count, 4) for name, count in pairs if isfinite(count)}


def _metrics(confusion: Confusion, names: tuple[str, ...], found: Repair) -> dict[str, float]:
    values = {name: metric(name, found.counts) for name in names}
    return {
        name: confusion.figure(name, value) for name, value in values.items() if value is not None
    }


def _sum_said(row: Evidence) -> str:
    total = sum(row.counts)
    if row.items is None or sums_agree(
        Evidence(row.counts, (), row.items, None, row.step), row.counts
    ):
        return ""
    return f"the counts sum to {total:g}, not {row.items:g}; "


def _texts(confusion: Confusion, at: int, names: tuple[str, ...]) -> dict[str, str]:
    columns = [confusion.column(name) for name in names]
    numbers = confusion.grid.numbers[at]
    return {column: numbers[column].text for column in columns if column in numbers}


def _text(grid: Grid, at: int, role: str) -> str:
    cell = grid.at(at, role)
    return "" if cell is None else cell.text
