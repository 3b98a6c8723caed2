"""A picture to take away: an SVG file that needs nothing else, the same as PNG, its data as CSV."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from django.contrib.staticfiles.finders import find
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from apps.agreement.figures.drawing import Picture
from apps.agreement.figures.wording import Cell, clean, cut, width_of
from apps.common.spreadsheets import guard
from labelhub.core.errors import InvalidInput

CONTENT_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
}
PNG_SCALE = 2
#: Of a slice, what says by itself what it is; of the rest a file's name says it.
WORDS_ALONE = ("kind", "label", "tag")
MOST_OF_NAME = 80
#: Paper around the picture, and above it where the title stands.
EDGE, HEAD, TITLE_LINE = 14, 34, 17
#: The share of the width that a line of the title takes, as its type is larger than is reckoned.
TITLE_ROOM = 0.85
#: Fonts that programs have under one name or another; the renderer of PNG brings the first along.
FONTS = '"Liberation Sans", Arial, Helvetica, sans-serif'
DRAWING = "/* In the drawing */"


def svg(figure: Picture) -> str:
    """The picture as a file: styles within, plain colours on white paper, no variables.

    Raises:
        InvalidInput: there is only its table, as it has more labels than can be drawn.
    """
    if not figure.drawn:
        raise InvalidInput("This picture would have too many cells to be read: take its table.")
    drawn = clean(render_to_string(figure.template, {"figure": figure})).strip()
    head, rest = drawn.split("</desc>", 1)
    _, words = head.split(">", 1)
    lines = title_lines(figure.title, figure.width * TITLE_ROOM)
    head_room = HEAD + TITLE_LINE * (len(lines) - 1)
    title = "".join(
        f'<text class="plot-value" x="0" y="{at - head_room}">{escape(line)}</text>'
        for at, line in zip(range(22, 99, TITLE_LINE), lines, strict=False)
    )
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            _opening(figure.width, figure.height, head_room),
            f"{words.strip()}</desc>",
            f"<style>\n{_styles()}\n</style>",
            _paper(figure.width, figure.height, head_room),
            title,
            f"{rest.strip()}\n",
        )
    )


def png(figure: Picture) -> bytes:
    """The same at two pixels for one.

    Raises:
        InvalidInput: as for ``svg``.
    """
    # 88 MB of program that only this needs.
    import vl_convert  # noqa: PLC0415

    return bytes(vl_convert.svg_to_png(svg(figure), scale=PNG_SCALE))


def table(figure: Picture) -> bytes:
    """The data as CSV in UTF-8, numbers with all their digits, safe to open in a spreadsheet."""
    header, rows = figure.table
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([_guarded(name) for name in header])
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return buffer.getvalue().encode(errors="replace")


def content(figure: Picture, form: str) -> bytes:
    """The file of a picture in a form of ``CONTENT_TYPES``."""
    if form == "csv":
        return table(figure)
    return png(figure) if form == "png" else svg(figure).encode()


def attachment(names: Iterable[str], part: Mapping[str, str], form: str) -> str:
    """The header that calls a file after its project and picture, and the part of the labels.

    ``library-desk-accuracy-crowd-since-2026-11-01.svg``.
    """
    said = [value if name in WORDS_ALONE else f"{name} {value}" for name, value in part.items()]
    words = slugify(re.sub(r"\W+", " ", " ".join(said)), allow_unicode=True)
    stem = "-".join(filter(None, (*names, words[:MOST_OF_NAME].rstrip("-"))))
    return str(content_disposition_header(as_attachment=True, filename=f"{stem}.{form}"))


def title_lines(title: str, room: float) -> list[str]:
    """The title in lines that fit ``room``, two at most."""
    words = clean(title).split()
    first = len(words)
    while first > 1 and width_of(" ".join(words[:first])) > room:
        first -= 1
    lines = [" ".join(words[:first]), " ".join(words[first:])]
    return [cut(line, room) for line in lines if line]


def _opening(width: float, height: float, head: float) -> str:
    """The first tag: the picture's box with an edge of paper around it and its title above."""
    across, down = width + 2 * EDGE, height + head + EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" width="{across}" height="{down}" '
        f'viewBox="{-EDGE} {-head} {across} {down}">'
    )


def _paper(width: float, height: float, head: float) -> str:
    return (
        f'<rect x="{-EDGE}" y="{-head}" width="{width + 2 * EDGE}" '
        f'height="{height + head + EDGE}" fill="#ffffff" />'
    )


def _guarded(cell: Cell) -> Cell:
    """Only words are guarded: a negative number stays a number."""
    return guard(cell) if isinstance(cell, str) else cell


@cache
def _styles() -> str:
    """The rules of the drawing with the light colours in place of their names."""
    tokens = _tokens(_sheet("css/tokens.css") + _sheet("css/figures.css"))
    rules = _sheet("css/figures.css").split(DRAWING, 1)[1].strip()
    return re.sub(r"var\(--([\w-]+)\)", lambda found: tokens[found[1]], rules)


def _tokens(sheet: str) -> dict[str, str]:
    """Name of a colour → its value on light paper."""
    found = re.findall(r"--([\w-]+): (?:light-dark\(([^,()]+),[^()]+\)|([^;]+));", sheet)
    return {name: light or plain for name, light, plain in found} | {"font": FONTS}


def _sheet(path: str) -> str:
    place = find(path)
    if place is None:
        raise FileNotFoundError(path)
    return Path(str(place)).read_text(encoding="utf-8")
