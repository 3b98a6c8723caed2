"""Whether a stated confidence is the share that turns out right: the reliability diagram."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Mark,
    Picture,
    Scale,
    down_to,
    kind_of,
    mark,
    prefix_of,
    round_values,
    rounded,
    ticks,
)
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    Cell,
    Table,
    ends,
    figure_cells,
    sentence,
    share_words,
)
from labelhub.core.agreement.calibration import Bin

LEFT, RIGHT, TOP, BOTTOM = 52, 312, 30, 250
#: The strip of counts below the ticks and the name of the axis.
STRIP_TOP, STRIP = BOTTOM + 40, 30
BAR = 14


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin: its mean confidence, share right and interval; below it the bar of its items."""

    x: float
    y: float
    y_low: float
    y_high: float
    mark: Mark
    bar_x: float
    bar_y: float
    bar_height: float
    n: str
    n_y: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability(Picture):
    """The whole picture; on the diagonal confidence is what it says."""

    form: ClassVar[str] = "reliability"
    axes: Axes
    kind: str
    spots: Sequence[ReliabilityBin]
    path: str
    most_y: float
    bar: float = BAR


def reliability(
    bins: Sequence[Bin],
    *,
    name: str = "",
    kind: str = "llm",
    title: str = "",
    key: str = "reliability",
) -> Reliability | None:
    """Draw the bins of ``calibration.reliability_bins``; None without items.

    ``name`` is whose confidence it is.
    """
    known = [(one, place) for one in bins if (place := ends(one.right))]
    if not known:
        return None
    lowest = down_to([*(one.confidence for one, _ in known), *(low for _, (low, *_) in known)])
    lowest = min(lowest, 0.9)
    across, up = Scale(lowest, 1, LEFT, RIGHT), Scale(lowest, 1, BOTTOM, TOP)
    most = max(one.right["n"] for one, _ in known)
    spots = [_spot(one, place, (across, up), kind, most) for one, place in known]
    whole = sum(one.right["n"] for one, _ in known)
    return Reliability(
        prefix=prefix_of(key),
        title=title or f"Confidence against share right{f', {name}' if name else ''}",
        words=f"{len(known)} bins of {whole:,} items: mean confidence across, share right up with "
        "95 % intervals. Below the diagonal it is too sure, above not sure enough.",
        width=WIDTH,
        height=STRIP_TOP + STRIP + 16,
        table=_table(bins),
        axes=_axes(across, up),
        kind=kind_of(kind),
        spots=spots,
        path=" ".join(f"{spot.x},{spot.y}" for spot in spots),
        most_y=STRIP_TOP + STRIP,
    )


def _axes(across: Scale, up: Scale) -> Axes:
    values = round_values(across.low, across.high, 4)
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, values, share_words),
        y_ticks=ticks(up, values, share_words),
        x_words="mean confidence",
        y_words="share right",
    )


def _spot(
    one: Bin,
    place: tuple[float, float, float],
    scales: tuple[Scale, Scale],
    kind: str,
    most: int,
) -> ReliabilityBin:
    across, up = scales
    low, value, high = place
    x, y = across.at(one.confidence), up.at(value)
    n = one.right["n"]
    height = rounded(max(1.0, STRIP * n / most))
    return ReliabilityBin(
        x=x,
        y=y,
        y_low=up.at(low),
        y_high=up.at(high),
        mark=mark(kind, x, y),
        bar_x=x - BAR / 2,
        bar_y=STRIP_TOP + STRIP - height,
        bar_height=height,
        n=f"{n:,}",
        n_y=STRIP_TOP + STRIP + 12,
        words=f"confidence {share_words(one.confidence)}: "
        f"right {sentence(one.right, percent=True)}",
    )


def _table(bins: Sequence[Bin]) -> Table:
    rows: list[Sequence[Cell]] = [
        [one.low, one.high, one.confidence, *figure_cells(one.right)] for one in bins
    ]
    return ("least", "greatest", "mean confidence", *FIGURE_COLUMNS), rows
