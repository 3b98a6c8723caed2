"""A chart to take away opens alone, anywhere; its data is safe in a spreadsheet."""

import csv
import io
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

from apps.agreement.charts import confusion
from apps.common.charts import Chart, files
from apps.common.spreadsheets import csv_text
from labelhub.core.errors import InvalidInput
from tests.agreement.chart_help import CHARTS, HOSTILE, a_heatmap

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def made(form: str) -> Chart:
    chart = CHARTS[form]()
    assert chart is not None
    return chart


@pytest.mark.parametrize("form", CHARTS)
def test_the_svg_needs_nothing_else(form: str) -> None:
    source = files.svg_file(made(form))
    root = fromstring(source.encode())
    assert root.tag == f"{SVG}svg"
    assert not re.search(r"var\(|light-dark|url\(|@import|href|currentColor|color-mix", source)
    assert source.count("http") == 1, "the name of the language, and no address"


@pytest.mark.parametrize("form", CHARTS)
def test_its_styles_are_single_classes_which_every_program_understands(form: str) -> None:
    style = fromstring(files.svg_file(made(form)).encode()).find(f"{SVG}style")
    assert style is not None
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"/\*.*?\*/", "", style.text or ""))
    assert len(selectors) > 30
    assert all(re.fullmatch(r"\.plot[\w-]*", selector.strip()) for selector in selectors)


def test_it_has_light_colours_white_paper_and_its_title() -> None:
    chart = made("heatmap")
    root = fromstring(files.svg_file(chart).encode())
    paper = root.find(f"{SVG}rect")
    assert paper is not None
    assert paper.get("fill") == "#ffffff"
    assert next(root.iter(f"{SVG}text")).text == chart.title
    assert ".plot-fill--llm { fill: #1e64bc; }" in files.svg_file(chart)


@pytest.mark.thorough
@pytest.mark.parametrize("form", CHARTS)
def test_the_png_is_the_same_at_two_pixels_for_one(form: str) -> None:
    chart = made(form)
    image = files.chart_file(chart, "png")
    root = fromstring(files.svg_file(chart).encode())
    assert image.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", image[16:24])
    assert width == pytest.approx(2 * float(root.get("width", 0)), abs=2)
    assert height == pytest.approx(2 * float(root.get("height", 0)), abs=2)


def test_any_name_leaves_a_well_formed_file() -> None:
    chart = a_heatmap(HOSTILE)
    assert chart is not None
    root = fromstring(files.svg_file(chart).encode())
    assert root.find(f".//{SVG}script") is None
    assert files.chart_file(chart, "png").startswith(b"\x89PNG")


def test_a_spreadsheet_runs_no_cell_of_the_data_and_numbers_keep_all_digits() -> None:
    chart = a_heatmap(("=cmd()|A1", "@x", "-1+1"))
    assert chart is not None
    rows = list(csv.reader(io.StringIO(files.csv_file(chart).decode())))
    assert rows[0][:2] == ["source", "kind"]
    assert {row[at] for row in rows[1:] for at in (0, 2)} == {"'=cmd()|A1", "'@x", "'-1+1"}
    assert rows[1][4:8] == ["0.5", "0.45", "0.55", "300"]


def test_a_negative_number_stays_a_number_and_a_name_like_one_does_not() -> None:
    text = csv_text(["x", "y"], [(-0.05, "-0.05"), (None, "")])
    assert text.splitlines() == ["x,y", "-0.05,'-0.05", ","]


def test_more_labels_than_can_be_drawn_leave_the_table_only() -> None:
    labels = [f"label {at}" for at in range(13)]
    chart = confusion(labels, {(labels[0], labels[0]): 3, (labels[0], labels[1]): 1})
    assert chart is not None
    with pytest.raises(InvalidInput, match="table"):
        files.svg_file(chart)
    assert files.csv_file(chart).decode().splitlines()[1:] == [
        "label 0,label 0,3,right",
        "label 0,label 1,1,wrong",
    ]


def test_each_form_has_its_content_type() -> None:
    chart = made("winning_rates")
    assert set(files.CONTENT_TYPES) == {"svg", "png", "csv"}
    assert files.chart_file(chart, "svg").startswith(b"<?xml")
    assert files.chart_file(chart, "png").startswith(b"\x89PNG")
    assert files.chart_file(chart, "csv").startswith(b"machine,")


@pytest.mark.thorough
def test_the_renderer_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import django, sys; django.setup(); import apps.common.charts.files;"
        "sys.exit('vl_convert' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=50)
