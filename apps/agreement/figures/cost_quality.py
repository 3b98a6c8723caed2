"""Cost of a label against how often it is right: boxes of doubt, and the front nobody beats."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Label,
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
    AnyFigure,
    Cell,
    Table,
    cut,
    ends,
    figure_cells,
    share_words,
    width_of,
)
from apps.common.figures import duration, money
from labelhub.core.agreement.pareto import front

LEFT, RIGHT, TOP, BOTTOM = 46, 348, 30, 230
NANO = 1_000_000_000
#: Costs that differ by more than this many times are drawn on a logarithmic axis.
FAR_APART = 20
ROOM, NAME = 110, 13
#: Where a name may stand from its mark, best first: across, down, and which end of it.
BESIDE = (
    (9, 0, "start"), (0, -15, "middle"), (0, 15, "middle"), (-9, 0, "end"),
    (9, -10, "start"), (9, 10, "start"), (-9, -10, "end"), (-9, 10, "end"),
    (9, -22, "start"), (9, 22, "start"), (0, -29, "middle"), (0, 29, "middle"),
    (-9, -22, "end"), (-9, 22, "end"),
)  # fmt: skip
Box = tuple[float, float, float, float]


def _dollars(usd: float) -> str:
    return f"${format(Decimal(f'{usd:.3g}').normalize(), 'f')}"


#: Unit → the axis, how an amount is said, how a tick is.
UNITS: dict[str, tuple[str, Callable[[float], str], Callable[[float], str]]] = {
    "USD": ("cost of a label", lambda usd: money(usd * NANO), _dollars),
    "s": ("time for a label", duration, lambda at: duration(at) if at else "0"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A source of labels: what one costs and how often it is right."""

    name: str
    kind: str
    cost: AnyFigure
    accuracy: AnyFigure


@dataclass(frozen=True, slots=True)
class Point:
    """An offer in the picture; the box is its doubt in both directions."""

    label: Label
    kind: str
    on_front: bool
    mark: Mark
    x: float
    y: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostQuality(Picture):
    """The whole picture; ``front`` is the staircase through the offers that nobody beats."""

    form: ClassVar[str] = "cost_quality"
    axes: Axes
    points: Sequence[Point]
    front: str


@dataclass(frozen=True, slots=True)
class _Known:
    offer: Offer
    cost: tuple[float, float, float]
    accuracy: tuple[float, float, float]


def cost_quality(
    offers: Sequence[Offer],
    *,
    unit: str = "USD",
    log: bool | None = None,
    title: str = "",
    key: str = "cost-quality",
) -> CostQuality | None:
    """Draw the offers that have both numbers; None with fewer than two.

    ``unit`` is ``USD`` or ``s``; ``log`` None decides by how far apart the costs are. Something
    that costs nothing cannot stand on a logarithmic axis, so then it is linear.
    """
    known = [
        _Known(offer, cost, accuracy)
        for offer in offers
        if (cost := ends(offer.cost)) and (accuracy := ends(offer.accuracy))
    ]
    if len(known) < 2:
        return None
    words, say, _ = UNITS[unit]
    best = front([(one.cost[1], one.accuracy[1]) for one in known])
    across = _across(known, log=log)
    up = Scale(down_to([one.accuracy[0] for one in known]), 1.0, BOTTOM, TOP)
    return CostQuality(
        prefix=prefix_of(key),
        title=title or f"Share right against {words}",
        words=f"{len(best)} of {len(known)} sources are beaten by none: no other is at least as "
        "good for less. Boxes are 95 % intervals in both directions.",
        width=WIDTH,
        height=BOTTOM + 38,
        table=_table(offers, best=[known[at].offer for at in best]),
        axes=_axes(across, up, unit),
        points=_points(known, best, (across, up), say),
        front=" ".join(
            f"{x},{y}" for x, y in _corners(_places([known[at] for at in best], across, up))
        ),
    )


def _across(known: Sequence[_Known], *, log: bool | None) -> Scale:
    costs = [one.cost[1] for one in known]
    positive = min(costs) > 0
    if positive and (log or (log is None and max(costs) > FAR_APART * min(costs))):
        lows = [one.cost[0] for one in known if one.cost[0] > 0]
        least = max(min([*lows, *costs]), min(costs) / 10)
        return Scale(least / 1.5, max(one.cost[2] for one in known) * 1.5, LEFT, RIGHT, log=True)
    return Scale(0, (max(one.cost[2] for one in known) or 1.0) * 1.06, LEFT, RIGHT)


def _axes(across: Scale, up: Scale, unit: str) -> Axes:
    words, _, say_tick = UNITS[unit]
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, _cost_ticks(across), say_tick),
        y_ticks=ticks(up, round_values(up.low, up.high, 4), share_words),
        x_words=f"{words}{', each step ten times' if across.log else ''}",
        y_words="share right",
    )


def _cost_ticks(across: Scale) -> list[float]:
    if not across.log:
        return round_values(across.low, across.high, 4)
    first, last = math.ceil(math.log10(across.low)), math.floor(math.log10(across.high))
    every = -(-(last - first + 1) // 6) or 1
    return [10.0**power for power in range(first, last + 1, every)]


def _places(known: Sequence[_Known], across: Scale, up: Scale) -> list[tuple[float, float]]:
    return [(across.at(one.cost[1]), up.at(one.accuracy[1])) for one in known]


def _points(
    known: Sequence[_Known],
    best: Sequence[int],
    scales: tuple[Scale, Scale],
    say: Callable[[float], str],
) -> list[Point]:
    across, up = scales
    marks = _places(known, across, up)
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in marks]
    taken += _lines_of([marks[at] for at in best])
    points = []
    for at, (one, (x, y)) in enumerate(zip(known, marks, strict=True)):
        label = _label(one, (x, y), taken)
        low_x, high_x = across.at(one.cost[0]), across.at(one.cost[2])
        low_y, high_y = up.at(one.accuracy[0]), up.at(one.accuracy[2])
        right, least, most = one.accuracy[1], one.accuracy[0], one.accuracy[2]
        points.append(
            Point(
                label=label,
                kind=kind_of(one.offer.kind),
                on_front=at in best,
                mark=mark(one.offer.kind, x, y, 12),
                x=low_x,
                y=high_y,
                width=rounded(max(high_x - low_x, 1)),
                height=rounded(max(low_y - high_y, 1)),
                words=f"{one.offer.name}: {right:.0%} right ({least:.0%} to {most:.0%}), "
                f"{say(one.cost[1])}{'' if at in best else ', beaten by another'}",
            )
        )
    return points


def _label(one: _Known, place: tuple[float, float], taken: list[Box]) -> Label:
    """The name beside its mark, where nothing stands yet; there it is taken from now on."""
    x, y = place
    name = cut(one.offer.name, ROOM)
    width = width_of(name)
    free = [
        (x + dx, y + dy, anchor)
        for dx, dy, anchor in BESIDE
        if _fits(_box((x + dx, y + dy), width, anchor), taken)
    ]
    at_x, at_y, anchor = free[0] if free else (x + 9, y, "start")
    taken.append(_box((at_x, at_y), width, anchor))
    whole = one.offer.name
    return Label(rounded(at_x), rounded(at_y), name, whole, anchor=anchor)


def _box(spot: tuple[float, float], width: float, anchor: str) -> Box:
    x, y = spot
    left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    return (left, y - NAME / 2, left + width, y + NAME / 2)


def _fits(box: Box, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    inside = left >= LEFT and right <= WIDTH and top >= TOP - 8 and bottom <= BOTTOM
    return inside and all(
        right <= a or c <= left or bottom <= b or d <= top for a, b, c, d in taken
    )


def _corners(best: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Up to the next of the front only where it stands."""
    corners = list(best[:1])
    for before, (x, y) in pairwise(best):
        corners += [(x, before[1]), (x, y)]
    return corners


def _lines_of(best: Sequence[tuple[float, float]]) -> list[Box]:
    """The lines of the staircase as thin boxes."""
    return [
        (min(a, c), min(b, d) - 1, max(a, c), max(b, d) + 1)
        for (a, b), (c, d) in pairwise(_corners(best))
    ]


def _table(offers: Sequence[Offer], best: Sequence[Offer]) -> Table:
    rows: list[Sequence[Cell]] = [
        [
            offer.name,
            offer.kind,
            *figure_cells(offer.cost)[:4],
            *figure_cells(offer.accuracy)[:4],
            "front" if any(offer is one for one in best) else "",
        ]
        for offer in offers
    ]
    cost = ("cost", "cost low", "cost high", "cost n")
    return ("source", "kind", *cost, "right", "right low", "right high", "right n", "note"), rows
