"""What the page on Echo draws: its two charts, and the small bars and curves of its table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.charts import Axis, Chart, Line, Point, Rule, number_tick
from apps.common.figures import share_words
from apps.echo.selectors.learnt import FeatureHistory
from apps.echo.selectors.scored import FEW_POINTS, Tally, points
from labelhub.core.wilson import wilson_bounds

_Z = 1.96
_METHOD = "Wilson score interval; answers are taken to be independent"


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


def accuracy_chart(tallies: Sequence[Tally]) -> Chart | None:
    """The share of right predictions over the answers; None where there are too few for a line."""
    stretches = points(tallies)
    if len(stretches) < 2:
        return None
    bounds = [wilson_bounds(tally.right, tally.n, _Z) for tally in stretches]
    middles = [tally.upto - tally.n / 2 for tally in stretches]
    first, last = share_words(stretches[0].right), share_words(stretches[-1].right)
    return Chart(
        key="echo-accuracy",
        title="Predictions that were right, over the answers",
        description=f"From {first} at first to {last} of the newest answers, each point with its "
        "95 % interval.",
        rows=[
            {
                "answers until then": tally.upto,
                "right": tally.right,
                "low": low,
                "high": high,
                "answers": tally.n,
            }
            for tally, (low, high) in zip(stretches, bounds, strict=True)
        ],
        shares=("right", "low", "high"),
        x=Axis(title="answers so far", high=stretches[-1].upto, words=number_tick),
        y=Axis(title="predicted rightly"),
        marks=[
            Line(
                points=[(x, tally.right) for x, tally in zip(middles, stretches, strict=True)],
                band=[(x, *ends) for x, ends in zip(middles, bounds, strict=True)],
                kind="author",
            ),
            *(
                Point(
                    x=x,
                    y=tally.right,
                    words=f"{share_words(tally.right)} of {tally.n:,} answers",
                    kind="author",
                )
                for x, tally in zip(middles, stretches, strict=True)
            ),
        ],
        height=190,
    )


def reliability_chart(parts: Sequence[Tally]) -> Chart | None:
    """What σ said before an answer beside what came; None without answers."""
    if not parts:
        return None
    found = [
        (
            tally.sigma / tally.n,
            tally.wrong / tally.n,
            wilson_bounds(tally.wrong / tally.n, tally.n, _Z),
            tally.n,
        )
        for tally in parts
    ]
    return Chart(
        key="echo-reliability",
        title="Doubt beside what came",
        description="For predictions of about the same doubt, the share that was wrong with its "
        "95 % interval; on the dashed line doubt is what it says.",
        rows=[
            {"it thought": doubt, "it was wrong": wrong, "low": low, "high": high, "answers": n}
            for doubt, wrong, (low, high), n in found
        ],
        shares=("it thought", "it was wrong", "low", "high"),
        x=Axis(title="doubt said before the answer"),
        y=Axis(title="were wrong"),
        marks=[
            Rule(name="as wrong as it thought"),
            *(
                Point(
                    x=doubt,
                    y=wrong,
                    y_ends=ends,
                    kind="author",
                    words=f"{share_words(wrong)} wrong of {n:,} answers",
                )
                for doubt, wrong, ends, n in found
            ),
        ],
        height=190,
    )


def rows(features: Sequence[FeatureHistory]) -> list[Row]:
    """The features of one page of the table, their relevance to one scale."""
    scale = Axis(
        low=min([0.0, *(feature.low for feature in features)]),
        high=max([0.05, *(feature.high for feature in features)]),
    )
    return [
        Row(feature, _bar(feature, scale), right_figure(feature.all), *_spark(feature.tallies))
        for feature in features
    ]


def _bar(feature: FeatureHistory, scale: Axis) -> Bar:
    zero, end, low, high = (
        round(100 * scale.share(value), 1)
        for value in (0, feature.relevance, feature.low, feature.high)
    )
    left, width = str(min(zero, end)), str(round(abs(end - zero), 1))
    return Bar(start=str(zero), left=left, width=width, low=str(low), high=str(high))


def _spark(tallies: Sequence[Tally]) -> tuple[str, str]:
    """The points of a small curve and its words; empty where two would be too few answers."""
    stretches = points(tallies, FEW_POINTS)
    if len(stretches) < 2:
        return "", ""
    step = 96 / (len(stretches) - 1)
    places = [
        f"{2 + step * number:.1f},{92 - 84 * tally.right:.1f}"
        for number, tally in enumerate(stretches)
    ]
    words = f"from {share_words(stretches[0].right)} to {share_words(stretches[-1].right)}"
    return " ".join(places), words
