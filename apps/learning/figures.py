"""The two learning curves as one picture, with the doubt of each as a band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.drawing import Axes, Scale, down_to, round_values, ticks
from apps.common.figures import share_words

Points = Sequence[Mapping[str, Any]]

#: Fits a phone with text at its own size.
WIDTH, HEIGHT = 360.0, 292.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 350.0, 56.0, 246.0
#: Where the words of the axis stand above it, so that the target's fit between.
Y_WORDS = 18.0


@dataclass(frozen=True, slots=True)
class Curve:
    """One order: its line, the band of its intervals, and where its name stands above the plot."""

    way: str
    name: str
    line: str
    band: str
    x: float


@dataclass(frozen=True, slots=True)
class Target:
    """The accuracy that is to be reached, across the picture."""

    y: float
    words: str


@dataclass(frozen=True, slots=True)
class LearningCurves:
    """The whole picture, as ``templates/agreement/figures/head.svg`` and ``axes.svg`` read it."""

    words: str
    axes: Axes
    curves: Sequence[Curve]
    target: Target | None
    rows: Sequence[Mapping[str, Any]]
    prefix: str = "learning-curves"
    title: str = "Accuracy by how many labels were learnt from"
    width: float = WIDTH
    height: float = HEIGHT
    wide: bool = False


def learning_curves(curve: Mapping[str, Any]) -> LearningCurves | None:
    """Draw what ``simulate`` found; None where it found nothing."""
    points = curve.get("points")
    if not points:
        return None
    target = _decisive(curve)
    ends = [point[way][end] for point in points for way in ("random", "learned") for end in _ENDS]
    across = Scale(points[0]["labels"], points[-1]["labels"], LEFT, RIGHT)
    lowest = down_to(ends)
    up = Scale(lowest, min(1.0, max(*ends, lowest + 0.1)), BOTTOM, TOP)
    return LearningCurves(
        words=f"Two curves from {points[0]['labels']} to {points[-1]['labels']} labels, each the "
        f"mean of {curve['divisions']} random divisions with its 95 % interval: labels in random "
        "order, and the least certain first.",
        axes=_axes(across, up),
        curves=[
            _curve("random", "random order", LEFT + 170, points, (across, up)),
            _curve("learned", "least certain first", LEFT, points, (across, up)),
        ],
        target=_target(target, up) if target else None,
        rows=points,
    )


_ENDS = ("low", "high")


def _axes(across: Scale, up: Scale) -> Axes:
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, round_values(across.low, across.high, 6), lambda n: f"{n:,.0f}"),
        y_ticks=ticks(up, round_values(up.low, up.high, 5), share_words),
        x_words="labels learnt from",
        y_words="accuracy on gold that was kept back",
        y_words_above=Y_WORDS,
    )


def _curve(way: str, name: str, x: float, points: Points, scales: tuple[Scale, Scale]) -> Curve:
    across, up = scales

    def places(end: str) -> list[str]:
        return [f"{across.at(each['labels'])},{up.at(each[way][end])}" for each in points]

    return Curve(
        way=way,
        name=name,
        line=" ".join(places("value")),
        band=" ".join([*places("low"), *reversed(places("high"))]),
        x=x,
    )


def _decisive(curve: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((each for each in curve.get("targets", ()) if each["share"] == 0.9), None)


def _target(target: Mapping[str, Any], up: Scale) -> Target:
    return Target(y=up.at(target["accuracy"]), words=f"target {share_words(target['accuracy'])}")
