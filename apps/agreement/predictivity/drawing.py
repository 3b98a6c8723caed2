"""The picture of a study, accuracy by number of examples, and the table of what was found."""

import math
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
    ticks,
)
from apps.agreement.figures.lines import Line, Series, lines
from apps.agreement.figures.wording import FIGURE_COLUMNS, Table, figure_cells, share_words
from apps.common.figures import DrawnFigure, draw_figure
from labelhub.core.agreement.predictivity import NO_LABELS, SOURCES
from labelhub.core.agreement.predictivity_scores import Accuracy, Difference, Predictivity

LEFT, TOP, BOTTOM = 46, 30, 216
#: For names beside the lines.
ROOM = 92
WHOSE = {
    "llm": "LLM",
    "crowd": "Crowd",
    "expert": "Expert",
    "author": "Author",
    "chance": "Chance",
    NO_LABELS: "No examples",
}
OFFLINE = "Not an LLM"
#: In the order of the table, what was asked without labels first.
SHOWN = (NO_LABELS, *SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByExamples(Picture):
    """The whole picture; ``guessing``: who picks any answer, named above the plot, where no line
    crosses the name, with its height ``guessing_y`` in the plot."""

    form: ClassVar[str] = "by_examples"
    axes: Axes
    lines: Sequence[Line]
    guessing: Label | None
    guessing_y: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One accuracy in the table."""

    drawn: DrawnFigure
    counts: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """One source: over all numbers of examples, then the author's labels against it, then a cell
    for each number (None where it has none)."""

    source: str
    name: str
    overall: Cell | None
    against: str
    against_note: str
    cells: Sequence[Cell | None]


def picture(scores: Predictivity, *, offline_labels: bool = False) -> ByExamples | None:
    """Draw the accuracies; None where there is none with labels.

    ``offline_labels``: what stands for an LLM's labels was said by the offline model.
    """
    known = [each for each in scores.accuracies if each.examples is not None]
    if not any(each.examples for each in known):
        return None
    numbers = sorted({each.examples for each in known if each.examples is not None})
    names = WHOSE | ({"llm": OFFLINE} if offline_labels else {})
    series = [_series(source, names[source], _of(known, source), numbers) for source in SHOWN]
    across = Scale(numbers[0] - 0.5, numbers[-1] + 0.5, LEFT, WIDTH - ROOM)
    up = Scale(0.0, _highest(known, scores.guessing), BOTTOM, TOP)
    places = [(across.at(number), f"{number} examples") for number in numbers]
    return ByExamples(
        prefix=prefix_of("by-examples"),
        title="Accuracy by number of examples",
        words="Up: the share of answers predicted as the author gave them, with 95 % intervals over"
        " authors; across: how many other answers of the author were shown.",
        width=WIDTH,
        height=BOTTOM + 40,
        table=_numbers(names, known),
        axes=_axes(across, up, numbers),
        lines=lines(series, places, up, percent=True, right=across.end, room=ROOM),
        guessing=_guessing(scores.guessing, across.end),
        guessing_y=up.at(scores.guessing or 0.0),
    )


def table(scores: Predictivity) -> tuple[list[str], list[TableRow]]:
    """Heads of the columns, and a row for each source."""
    known = {(each.source, each.examples): each for each in scores.accuracies}
    numbers = sorted({number for _, number in known if number})
    heads = [f"{number} example{'' if number == 1 else 's'}" for number in numbers]
    against = {each.source: each for each in scores.differences if each.examples is None}
    rows = [
        TableRow(
            source,
            WHOSE[source],
            _cell(known.get((source, 0 if source == NO_LABELS else None))),
            *_against(against.get(source)),
            [_cell(known.get((source, number))) for number in numbers],
        )
        for source in SHOWN
        if any(each == source for each, _ in known)
    ]
    return heads, rows


def _cell(found: Accuracy | None) -> Cell | None:
    if found is None:
        return None
    counts = f"{_many(found.users, 'author')}, {_many(found.predictions, 'prediction')}"
    if found.unparsed:
        counts += f", {found.unparsed:,} not usable"
    return Cell(draw_figure(found.accuracy, percent=True), counts)


def _against(found: Difference | None) -> tuple[str, str]:
    if found is None or found.difference["value"] is None:
        return "", ""
    low, high = found.difference.get("low"), found.difference.get("high")
    value = f"{_signed(found.difference['value'])} points"
    if low is None or high is None:
        return value, f"{found.pairs:,} pairs; too little varies for an interval"
    p = "" if found.p_holm is None else f"; {_p_words(found.p_holm)}"
    return value, f"{_signed(low)} to {_signed(high)}; {found.pairs:,} pairs{p}"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _signed(share: float) -> str:
    return f"{share * 100:+.1f}".replace("-", "−")


def _p_words(p: float) -> str:
    return "p < 0.01" if p < 0.01 else f"p = {p:.2f}"


def _of(known: Sequence[Accuracy], source: str) -> list[Accuracy]:
    return [each for each in known if each.source == source]


def _series(source: str, name: str, found: Sequence[Accuracy], numbers: Sequence[int]) -> Series:
    of = {each.examples: each.accuracy for each in found}
    return Series(name, source, [of.get(number) for number in numbers])


def _axes(across: Scale, up: Scale, numbers: Sequence[int]) -> Axes:
    return Axes(
        LEFT,
        across.end,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, numbers, str),
        y_ticks=ticks(up, round_values(up.low, up.high, 5), share_words),
        x_words="other answers that were shown",
        y_words="right about the author",
    )


def _guessing(share: float | None, right: float) -> Label | None:
    if share is None:
        return None
    words = f"Guessing, {share:.0%}"
    return Label(right, TOP - 10, words, words, anchor="end")


def _numbers(names: dict[str, str], known: Sequence[Accuracy]) -> Table:
    head = ("source", "examples", *FIGURE_COLUMNS, "predictions", "authors", "not usable")
    return head, [
        [
            names[each.source],
            each.examples,
            *figure_cells(each.accuracy),
            each.predictions,
            each.users,
            each.unparsed,
        ]
        for source in SHOWN
        for each in _of(known, source)
    ]


def _highest(known: Sequence[Accuracy], guessing: float | None) -> float:
    ends = [each.accuracy.get("high") or each.accuracy["value"] or 0.0 for each in known]
    return min(1.0, max(0.2, math.ceil(max([*ends, guessing or 0.0]) * 10) / 10))
