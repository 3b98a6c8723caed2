"""Learning curves as a file of its own, to put into a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.charts import Axis, Chart, Line, number_tick
from apps.common.charts.files import svg_file

#: What each arm of the simulator is called, in the order of the legend.
ARM_NAMES = {
    "echo": "Echo",
    "random": "asks about any feature",
    "random_shown": "asks about any shown feature",
    "no_asking": "does not ask",
    "no_learning": "learns nothing",
}
_ENDS = ("low", "value", "high")
#: Of the arms in their order; each has a pattern of its own as well.
_COLOURS = ("author", "llm", "crowd", "expert", "other")


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: one panel per figure, one line per arm.

    arms: what each is called, in the order of the legend. titles: of the panels, by figure.
    along, along_name: the field along which the curves go, and what it is called.
    """

    arms: Mapping[str, str]
    titles: Mapping[str, str]
    along: str
    along_name: str


SIMULATED = Picture(
    ARM_NAMES,
    {
        "accuracy": "Right about the features that matter most",
        "found": "Share of these that are shown",
        "regret": "Chance of a click lost per message",
    },
    "messages",
    "messages",
)


REPLAYED = Picture(
    {"echo": "Echo", "random": "random asking", "margin": "margin sampling"},
    {"accuracy": "Right about texts held out", "log_loss": "Log-loss there, nats"},
    "asked",
    "answers learnt from",
)


def draw_curves(points: Sequence[Mapping[str, Any]], picture: Picture = SIMULATED) -> str:
    """SVG of the curves with 95 % bands, one panel below the other.

    ``points``: rows of {"arm", "figure", "value", "low", "high"} and where along they are, as
    :func:`labelhub.core.echo.simulation.report.curves` gives them.
    """
    return svg_file(*(_panel(figure, picture, points) for figure in picture.titles))


def _panel(figure: str, picture: Picture, points: Sequence[Mapping[str, Any]]) -> Chart:
    shown = [point for point in points if point["figure"] == figure]
    # Of one world alone there is no interval.
    ends = [point[end] for point in shown for end in _ENDS if point[end] is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    lines = []
    for number, (arm, name) in enumerate(picture.arms.items()):
        mine = [point for point in shown if point["arm"] == arm]
        lines.append(
            Line(
                points=[(point[picture.along], point["value"]) for point in mine],
                band=[
                    (point[picture.along], point["low"], point["high"])
                    for point in mine
                    if point["low"] is not None
                ],
                kind=_COLOURS[number],
                dash=number,
                name=name,
            )
        )
    return Chart(
        key=figure,
        title=picture.titles[figure],
        rows=shown,
        x=Axis(
            title=picture.along_name,
            low=min((point[picture.along] for point in shown), default=0),
            high=max((point[picture.along] for point in shown), default=1),
            words=number_tick,
        ),
        y=Axis(low=low, high=high if high > low else low + 1, words=number_tick),
        marks=lines,
        height=220,
    )
