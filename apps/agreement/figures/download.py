"""A picture to take away: an SVG file that needs nothing else, the same as PNG, its data as CSV."""

import csv
import io
import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles.finders import find
from django.template.loader import render_to_string
from django.utils.html import escape

from apps.agreement.figures.drawing import Picture
from apps.agreement.figures.wording import Cell, clean, cut
from apps.common.spreadsheets import guard
from labelhub.core.errors import InvalidInput

CONTENT_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
}
PNG_SCALE = 2
#: Paper around the picture, and above it where the title stands.
EDGE, HEAD = 14, 34
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
    title = escape(cut(figure.title, figure.width * 0.85))
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            _opening(figure.width, figure.height),
            f"{words.strip()}</desc>",
            f"<style>\n{_styles()}\n</style>",
            _paper(figure.width, figure.height),
            f'<text class="plot-value" x="0" y="{22 - HEAD}">{title}</text>',
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


def _opening(width: float, height: float) -> str:
    """The first tag: the picture's box with an edge of paper around it and its title above."""
    across, down = width + 2 * EDGE, height + HEAD + EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" width="{across}" height="{down}" '
        f'viewBox="{-EDGE} {-HEAD} {across} {down}">'
    )


def _paper(width: float, height: float) -> str:
    return (
        f'<rect x="{-EDGE}" y="{-HEAD}" width="{width + 2 * EDGE}" '
        f'height="{height + HEAD + EDGE}" fill="#ffffff" />'
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
