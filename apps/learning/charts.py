"""The two learning curves as one chart, with the doubt of each as a band."""

from collections.abc import Mapping
from typing import Any

from apps.common.charts import Axis, Chart, Line, Mark, Rule, down_to, number_tick, share_tick

#: Way → its name and its colour.
WAYS = {"learned": ("least certain first", "accent"), "random": ("random order", "other")}
#: The share of the way to the last accuracy that the target lies at.
DECISIVE = 0.9


def learning_curves(curve: Mapping[str, Any]) -> Chart | None:
    """Accuracy by labels learnt from, as ``simulate`` found it; None where it found nothing."""
    points = curve.get("points")
    if not points:
        return None
    ends = [point[way][end] for point in points for way in WAYS for end in ("low", "high")]
    low = down_to(ends)
    targets = [found for found in curve.get("targets", ()) if found["share"] == DECISIVE]
    marks: list[Mark] = [
        Rule(y=found["accuracy"], name=f"target {share_tick(round(found['accuracy'], 2))}")
        for found in targets[:1]
    ]
    marks += [
        Line(
            points=[(point["labels"], point[way]["value"]) for point in points],
            band=[(point["labels"], point[way]["low"], point[way]["high"]) for point in points],
            kind=colour,
            dash=int(way == "random"),
            name=name,
        )
        for way, (name, colour) in WAYS.items()
    ]
    return Chart(
        key="learning-curves",
        title="Accuracy by how many labels were learnt from",
        description=f"Two curves from {points[0]['labels']} to {points[-1]['labels']} labels, each "
        f"the mean of {curve['divisions']} random divisions with its 95 % interval: labels in "
        "random order, and the least certain first.",
        rows=[
            {"labels": point["labels"], "order": name, **{end: point[way][end] for end in _FIGURE}}
            for point in points
            for way, (name, _) in WAYS.items()
        ],
        shares=_FIGURE,
        x=Axis(
            title="labels learnt from",
            low=points[0]["labels"],
            high=points[-1]["labels"],
            words=number_tick,
        ),
        y=Axis(
            title="accuracy on gold that was kept back",
            low=low,
            high=min(1.0, max(*ends, low + 0.1)),
        ),
        marks=marks,
        height=190,
    )


_FIGURE = ("value", "low", "high")
