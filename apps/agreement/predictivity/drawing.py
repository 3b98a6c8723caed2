"""The picture of a study: accuracy by number of examples, a line for each source.

Places are in the units of the picture's own box; colours and sizes come from the stylesheets.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.common.figures import DrawnFigure, draw_figure
from labelhub.core.agreement.predictivity import NO_LABELS, SOURCES
from labelhub.core.agreement.predictivity_scores import Accuracy, Difference, Predictivity

#: Text is legible from 320 pixels on.
WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 46, 410, 14, 236
#: Lines lie side by side, so that intervals of the same number of examples do not hide each other.
ASIDE = 6.0
WHOSE = {
    "llm": "LLM",
    "crowd": "Crowd",
    "expert": "Expert",
    "author": "Author",
    "chance": "Chance",
    NO_LABELS: "No examples",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One accuracy and its interval."""

    x: float
    y: float
    y_low: float
    y_high: float
    words: str


@dataclass(frozen=True, slots=True)
class Line:
    """One source: its points, joined."""

    source: str
    name: str
    points: Sequence[Point]

    @property
    def path(self) -> str:
        """For a polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The whole; ``guessing``: where who picks any answer would stand."""

    lines: Sequence[Line]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    guessing: Tick | None
    left: int = LEFT
    right: int = RIGHT
    middle: int = (LEFT + RIGHT) // 2
    top: int = TOP
    bottom: int = BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


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


def picture(scores: Predictivity) -> Picture | None:
    """Draw the accuracies; None where there is none with labels."""
    known = [each for each in scores.accuracies if each.examples is not None]
    if not any(each.examples for each in known):
        return None
    numbers = sorted({each.examples for each in known if each.examples is not None})
    top = _highest(known, scores.guessing)
    sources = [source for source in (NO_LABELS, *SOURCES) if _of(known, source)]
    labelled = [source for source in sources if source != NO_LABELS]
    places = {number: _across(number, numbers) for number in numbers}
    lines = [
        _line(source, _of(known, source), places, top, _aside(source, labelled))
        for source in sources
    ]
    guess = scores.guessing
    return Picture(
        lines=lines,
        x_ticks=[Tick(places[number], str(number)) for number in numbers],
        y_ticks=[Tick(_up(share, top), f"{share:.0%}") for share in _shares(top)],
        guessing=None if guess is None else Tick(_up(guess, top), f"Guessing, {guess:.0%}"),
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
        for source in (NO_LABELS, *SOURCES)
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


def _line(
    source: str,
    found: Sequence[Accuracy],
    places: Mapping[int, float],
    top: float,
    aside: float,
) -> Line:
    points = []
    for each in found:
        value, number = each.accuracy["value"] or 0.0, each.examples or 0
        low, high = each.accuracy.get("low"), each.accuracy.get("high")
        words = f"{WHOSE[source]}, {number} examples: {value:.0%} right"
        if low is not None and high is not None:
            words += f" ({low:.0%} to {high:.0%})"
        points.append(
            Point(
                x=round(places[number] + aside, 1),
                y=_up(value, top),
                y_low=_up(value if low is None else low, top),
                y_high=_up(value if high is None else high, top),
                words=f"{words}, {each.predictions:,} predictions of {each.users:,} authors",
            )
        )
    return Line(source, WHOSE[source], points)


def _across(number: int, numbers: Sequence[int]) -> float:
    inner = 30
    span = max(numbers) - min(numbers) or 1
    share = (number - min(numbers)) / span
    return round(LEFT + inner + share * (RIGHT - LEFT - 2 * inner), 1)


def _aside(source: str, labelled: Sequence[str]) -> float:
    if source not in labelled:
        return 0.0
    return (labelled.index(source) - (len(labelled) - 1) / 2) * ASIDE


def _up(share: float, top: float) -> float:
    return round(BOTTOM - share / top * (BOTTOM - TOP), 1)


def _highest(known: Sequence[Accuracy], guessing: float | None) -> float:
    ends = [each.accuracy.get("high") or each.accuracy["value"] or 0.0 for each in known]
    return min(1.0, max(0.2, math.ceil(max([*ends, guessing or 0.0]) * 10) / 10))


def _shares(top: float) -> list[float]:
    step = 0.1 if top <= 0.6 else 0.2
    return [step * at for at in range(int(top / step + 1e-9) + 1)]
