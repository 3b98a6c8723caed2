"""What an audit says: findings, each with what is printed, what follows and the repair."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FAULT = "fault"  # cannot be right
DOUBT = "doubt"  # can hardly be right, or depends on something the table does not say
NOTE = "note"  # right or harmless, but worth knowing

Value = str | float | int | list[int]


@dataclass(frozen=True, slots=True)
class RowName:
    """Which row: its number, from 1, and the cells that name it."""

    number: int
    cells: Mapping[str, str]

    def __str__(self) -> str:
        named = ", ".join(self.cells.values())
        return f"Row {self.number} ({named})" if named else f"Row {self.number}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not follow.

    ``row`` is None for what concerns the whole table. ``columns`` are names as printed.
    ``follows`` and ``repair`` are by what a figure *is* ("FP": the false positives, even where the
    column printed "FN" holds them); metrics in the unit of their column. ``alternatives`` are
    repairs that need more changes, or as many.
    """

    code: str
    severity: str
    sentence: str
    row: RowName | None = None
    columns: tuple[str, ...] = ()
    printed: Mapping[str, Value] = field(default_factory=dict)
    follows: Mapping[str, Value] = field(default_factory=dict)
    repair: Mapping[str, float] | None = None
    alternatives: tuple[Mapping[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Audit:
    """All findings of a table, by row; ``orientation`` says of each row how FP and FN stand.

    That is "as_printed", "swapped" or "undecidable" (FP equals FN, or no precision and recall).
    """

    findings: tuple[Finding, ...]
    orientation: tuple[str, ...]
    rows: int
    #: How many cells were held against others, by what they were held against.
    checked: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain objects and lists, ready for JSON."""
        return {
            "rows": self.rows,
            "orientation": list(self.orientation),
            "checked": dict(self.checked),
            "findings": [asdict(finding) for finding in self.findings],
        }
