"""How often an answer is right, by how many annotators of its kind agree on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from apps.agreement.figures.drawing import (
    KIND_WORDS,
    WIDTH,
    Axes,
    Label,
    Picture,
    Scale,
    down_to,
    kind_of,
    mark,
    order_of,
    prefix_of,
    round_values,
    ticks,
)
from apps.agreement.figures.lines import Line, Series, lines
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    Cell,
    Table,
    ends,
    figure_cells,
    share_words,
)

LEFT, RIGHT, TOP, BOTTOM = 52, 300, 30, 190
#: At most so many numbers of annotators fit side by side; more are thinned.
MOST_TICKS = 8
ROW = 16
#: Kind → rows of a report's ``by_agreeing``.
Rows = Sequence[Mapping[str, Any]]
Groups = Mapping[str, Rows]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items a kind has at a place; ``mark`` stands at the first of its row."""

    x: float
    y: float
    words: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreeing(Picture):
    """The whole picture; ``tallies`` are rows of item counts below, ``rows`` their names."""

    form: ClassVar[str] = "agreeing"
    axes: Axes
    lines: Sequence[Line]
    tallies: Sequence[Tally]
    rows: Sequence[Label]


def agreeing(
    groups: Groups,
    *,
    names: Mapping[str, str] = KIND_WORDS,
    truth: str = "gold",
    title: str = "",
    key: str = "agreeing",
) -> Agreeing | None:
    """Draw kind → rows of ``agreeing``, ``items`` and ``accuracy``; None without any number.

    The rows are those of a report's ``by_agreeing``; ``truth`` is what is right: ``the author``;
    ``names`` is what kinds are called.
    """
    groups = {kind: groups[kind] for kind in sorted(groups, key=order_of) if groups[kind]}
    found = [row for rows in groups.values() for row in rows]
    known = [place for row in found if (place := ends(row["accuracy"]))]
    if not known:
        return None
    numbers = sorted({row["agreeing"] for row in found})
    up = Scale(down_to([low for low, *_ in known]), 1.0, BOTTOM, TOP)
    across = Scale(numbers[0] - 0.5, numbers[-1] + 0.5, LEFT, RIGHT)
    below = BOTTOM + 40
    series = [_series(names.get(kind, kind), kind, rows, numbers) for kind, rows in groups.items()]
    return Agreeing(
        prefix=prefix_of(key),
        title=title or f"Right against {truth}, by number of annotators who agree",
        words="Share of items whose most frequent answer is right, with 95 % intervals, by how "
        "many annotators gave that answer; below: items.",
        width=WIDTH,
        height=below + ROW * len(groups),
        table=_table(groups),
        axes=_axes(across, up, numbers, truth),
        lines=_lines(series, numbers, across, up),
        tallies=_tallies(groups, across, _thinned(numbers), below),
        rows=[_row(kind, below + at * ROW) for at, kind in enumerate(groups)],
    )


def _axes(across: Scale, up: Scale, numbers: Sequence[int], truth: str) -> Axes:
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, _thinned(numbers), str),
        y_ticks=ticks(up, round_values(up.low, up.high, 4), share_words),
        x_words="annotators who agree",
        y_words=f"right against {truth}",
    )


def _tallies(groups: Groups, across: Scale, shown: Sequence[int], below: float) -> list[Tally]:
    return [
        Tally(across.at(row["agreeing"]), below + at * ROW + 8, f"{row['items']:,}", kind)
        for at, (kind, rows) in enumerate(groups.items())
        for row in rows
        if row["agreeing"] in shown
    ]


def _row(kind: str, y: float) -> Label:
    return Label(14, y + 8, "items", "", kind_of(kind), mark(kind, 6, y + 4, 9))


def _lines(
    series: Sequence[Series], numbers: Sequence[int], across: Scale, up: Scale
) -> list[Line]:
    return lines(
        series,
        [(across.at(number), f"{number} agree") for number in numbers],
        up,
        percent=True,
        right=RIGHT,
        room=WIDTH - RIGHT,
    )


def _series(name: str, kind: str, rows: Rows, numbers: Sequence[int]) -> Series:
    of = {row["agreeing"]: row["accuracy"] for row in rows}
    return Series(name, kind, [of.get(number) for number in numbers])


def _thinned(numbers: Sequence[int]) -> list[int]:
    every = -(-len(numbers) // MOST_TICKS)
    return list(numbers[::-every])[::-1]


def _table(groups: Groups) -> Table:
    rows: list[Sequence[Cell]] = [
        [kind, row["agreeing"], row["items"], *figure_cells(row["accuracy"])]
        for kind, found in groups.items()
        for row in found
    ]
    return ("kind", "agreeing", "items", *FIGURE_COLUMNS), rows
