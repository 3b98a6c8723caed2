"""A chart as SVG. ``components/chart.css`` has its colours and font sizes.

Positions are in units of the SVG's view box. It fits a phone of 390 pixels without scaling; only
charts of many names are wider, and scroll.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from django.utils.html import escape

from apps.common.charts import (
    WIDTH,
    Axis,
    Bar,
    Cell,
    Chart,
    Line,
    Mark,
    Point,
    Rule,
    round_ticks,
)
from apps.common.charts.text import clean, cut, cut_apart, width_of, wrap

#: Height of a line of type, and the room beside a kind's shape.
TYPE, SHAPE_ROOM = 16.0, 18.0
MOST_LEFT = 128.0
#: Height for column names that are rotated because they do not fit, and sin 60°.
TURNED, SIN_60 = 84.0, 0.87
WIDEST_COLUMN = 92.0
#: With more cells each shade is one shape, without texts on hover.
MOST_SINGLE_CELLS = 225
#: A legend of more rows is below the plot.
MOST_ABOVE = 3
#: Possible distances of a label from its point.
STEPS = (3.0, 13.0, 23.0, 33.0, 43.0)
HALF_POINT = 6.0

#: The shapes of the kinds in a box of 20 by 20; other kinds are discs.
SHAPES = {
    "llm": "m10 1.5 8.5 8.5-8.5 8.5L1.5 10z",
    "crowd": "M5.9 5.6a4.1 4.1 0 1 0 8.2 0a4.1 4.1 0 1 0-8.2 0zM1.1 14a4.1 4.1 0 1 0 8.2 0"
    "a4.1 4.1 0 1 0-8.2 0zM10.7 14a4.1 4.1 0 1 0 8.2 0a4.1 4.1 0 1 0-8.2 0z",
    "expert": "M5.6 2.5h8.8l4.4 7.5-4.4 7.5H5.6L1.2 10z",
    "author": "M12.7 1.5 18.5 7.3 8.8 17.2 1.8 18.4 3 11.2z",
    "model": "M2 2v16h16V2zM6 6h8v8H6z",
    "gold": "m10 1.3 2.7 5.7 6.2.8-4.6 4.3 1.2 6.2L10 15.2l-5.5 3.1 1.2-6.2L1.1 7.8l6.2-.8z",
    "other": "M4 10a6 6 0 1 0 12 0a6 6 0 1 0-12 0z",
}
#: Colours of marks without a kind.
COLOURS = ("accent", "quiet", "warn")


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Whether two boxes share more than an edge."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Drawing(NamedTuple):
    """The content of an SVG element, and the size of its box."""

    content: str
    width: float
    height: float


def draw(chart: Chart) -> Drawing:
    """Draw the marks of ``chart`` within its axes, with names and legend."""
    layout = _Layout(chart)
    parts = [
        *_grid(layout),
        *_cells(layout),
        *(part for mark in chart.marks for part in _shapes(layout, mark)),
        *_labels(layout),
        *_counts(layout),
        *_legend(layout),
    ]
    if chart.note:
        parts.append(_text(0, layout.height - 6, chart.note, "plot-text"))
    return Drawing(clean("\n".join(parts)), layout.width, layout.height)


def svg_element(chart: Chart) -> str:
    """The chart as an ``svg`` element; "" if it is only a table."""
    if not chart.marks:
        return ""
    drawing = draw(chart)
    wide = " plot--wide" if drawing.width > WIDTH + 40 else ""
    wide = " plot--small" if drawing.width < WIDTH else wide
    head = (
        f'<svg class="plot{wide}" viewBox="0 0 {drawing.width:g} {drawing.height:g}" '
        f'width="{drawing.width:g}" height="{drawing.height:g}" role="img" '
        f'aria-labelledby="{chart.prefix}-title" aria-describedby="{chart.prefix}-words">'
    )
    return f"{head}\n{title_and_description(chart)}\n{drawing.content}\n</svg>"


def title_and_description(chart: Chart) -> str:
    """The chart's words for screen readers."""
    return clean(
        f'<title id="{chart.prefix}-title">{escape(chart.title)}</title>\n'
        f'<desc id="{chart.prefix}-words">{escape(chart.description)}</desc>'
    )


class _Layout:
    """Positions of the plot and what is around it; the plot takes the room that names leave."""

    def __init__(self, chart: Chart) -> None:
        self.chart, x, y = chart, chart.x, chart.y
        self.x_ticks, self.y_ticks = _ticks(x, 3 if y.names else 5), _ticks(y, 4)
        self.left = self._left()
        right_room = self._right_room()
        self.columns = bool(x.names and y.names)
        room = chart.width - self.left - right_room
        across = x.step * len(x.names)
        if self.columns:
            across = max(across, min(WIDEST_COLUMN * len(x.names), room))
        widths = [width_of(clean(name.text)) for name in x.names]
        self.level = not self.columns or len(widths) <= 4 or max(widths) <= across / len(widths) - 4
        self.turned = min(TURNED, max(widths, default=0))
        if not self.level:
            right_room += self.turned / 2 - 4
            across = max(x.step * len(x.names), min(across, chart.width - self.left - right_room))
        elif not self.columns:
            across = max(across, room)
        self.right = self.left + across
        column_room = across / len(x.names) if self.columns else 0.0
        self.column_lines = [wrap(name.text, column_room, 3) for name in x.names if self.columns]
        self.width = max(chart.width, round(self.right + right_room))
        self._stack(x, y)

    def _stack(self, x: Axis, y: Axis) -> None:
        """From top to bottom: legend, y title, names of rules or columns, plot, ticks, rest."""
        self.legend = _legend_rows(self.chart.marks, self.width)
        above = self.legend if len(self.legend) <= MOST_ABOVE else []
        self.legend_top = 0.0
        top = TYPE * len(above) + (4 if above else 0)
        self.title_y = top + 10
        top += TYPE if y.title else 0
        if self.columns:
            lines = max(map(len, self.column_lines)) if self.level else 0
            top += 22 + TYPE * max(lines - 1, 0) if self.level else self.turned * SIN_60 + 10
        rules = [mark for mark in self.chart.marks if isinstance(mark, Rule)]
        top += TYPE if any(rule.x is not None and rule.name for rule in rules) else 0
        self.top = top + 6
        self.bottom = self.top + (y.step * len(y.names) if y.names else self.chart.height)
        bottom = self.bottom + (0 if self.columns else 18)
        self.x_title_y = bottom + 12
        bottom += TYPE if x.title else 0
        self.counts_top = bottom + 2
        bottom += TYPE * len(self.chart.counts)
        if len(self.legend) > MOST_ABOVE:
            self.legend_top = bottom + 6
            bottom += 6 + TYPE * len(self.legend)
        self.height = round(bottom + (22 if self.chart.note else 4))

    def _left(self) -> float:
        y = self.chart.y
        if y.names:
            shapes = SHAPE_ROOM if any(name.kind for name in y.names) else 0
            rows = [width_of(clean(name.text)) for name in y.names if not name.head]
            return min(max(rows, default=0) + shapes + 10, MOST_LEFT)
        ticks = max((width_of(y.words(value)) for value in self.y_ticks), default=0)
        return max(ticks + 8, SHAPE_ROOM + 30 if self.chart.counts else 12)

    def _right_room(self) -> float:
        self.value_room = max(
            (width_of(name.value) * 1.2 for name in self.chart.y.names), default=0
        )
        self.n_room = max((width_of(name.n) for name in self.chart.y.names), default=0)
        beside = self.value_room + self.n_room
        if beside:
            return beside + 18
        x = self.chart.x
        if x.names or not self.x_ticks:
            return 4
        return max(4, width_of(x.words(self.x_ticks[-1])) / 2)

    def x_at(self, value: float) -> float:
        """The place of a value across."""
        return self.left + self.chart.x.share(value) * (self.right - self.left)

    def y_at(self, value: float) -> float:
        """The place of a value: names from the top down, numbers from the bottom up."""
        share = self.chart.y.share(value)
        down = share if self.chart.y.names else 1 - share
        return self.top + down * (self.bottom - self.top)


def _ticks(axis: Axis, most: int) -> list[float]:
    if axis.names:
        return []
    if axis.ticks is not None:
        return [value for value in axis.ticks if axis.low - 1e-9 <= value <= axis.high + 1e-9]
    return round_ticks(axis.low, axis.high, most)


def _grid(layout: _Layout) -> Iterator[str]:
    """Lines and texts of both axes."""
    x, y = layout.chart.x, layout.chart.y
    for value in layout.y_ticks:
        place = layout.y_at(value)
        yield _line(layout.left, place, layout.right, place, "plot-grid")
        yield _text(layout.left - 6, place + 4, y.words(value), "plot-text", anchor="end")
    previous = 0.0
    for value in layout.x_ticks:
        place = layout.x_at(value)
        yield _line(place, layout.top, place, layout.bottom, "plot-grid")
        words = x.words(value)
        if place - width_of(words) / 2 >= previous:
            yield _text(place, layout.bottom + 15, words, "plot-text", anchor="middle")
            previous = place + width_of(words) / 2 + 4
    if x.title:
        yield _text(layout.right, layout.x_title_y, x.title, "plot-text", anchor="end")
    if y.title:
        yield _text(0, layout.title_y, y.title, "plot-text")
    yield from _row_names(layout)
    yield from _column_names(layout) if layout.columns else _period_names(layout)


def _row_names(layout: _Layout) -> Iterator[str]:
    rows = layout.chart.y.names
    start = SHAPE_ROOM if any(name.kind for name in rows) else 0
    plain = cut_apart([name.text for name in rows], layout.left - start - 6)
    for number, (name, words) in enumerate(zip(rows, plain, strict=True)):
        place = layout.y_at(number)
        if name.kind:
            yield _shape(name.kind, 7, place, 11)
        text = cut(name.text, layout.right - start) if name.head else words
        cls = "plot-name" if name.head or name.kind else "plot-text"
        lines = (
            []
            if name.head or layout.chart.y.step < 2 * TYPE
            else wrap(name.text, layout.left - start - 6, 2)
        )
        yield _hover(name.text, _lines(start, place + 4, lines or [text], cls))
        if name.reason:
            room = layout.width - layout.left - 6
            yield _text(layout.left + 5, place + 4, cut(name.reason, room), "plot-small")
        if name.value:
            yield _text(layout.right + 10, place + 4, name.value, "plot-value")
        if name.n:
            yield _text(layout.width, place + 4, name.n, "plot-small", anchor="end")


def _column_names(layout: _Layout) -> Iterator[str]:
    names = layout.chart.x.names
    room = (layout.right - layout.left) / len(names) if layout.level else TURNED
    for number, words in enumerate(cut_apart([name.text for name in names], room)):
        x, y = layout.x_at(number), layout.top - 7
        if layout.level:
            lines = layout.column_lines[number] or [words]
            y -= (len(lines) - 1) * TYPE / 2
            text = _lines(x, y, lines, "plot-name", anchor="middle")
        else:
            turn = f"translate({x:.1f} {y:.1f}) rotate(-60)"
            text = _tag("text", escape(words), class_="plot-text", x=0, y=4, transform=turn)
        yield _hover(names[number].text, text)


def _period_names(layout: _Layout) -> Iterator[str]:
    """The last period, and as many before it as fit."""
    names = [name.text for name in layout.chart.x.names]
    if not names:
        return
    step = (layout.right - layout.left) / len(names)
    room = max(width_of(name) for name in names) + 8
    every = max(1, -int(-room // step))
    free_to = layout.width
    for number in range(len(names) - 1, -1, -every):
        words = cut(names[number], step * every)
        half = width_of(words) / 2
        place = min(max(layout.x_at(number), half), layout.width - half)
        if place + half <= free_to:
            yield _text(place, layout.bottom + 15, words, "plot-text", anchor="middle")
            free_to = place - half - 6


def _shapes(layout: _Layout, mark: Mark) -> Iterator[str]:
    """What a mark draws within the plot, except cells, labels and names."""
    if isinstance(mark, Bar):
        if mark.top > mark.base:
            left, right = (layout.x_at(mark.x + side * mark.width / 2) for side in (-1, 1))
            box = Box(left, layout.y_at(mark.top), right, layout.y_at(mark.base))
            yield _hover(mark.words, _rect(box, f"plot-fill--{_colour(mark.kind)}"))
    elif isinstance(mark, Line):
        yield from _path(layout, mark)
    elif isinstance(mark, Point):
        yield _point(layout, mark)
    elif isinstance(mark, Rule):
        yield from _rule(layout, mark)


def _path(layout: _Layout, line: Line) -> Iterator[str]:
    colour = _colour(line.kind)
    if line.band:
        low = [(layout.x_at(x), layout.y_at(least)) for x, least, _ in line.band]
        high = [(layout.x_at(x), layout.y_at(most)) for x, _, most in reversed(line.band)]
        yield _tag(
            "polygon", class_=f"plot-band plot-fill--{colour}", points=_points([*low, *high])
        )
    pieces: list[list[tuple[float, float]]] = [[]]
    for point in line.points:
        if point is None:
            pieces.append([])
        else:
            pieces[-1].append((layout.x_at(point[0]), layout.y_at(point[1])))
    for places in (piece for piece in pieces if len(piece) > 1):
        dash = f" plot-dash--{line.dash}" if line.dash else ""
        shape = _tag(
            "polyline",
            class_=f"plot-path plot-line--{colour}{dash}",
            points=_points(_stairs(places) if line.stairs else places),
        )
        yield _hover(line.words, shape)


def _stairs(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    corners = list(places[:1])
    for (_, before), (x, y) in pairwise(places):
        corners += [(x, before), (x, y)]
    return corners


def _point(layout: _Layout, point: Point) -> str:
    """The shape over its interval: a bar, a whisker, or a box for two intervals."""
    x, y, colour = layout.x_at(point.x), layout.y_at(point.y), _colour(point.kind)
    under = ""
    if point.x_ends and point.y_ends:
        left, right = map(layout.x_at, point.x_ends)
        bottom, top = map(layout.y_at, point.y_ends)
        fill = "" if point.quiet else f" plot-fill--{colour}"
        under = _rect(Box(left, top, right, bottom), f"plot-box-of-doubt{fill}")
    elif point.x_ends:
        left, right = map(layout.x_at, point.x_ends)
        under = _line(left, y, right, y, f"plot-interval plot-line--{colour}")
    elif point.y_ends:
        bottom, top = map(layout.y_at, point.y_ends)
        under = _line(x, bottom, x, top, f"plot-whisker plot-line--{colour}")
    return _hover(
        point.words, under + _shape(point.kind, x, y, 12 if point.x_ends else 11, quiet=point.quiet)
    )


def _rule(layout: _Layout, rule: Rule) -> Iterator[str]:
    cls = "plot-chosen" if rule.strong else "plot-reference"
    if rule.x is not None:
        x = layout.x_at(rule.x)
        yield _line(x, layout.top, x, layout.bottom, cls)
        half = width_of(rule.name) / 2
        place = min(max(x, half), layout.width - half)
        yield _hover(
            rule.name,
            _text(
                place, layout.top - 6, cut(rule.name, layout.width), "plot-text", anchor="middle"
            ),
        )
    elif rule.y is not None:
        y = layout.y_at(rule.y)
        yield _line(layout.left, y, layout.right, y, cls)
        yield _text(layout.right, y - 4, rule.name, "plot-small", anchor="end")
    else:
        yield _line(layout.left, layout.bottom, layout.right, layout.top, cls)


def _cells(layout: _Layout) -> Iterator[str]:
    cells = [mark for mark in layout.chart.marks if isinstance(mark, Cell)]
    if len(cells) <= MOST_SINGLE_CELLS:
        for cell in cells:
            yield _hover(cell.words, _cell(layout, cell))
        return
    for step in sorted({cell.step for cell in cells}):
        shade = [cell for cell in cells if cell.step == step]
        boxes = [_cell_box(layout, cell) for cell in shade]
        shape = "".join(
            f"M{box.left:g} {box.top:g}h{box.right - box.left:g}v{box.bottom - box.top:g}"
            f"h-{box.right - box.left:g}z"
            for box in boxes
        )
        yield _tag("path", class_=f"plot-step--{step}", d=shape)
        numbers = "".join(
            f'<text x="{(box.left + box.right) / 2:g}" y="{(box.top + box.bottom) / 2 + 4:g}">'
            f"{escape(cell.text)}</text>"
            for cell, box in zip(shade, boxes, strict=True)
        )
        yield f'<g class="plot-on-step--{step}" text-anchor="middle">{numbers}</g>'


def _cell(layout: _Layout, cell: Cell) -> str:
    box = _cell_box(layout, cell)
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    framed = " plot-own" if cell.framed else ""
    parts = [
        _rect(box, f"plot-step--{cell.step}{framed}", rx=2),
        _text(
            x, y + (0 if cell.n else 4), cell.text, f"plot-on-step--{cell.step}", anchor="middle"
        ),
    ]
    if cell.n:
        cls = f"plot-small plot-on-step--{cell.step}"
        parts.append(_text(x, y + 14, cell.n, cls, anchor="middle"))
    return "".join(parts)


def _cell_box(layout: _Layout, cell: Cell) -> Box:
    """The box of a cell, with a gap to its neighbours."""
    x, y = layout.x_at(cell.column), layout.y_at(cell.row)
    across = (layout.right - layout.left) / len(layout.chart.x.names)
    down = (layout.bottom - layout.top) / len(layout.chart.y.names)
    edges = (x - across / 2 + 1, y - down / 2 + 1, x + across / 2 - 1, y + down / 2 - 1)
    return Box(*(round(edge, 1) for edge in edges))


def _labels(layout: _Layout) -> Iterator[str]:
    """Labels in free places beside their points, joined by a line if they are far."""
    points = [mark for mark in layout.chart.marks if isinstance(mark, Point)]
    places = [(layout.x_at(point.x), layout.y_at(point.y)) for point in points]
    taken = [Box(x - HALF_POINT, y - HALF_POINT, x + HALF_POINT, y + HALF_POINT) for x, y in places]
    taken += [
        box
        for mark in layout.chart.marks
        if isinstance(mark, Line) and mark.stairs
        for box in _stair_boxes(layout, mark)
    ]
    frame = Box(layout.left, layout.top - 8, layout.width, layout.bottom)
    for point, (x, y) in zip(points, places, strict=True):
        if not point.label:
            continue
        room = width_of(point.label)
        box = next((box for box in _around(x, y, room) if _free(box, taken, frame)), None)
        box = box or next(_around(x, y, room))
        taken.append(box)
        middle = (box.top + box.bottom) / 2
        if max(box.left - x, x - box.right, abs(middle - y) - 8) > HALF_POINT + 8:
            yield _line(x, y, min(max(x, box.left), box.right), middle, "plot-leader")
        cls = "plot-text" if point.quiet else "plot-name"
        yield _hover(point.name or point.words, _text(box.left, middle + 4, point.label, cls))


def _stair_boxes(layout: _Layout, line: Line) -> list[Box]:
    """The horizontal and vertical parts of a step function as thin boxes."""
    places = [(layout.x_at(x), layout.y_at(y)) for x, y in filter(None, line.points)]
    return [
        Box(min(a, c), min(b, d) - 1, max(a, c), max(b, d) + 1)
        for (a, b), (c, d) in pairwise(_stairs(places))
    ]


def _around(x: float, y: float, width: float) -> Iterator[Box]:
    """Places for a label beside a point, best first: near before far, level before others."""
    height = TYPE - 3
    for step in STEPS:
        away = HALF_POINT + step
        level, above, below = y - height / 2, y - away - height, y + away
        lefts = (x + away, x - width / 2, x - width / 2, x - away - width)
        for left, top in zip(lefts, (level, above, below, level), strict=True):
            yield Box(left, top, left + width, top + height)
        for top in (above, below):
            for left in (x + HALF_POINT, x - HALF_POINT - width):
                yield Box(left, top, left + width, top + height)


def _free(box: Box, taken: Sequence[Box], frame: Box) -> bool:
    inside = box.left >= frame.left and box.right <= frame.right
    inside = inside and box.top >= frame.top and box.bottom <= frame.bottom
    return inside and not any(box.overlaps(other) for other in taken)


def _counts(layout: _Layout) -> Iterator[str]:
    """Rows of whole numbers below the plot, at their values of x, as far as they fit."""
    for row, (name, counts) in enumerate(layout.chart.counts):
        y = layout.counts_top + TYPE * row + 8
        if name.kind:
            yield _shape(name.kind, 6, y, 9)
        yield _text(14 if name.kind else 0, y + 4, name.text, "plot-small")
        previous = layout.left - 8
        for value, count in sorted(counts.items()):
            words, x = f"{count:,}", layout.x_at(value)
            if x - width_of(words) / 2 >= previous:
                yield _text(x, y + 4, words, "plot-small", anchor="middle")
                previous = x + width_of(words) / 2 + 3


def _legend_rows(marks: Sequence[Mark], width: float) -> list[list[tuple[float, Mark, str]]]:
    """The legend in rows of entries: position, mark and text."""
    rows: list[list[tuple[float, Mark, str]]] = []
    across = width
    for mark in marks:
        name = "" if isinstance(mark, Cell) else mark.name
        if not name or (isinstance(mark, Rule) and (mark.x is not None or mark.y is not None)):
            continue
        words = cut(name, width - 34)
        room = 28 + width_of(words) * 1.04 + 14
        if across + room - 14 > width:
            rows.append([])
            across = 0.0
        rows[-1].append((across, mark, words))
        across += room
    return rows


def _legend(layout: _Layout) -> Iterator[str]:
    points = {mark.kind for mark in layout.chart.marks if isinstance(mark, Point)}
    for number, row in enumerate(layout.legend):
        y = layout.legend_top + TYPE * number + 8
        for x, mark, words in row:
            sample = _sample(mark, x, y, shaped=getattr(mark, "kind", "") in points)
            name = getattr(mark, "name", words)
            yield _hover(name, sample + _text(x + 28, y + 4, words, "plot-name"))


def _sample(mark: Mark, x: float, y: float, *, shaped: bool) -> str:
    """A sample of a mark, 22 wide."""
    if isinstance(mark, Bar):
        return _rect(Box(x + 6, y - 5, x + 16, y + 5), f"plot-fill--{_colour(mark.kind)}", rx=2)
    if isinstance(mark, Point):
        return _shape(mark.kind, x + 11, y, 11, quiet=mark.quiet)
    if isinstance(mark, Line):
        dash = f" plot-dash--{mark.dash}" if mark.dash else ""
        line = _line(x, y, x + 22, y, f"plot-path plot-line--{_colour(mark.kind)}{dash}")
        return line + (_shape(mark.kind, x + 11, y, 9) if shaped else "")
    return _line(x, y, x + 22, y, "plot-reference")


def _colour(kind: str) -> str:
    return kind if kind in SHAPES or kind in COLOURS else "other"


def _shape(kind: str, x: float, y: float, size: float, *, quiet: bool = False) -> str:
    """The shape of a kind, centred on (x, y)."""
    place = f"translate({x - size / 2:.1f} {y - size / 2:.1f}) scale({size / 20:.3g})"
    fill = "plot-beaten" if quiet else f"plot-fill--{_colour(kind)}"
    path = SHAPES.get(kind, SHAPES["other"])
    return _tag("path", class_=f"plot-mark {fill}", d=path, transform=place, fill_rule="evenodd")


def _rect(box: Box, cls: str, *, rx: float = 0) -> str:
    width, height = max(box.right - box.left, 1), max(box.bottom - box.top, 1)
    place = {"x": box.left, "y": box.top, "width": width, "height": height, "rx": rx or ""}
    return _tag("rect", class_=cls, **place)


def _line(x1: float, y1: float, x2: float, y2: float, cls: str) -> str:
    return _tag("line", class_=cls, x1=x1, y1=y1, x2=x2, y2=y2)


def _text(x: float, y: float, words: str, cls: str, *, anchor: str = "") -> str:
    if not words:
        return ""
    return _tag("text", escape(clean(words)), class_=cls, x=x, y=y, text_anchor=anchor)


def _lines(x: float, y: float, lines: Sequence[str], cls: str, *, anchor: str = "") -> str:
    """Lines of text whose middle is at ``y``."""
    first = y - (len(lines) - 1) * TYPE / 2
    return "".join(
        _text(x, first + number * TYPE, line, cls, anchor=anchor)
        for number, line in enumerate(lines)
    )


def _hover(words: str, shape: str) -> str:
    return f"<g><title>{escape(clean(words))}</title>{shape}</g>" if words and shape else shape


def _tag(tag: str, content: str = "", /, **attributes: str | float) -> str:
    """An element; ``content`` is markup, attributes are numbers or trusted texts."""
    given = ""
    for key, value in attributes.items():
        words = value if isinstance(value, str) else f"{round(value, 1):g}"
        if words:
            given += f' {key.rstrip("_").replace("_", "-")}="{words}"'
    return f"<{tag}{given}>{content}</{tag}>" if content else f"<{tag}{given} />"


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
