"""Cost of an answer against how often it is right: boxes of doubt, and the front nobody beats."""

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
from apps.agreement.figures.placing import Box, NamePosition, grouped, placed
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    AnyFigure,
    Cell,
    Table,
    cut,
    ends,
    figure_cells,
    share_words,
)
from apps.common.figures import duration, money
from labelhub.core.agreement.pareto import front

LEFT, RIGHT, TOP, BOTTOM = 46, 348, 30, 230
NANO = 1_000_000_000
#: Costs that differ by more than this many times are drawn on a logarithmic axis.
FAR_APART = 20
#: Half of a mark, the longest name that stands in the plot, and the height of a row below it.
HALF, ROOM, ROW = 6, 110, 16
Places = Sequence[tuple[float, float]]
FRAME = (LEFT, TOP - 8, WIDTH, BOTTOM)


def _dollars(usd: float) -> str:
    return f"${format(Decimal(f'{usd:.3g}').normalize(), 'f')}"


#: Unit → the axis, how an amount is said, how a tick is.
UNITS: dict[str, tuple[str, Callable[[float], str], Callable[[float], str]]] = {
    "USD": ("cost of an answer", lambda usd: money(usd * NANO), _dollars),
    "s": ("time for an answer", duration, lambda at: duration(at) if at else "0"),
}
#: Unit → what its columns are called.
COLUMNS = {"USD": "cost", "s": "seconds"}


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to an answer: what it costs and how often it is right."""

    name: str
    kind: str
    cost: AnyFigure
    accuracy: AnyFigure


@dataclass(frozen=True, slots=True)
class OfferPoint:
    """An offer in the picture; the box is its doubt in both directions.

    ``label`` is its name, or a number that stands for it; None where another point has theirs.
    """

    label: Label | None
    leader: Box | None
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
    """The whole picture; ``front`` is the staircase through the offers that nobody beats.

    ``legend`` names the numbers below the plot, where names did not find room in it.
    """

    form: ClassVar[str] = "cost_quality"
    axes: Axes
    points: Sequence[OfferPoint]
    front: str
    legend: Sequence[Label]


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
    known = _known(offers)
    if len(known) < 2:
        return None
    words, say, _ = UNITS[unit]
    best = front([(one.cost[1], one.accuracy[1]) for one in known])
    across = _across(known, log=log)
    up = Scale(down_to([one.accuracy[0] for one in known]), 1.0, BOTTOM, TOP)
    places = [(across.at(one.cost[1]), up.at(one.accuracy[1])) for one in known]
    stairs = _corners([places[at] for at in best])
    labels, below = _labels(known, places, stairs)
    return CostQuality(
        prefix=prefix_of(key),
        title=title or f"Share right against {words}",
        words=f"{len(best)} of {len(known)} sources are beaten by none: no other is at least as "
        "good for less. Boxes are 95 % intervals in both directions.",
        width=WIDTH,
        height=BOTTOM + 38 + ROW * len(below),
        table=_table(offers, [known[at].offer for at in best], unit),
        axes=_axes(across, up, unit),
        points=[
            _point(one, (across, up), say, labels.get(at), on_front=at in best)
            for at, one in enumerate(known)
        ],
        front=" ".join(f"{x},{y}" for x, y in stairs),
        legend=below,
    )


def _known(offers: Sequence[Offer]) -> list[_Known]:
    return [
        _Known(offer, cost, accuracy)
        for offer in offers
        if (cost := ends(offer.cost)) and (accuracy := ends(offer.accuracy))
    ]


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


def _point(
    one: _Known,
    scales: tuple[Scale, Scale],
    say: Callable[[float], str],
    told: tuple[Label, Box | None] | None,
    *,
    on_front: bool,
) -> OfferPoint:
    across, up = scales
    low_x, high_x = across.at(one.cost[0]), across.at(one.cost[2])
    low_y, high_y = up.at(one.accuracy[0]), up.at(one.accuracy[2])
    least, right, most = one.accuracy
    label, leader = told or (None, None)
    return OfferPoint(
        label=label,
        leader=leader,
        kind=kind_of(one.offer.kind),
        on_front=on_front,
        mark=mark(one.offer.kind, across.at(one.cost[1]), up.at(right), 2 * HALF),
        x=low_x,
        y=high_y,
        width=rounded(max(high_x - low_x, 1)),
        height=rounded(max(low_y - high_y, 1)),
        words=f"{one.offer.name}: {right:.0%} right ({least:.0%} to {most:.0%}), "
        f"{say(one.cost[1])}{'' if on_front else ', beaten by another'}",
    )


def _labels(
    known: Sequence[_Known], places: Places, stairs: Places
) -> tuple[dict[int, tuple[Label, Box | None]], list[Label]]:
    """Names beside their marks, by place; else numbers there, and what they mean below."""
    marks = [(x - HALF, y - HALF, x + HALF, y + HALF) for x, y in places]
    names = [one.offer.name for one in known]
    taken = _boxes_of(stairs)
    spots = None
    if all(cut(name, ROOM) == name for name in names):
        spots = placed(marks, names, taken, FRAME)
    if spots is not None and not any(spot.leader for spot in spots):
        drawn = zip(names, spots, strict=True)
        return {at: _label(name, name, spot) for at, (name, spot) in enumerate(drawn)}, []
    order = sorted(range(len(known)), key=lambda at: places[at])
    labels = {}
    for group, numbers, spot in grouped([marks[at] for at in order], taken, FRAME):
        words = ", ".join(names[order[at]] for at in group)
        labels[order[group[0]]] = _label(numbers, words, spot)
    return labels, [_row(known[at].offer, number) for number, at in enumerate(order, 1)]


def _label(name: str, words: str, spot: NamePosition) -> tuple[Label, Box | None]:
    leader = spot.leader and tuple(map(rounded, spot.leader))
    return Label(rounded(spot.x), rounded(spot.y), name, words), leader  # type: ignore[return-value]  # four stay four


def _row(offer: Offer, number: int) -> Label:
    y = BOTTOM + 38 + ROW * number - ROW / 2
    name = cut(f"{number} {offer.name}", WIDTH - 20)
    return Label(20, y, name, offer.name, kind_of(offer.kind), mark(offer.kind, 8, y, 10))


def _corners(best: Places) -> list[tuple[float, float]]:
    """Up to the next of the front only where it stands."""
    corners = list(best[:1])
    for before, (x, y) in pairwise(best):
        corners += [(x, before[1]), (x, y)]
    return corners


def _boxes_of(stairs: Places) -> list[Box]:
    """The lines of the staircase as thin boxes."""
    return [
        (min(a, c), min(b, d) - 1, max(a, c), max(b, d) + 1) for (a, b), (c, d) in pairwise(stairs)
    ]


def _table(offers: Sequence[Offer], best: Sequence[Offer], unit: str) -> Table:
    rows: list[Sequence[Cell]] = [
        [
            offer.name,
            offer.kind,
            *figure_cells(offer.cost)[:5],
            *figure_cells(offer.accuracy)[:5],
            "front" if any(offer is one for one in best) else "",
        ]
        for offer in offers
    ]
    name = COLUMNS[unit]
    cost = (f"{name} {part}".rstrip() for part in ("", "low", "high", "n", "method"))
    return ("source", "kind", *cost, *FIGURE_COLUMNS[:-1], "note"), rows
