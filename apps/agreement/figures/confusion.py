"""What was said against what is true: a matrix of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.drawing import WIDTH, Label, Picture, prefix_of, rounded
from apps.agreement.figures.wording import Cell, Table, cut

#: More labels than these are a table only.
MOST = 12
#: Up to so many labels the names of the columns stand level.
LEVEL = 4
LEFT, GAP, HEIGHT = 104, 2, 30
#: Beyond the last column, for its name where names are turned.
TURNED = 40
#: Up to this width it is drawn smaller to fit its column; wider it keeps its size and scrolls.
FITTING = 400


@dataclass(frozen=True, slots=True)
class Count:
    """One cell: ``step`` 0 (empty) to 5 by its share of what was said; ``right`` where both agree.

    ``words`` say all of it: ``36 items: said entailment, true neutral; 9 % of what was said``.
    """

    x: float
    y: float
    width: float
    height: float
    middle: float
    base: float
    step: int
    value: str
    right: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion(Picture):
    """The whole picture; ``drawn`` is False for more labels than can be read."""

    form: ClassVar[str] = "confusion"
    counts: Sequence[Count]
    rows: Sequence[Label]
    columns: Sequence[Label]
    level: bool
    note: str
    note_y: float


@dataclass(frozen=True, slots=True)
class _Grid:
    """Sizes of the cells and where they stand; ``level``: so do the names of the columns."""

    level: bool
    top: float
    across: float

    @classmethod
    def of(cls, labels: Sequence[str]) -> "_Grid":
        count = len(labels)
        level = count <= LEVEL
        room = WIDTH - LEFT - (0 if level else TURNED)
        across = min(120.0, max(38.0, (room - GAP * count) / count))
        return cls(level, 28 if level else 84, across)

    def x(self, column: int) -> float:
        return LEFT + column * (self.across + GAP)

    def y(self, row: int) -> float:
        return self.top + row * (HEIGHT + GAP)


def confusion(
    labels: Sequence[str],
    counts: Mapping[tuple[str, str], int],
    *,
    title: str = "Said against true",
    key: str = "confusion",
    truth: str = "true",
) -> Confusion | None:
    """Draw ``counts`` of (said, true) over ``labels``; None where nothing was counted.

    ``truth`` is what the columns are called: ``gold``, ``the author``.
    """
    whole = sum(counts.get((said, true), 0) for said in labels for true in labels)
    if not whole:
        return None
    right = sum(counts.get((label, label), 0) for label in labels)
    drawn = len(labels) <= MOST
    grid = _Grid.of(labels)
    shown = labels if drawn else ()
    bottom = grid.y(len(shown))
    width = max(WIDTH, rounded(grid.x(len(shown)) + (0 if grid.level else TURNED)))
    return Confusion(
        prefix=prefix_of(key),
        title=title,
        words=f"{right:,} of {whole:,} right, framed. Rows: what was said; columns: {truth}.",
        width=width,
        height=bottom + 22,
        table=_matrix(labels, counts) if drawn else _long(labels, counts),
        wide=width > FITTING,
        drawn=drawn,
        counts=_counts(shown, counts, grid, truth),
        rows=[_row(label, grid.y(at)) for at, label in enumerate(shown)],
        columns=[_column(label, grid, at) for at, label in enumerate(shown)],
        level=grid.level,
        note=f"Rows said, columns {truth}; framed: right, {right:,} of {whole:,}",
        note_y=bottom + 14,
    )


def step_of(count: int, whole: int) -> int:
    """1 to 5 by fifths of ``whole``; 0 for nothing."""
    return min(5, 1 + 5 * count // whole) if count else 0


def _counts(
    labels: Sequence[str], counts: Mapping[tuple[str, str], int], grid: _Grid, truth: str
) -> list[Count]:
    cells = []
    for row, said in enumerate(labels):
        whole = sum(counts.get((said, true), 0) for true in labels)
        y = grid.y(row)
        for column, true in enumerate(labels):
            count = counts.get((said, true), 0)
            x = grid.x(column)
            share = f"; {count / whole:.0%} of what was said" if whole else ""
            cells.append(
                Count(
                    x=rounded(x),
                    y=y,
                    width=rounded(grid.across),
                    height=HEIGHT,
                    middle=rounded(x + grid.across / 2),
                    base=y + HEIGHT / 2 + 4,
                    step=step_of(count, whole),
                    value=f"{count:,}",
                    right=said == true,
                    words=f"{count:,} items: said {said}, {truth} {true}{share}",
                )
            )
    return cells


def _row(label: str, y: float) -> Label:
    return Label(LEFT - 8, y + HEIGHT / 2, cut(label, LEFT - 10), label)


def _column(label: str, grid: _Grid, at: int) -> Label:
    name = cut(label, grid.across + 2 if grid.level else 76)
    return Label(rounded(grid.x(at) + grid.across / 2), grid.top - 8, name, label)


def _matrix(labels: Sequence[str], counts: Mapping[tuple[str, str], int]) -> Table:
    header = ("said \\ true", *labels, "all")
    rows: list[Sequence[Cell]] = []
    for said in labels:
        row = [counts.get((said, true), 0) for true in labels]
        rows.append([said, *row, sum(row)])
    return header, rows


def _long(labels: Sequence[str], counts: Mapping[tuple[str, str], int]) -> Table:
    found = [(said, true, counts.get((said, true), 0)) for said in labels for true in labels]
    found = sorted((row for row in found if row[2]), key=lambda row: -row[2])
    rows: list[Sequence[Cell]] = [
        [said, true, count, "right" if said == true else "wrong"] for said, true, count in found
    ]
    return ("said", "true", "items", "outcome"), rows
