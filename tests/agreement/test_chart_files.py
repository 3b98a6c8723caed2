"""A chart to take away opens alone, anywhere; its data is safe in a spreadsheet."""

import csv
import io
import re

from defusedxml.ElementTree import fromstring

from apps.common.charts import Chart, files
from tests.agreement.chart_help import CHARTS, a_heatmap, confusion_of
from tests.cases import all_cases
from tests.common.test_charts import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def made(form: str) -> Chart:
    chart = CHARTS[form]()
    assert chart is not None
    return chart


@all_cases("form", CHARTS)
def test_the_svg_needs_nothing_else(form: str) -> None:
    source = files.svg_file(made(form))
    root = fromstring(source.encode())
    assert root.tag == f"{SVG}svg"
    assert not re.search(r"var\(|light-dark|url\(|@import|href|currentColor|color-mix", source)
    assert source.count("http") == 1, "the name of the language, and no address"


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
    assert {row[column] for row in rows[1:] for column in (0, 2)} == {"'=cmd()|A1", "'@x", "'-1+1"}
    assert rows[1][4:8] == ["0.5", "0.45", "0.55", "300"]


def test_of_more_labels_than_fit_the_most_frequent_are_drawn_and_the_table_has_all() -> None:
    labels = [f"label {number}" for number in range(13)]
    chart = confusion_of(labels, {(labels[0], labels[0]): 3, (labels[0], labels[12]): 1})
    assert chart is not None
    svg = files.svg_file(chart)
    assert "the 12 most frequent of 13 labels" in svg
    assert "label 12" in svg
    assert "label 11" not in svg
    assert files.csv_file(chart).decode().splitlines()[1:] == [
        "label 0,label 0,3,right",
        "label 0,label 12,1,wrong",
    ]
