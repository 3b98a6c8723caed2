"""A line of values with their intervals over stretches of somebody's work, as SVG.

Places are in the units of the picture's box; colours and sizes of type come from the stylesheet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.common.figures import draw_figure, duration
from apps.reviews.selectors.quality.drift import Stretch
from labelhub.core.agreement.figures import Figure

WIDTH, HEIGHT = 360, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 350, 24, 160
#: Names below the picture so far apart that they do not touch.
NAME = 74
#: Round steps of a scale of seconds.
STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A value with its interval; ``words`` say it."""

    x: float
    y: float
    y_low: float
    y_high: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The picture: its frame, axes, broken lines between neighbours, and spots."""

    prefix: str
    title: str
    words: str
    up: Sequence[Tick]
    across: Sequence[Tick]
    pieces: Sequence[str]
    spots: Sequence[Spot]
    kind: str

    width, height = WIDTH, HEIGHT
    left, right, top, bottom = LEFT, RIGHT, TOP, BOTTOM


def accuracy_chart(stretches: Sequence[Stretch], kind: str) -> Chart | None:
    """Right answers among those whose answer was known; None without any."""
    told = [one.accuracy for one in stretches]
    ticks = [(share, f"{share:.0%}".replace("%", " %")) for share in (0, 0.25, 0.5, 0.75, 1)]
    return _chart("accuracy", "Right answers", stretches, told, (ticks, kind))


def speed_chart(stretches: Sequence[Stretch], kind: str) -> Chart | None:
    """Median seconds; None where too few were measured."""
    told = [one.seconds for one in stretches]
    highest = max((figure.get("high") or 0.0 for figure in told), default=0.0)
    step = next((step for step in STEPS if step * 4 >= highest), math.ceil(highest / 4))
    count = max(1, math.ceil(highest / step))
    ticks = [(step * at, duration(step * at) if at else "0") for at in range(count + 1)]
    return _chart("seconds", "Seconds for an answer (median)", stretches, told, (ticks, kind))


def _chart(
    key: str,
    title: str,
    stretches: Sequence[Stretch],
    told: Sequence[Figure],
    look: tuple[Sequence[tuple[float, str]], str],
) -> Chart | None:
    ticks, kind = look
    top = ticks[-1][0]
    spots = [
        _spot(_across(at, len(told)), figure, top, f"{one.words}: {_said(key, figure)}")
        for at, (one, figure) in enumerate(zip(stretches, told, strict=True))
    ]
    if not any(spots):
        return None
    every = max(1, math.ceil(NAME * len(told) / (RIGHT - LEFT)))
    return Chart(
        prefix=f"quality-{key}",
        title=title,
        words=f"{title} with 95 % intervals, {stretches[0].words} to {stretches[-1].words}.",
        up=[Tick(_up(value, top), words) for value, words in ticks],
        across=[
            Tick(_across(at, len(told)), stretches[at].words)
            for at in range(len(told) - 1, -1, -every)
        ],
        pieces=_pieces(spots),
        spots=[spot for spot in spots if spot],
        kind=kind,
    )


def _across(at: int, count: int) -> float:
    return round(LEFT + (at + 0.5) * (RIGHT - LEFT) / count, 1)


def _up(value: float, top: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * min(value / top, 1.0), 1)


def _spot(x: float, figure: Figure, top: float, words: str) -> Spot | None:
    value, low, high = figure.get("value"), figure.get("low"), figure.get("high")
    if value is None or low is None or high is None:
        return None
    return Spot(x, _up(value, top), _up(low, top), _up(high, top), words)


def _said(key: str, figure: Figure) -> str:
    value, low, high = figure.get("value"), figure.get("low"), figure.get("high")
    if value is None:
        return str(figure.get("reason"))
    if key == "seconds":
        return f"{duration(value)}, {duration(low)} to {duration(high)}"
    drawn = draw_figure(figure, percent=True)
    return f"{drawn.value}, {drawn.low} to {drawn.high}, n {drawn.n}"


def _pieces(spots: Sequence[Spot | None]) -> list[str]:
    """Lines between neighbours; of a stretch without a number nothing is known."""
    pieces: list[list[str]] = [[]]
    for spot in spots:
        if spot is None:
            pieces.append([])
        else:
            pieces[-1].append(f"{spot.x},{spot.y}")
    return [" ".join(piece) for piece in pieces if len(piece) > 1]
