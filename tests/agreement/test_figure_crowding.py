"""Pictures of many sources: no name stands on another, and they stay small."""

import itertools
import re
from collections.abc import Sequence

import pytest
from defusedxml.ElementTree import fromstring
from django.template.loader import render_to_string

from apps.agreement.figures import download
from apps.agreement.figures.agreeing import Agreeing, agreeing
from apps.agreement.figures.cost_quality import CostQuality, Offer, cost_quality
from apps.agreement.figures.drawing import Picture
from apps.agreement.figures.heatmap import MOST_SINGLE, Heatmap, HeatmapSource, heatmap
from apps.agreement.figures.lines import Series
from apps.agreement.figures.over_time import OverTime, over_time
from apps.agreement.figures.placing import Box, grouped, overlap, placed, ranges
from apps.agreement.figures.wording import cut, cut_apart, width_of
from tests.agreement.figure_help import fig

LONG = [f"a-large-language-model-of-which-kind-{at:03}" for at in range(12)]
SHORT = [f"m{at}" for at in range(12)]
NAME = 13


def markup(picture: Picture) -> str:
    return str(render_to_string(picture.template, {"figure": picture}))


def kinds(count: int) -> list[str]:
    return list(itertools.islice(itertools.cycle(("llm", "crowd", "expert")), count))


def plotted(names: Sequence[str], places: Sequence[tuple[float, float]]) -> CostQuality:
    """Sources of these names at these costs and shares right."""
    offers = [
        Offer(name, kind, fig(cost, cost / 20), fig(right, 0.03))
        for name, kind, (cost, right) in zip(names, kinds(len(names)), places, strict=True)
    ]
    picture = cost_quality(offers)
    assert picture is not None
    return picture


def boxes(picture: CostQuality) -> list[Box]:
    """Where words stand in the plot."""
    labels = [point.label for point in picture.points if point.label]
    return [
        (one.x, one.y - NAME / 2, one.x + width_of(one.name), one.y + NAME / 2) for one in labels
    ]


def marks(picture: CostQuality) -> list[Box]:
    found = [re.findall(r"[\d.]+", point.mark.place) for point in picture.points]
    return [(float(x), float(y), float(x) + 12, float(y) + 12) for x, y, *_ in found]


PLACES: dict[str, list[tuple[float, float]]] = {
    "spread out": [(1 + at, 0.5 + at / 30) for at in range(12)],
    "near each other": [(1 + at / 100, 0.8 + at / 500) for at in range(12)],
    "at one place": [(1.0, 0.8)] * 12,
    "two heaps": [(1.0, 0.7)] * 6 + [(10.0, 0.9)] * 6,
    "on a line": [(1 + at / 4, 0.8) for at in range(12)],
    "at the edges": [(cost, right) for cost in (0.01, 5, 10) for right in (0.2, 0.5, 0.7, 0.97)],
}


@pytest.mark.parametrize("names", [LONG, SHORT], ids=["long names", "short names"])
@pytest.mark.parametrize("where", PLACES)
def test_of_twelve_sources_no_name_stands_on_another_or_on_a_mark(
    where: str, names: list[str]
) -> None:
    picture = plotted(names, PLACES[where])
    words = boxes(picture)

    assert words
    for one, other in itertools.combinations(words, 2):
        assert not overlap(one, other)
    for one, mark in itertools.product(words, marks(picture)):
        assert not overlap(one, mark)
    for left, top, right, bottom in words:
        assert 0 <= left < right <= picture.width
        assert 0 <= top < bottom <= picture.axes.bottom


@pytest.mark.parametrize("where", PLACES)
def test_every_source_is_named_beside_its_mark_or_by_a_number_below(where: str) -> None:
    picture = plotted(LONG, PLACES[where])

    assert [label.words for label in sorted(picture.legend, key=lambda one: one.y)]
    assert {label.words for label in picture.legend} == set(LONG)
    assert all(label.name.endswith(label.words) for label in picture.legend), "forty letters fit"
    heights = [label.y for label in picture.legend]
    assert min(b - a for a, b in itertools.pairwise(heights)) >= NAME
    assert picture.height >= max(heights) + NAME / 2
    named = ", ".join(point.label.name for point in picture.points if point.label)
    found = [list(map(int, part.split("–"))) for part in named.split(", ")]
    numbers = [at for ends in found for at in range(ends[0], ends[-1] + 1)]
    assert sorted(numbers) == list(range(1, 13))


def test_a_few_short_names_stand_beside_their_marks_without_numbers() -> None:
    picture = plotted(["LLM", "Crowd", "Expert"], [(0.1, 0.6), (0.2, 0.7), (1.0, 0.9)])

    assert picture.legend == []
    assert [point.label.name for point in picture.points if point.label] == [
        "LLM",
        "Crowd",
        "Expert",
    ]


def test_the_same_sources_stand_at_the_same_places_each_time() -> None:
    assert markup(plotted(LONG, PLACES["two heaps"])) == markup(plotted(LONG, PLACES["two heaps"]))


def test_a_name_far_from_its_mark_is_joined_to_it_by_a_line() -> None:
    mark: Box = (50, 50, 62, 62)
    around: list[Box] = [(20, 30, 92, 46), (20, 66, 92, 82), (64, 46, 92, 66), (20, 46, 48, 66)]

    near = placed([mark], ["ab"], [], (0, 0, 200, 200))
    far = placed([mark], ["ab"], around, (0, 0, 200, 200))

    assert near is not None
    assert near[0].leader is None
    assert far is not None
    assert far[0].leader is not None
    assert placed([mark], ["ab"], [(0, 0, 200, 200)], (0, 0, 200, 200)) is None


def test_numbers_that_follow_each_other_are_a_range() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"


def test_where_there_is_no_room_at_all_numbers_stand_in_the_corner() -> None:
    everything: Box = (0, 0, 100, 100)
    [(group, words, spot)] = grouped([(10, 10, 20, 20)] * 3, [everything], everything)

    assert (list(group), words) == ([0, 1, 2], "1–3")
    assert (spot.x, spot.y) == (3, 6.5)


def lines_named(names: Sequence[str]) -> OverTime:
    """Twelve lines, some of which end early and many at one value."""
    series = [
        Series(name, kind, [fig(0.5), fig(0.6), None if at % 3 else fig(0.7 + at % 2 / 10)])
        for at, (name, kind) in enumerate(zip(names, kinds(len(names)), strict=True))
    ]
    picture = over_time(["Nov 1", "Nov 2", "Nov 3"], series, of="alpha")
    assert picture is not None
    return picture


@pytest.mark.parametrize("names", [LONG, SHORT], ids=["long names", "short names"])
def test_names_of_lines_stand_in_a_column_beside_the_plot(names: list[str]) -> None:
    picture = lines_named(names)
    labels = sorted((line.label for line in picture.lines), key=lambda one: one.y)

    assert min(b.y - a.y for a, b in itertools.pairwise(labels)) >= 12
    assert {one.x for one in labels} == {labels[0].x}
    assert labels[0].x > picture.axes.right
    assert all(one.x + width_of(one.name) <= picture.width + 5 for one in labels)
    spots = [spot.x for line in picture.lines for spot in line.spots]
    assert max(spots) < labels[0].x


def test_a_line_that_ends_early_leads_to_its_name() -> None:
    rows: list[dict[str, object]] = [
        {"agreeing": at, "items": 9, "accuracy": fig(0.7)} for at in (2, 3)
    ]
    picture = agreeing({"crowd": rows, "llm": rows[:1]})
    assert isinstance(picture, Agreeing)
    llm, crowd = picture.lines

    assert llm.leader.startswith(f"{llm.spots[-1].x + 9},")
    assert llm.leader in markup(picture)
    assert abs(llm.label.y - crowd.label.y) >= 14


def test_a_picture_calls_kinds_what_the_page_calls_them() -> None:
    rows = [{"agreeing": 2, "items": 9, "accuracy": fig(0.7)}]
    picture = agreeing({"llm": rows, "model": rows}, names={"llm": "No LLM", "model": "No LLM"})
    assert isinstance(picture, Agreeing)

    assert [line.label.name for line in picture.lines] == ["No LLM", "No LLM"]


def square(count: int) -> Heatmap:
    """Every annotator with every other, in eighths of agreement."""
    sources = [
        HeatmapSource(at, f"annotator {at:03}", "crowd" if at % 3 else "llm") for at in range(count)
    ]
    pairs = {(a, b): fig((a * b) % 9 / 8) for a in range(count) for b in range(a) if (a + b) % 7}
    picture = heatmap(sources, pairs, of="Cohen's κ")
    assert picture is not None
    return picture


def test_forty_annotators_are_a_picture_of_less_than_120_kilobytes() -> None:
    picture = square(40)

    assert len(markup(picture).encode()) < 120_000
    assert len(download.svg(picture).encode()) < 130_000


def test_every_number_of_a_large_square_is_drawn_once_at_its_cell() -> None:
    picture = square(40)
    root = fromstring(markup(picture))
    drawn = {
        (float(text.get("x", 0)), float(text.get("y", 0)), text.text)
        for group in root.iter("g")
        if "plot-on-step" in group.get("class", "")
        for text in group
    }

    assert drawn == {(one.middle, one.base, one.value) for one in picture.squares}
    shapes = [
        path.get("d", "") for path in root.iter("path") if "plot-step" in path.get("class", "")
    ]
    assert len(shapes) == len({one.step for one in picture.squares})
    assert sum(shape.count("M") for shape in shapes) == 40 * 40


def test_of_a_large_square_the_table_says_what_the_cells_do_not() -> None:
    header, rows = square(40).table
    assert {"value", "low", "high", "n", "method"} <= set(header)
    assert len(rows) == 40 * 39 / 2
    assert "the table" in square(40).words


def test_in_a_small_square_every_cell_says_all_of_itself() -> None:
    picture = square(MOST_SINGLE)

    assert picture.layers == []
    assert markup(picture).count("<title>annotator") >= MOST_SINGLE**2


def test_a_long_title_takes_two_lines_in_a_file() -> None:
    rows = [{"agreeing": 2, "items": 9, "accuracy": fig(0.7)}]
    picture = agreeing({"crowd": rows}, truth="the author")
    assert picture is not None
    source = download.svg(picture)

    lines = re.findall(r'<text class="plot-value"[^>]*>([^<]*)</text>', source)
    assert " ".join(lines) == picture.title
    assert len(lines) == 2
    heights = [
        float(y) for y in re.findall(r'<text class="plot-value" x="0" y="([-\d.]+)"', source)
    ]
    assert heights[1] - heights[0] >= 15
    assert float(fromstring(source.encode()).get("viewBox", "").split()[1]) < heights[0] - 12


def test_names_that_differ_at_their_ends_keep_them() -> None:
    assert [name[-4:] for name in cut_apart(LONG, 84)] == [name[-4:] for name in LONG]
    assert all(width_of(name) <= 84 for name in cut_apart(LONG, 84))
    assert cut_apart(["short", "a" * 40], 84) == ["short", cut("a" * 40, 84)]
    assert cut_apart(["same", "same"], 84) == ["same", "same"]
