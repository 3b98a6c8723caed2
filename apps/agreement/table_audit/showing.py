"""What the page shows of an audit: the table with its marks, findings by severity, the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.agreement.table_audit.repairing import Place, Repaired, cell_text
from apps.agreement.table_audit.words import CHECKED
from labelhub.core.agreement.audit import Audit, Finding, Table
from labelhub.core.agreement.audit.findings import DOUBT, FAULT, NOTE

#: Rows and findings that a page shows; programs get all of them.
MOST_ROWS = 150
MOST_FINDINGS = 100
LONGEST_SHOWN = 120

SEVERITIES: tuple[tuple[str, str, str, str, str], ...] = (
    # severity, one, many, tone of the product, what it means
    (FAULT, "fault", "faults", "bad", "cannot be right"),
    (DOUBT, "doubt", "doubts", "warn", "can hardly be right, or hangs on what is not told"),
    (NOTE, "note", "notes", "info", "worth knowing"),
)
_ORDER = {severity: at for at, (severity, *_) in enumerate(SEVERITIES)}
_TONES = {severity: tone for severity, _, _, tone, _ in SEVERITIES}


@dataclass(frozen=True, slots=True)
class Cell:
    """``tone`` is empty where nothing is doubtful; ``link`` is the number of the first finding."""

    text: str
    severity: str = ""
    tone: str = ""
    why: str = ""
    link: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table by its number, from 1."""

    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The table as it was read, with its doubtful cells marked."""

    head: tuple[Cell, ...]
    lines: tuple[Line, ...]
    hidden: int


def sheet(table: Table, found: Audit) -> Sheet:
    """The table with every finding at its cells; of a long one first the rows with findings."""
    marks = _marks(found)
    shown = _shown_rows(len(table.rows), {at for at, _ in marks if at >= 0})
    lines = tuple(
        Line(
            at + 1,
            tuple(
                _cell(cell_text(table.rows[at].get(name)), marks.get((at, name)))
                for name in table.columns
            ),
        )
        for at in shown
    )
    head = tuple(_cell(name, marks.get((-1, name))) for name in table.columns)
    return Sheet(head, lines, len(table.rows) - len(lines))


def repaired_sheet(table: Repaired) -> Sheet:
    """The repaired table; what is changed is marked with what was printed there."""
    shown = _shown_rows(len(table.rows), {at for at, _ in table.changed})
    lines = tuple(
        Line(at + 1, tuple(_repaired_cell(table, (at, name)) for name in table.columns))
        for at in shown
    )
    head = tuple(
        Cell(new, "changed", "ok", f"printed as {old}") if new != old else Cell(new)
        for old, new in table.columns.items()
    )
    return Sheet(head, lines, len(table.rows) - len(lines))


def numbered(found: Audit) -> list[tuple[int, Finding]]:
    """All findings, faults first, with their numbers on the page."""
    ordered = sorted(found.findings, key=lambda finding: _ORDER[finding.severity])
    return list(enumerate(ordered, start=1))


def groups(found: Audit) -> list[dict[str, Any]]:
    """Findings by severity; the severities without any are left out."""
    told: list[dict[str, Any]] = []
    for severity, one, many, tone, meaning in SEVERITIES:
        of = [_told(n, each) for n, each in numbered(found) if each.severity == severity]
        if of:
            words = f"{len(of):,} {one if len(of) == 1 else many}"
            told.append(
                {
                    "severity": severity,
                    "words": words,
                    "tone": tone,
                    "meaning": meaning,
                    "findings": of[:MOST_FINDINGS],
                    "more": max(0, len(of) - MOST_FINDINGS),
                }
            )
    return told


def headline(found: Audit) -> str:
    """One sentence: how much was found in how many rows."""
    rows = f"{found.rows:,} row{'' if found.rows == 1 else 's'}"
    counted = [group["words"] for group in groups(found)]
    if not counted and not any(found.checked.values()):
        return f"There was nothing to check in {rows}: no figure follows from another."
    if not counted:
        return f"Nothing in {rows} contradicts itself."
    *first, last = counted
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed[0].upper()}{listed[1:]} in {rows}."


def held_against(found: Audit) -> str:
    """How many figures were held against what; empty where there was nothing to check."""
    counted = [(found.checked.get(name, 0), what) for name, what in CHECKED.items()]
    told = [f"{count:,} {what}" for count, what in counted if count]
    if told:
        return f"Held against others: {'; '.join(told)}."
    if alone := found.checked.get("range", 0):
        return f"No figure follows from another; that each can be at all was checked of {alone:,}."
    return ""


def verdict(found: Audit) -> str:
    """How the columns FP and FN stand; empty where the table has no confusion counts to tell by."""
    swapped, printed, silent = (
        found.orientation.count(side) for side in ("swapped", "as_printed", "undecidable")
    )
    if not swapped and not printed:
        return ""
    rows = len(found.orientation)
    rest = f"; {silent} cannot tell" if silent else ""
    if any(each.code == "columns_swapped" for each in found.findings):
        against = f"; {printed} say otherwise" if printed else ""
        return (
            "FP and FN are swapped: precision and recall follow only that way round in"
            f" {swapped} of {rows} rows{against}{rest}."
        )
    against = f"; {swapped} follow only the other way round" if swapped else ""
    return f"FP and FN stand where they belong in {printed} of {rows} rows{against}{rest}."


def figures(values: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Names and values of a part of a finding, as people read them."""
    told = (values or {}).items()
    return [(name.replace("_", " "), _value(value)) for name, value in told if value != []]


def _told(number: int, finding: Finding) -> dict[str, Any]:
    return {
        "number": number,
        "finding": finding,
        "printed": figures(finding.printed),
        "follows": figures(finding.follows),
        "follows_word": "should be" if finding.repair == finding.follows else "follows",
        "repair": figures(finding.repair) if finding.repair != finding.follows else [],
        "alternatives": [figures(each) for each in finding.alternatives],
    }


def _value(value: Any) -> str:
    if isinstance(value, list):
        listed = ", ".join(map(str, value[:20]))
        return f"{listed}, …" if len(value) > 20 else listed
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _marks(found: Audit) -> dict[Place, tuple[int, Finding]]:
    """By row (-1: the column's name) and column: the gravest finding, and its number."""
    marks: dict[Place, tuple[int, Finding]] = {}
    for number, finding in numbered(found):
        at = finding.row.number - 1 if finding.row else -1
        for column in finding.columns:
            marks.setdefault((at, column), (number, finding))
    return marks


def _cell(text: str, mark: tuple[int, Finding] | None) -> Cell:
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
    if mark is None:
        return Cell(text)
    number, finding = mark
    link = number if _listed(finding, number) else 0
    return Cell(text, finding.severity, _TONES[finding.severity], finding.sentence, link)


def _listed(finding: Finding, number: int) -> bool:
    return number <= MOST_FINDINGS or finding.severity != FAULT


def _repaired_cell(table: Repaired, place: Place) -> Cell:
    text = table.rows[place[0]][place[1]][:LONGEST_SHOWN]
    if place not in table.changed:
        return Cell(text)
    return Cell(text, "changed", "ok", f"printed as {table.changed[place] or 'nothing'}")


def _shown_rows(rows: int, marked: set[int]) -> list[int]:
    if rows <= MOST_ROWS:
        return list(range(rows))
    first = sorted(marked)[:MOST_ROWS]
    room = MOST_ROWS - len(first)
    others = [at for at in range(rows) if at not in marked][:room]
    return sorted([*first, *others])
