"""How many items may be accepted without a person, and how many of those would be wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Label,
    Picture,
    Scale,
    prefix_of,
    round_values,
    spread,
    ticks,
)
from apps.agreement.figures.wording import Cell, Table, share_words
from labelhub.core.agreement.risk_control import Step

LEFT, RIGHT, TOP, BOTTOM = 46, 296, 30, 200
NAMES = RIGHT + 6
#: Bounds above this many targets say only that nothing is known; they are left to the table.
WORTH_DRAWING = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage(Picture):
    """The whole picture; ``chosen`` is where the threshold was set, None where none keeps it."""

    form: ClassVar[str] = "risk_coverage"
    axes: Axes
    errors: str
    bounds: str
    labels: Sequence[Label]
    chosen: Label | None
    target_y: float
    bound_words: str
    anchor: str
    anchor_dx: float


def risk_coverage(
    steps: Sequence[Step],
    *,
    target: float,
    chosen: Step | None = None,
    title: str = "Error among the accepted, by the share accepted",
    key: str = "risk-coverage",
) -> RiskCoverage | None:
    """Draw the ``path`` of ``risk_control.choose_threshold``; None with fewer than two steps."""
    known = sorted((one.coverage, one.error, one.bound) for one in steps if one.error is not None)
    if len(known) < 2:
        return None
    most = min(1.0, max(WORTH_DRAWING * target, 1.15 * max(error for _, error, _ in known)))
    across, up = Scale(0, 1, LEFT, RIGHT), Scale(0, most, BOTTOM, TOP)
    errors = [(across.at(coverage), up.at(error)) for coverage, error, _ in known]
    bounds = [(across.at(coverage), up.at(bound)) for coverage, _, bound in known if bound <= most]
    ends = [errors[-1][1], bounds[-1][1] if bounds else TOP, up.at(target)]
    return RiskCoverage(
        prefix=prefix_of(key),
        title=title,
        words=_words(chosen, target),
        width=WIDTH,
        height=BOTTOM + 38,
        table=_table(steps, chosen),
        axes=_axes(across, up),
        errors=_path(errors),
        bounds=_path(bounds),
        labels=_labels(ends, target),
        chosen=_chosen(chosen, across, up),
        target_y=up.at(target),
        bound_words=f"at most {chosen.bound:.1%} wrong".replace("%", " %") if chosen else "",
        anchor="end" if chosen and chosen.coverage > 0.5 else "start",
        anchor_dx=-7 if chosen and chosen.coverage > 0.5 else 7,
    )


def _axes(across: Scale, up: Scale) -> Axes:
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, (0, 0.25, 0.5, 0.75, 1), share_words),
        y_ticks=ticks(up, round_values(up.low, up.high, 4), share_words),
        x_words="accepted without a person",
        y_words="wrong among the accepted",
    )


def _labels(ends: Sequence[float], target: float) -> list[Label]:
    """The names of the three lines beside their ``ends``: error, bound, target."""
    error_y, bound_y, target_y = spread(ends, 14, TOP, BOTTOM)
    return [
        Label(NAMES, error_y, "error", "error among the accepted"),
        Label(NAMES, bound_y, "at most", "upper bound of the error"),
        Label(NAMES, target_y, f"target {share_words(target)}", "the most errors wanted"),
    ]


def _words(chosen: Step | None, target: float) -> str:
    lines = "Solid: error among the accepted; broken: its upper bound. "
    if chosen is None:
        return f"{lines}No threshold keeps the target of {share_words(target)}."
    return (
        f"{lines}Chosen: {share_words(round(chosen.coverage, 3))} accepted, at most "
        f"{share_words(round(chosen.bound, 4))} wrong, target {share_words(target)}."
    )


def _chosen(chosen: Step | None, across: Scale, up: Scale) -> Label | None:
    if chosen is None:
        return None
    words = f"{chosen.coverage:.0%} accepted".replace("%", " %")
    return Label(across.at(chosen.coverage), up.at(chosen.bound), words, words)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _table(steps: Sequence[Step], chosen: Step | None) -> Table:
    rows: list[Sequence[Cell]] = [
        [
            one.threshold,
            one.coverage,
            one.accepted,
            one.errors,
            one.error,
            one.bound,
            "chosen" if one == chosen else "",
        ]
        for one in sorted(steps, key=lambda one: one.coverage)
    ]
    header = ("threshold", "accepted share", "accepted", "wrong", "error", "upper bound", "note")
    return header, rows
