"""What the page on Echo draws; colours come from the stylesheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.drawing import Axes, Scale, round_values, ticks
from apps.common.figures import share_words
from apps.echo.selectors.learnt import FeatureHistory
from apps.echo.selectors.scored import FEW_POINTS, Tally, points
from labelhub.core.wilson import wilson_bounds

#: Fits a phone with text at its own size.
WIDTH, HEIGHT = 372.0, 268.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 350.0, 32.0, 222.0
_Z = 1.96
_METHOD = "Wilson score interval; answers are taken to be independent"


@dataclass(frozen=True, slots=True)
class Point:
    """A share with its interval, as numbers and in the picture."""

    n: int
    upto: int
    told: float
    value: float
    low: float
    high: float
    x: float
    y: float
    y_low: float
    y_high: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot, as ``templates/agreement/figures/head.svg`` and ``axes.svg`` read it."""

    prefix: str
    title: str
    words: str
    axes: Axes
    points: Sequence[Point]
    line: str = ""
    band: str = ""
    width: float = WIDTH
    height: float = HEIGHT
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A relevance beside the others, 0 to 100 from the left; ``start``: where 0 is."""

    start: str
    left: str
    width: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Row:
    """A feature in the table."""

    learnt: FeatureHistory
    bar: Bar
    right: Mapping[str, Any]
    spark: str
    spark_words: str


def right_figure(told: Tally | None) -> dict[str, Any]:
    """The share of right predictions, as the figure component takes it."""
    if told is None:
        return {"value": None, "reason": "no answer yet"}
    low, high = wilson_bounds(told.right, told.n, _Z)
    return {"value": told.right, "low": low, "high": high, "n": told.n, "method": _METHOD}


def share_figure(part: int, n: int, reason: str) -> dict[str, Any]:
    """A share of whole numbers, or why there is none."""
    if not n:
        return {"value": None, "reason": reason}
    low, high = wilson_bounds(part / n, n, _Z)
    return {"value": part / n, "low": low, "high": high, "n": n, "method": _METHOD}


def accuracy_picture(tallies: Sequence[Tally]) -> Picture | None:
    """The share of right predictions over the answers; None where there are too few for a line."""
    told = points(tallies)
    if len(told) < 2:
        return None
    across, up = Scale(0, told[-1].upto, LEFT, RIGHT), Scale(0, 1, BOTTOM, TOP)
    drawn = [_point(each, each.right, each.upto - each.n / 2, (across, up)) for each in told]
    ends = [f"{each.x},{each.y_low}" for each in drawn]
    other = [f"{each.x},{each.y_high}" for each in reversed(drawn)]
    first, last = share_words(drawn[0].value), share_words(drawn[-1].value)
    return Picture(
        prefix="echo-accuracy",
        title="Predictions that were right, over the answers",
        words=f"From {first} at first to {last} of the newest answers, each point with its 95 % "
        "interval. The numbers are in the table below.",
        axes=_axes(across, up, "answers so far", "predicted rightly"),
        points=drawn,
        line=" ".join(f"{each.x},{each.y}" for each in drawn),
        band=" ".join([*ends, *other]),
    )


def reliability_picture(parts: Sequence[Tally]) -> Picture | None:
    """What σ told beside what came; None without answers."""
    if not parts:
        return None
    across, up = Scale(0, 1, LEFT, RIGHT), Scale(0, 1, BOTTOM, TOP)
    drawn = [_point(each, each.wrong / each.n, each.sigma / each.n, (across, up)) for each in parts]
    return Picture(
        prefix="echo-reliability",
        title="Doubt beside what came",
        words="For predictions of about the same doubt, the share that was wrong with its 95 % "
        "interval; on the dashed line doubt is what it says. The numbers are in the table below.",
        axes=_axes(across, up, "doubt told before the answer", "were wrong", share_words),
        points=drawn,
    )


def rows(features: Sequence[FeatureHistory]) -> list[Row]:
    """The features of one page of the table, their relevance to one scale."""
    low = min([0.0, *(each.low for each in features)])
    scale = Scale(low, max([0.05, *(each.high for each in features)]), 0, 100)
    return [
        Row(each, _bar(each, scale), right_figure(each.all), *_spark(each.tallies))
        for each in features
    ]


def _bar(feature: FeatureHistory, scale: Scale) -> Bar:
    zero, end = scale.at(0), scale.at(feature.relevance)
    return Bar(
        start=str(zero),
        left=str(min(zero, end)),
        width=str(round(abs(end - zero), 1)),
        low=str(scale.at(feature.low)),
        high=str(scale.at(feature.high)),
    )


def _spark(tallies: Sequence[Tally]) -> tuple[str, str]:
    """The points of a small curve and its words; empty where two would be too few answers."""
    told = points(tallies, FEW_POINTS)
    if len(told) < 2:
        return "", ""
    across, up = Scale(0, len(told) - 1, 2, 98), Scale(0, 1, 92, 8)
    places = [f"{across.at(at)},{up.at(each.right)}" for at, each in enumerate(told)]
    words = f"from {share_words(told[0].right)} to {share_words(told[-1].right)}"
    return " ".join(places), words


def _point(told: Tally, value: float, x: float, scales: tuple[Scale, Scale]) -> Point:
    across, up = scales
    low, high = wilson_bounds(value, told.n, _Z)
    return Point(
        n=told.n,
        upto=told.upto,
        told=told.sigma / told.n,
        value=value,
        low=low,
        high=high,
        x=across.at(x),
        y=up.at(value),
        y_low=up.at(low),
        y_high=up.at(high),
    )


def _axes(across: Scale, up: Scale, x_words: str, y_words: str, say: Any = None) -> Axes:
    say = say or (lambda n: f"{n:,.0f}")
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, round_values(across.low, across.high, 5), say),
        y_ticks=ticks(up, round_values(up.low, up.high, 5), share_words),
        x_words=x_words,
        y_words=y_words,
        y_words_above=14,
    )
