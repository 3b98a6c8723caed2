"""The one way to draw: whatever a chart holds, it is legible, named, within its box, and safe."""

import itertools
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring
from django.template import Context, Template

from apps.common.charts import (
    KIND_WORDS,
    WIDTH,
    Axis,
    Bar,
    Cell,
    Chart,
    Line,
    Mark,
    Name,
    Point,
    Rule,
    axis_floor,
    number_tick,
    round_ticks,
)
from apps.common.charts.drawing import draw, svg_element
from apps.common.charts.text import clean, cut, cut_apart, width_of

ROOT = Path(__file__).parents[2]
HOSTILE = (
    "<script>alert(1)</script>",
    "x" * 200,
    "משתמש בעל שם ארוך מאוד שאינו נגמר",
    "👩‍👩‍👧‍👦 family 😀😀😀😀😀😀😀😀",
    "\u202eturned\x0b & \"quoted\" 'name'",
    "=cmd()|A1",
)


def chart_of(*marks: Mark, **given: Any) -> Chart:
    parts = {"key": "some", "title": "Title", "description": "Words.", "rows": [{"a": 1}]}
    return Chart(**{**parts, "marks": marks, **given})


def element(chart: Chart) -> Element:
    root: Element = fromstring(svg_element(chart))
    return root


def texts(chart: Chart) -> list[tuple[str, float, float, float]]:
    """Level words of a chart: what, left, right and middle."""
    found = []
    for text in element(chart).iter("text"):
        if text.text and not text.get("transform"):
            x, width = float(text.get("x", 0)), width_of(text.text)
            shift = {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0)
            found.append((text.text, x - shift, x - shift + width, float(text.get("y", 0))))
    return found


def scatter(names: Sequence[str], places: Sequence[tuple[float, float]]) -> Chart:
    points = [
        Point(x=x, y=y, kind="llm", label=name) for name, (x, y) in zip(names, places, strict=True)
    ]
    return chart_of(*points, height=220)


def test_no_label_stands_on_another_or_is_cut_off() -> None:
    generator = random.Random(7)  # noqa: S311 - places, not secrets
    places = {
        "spread out": [(number / 12, number / 12) for number in range(12)],
        "at one place": [(0.5, 0.5)] * 12,
        "in the corners": [(x, y) for x in (0, 0.02, 1) for y in (0, 0.5, 0.98, 1)],
        "anywhere": [(generator.random(), generator.random()) for _ in range(12)],
    }
    for where, points in places.items():
        chart = scatter([f"a{number}" for number in range(12)], points)
        labels = [found for found in texts(chart) if re.fullmatch(r"a\d+", found[0])]
        assert len(labels) == 12, where
        for (_, left, right, y), (_, other_left, other_right, other_y) in itertools.combinations(
            labels, 2
        ):
            assert abs(y - other_y) >= 10 or right <= other_left or other_right <= left, where
        assert all(left >= 0 and right <= WIDTH for _, left, right, _ in labels), where


def test_names_of_periods_do_not_run_into_each_other_and_many_of_them_scroll() -> None:
    names = [Name(f"Oct {day}–Nov {day - 20}") for day in range(21, 29)]
    line = Line(points=[(number, 0.5) for number in range(8)])
    below = sorted(
        (left, right)
        for words, left, right, _ in texts(chart_of(line, x=Axis(names=names)))
        if "Oct" in words
    )
    assert len(below) >= 2
    assert all(before[1] < after[0] for before, after in itertools.pairwise(below))
    months = [Name(f"2020-{month}") for month in range(48)]
    assert draw(chart_of(line, x=Axis(names=months, step=22))).width > WIDTH
    assert "2020-47" in {
        words for words, *_ in texts(chart_of(line, x=Axis(names=months, step=22)))
    }


def test_a_square_of_few_names_fits_a_phone_and_of_forty_is_small_to_send() -> None:
    def square(count: int) -> Chart:
        names = [Name(f"annotator {number:03}", "crowd") for number in range(count)]
        cells = [
            Cell(
                column=column,
                row=row,
                step=(column * row) % 6,
                text=".50",
                words=f"{column}, {row}",
            )
            for column in range(count)
            for row in range(count)
        ]
        return chart_of(*cells, x=Axis(names=names, step=32), y=Axis(names=names, step=24))

    assert draw(square(4)).width == WIDTH
    assert svg_element(square(4)).count("<title>3, ") == 4
    forty = svg_element(square(40))
    assert "plot--wide" in forty
    assert len(forty.encode()) < 120_000
    assert forty.count(">.50<") == 1600


def test_a_chart_is_named_described_and_carries_no_style_of_its_own() -> None:
    sheet = set(
        re.findall(r"\.(plot[\w-]*)", (ROOT / "static/css/components/chart.css").read_text())
    )
    marks: list[Mark] = [
        *(
            Point(x=0.5, y=0.5, kind=kind, x_ends=(0, 1), y_ends=(0, 1), name=kind)
            for kind in [*KIND_WORDS, "odd"]
        ),
        *(
            Line(points=[(0, 0), (1, 1)], kind=kind, dash=dash, band=[(0, 0, 1), (1, 0, 1)])
            for dash, kind in enumerate([*KIND_WORDS, "accent"])
        ),
        Bar(x=0.5, top=0.5, kind="quiet"),
        Bar(x=0.2, top=0.5, kind="warn"),
        Rule(x=0.2, name="here"),
        Rule(y=0.2, strong=True),
        Rule(name="same"),
    ]
    chart = chart_of(*marks, x=Axis(title="across"), y=Axis(title="up"), note="note")
    source, root = svg_element(chart), element(chart)
    names = {part.get("id"): part.text for part in root.iter() if part.get("id")}
    assert root.get("role") == "img"
    assert names[root.get("aria-labelledby")] == "Title"
    assert names[root.get("aria-describedby")] == "Words."
    used = {name for found in re.findall(r'class="([^"]*)"', source) for name in found.split()}
    assert used - sheet == set()
    assert "style" not in source
    shapes = {path.get("d") for path in root.iter("path")}
    assert len(shapes) == len(KIND_WORDS) + 1, "a shape for each kind, and one for the rest"


def test_what_stands_in_a_chart_keeps_within_its_box() -> None:
    wide = "a title of an axis that is longer than the chart is wide, and then some more of it"
    charts = [
        scatter(["a"], [(5.0, -3.0)]),
        chart_of(Rule(x=1.0, name="at the right edge"), Rule(x=0.0, name="at the left edge")),
        chart_of(Line(points=[(0, 0), (1, 1)], name=wide), Line(points=[(0, 0), (1, 1)], name="b")),
        chart_of(Point(x=0.5, y=0), y=Axis(names=[Name("row", value="90 %", n="n 1,234,567")])),
    ]
    for chart in charts:
        drawing = draw(chart)
        for words, left, right, y in texts(chart):
            assert -1 <= left <= right <= drawing.width + 1, words
            assert 0 <= y <= drawing.height, words
        for part in element(chart).iter():
            for name, most in (
                ("x1", drawing.width),
                ("x2", drawing.width),
                ("y1", drawing.height),
            ):
                assert 0 <= float(part.get(name, 0)) <= most


def test_any_name_is_escaped_cut_in_the_drawing_and_whole_on_hover() -> None:
    for name in HOSTILE:
        chart = chart_of(
            Point(x=0, y=0, label="1", name=f"1 {name}", words=name),
            Cell(column=0, row=0, step=1, text="1", words=name),
            title=name,
            description=name,
            rows=[{"name": name, "other": 1}],
            x=Axis(names=[Name(name)]),
            y=Axis(names=[Name(name, "llm")]),
        )
        page = Template("{% load labelhub %}{% chart chart files='/f.svg' %}").render(
            Context({"chart": chart})
        )
        assert "<script" not in page
        assert clean(name) in {part.text for part in element(chart).iter("title")}
        assert max(len(words) for words, *_ in texts(chart)) < 80


def test_a_chart_stands_beside_its_rows_and_their_files() -> None:
    rows = [{"name": "a", "share": 0.5, "n": 1200, "none": None}]
    chart = chart_of(Bar(x=0.5, top=1), rows=rows, shares=("share",))
    show = "{% load labelhub %}{% chart chart files='/f/x.svg' query='kind=llm' bare=bare %}"
    page = Template(show).render(Context({"chart": chart, "bare": True}))
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == ["name", "share", "n"]
    assert re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", page)[3:] == ["a", "50\xa0%", "1,200"]
    assert re.findall(r'href="([^"]*)"', page) == [
        f"/f/x.{form}?kind=llm" for form in ("svg", "png", "csv")
    ]
    assert "<figcaption" not in page
    table_only = Template(show).render(Context({"chart": chart_of(rows=rows)}))
    assert "<svg" not in table_only
    assert "<figcaption" in table_only
    assert re.findall(r'href="([^"]*)"', table_only) == ["/f/x.csv?kind=llm"]
    assert Template(show).render(Context({"chart": None})).strip() == ""


def test_names_are_cut_to_their_room_and_stay_apart() -> None:
    for name in HOSTILE:
        assert width_of(cut(name, 80)) <= 85
        assert "\u202e" not in cut(name, 80)
    assert cut("x" * 200, 80).endswith("x…")
    assert cut("w 030", 80) == "w 030"
    assert (
        len(set(cut_apart([f"a-large-language-model-{number:03}" for number in range(9)], 80))) == 9
    )
    assert clean("a\x00b\x0bc\ud800\ufffe") == "a\ufffdb\ufffdc\ufffd\ufffd"


def test_ids_of_charts_differ_where_their_keys_do() -> None:
    keys = ("heatmap", "heatmap-2", "Heatmap", "heatmap <2>", "heatmap (2)", "ü", "é")
    prefixes = [chart_of(key=key).prefix for key in keys]
    assert len(set(prefixes)) == len(keys)
    assert all(prefix.replace("-", "").isalnum() and prefix.isascii() for prefix in prefixes)


def test_axes_hold_values_within_their_ends_and_have_round_ticks() -> None:
    axis = Axis(low=0, high=2)
    assert [axis.share(value) for value in (-1, 0, 1, 2, 3)] == [0, 0, 0.5, 1, 1]
    assert Axis(low=0.01, high=100, log=True).share(1) == 0.5
    assert round_ticks(0.5, 1, 4) == [0.6, 0.8, 1.0]
    assert round_ticks(-0.2, 1, 4) == [0, 0.5, 1.0]
    assert round_ticks(0, 0) == [0]
    assert [axis_floor(values) for values in ([0.5, 0.7], [0.0], [-0.05])] == [0.4, 0.0, -0.1]
    assert [number_tick(value) for value in (0.4, -0.2, 12345.0)] == ["0.4", "−0.2", "12,345"]


def test_numbers_are_legible_on_every_step_and_the_steps_differ_in_grey() -> None:
    tokens = (ROOT / "static/css/tokens.css").read_text()
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", tokens)
    for dark in (False, True):
        shades = {name: pair[dark] for name, *pair in found}
        lightness = [luminance(shades[f"step-{step}"]) for step in range(1, 6)]
        for step, paper in enumerate(lightness, 1):
            ink = luminance(shades[f"on-step-{step}"])
            assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5
        assert lightness == sorted(lightness, reverse=not dark)
        near = itertools.pairwise(lightness)
        assert all((max(pair) + 0.05) / (min(pair) + 0.05) >= 1.2 for pair in near)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
