"""Lines with intervals over a common axis: what agreement by number and over time share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from apps.agreement.figures.drawing import (
    Label,
    Mark,
    Scale,
    kind_of,
    mark,
    order_of,
    rounded,
    spread,
)
from apps.agreement.figures.wording import AnyFigure, cut_apart, ends, sentence

#: Height of a name at the end of its line.
NAME = 14
BESIDE, NEAR = 9, 40
#: Lines of several kinds stand so far apart that their intervals do not cover each other.
APART = 7


@dataclass(frozen=True, slots=True)
class Series:
    """One kind's figures, one per place along the axis; None or a reason where there is none."""

    name: str
    kind: str
    figures: Sequence[AnyFigure | None]


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A value with its interval."""

    x: float
    y: float
    y_low: float
    y_high: float
    mark: Mark
    words: str


@dataclass(frozen=True, slots=True)
class Line:
    """One kind: pieces of line (``x,y x,y``) broken where there is no number, and its spots.

    ``leader`` leads from its last spot to its name, where that does not stand beside it.
    """

    label: Label
    leader: str
    kind: str
    pieces: Sequence[str]
    spots: Sequence[LinePoint]


def lines(
    series: Sequence[Series],
    places: Sequence[tuple[float, str]],
    up: Scale,
    *,
    percent: bool,
    right: float,
    room: float,
) -> list[Line]:
    """Draw each series over ``places`` (where, in words), names in a column beside the plot.

    The plot ends at ``right``, with ``room`` for names beyond it.
    """
    chosen = [
        one
        for one in sorted(series, key=lambda one: order_of(one.kind))
        if any(ends(figure) for figure in one.figures)
    ]
    middle, apart = (len(chosen) - 1) / 2, _apart(places, len(chosen))
    spotted = [
        _spots(one, places, up, (at - middle) * apart, percent=percent)
        for at, one in enumerate(chosen)
    ]
    last = [next(spot for spot in reversed(spots) if spot) for spots in spotted]
    gap = min(NAME, (up.start - up.end) / max(len(chosen) - 1, 1))
    heights = spread([spot.y for spot in last], gap, up.end, up.start)
    x, names = rounded(right + BESIDE), cut_apart([one.name for one in chosen], room - BESIDE)
    return [
        Line(
            label=Label(x, y, name, one.name, kind_of(one.kind)),
            leader=_leader(spot, right, y),
            kind=kind_of(one.kind),
            pieces=_pieces(spots),
            spots=[spot for spot in spots if spot],
        )
        for one, name, spots, spot, y in zip(chosen, names, spotted, last, heights, strict=True)
    ]


def _apart(places: Sequence[tuple[float, str]], count: int) -> float:
    """Between the lines at one place: no line comes near the next place."""
    gaps = [after - before for (before, _), (after, _) in pairwise(places)]
    return min([APART, *(gap / (count + 1) for gap in gaps)])


def _leader(last: LinePoint, right: float, y: float) -> str:
    """Level to the end of the plot and from there to the name; nothing where it is plain."""
    if right - last.x < NEAR and abs(y - last.y) < BESIDE:
        return ""
    return f"{rounded(last.x + BESIDE)},{last.y} {right},{last.y} {right + BESIDE - 2},{y}"


def _spots(
    one: Series, places: Sequence[tuple[float, str]], up: Scale, moved: float, *, percent: bool
) -> list[LinePoint | None]:
    spots: list[LinePoint | None] = []
    for (place, where), figure in zip(places, one.figures, strict=True):
        known = ends(figure)
        if known is None:
            spots.append(None)
            continue
        low, value, high = (up.at(number) for number in known)
        x = rounded(place + moved)
        words = f"{one.name}, {where}: {sentence(figure, percent=percent)}"
        spots.append(LinePoint(x, value, low, high, mark(one.kind, x, value), words))
    return spots


def _pieces(spots: Sequence[LinePoint | None]) -> list[str]:
    pieces: list[list[str]] = [[]]
    for spot in spots:
        if spot is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{spot.x},{spot.y}")
    return [" ".join(piece) for piece in pieces if len(piece) > 1]
