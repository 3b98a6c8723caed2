"""Charts as files: self-contained SVG, PNG, and CSV of the rows."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from django.contrib.staticfiles.finders import find
from django.utils.html import escape
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from apps.common.charts import Chart
from apps.common.charts.drawing import draw, title_and_description
from apps.common.charts.text import clean, cut, width_of
from apps.common.spreadsheets import csv_text
from labelhub.core.errors import InvalidInput
from labelhub.core.extras import require_extra
from labelhub.core.phrases import Phrase

CONTENT_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
}
PNG_SCALE = 2
#: Parts of a slice whose value alone is clear in a file name.
WORDS_ALONE = ("kind", "label", "tag")
MOST_OF_NAME = 80
#: Margins around the drawing and below its title, and the height of a line of the title.
EDGE, HEAD, TITLE_LINE = 14, 12, 20
#: The usable share of the width for a title, whose font is larger than assumed.
TITLE_ROOM = 0.85
#: Common fonts; the PNG renderer includes the first.
FONTS = '"Liberation Sans", Arial, Helvetica, sans-serif'
DRAWING = "/* In the drawing */"


def chart_file(chart: Chart, form: str) -> bytes:
    """The file of a chart in a form of ``CONTENT_TYPES``.

    Raises:
        InvalidInput: the chart has too many names to draw; only its table exists.
        MissingExtra: this installation makes no PNG.
    """
    if form == "csv":
        return csv_file(chart)
    if form == "svg":
        return svg_file(chart).encode()
    require_extra("vl_convert", "png")
    # Takes 16 MB of memory, so it is loaded on demand.
    import vl_convert  # noqa: PLC0415

    return bytes(vl_convert.svg_to_png(svg_file(chart), scale=PNG_SCALE))


def svg_file(*charts: Chart) -> str:
    """Charts below each other on white, with inline styles and without CSS variables.

    Raises:
        InvalidInput: as for ``chart_file``.
    """
    parts, down, across = [], 0.0, 0.0
    for chart in charts:
        if not chart.marks:
            raise InvalidInput(Phrase("This chart has too many cells to draw: use its table."))
        drawing = draw(chart)
        lines = _title_lines(chart.title, drawing.width * TITLE_ROOM)
        for line in lines:
            down += TITLE_LINE
            parts.append(f'<text class="plot-value" x="0" y="{down:g}">{escape(line)}</text>')
        down += HEAD
        parts.append(f'<g transform="translate(0 {down:g})">\n{drawing.content}\n</g>')
        down += drawing.height + EDGE
        across = max(across, drawing.width + 2 * EDGE)
    size = f'width="{across:g}" height="{down:g}"'
    box = f'viewBox="{-EDGE} 0 {across:g} {down:g}"'
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" {size} {box}>',
            title_and_description(charts[0]),
            f"<style>\n{_styles()}\n</style>",
            f'<rect x="{-EDGE}" {size} fill="#ffffff" />',
            *parts,
            "</svg>\n",
        )
    )


def csv_file(chart: Chart) -> bytes:
    """The rows as CSV in UTF-8, with all digits, safe to open in a spreadsheet."""
    names = tuple(chart.rows[0]) if chart.rows else ()
    text = csv_text(names, (tuple(row.values()) for row in chart.rows))
    return text.encode(errors="replace")


def attachment(names: Iterable[str], part: Mapping[str, str], form: str) -> str:
    """The header with a file name of project, chart and slice of the labels, such as
    ``library-desk-accuracy-crowd-since-2026-11-01.svg``."""
    parts = [value if name in WORDS_ALONE else f"{name} {value}" for name, value in part.items()]
    words = slugify(re.sub(r"\W+", " ", " ".join(parts)), allow_unicode=True)
    stem = "-".join(filter(None, (*names, words[:MOST_OF_NAME].rstrip("-"))))
    return str(content_disposition_header(as_attachment=True, filename=f"{stem}.{form}"))


def _title_lines(title: str, room: float) -> list[str]:
    """The title in at most two lines that fit ``room``."""
    words = clean(title).split()
    first = len(words)
    while first > 1 and width_of(" ".join(words[:first])) > room:
        first -= 1
    lines = [" ".join(words[:first]), " ".join(words[first:])]
    return [cut(line, room) for line in lines if line]


@cache
def _styles() -> str:
    """The style rules of the drawing, with the light colours in place of variables."""
    sheets = "".join(_sheet(name) for name in ("css/tokens.css", "css/components/chart.css"))
    found = re.findall(r"--([\w-]+): (?:light-dark\(([^,()]+),[^()]+\)|([^;]+));", sheets)
    tokens = {name: light or plain for name, light, plain in found} | {"font": FONTS}
    rules = _sheet("css/components/chart.css").split(DRAWING, 1)[1].strip()
    return re.sub(r"var\(--([\w-]+)\)", lambda name: tokens[name[1]], rules)


def _sheet(path: str) -> str:
    place = find(path)
    if place is None:
        raise FileNotFoundError(path)
    return Path(str(place)).read_text(encoding="utf-8")
