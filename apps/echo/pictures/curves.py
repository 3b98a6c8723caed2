"""Learning curves as a picture of its own, to put into a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert

#: What each arm of the simulator is called, in the order of the legend.
ARM_NAMES = {
    "echo": "Echo",
    "random": "asks about any feature",
    "random_shown": "asks about any shown feature",
    "no_asking": "does not ask",
    "no_learning": "learns nothing",
}
#: Distinguishable by the colour-blind, on white paper.
_COLOURS = ("#0b5fa5", "#c2410c", "#7c3aed", "#4d7c0f", "#6b7280")


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
    """SVG of the curves with 95 % bands.

    ``points``: rows of {"arm", "figure", "value", "low", "high"} and where along they are, as
    :func:`labelhub.core.echo.simulation.report.curves` gives them.
    """
    named = [{**point, "name": picture.arms.get(point["arm"], point["arm"])} for point in points]
    panels = [_panel(figure, picture, named) for figure in picture.titles]
    spec = {
        "hconcat": panels,
        # One legend below all panels, which have the same arms.
        "resolve": {"scale": {"color": "shared"}},
        "spacing": 40,
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": None}},
        "background": "white",
    }
    return str(vl_convert.vegalite_to_svg(spec))


def _panel(figure: str, picture: Picture, points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = list(picture.arms.values())
    along = {"field": picture.along, "type": "quantitative", "title": picture.along_name}
    return {
        "title": picture.titles[figure],
        "width": 320,
        "height": 240,
        "data": {"values": [dict(point) for point in points if point["figure"] == figure]},
        "encoding": {
            "x": along,
            "color": {
                "field": "name",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": list(_COLOURS[: len(names)])},
                "legend": {
                    "orient": "bottom",
                    "direction": "horizontal",
                    "symbolType": "square",
                    "symbolOpacity": 1,
                    "columnPadding": 24,
                },
            },
        },
        "layer": [
            {"mark": {"type": "area", "opacity": 0.18}, "encoding": _band()},
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": _up("value")}},
        ],
    }


def _band() -> dict[str, Any]:
    return {"y": _up("low"), "y2": {"field": "high"}}


def _up(field: str) -> dict[str, Any]:
    scale = {"zero": False}
    return {"field": field, "type": "quantitative", "title": None, "scale": scale}
