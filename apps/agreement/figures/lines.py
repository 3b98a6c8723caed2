"""Lines with intervals over a common axis: what agreement by number and over time share."""

from collections.abc import Sequence
from dataclasses import dataclass

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
from apps.agreement.figures.wording import AnyFigure, cut, ends, sentence

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
class Spot:
    """A value with its interval."""

    x: float
    y: float
    y_low: float
    y_high: float
    mark: Mark
    words: str


@dataclass(frozen=True, slots=True)
class Line:
    """One kind: pieces of line (``x,y x,y``) broken where there is no number, and its spots."""

    label: Label
    kind: str
    pieces: Sequence[str]
    spots: Sequence[Spot]


def lines(
    series: Sequence[Series],
    places: Sequence[tuple[float, str]],
    up: Scale,
    *,
    percent: bool,
    right: float,
    room: float,
) -> list[Line]:
    """Draw each series over ``places`` (where, in words), names beside the last spot of each.

    The plot ends at ``right``, with ``room`` for names beyond it.
    """
    chosen = [
        one
        for one in sorted(series, key=lambda one: order_of(one.kind))
        if any(ends(figure) for figure in one.figures)
    ]
    middle = (len(chosen) - 1) / 2
    spotted = [
        _spots(one, places, up, (at - middle) * APART, percent=percent)
        for at, one in enumerate(chosen)
    ]
    last = [next(spot for spot in reversed(spots) if spot) for spots in spotted]
    heights = _heights(last, up)
    return [
        Line(
            label=Label(
                rounded(spot.x + BESIDE),
                y,
                cut(one.name, right + room - spot.x - BESIDE),
                one.name,
                kind_of(one.kind),
            ),
            kind=kind_of(one.kind),
            pieces=_pieces(spots),
            spots=[spot for spot in spots if spot],
        )
        for one, spots, spot, y in zip(chosen, spotted, last, heights, strict=True)
    ]


def _heights(last: Sequence[Spot], up: Scale) -> list[float]:
    """Where the names stand: moved apart only from those of lines that end nearby."""
    heights = []
    for spot in last:
        near = [one for one in last if abs(one.x - spot.x) < NEAR]
        moved = spread([one.y for one in near], NAME, up.end, up.start)
        heights.append(next(y for one, y in zip(near, moved, strict=True) if one is spot))
    return heights


def _spots(
    one: Series, places: Sequence[tuple[float, str]], up: Scale, moved: float, *, percent: bool
) -> list[Spot | None]:
    spots: list[Spot | None] = []
    for (place, where), figure in zip(places, one.figures, strict=True):
        known = ends(figure)
        if known is None:
            spots.append(None)
            continue
        low, value, high = (up.at(number) for number in known)
        x = rounded(place + moved)
        words = f"{one.name}, {where}: {sentence(figure, percent=percent)}"
        spots.append(Spot(x, value, low, high, mark(one.kind, x, value), words))
    return spots


def _pieces(spots: Sequence[Spot | None]) -> list[str]:
    pieces: list[list[str]] = [[]]
    for spot in spots:
        if spot is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{spot.x},{spot.y}")
    return [" ".join(piece) for piece in pieces if len(piece) > 1]
