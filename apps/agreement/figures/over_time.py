"""A coefficient by period, with its interval, a line per kind."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Picture,
    Scale,
    Tick,
    down_to,
    prefix_of,
    round_values,
    ticks,
)
from apps.agreement.figures.lines import Line, Series, lines
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    Cell,
    Table,
    cut,
    ends,
    figure_cells,
    tick_words,
    width_of,
)

LEFT, TOP, BOTTOM = 46, 30, 190
ROOM = 60
#: Periods up to these fit a phone; with more the picture grows and scrolls.
FITTING, STEP = 12, 22
TICK_ROOM, TICK_GAP = 56, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime(Picture):
    """The whole picture."""

    form: ClassVar[str] = "over_time"
    axes: Axes
    lines: Sequence[Line]


def over_time(
    periods: Sequence[str],
    series: Sequence[Series],
    *,
    of: str,
    title: str = "",
    percent: bool = False,
    key: str = "over-time",
) -> OverTime | None:
    """Draw each series over ``periods``, first to last; None without any number.

    A period without a number breaks the line: nothing is known between its neighbours.
    """
    known = [place for one in series for figure in one.figures if (place := ends(figure))]
    if not known:
        return None
    width = max(WIDTH, LEFT + ROOM + STEP * len(periods))
    right = width - ROOM
    across, up = Scale(-0.5, len(periods) - 0.5, LEFT, right), _up(known)
    return OverTime(
        prefix=prefix_of(key),
        title=title or f"{of} over time",
        words=f"{of} with 95 % intervals, {len(periods)} periods from {periods[0]} to "
        f"{periods[-1]}.",
        width=width,
        height=BOTTOM + 24,
        table=_table(periods, series),
        wide=len(periods) > FITTING,
        axes=_axes(periods, across, up, of, percent=percent),
        lines=lines(
            series,
            [(across.at(at), period) for at, period in enumerate(periods)],
            up,
            percent=percent,
            right=right,
            room=ROOM,
        ),
    )


def _up(known: Sequence[tuple[float, float, float]]) -> Scale:
    """From the round number below all intervals to the one above them, at most 1."""
    lowest, highest = down_to([low for low, *_ in known]), max(high for *_, high in known)
    highest = min(1.0, math.ceil(highest * 10 - 1e-9) / 10)
    return Scale(lowest, highest if highest > lowest else lowest + 0.1, BOTTOM, TOP)


def _axes(periods: Sequence[str], across: Scale, up: Scale, of: str, *, percent: bool) -> Axes:
    return Axes(
        LEFT,
        across.end,
        TOP,
        BOTTOM,
        x_ticks=_period_ticks(periods, across),
        y_ticks=ticks(up, round_values(up.low, up.high, 4), tick_words(percent=percent)),
        y_words=of,
    )


def _period_ticks(periods: Sequence[str], across: Scale) -> list[Tick]:
    """The last period and back from it as many as there is room for."""
    step = (across.end - LEFT) / len(periods)
    room = max(TICK_ROOM, *(width_of(period) + TICK_GAP for period in periods))
    every = max(1, math.ceil(room / step))
    return [
        Tick(across.at(at), cut(periods[at], step * every))
        for at in range(len(periods) - 1, -1, -every)
    ]


def _table(periods: Sequence[str], series: Sequence[Series]) -> Table:
    rows: list[Sequence[Cell]] = [
        [one.name, one.kind, period, *figure_cells(figure)]
        for one in series
        for period, figure in zip(periods, one.figures, strict=True)
    ]
    return ("source", "kind", "period", *FIGURE_COLUMNS), rows
