"""Cost against quality as a picture: points with their doubt, and the front that nobody beats."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.agreement.experiments.drawing import number
from apps.agreement.experiments.report import ArmReport, ExperimentReport
from apps.common.figures import money
from labelhub.core.agreement.figures import Figure

#: The picture's own box and the room around the plot; text is legible from 320 pixels on.
WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 46, 400, 14, 236
LETTER = 13
AXES = {"cost": "Cost for one item", "calls": "Calls for one item"}


@dataclass(frozen=True, slots=True)
class ArmPoint:
    """An arm in the picture; ``letter_x``, ``letter_y``: where its letter stands."""

    arm: ArmReport
    x: float
    y: float
    letter_x: float
    letter_y: float
    x_low: float
    x_high: float
    y_low: float
    y_high: float
    words: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """The whole picture; ``front`` is the line through the arms that nobody beats."""

    points: Sequence[ArmPoint]
    front: str
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    axis: str
    width: int = WIDTH
    height: int = HEIGHT


def scatter(report: ExperimentReport) -> Scatter | None:
    """Draw the arms that have both; None with fewer than two."""
    say = money if report.axis == "cost" else number
    known = [arm for arm in report.arms if arm.scores.accuracy["value"] is not None]
    known = [arm for arm in known if getattr(arm, report.axis)["value"] is not None]
    if len(known) < 2:
        return None
    xs = [_ends(getattr(arm, report.axis)) for arm in known]
    ys = [_ends(arm.scores.accuracy) for arm in known]
    across = _Scale(0.0, (max(high for *_, high in xs) or 1.0) * 1.06, LEFT, RIGHT)
    lowest = math.floor(min(low for low, *_ in ys) * 10) / 10
    up = _Scale(lowest, max(1.0, lowest + 0.1), BOTTOM, TOP)
    points = _points(known, list(zip(xs, ys, strict=True)), (across, up), say)
    return Scatter(
        points=points,
        front=_line(points),
        x_ticks=[Tick(across.at(at), say(at)) for at in _round_numbers(across.high)],
        y_ticks=[Tick(up.at(at), f"{at:.0%}") for at in _percents(lowest)],
        axis=AXES[report.axis],
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def _points(
    arms: Sequence[ArmReport],
    places: Sequence[tuple[tuple[float, float, float], tuple[float, float, float]]],
    scales: tuple[_Scale, _Scale],
    say: Callable[[float], str],
) -> list[ArmPoint]:
    across, up = scales
    taken: list[tuple[float, float]] = []
    points = []
    for arm, ((x_low, x, x_high), (y_low, y, y_high)) in zip(arms, places, strict=True):
        spot = _free(across.at(x) + 9, up.at(y) - 5, taken)
        taken.append(spot)
        points.append(
            ArmPoint(
                arm=arm,
                x=across.at(x),
                y=up.at(y),
                letter_x=spot[0],
                letter_y=spot[1],
                x_low=across.at(x_low),
                x_high=across.at(x_high),
                y_low=up.at(y_low),
                y_high=up.at(y_high),
                words=f"{arm.letter}, {arm.title}: {y:.0%} right ({y_low:.0%} to {y_high:.0%}), "
                f"{say(x)}",
            )
        )
    return points


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The place, or the next one to its right where no other letter stands."""
    while any(abs(x - a) < LETTER and abs(y - b) < LETTER for a, b in taken):
        x += LETTER
    return x, y


def _ends(figure: Figure) -> tuple[float, float, float]:
    value = figure["value"] or 0.0
    low, high = figure.get("low"), figure.get("high")
    return (value if low is None else low, value, value if high is None else high)


def _line(points: Sequence[ArmPoint]) -> str:
    """A staircase: up to the next point of the front only where it stands."""
    best = sorted((point for point in points if point.arm.on_front), key=lambda point: point.x)
    steps: list[str] = []
    for before, point in zip([None, *best], best, strict=False):
        if before is not None:
            steps.append(f"{point.x},{before.y}")
        steps.append(f"{point.x},{point.y}")
    return " ".join(steps)


def _round_numbers(most: float) -> list[float]:
    """0 and a few round numbers up to ``most``."""
    rough = most / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    return [step * at for at in range(int(most / step) + 1)]


def _percents(lowest: float) -> list[float]:
    step = 0.1 if lowest >= 0.5 else 0.2
    count = int((1 - lowest) / step + 1e-9)
    return [1 - step * at for at in range(count + 1)]
