"""Pictures as they stand in a page: named, described, escaped, legible, with their data."""

import itertools
import re
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from django.template.loader import render_to_string

from apps.agreement.figures.drawing import Picture
from apps.agreement.figures.wording import clean
from tests.agreement.figure_help import EMPTY, HOSTILE, NAMED, PICTURES

ROOT = Path(__file__).parents[2]
SHEET = ROOT / "static/css/figures.css"
TOKENS = ROOT / "static/css/tokens.css"


def made(form: str) -> Picture:
    picture = PICTURES[form]()
    assert picture is not None
    return picture


def markup(picture: Picture) -> str:
    return clean(render_to_string(picture.template, {"figure": picture}))


def drawn(picture: Picture) -> Element:
    root: Element = fromstring(markup(picture))
    return root


@pytest.mark.parametrize("form", PICTURES)
def test_it_has_a_name_a_description_and_a_role(form: str) -> None:
    picture = made(form)
    root = drawn(picture)
    assert root.get("role") == "img"
    names = {part.get("id"): part.text for part in root.iter() if part.get("id")}
    assert names[root.get("aria-labelledby")] == picture.title
    assert names[root.get("aria-describedby")] == picture.words
    assert all(str(name).startswith(picture.prefix) for name in names)


@pytest.mark.parametrize("form", PICTURES)
def test_it_keeps_within_its_box_and_the_box_fits_a_phone(form: str) -> None:
    picture = made(form)
    assert picture.width == 360
    assert not picture.wide
    for part in drawn(picture).iter():
        for name, most in (("x", picture.width), ("x2", picture.width), ("y", picture.height)):
            assert 0 <= float(part.get(name, 0)) <= most


@pytest.mark.parametrize("form", PICTURES)
def test_its_classes_are_known_and_it_carries_no_style_of_its_own(form: str) -> None:
    source = markup(made(form))
    known = set(re.findall(r"\.(plot[\w-]*)", SHEET.read_text())) | {"plot-dash--0"}
    used = {name for found in re.findall(r'class="([^"]*)"', source) for name in found.split()}
    assert used - known == set()
    assert "style=" not in source
    assert "{{" not in source


@pytest.mark.parametrize("form", PICTURES)
def test_its_data_stands_in_a_real_table_beside_it(form: str) -> None:
    picture = made(form)
    files = {form: f"/f.{form}" for form in ("svg", "png", "csv")}
    page = render_to_string("agreement/figures/figure.html", {"figure": picture, **files})
    header, rows = picture.table_words
    assert page.count("<details") == 1
    assert page.count('<th scope="col">') == len(header)
    assert page.count('<th scope="row">') == len(rows) > 0
    assert all(len(row) == len(header) for row in rows)
    assert all(f'href="{address}"' in page for address in files.values())


def test_its_title_stands_above_it_unless_the_page_has_said_it() -> None:
    told = render_to_string("agreement/figures/figure.html", {"figure": made("curve")})
    bare = render_to_string("agreement/figures/figure.html", {"figure": made("curve"), "bare": 1})
    assert "<figcaption" in told
    assert "<figcaption" not in bare


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", NAMED)
def test_any_name_is_escaped_cut_in_the_drawing_and_whole_in_a_title(form: str, name: str) -> None:
    picture = NAMED[form](name)
    assert picture is not None
    page = render_to_string("agreement/figures/figure.html", {"figure": picture})
    assert "<script" not in page
    titles = [part.text or "" for part in drawn(picture).iter() if part.tag == "title"]
    assert any(clean(name) in title for title in titles)
    texts = [part.text or "" for part in drawn(picture).iter() if part.tag == "text"]
    assert max(map(len, texts)) < 80


@pytest.mark.parametrize("form", EMPTY)
def test_without_data_there_is_no_picture_and_the_page_shows_nothing(form: str) -> None:
    picture = EMPTY[form]()
    assert picture is None
    for template in ("figure.html", f"{form.split(maxsplit=1)[0]}.svg"):
        page = render_to_string(f"agreement/figures/{template}", {"figure": picture})
        assert not page.strip()


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_numbers_are_legible_on_every_step_and_the_steps_differ_in_grey(mode: int) -> None:
    found = re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text()
    )  # fmt: skip
    shades = {name: (light, dark)[mode] for name, light, dark in found}
    lightness = [luminance(shades[f"step-{step}"]) for step in range(1, 6)]
    for step, paper in enumerate(lightness, 1):
        ink = luminance(shades[f"on-step-{step}"])
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5
    assert lightness == sorted(lightness, reverse=mode == 0)
    near = itertools.pairwise(lightness)
    assert all((max(pair) + 0.05) / (min(pair) + 0.05) >= 1.2 for pair in near)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
