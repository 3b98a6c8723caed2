"""Who agrees with whom: a square of coefficients, kinds or annotators along both sides."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from apps.agreement.figures.drawing import (
    KIND_WORDS,
    WIDTH,
    Label,
    Picture,
    kind_of,
    mark,
    order_of,
    prefix_of,
    rounded,
)
from apps.agreement.figures.grid import Grid, Layer, Square, grid_of, layer_of
from apps.agreement.figures.wording import (
    DASH,
    FIGURE_COLUMNS,
    AnyFigure,
    Cell,
    cut_apart,
    ends,
    figure_cells,
    sentence,
    told,
    width_of,
)

MOST = 40
#: With more sources cells of a shade are one shape, which takes a fifth of the letters: what a cell
#: says besides its number stands in the table only.
MOST_SINGLE = 15
STEPS = (0.2, 0.4, 0.6, 0.8)
#: Figures by the keys of two sources.
Pairs = Mapping[tuple[Any, Any], AnyFigure]
NO_PAIR: AnyFigure = {"value": None, "reason": "no_shared_items"}
NOT_ASKED_TWICE: AnyFigure = {"value": None, "reason": "One annotator is not compared with itself."}


@dataclass(frozen=True, slots=True)
class HeatmapSource:
    """A kind (``key`` is its name) or an annotator."""

    key: Hashable
    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap(Picture):
    """The whole picture; ``groups`` name the kinds above turned names of annotators.

    Its cells are drawn one by one or, where there are many, as ``layers``.
    """

    form: ClassVar[str] = "heatmap"
    squares: Sequence[Square]
    rows: Sequence[Label]
    columns: Sequence[Label]
    groups: Sequence[Label]
    roomy: bool
    note: str
    note_y: float

    @property
    def layers(self) -> Sequence[Layer]:
        """The cells by their shades; none where each is drawn by itself."""
        if len(self.rows) <= MOST_SINGLE:
            return []
        shades = sorted({square.step for square in self.squares})
        return [
            layer_of(step, [one for one in self.squares if one.step == step]) for step in shades
        ]


def heatmap(
    sources: Sequence[HeatmapSource],
    figures: Pairs,
    *,
    of: str,
    within: str = "",
    title: str = "",
    key: str = "heatmap",
    percent: bool = False,
) -> Heatmap | None:
    """Draw how far every two ``sources`` agree; None with fewer than one pair or number.

    Args:
        sources: at most 40 are drawn, the first ones; they are grouped by kind.
        figures: by the keys of two sources in either order; of one source twice: within it.
        of: what the numbers are, such as ``Cohen's kappa``; those on the diagonal: ``within``.
        percent: the numbers are shares, shown as per cent.
    """
    chosen = sorted(sources[:MOST], key=lambda source: order_of(source.kind))
    if not chosen or not any(ends(figure) for figure in figures.values()):
        return None
    grid = grid_of([source.name for source in chosen], [source.kind for source in chosen])
    framed = _framed(within, chosen)
    width = max(WIDTH, rounded(grid.right + (2 if grid.roomy else 46)))
    return Heatmap(
        prefix=prefix_of(key),
        title=title or f"{of} between sources",
        words=_words(of, framed, len(chosen), len(sources)),
        width=width,
        height=rounded(grid.bottom + 26),
        table=_table(chosen, figures),
        wide=width > WIDTH,
        squares=_squares(grid, chosen, figures, percent=percent),
        rows=_rows(chosen, grid),
        columns=_columns(chosen, grid),
        groups=[] if grid.roomy else _groups(chosen, grid.xs),
        roomy=grid.roomy,
        note=of + framed,
        note_y=rounded(grid.bottom + 18),
    )


def from_report(
    report: Mapping[str, Any], *, between: str, within: str, level: str = "kind"
) -> tuple[list[HeatmapSource], dict[tuple[Any, Any], AnyFigure]]:
    """Sources and figures of an agreement report (its JSON) for ``heatmap``.

    ``between`` names the coefficient of two sources, ``within`` that of one kind; ``level`` is
    ``kind`` or ``annotator``, of which there are only those that share an item with another.
    """
    sources: dict[Hashable, HeatmapSource] = {}
    figures: dict[tuple[Any, Any], AnyFigure] = {}
    if level == "kind":
        for kind, found in report["within"].items():
            sources[kind] = HeatmapSource(kind, KIND_WORDS.get(kind, kind), kind)
            figures[kind, kind] = found.get(within, NO_PAIR)
    for pair in report["between"]:
        if pair["level"] != level:
            continue
        keys = [pair.get(f"{side}_id", pair[side]) for side in "ab"]
        for side, one in zip("ab", keys, strict=True):
            kind = pair.get(f"{side}_kind", pair[side])
            name = KIND_WORDS.get(kind, kind) if level == "kind" else pair[side]
            sources.setdefault(one, HeatmapSource(one, name, kind))
        figures[keys[0], keys[1]] = pair.get(between, NO_PAIR)
    return list(sources.values()), figures


def _framed(within: str, sources: Sequence[HeatmapSource]) -> str:
    """What the diagonal is; annotators are not compared with themselves."""
    if any(source.key != source.kind for source in sources):
        return ""
    return f"; framed: {within} within one kind".replace("  ", " ")


def _words(of: str, framed: str, drawn: int, count: int) -> str:
    left_out = f" {count - drawn} more are not drawn." if count > drawn else ""
    if drawn > MOST_SINGLE:
        left_out += " Intervals and counts stand in the table."
    return (
        f"{of} of {drawn} sources with each other: the darker, the nearer to full "
        f"agreement{framed}.{left_out}"
    )


def _found(figures: Pairs, row: HeatmapSource, column: HeatmapSource) -> AnyFigure:
    found = figures.get((row.key, column.key)) or figures.get((column.key, row.key))
    return found or (NOT_ASKED_TWICE if row.key == column.key else NO_PAIR)


def _squares(
    grid: Grid, sources: Sequence[HeatmapSource], figures: Pairs, *, percent: bool
) -> list[Square]:
    return [
        _square(grid, (x, y), (row, column), _found(figures, row, column), percent=percent)
        for row, y in zip(sources, grid.ys, strict=True)
        for column, x in zip(sources, grid.xs, strict=True)
    ]


def _square(
    grid: Grid,
    place: tuple[float, float],
    pair: tuple[HeatmapSource, HeatmapSource],
    figure: AnyFigure,
    *,
    percent: bool,
) -> Square:
    x, y = place
    row, column = pair
    drawn, known = told(figure, percent=percent), ends(figure)
    value = drawn.value if grid.roomy else _short(known, percent=percent)
    own = row.key == column.key
    names = f"within {row.name}" if own else f"{row.name} and {column.name}"
    middle = y + grid.height / 2
    return Square(
        x=rounded(x),
        y=rounded(y),
        width=rounded(grid.width),
        height=grid.height,
        middle=rounded(x + grid.width / 2),
        base=rounded(middle + (0 if grid.roomy and drawn.n else 4)),
        n_base=rounded(middle + 14),
        step=step_of(known[1]) if known else 0,
        value=value if known else DASH,
        n=f"n {drawn.n}" if grid.roomy and drawn.n else "",
        own=own,
        words=f"{names}: {sentence(figure, percent=percent)}",
    )


def step_of(value: float) -> int:
    """1 to 5 for below 0.2, 0.4, 0.6, 0.8 and above."""
    return 1 + sum(value >= step for step in STEPS)


def _short(known: tuple[float, float, float] | None, *, percent: bool) -> str:
    """A number in a small cell: ``.62``, ``1``, ``−.05``; per cent without its sign."""
    if known is None:
        return DASH
    if percent:
        return f"{known[1] * 100:.0f}"
    words = f"{known[1]:.2f}".replace("-", "−").replace("0.", ".")
    return {"1.00": "1", "−.00": ".00"}.get(words, words)


def _rows(sources: Sequence[HeatmapSource], grid: Grid) -> list[Label]:
    names = cut_apart([source.name for source in sources], grid.left - 24)
    middles = [rounded(y + grid.height / 2) for y in grid.ys]
    return [
        Label(18, y, name, _whole(one), kind_of(one.kind), mark(one.kind, 7, y))
        for one, name, y in zip(sources, names, middles, strict=True)
    ]


def _columns(sources: Sequence[HeatmapSource], grid: Grid) -> list[Label]:
    names = cut_apart([source.name for source in sources], grid.width if grid.roomy else 84)
    return [
        Label(rounded(x + grid.width / 2), grid.top - 8, name, _whole(one))
        for one, name, x in zip(sources, names, grid.xs, strict=True)
    ]


def _whole(source: HeatmapSource) -> str:
    kind = KIND_WORDS.get(source.kind, source.kind)
    return source.name if source.name == kind or not kind else f"{source.name} ({kind})"


def _groups(sources: Sequence[HeatmapSource], xs: Sequence[float]) -> list[Label]:
    """The kinds where their first annotator stands, in words where there is room for them."""
    first: dict[str, float] = {}
    for source, x in zip(sources, xs, strict=True):
        first.setdefault(source.kind, x)
    until = [*list(first.values())[1:], xs[-1] + 80]
    labels = []
    for (kind, x), end in zip(first.items(), until, strict=True):
        words = KIND_WORDS.get(kind, kind)
        name = words if width_of(words) < end - x - 18 else ""
        labels.append(Label(x + 14, 14, name, words, kind_of(kind), mark(kind, x + 6, 10)))
    return labels


def _table(
    sources: Sequence[HeatmapSource], figures: Pairs
) -> tuple[Sequence[str], Sequence[Sequence[Cell]]]:
    header = ("source", "kind", "other", "other kind", *FIGURE_COLUMNS)
    rows: list[list[Cell]] = []
    for at, one in enumerate(sources):
        for other in sources[at:]:
            found = _found(figures, one, other)
            if found is not NOT_ASKED_TWICE:
                rows.append([one.name, one.kind, other.name, other.kind, *figure_cells(found)])
    return header, rows
