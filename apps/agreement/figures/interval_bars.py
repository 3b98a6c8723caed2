"""Named values with their 95 % intervals, one under the other, beside a line to compare with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Label,
    Mark,
    Picture,
    Scale,
    down_to,
    kind_of,
    mark,
    order_of,
    prefix_of,
    round_values,
    rounded,
    ticks,
)
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    AnyFigure,
    Cell,
    cut,
    ends,
    figure_cells,
    sentence,
    tick_words,
    told,
)

LEFT, RIGHT = 112, 264
LINE, HEAD, TOP = 20, 24, 8


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one source: a figure, or several by what they measure."""

    name: str
    kind: str
    figures: Mapping[str, AnyFigure]


@dataclass(frozen=True, slots=True)
class Reference:
    """A line to compare with: guessing, a target."""

    value: float
    words: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One line; without a number ``reason`` says why."""

    label: Label
    kind: str
    y: float
    x_low: float = 0
    x_high: float = 0
    mark: Mark | None = None
    value: str = ""
    n: str = ""
    reason: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBars(Picture):
    """The whole picture; ``heads`` name the sources that have several lines."""

    form: ClassVar[str] = "interval_bars"
    axes: Axes
    bars: Sequence[Bar]
    heads: Sequence[Label]
    references: Sequence[Label]
    value_x: float = RIGHT + 10
    n_x: float = WIDTH


def interval_bars(
    sources: Sequence[Measured],
    *,
    of: str,
    title: str = "",
    references: Sequence[Reference] = (),
    percent: bool = True,
    key: str = "interval-bars",
) -> IntervalBars | None:
    """Draw what is measured of each source; None without any number.

    ``of`` is what the axis shows, such as ``Accuracy against gold``. Sources stand in the order of
    the kinds, those of one kind as given; a source with one figure takes one line.
    """
    sources = sorted(sources, key=lambda source: order_of(source.kind))
    known = [found for one in sources for figure in one.figures.values() if (found := ends(figure))]
    if not known:
        return None
    scale = _scale(known, references)
    top = TOP + (14 if references else 0)
    bars, heads, bottom = _lines(sources, scale, top, percent=percent)
    return IntervalBars(
        prefix=prefix_of(key),
        title=title or of,
        words=f"{of} with 95 % intervals: {len(bars)} lines.",
        width=WIDTH,
        height=bottom + 22,
        table=_table(sources),
        axes=_axes(scale, top, bottom, percent=percent),
        bars=bars,
        heads=heads,
        references=_references(references, scale),
    )


def _scale(known: Sequence[tuple[float, float, float]], references: Sequence[Reference]) -> Scale:
    """Wide enough for all intervals and what they are compared with, and always up to 1."""
    marks = [reference.value for reference in references]
    lowest = down_to([*(low for low, *_ in known), *marks])
    highest = max(1.0, *(high for *_, high in known), *marks)
    return Scale(lowest, highest, LEFT, RIGHT)


def _axes(scale: Scale, top: float, bottom: float, *, percent: bool) -> Axes:
    values = round_values(scale.low, scale.high, 4)
    x_ticks = ticks(scale, values, tick_words(percent=percent))
    return Axes(LEFT, RIGHT, top, bottom, x_ticks=x_ticks)


def _lines(
    sources: Sequence[Measured], scale: Scale, top: float, *, percent: bool
) -> tuple[list[Bar], list[Label], float]:
    bars: list[Bar] = []
    heads: list[Label] = []
    y = top + 2
    for source in sources:
        several = len(source.figures) > 1
        if several:
            heads.append(_name(source, source.name, y + HEAD / 2, RIGHT))
            y += HEAD
        for series, figure in source.figures.items():
            middle = y + LINE / 2
            name = series if several else source.name
            label = _name(source, name, middle, LEFT - 6, plain=several)
            bars.append(_bar(source, label, figure, scale, percent=percent))
            y += LINE
        y += 4 if several else 0
    return bars, heads, y + 2


def _name(
    source: Measured, name: str, middle: float, until: float, *, plain: bool = False
) -> Label:
    return Label(
        x=18,
        y=rounded(middle),
        name=cut(name, until - 18),
        words=f"{source.name}: {name}" if plain else source.name,
        kind=kind_of(source.kind),
        mark=None if plain else mark(source.kind, 7, middle),
    )


def _bar(source: Measured, label: Label, figure: AnyFigure, scale: Scale, *, percent: bool) -> Bar:
    drawn, known = told(figure, percent=percent), ends(figure)
    words = f"{label.words}: {sentence(figure, percent=percent)}"
    kind = kind_of(source.kind)
    if known is None:
        reason = cut(drawn.reason, WIDTH - LEFT - 6)
        return Bar(label, kind, label.y, reason=reason, words=words)
    low, value, high = known
    return Bar(
        label=label,
        kind=kind,
        y=label.y,
        x_low=scale.at(low),
        x_high=scale.at(high),
        mark=mark(kind, scale.at(value), label.y),
        value=drawn.value,
        n=f"n {drawn.n}" if drawn.n else "",
        words=words,
    )


def _references(references: Sequence[Reference], scale: Scale) -> list[Label]:
    return [
        Label(scale.at(one.value), TOP + 8, cut(one.words, 120), one.words) for one in references
    ]


def _table(sources: Sequence[Measured]) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
    rows: list[list[Cell]] = [
        [source.name, source.kind, series, *figure_cells(figure)]
        for source in sources
        for series, figure in source.figures.items()
    ]
    return ("source", "kind", "measure", *FIGURE_COLUMNS), rows
