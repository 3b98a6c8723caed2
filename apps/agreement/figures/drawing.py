"""What all pictures share: their frame, scales, ticks, marks of kinds, and names cut to fit.

Places are in the units of a picture's own box; colours and sizes of type come from the stylesheet.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from apps.agreement.figures.wording import Table, cell_words
from apps.common.drawing import Axes, Scale, Tick, down_to, round_values, rounded, ticks

__all__ = [
    "KINDS",
    "KIND_WORDS",
    "MOST_ROWS",
    "SHAPES",
    "WIDTH",
    "Axes",
    "Label",
    "Mark",
    "Picture",
    "Scale",
    "Tick",
    "down_to",
    "kind_of",
    "mark",
    "order_of",
    "prefix_of",
    "round_values",
    "rounded",
    "spread",
    "ticks",
]

#: The narrowest box: fits a phone of 390 pixels with text at its own size.
WIDTH = 360
KINDS = ("llm", "crowd", "expert", "author", "model", "gold")
KIND_WORDS = dict(
    zip(KINDS, ("LLM", "Crowd", "Expert", "Author", "Model", "Gold"), strict=True)
)  # fmt: skip
#: A page shows so many rows of a table, the file of its data all.
MOST_ROWS = 150

#: The shapes of the icons in a box of 20 by 20, so that a kind looks the same everywhere.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture: ``prefix`` is unique on the page, ``words`` describe it, ``table`` is its data.

    ``wide``: it keeps its size and scrolls; others fit their column. ``drawn`` is False where only
    the table can be read.
    """

    form: ClassVar[str] = ""
    prefix: str
    title: str
    words: str
    width: float
    height: float
    table: Table
    wide: bool = False
    drawn: bool = True

    @property
    def template(self) -> str:
        """The partial that draws it, given ``figure``."""
        return f"agreement/figures/{self.form}.svg"

    @property
    def table_words(self) -> Table:
        """The table as people read it: four digits, a dash for nothing; its first rows.

        Columns in which nothing stands are in the file only.
        """
        header, rows = self.table
        nothing = ("", None)
        said = [at for at in range(len(header)) if any(row[at] not in nothing for row in rows)]
        shown = [[cell_words(row[at]) for at in said] for row in rows[:MOST_ROWS]]
        return [header[at] for at in said], shown

    @property
    def rows_left_out(self) -> int:
        """How many rows are in the file only."""
        return max(0, len(self.table[1]) - MOST_ROWS)


@dataclass(frozen=True, slots=True)
class Mark:
    """The shape of a kind at a place."""

    kind: str
    shape: str
    place: str


@dataclass(frozen=True, slots=True)
class Label:
    """A name in a picture: ``name`` as cut to fit, ``words`` whole."""

    x: float
    y: float
    name: str
    words: str
    kind: str = "other"
    mark: Mark | None = None
    anchor: str = "start"


def prefix_of(key: str) -> str:
    """An id of letters, digits and hyphens; keys that differ stay different."""
    plain = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    return f"plot-{plain}" if plain == key else f"plot-{plain}-{zlib.crc32(key.encode()):08x}"


def kind_of(kind: str) -> str:
    """A kind that has a shape; anything else is ``other``."""
    return kind if kind in SHAPES else "other"


def order_of(kind: str) -> int:
    """The one order of the kinds."""
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def mark(kind: str, x: float, y: float, size: float = 11) -> Mark:
    """The shape of ``kind`` with its middle at the place."""
    kind, half = kind_of(kind), size / 2
    place = f"translate({rounded(x - half)} {rounded(y - half)}) scale({size / 20:.3g})"
    return Mark(kind, SHAPES[kind], place)


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """``places`` moved apart to at least ``gap`` and within the ends where there is room."""
    order = sorted(range(len(places)), key=lambda at: places[at])
    moved = list(places)
    least = low
    for at in order:
        moved[at] = max(moved[at], least)
        least = moved[at] + gap
    most = high
    for at in reversed(order):
        moved[at] = min(moved[at], most)
        most = moved[at] - gap
    return [rounded(place) for place in moved]
