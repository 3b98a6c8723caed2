"""The agreement report as a file: opened from a disk with no network, light, dark and in print."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import OpenAs

REPORT = "/p/library-desk/agreement/report.html"
MEGABYTE = 1_000_000
#: An A4 sheet between its margins.
PAPER = {"width": 717, "height": 1000}
#: Pairs of words in a picture that stand on each other: boxes of type are higher than its letters.
COVERED = """() => [...document.querySelectorAll("svg.plot")].flatMap((plot) => {
  const level = plot.querySelectorAll("text:not([transform])");
  const texts = [...level].filter((one) => one.textContent);
  const boxes = texts.map((one) => one.getBoundingClientRect());
  return boxes.flatMap((a, at) => boxes.slice(at + 1).flatMap((b, next) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const words = [plot.id, texts[at].textContent, texts[at + next + 1].textContent];
    return across > 2 && down > 5 ? [words.join(" | ")] : [];
  }));
})"""
#: Tables and pictures that are wider than their frame.
CUT = """() => [...document.querySelectorAll(".table-wrap, .plot-box")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.getAttribute("aria-label"))"""
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def report(open_as: OpenAs, tmp_path: Path) -> Path:
    """The file as somebody gets it who presses the button."""
    answer = open_as("manager").request.get(REPORT)
    assert answer.ok
    path = tmp_path / "report.html"
    path.write_bytes(answer.body())
    return path


def opened(browser: Browser, path: Path) -> tuple[Page, list[str]]:
    """The file without a network, and whatever it asked for or complained of."""
    page = browser.new_context(offline=True).new_page()
    noticed: list[str] = []
    page.on("request", lambda request: noticed.append(request.url))
    page.on("console", lambda message: noticed.append(message.text))
    page.on("pageerror", lambda error: noticed.append(str(error)))
    page.goto(path.as_uri())
    return page, noticed


def test_it_opens_from_a_disk_asks_for_nothing_and_prints(browser: Browser, report: Path) -> None:
    papers = {"light": "rgb(244, 244, 240)", "dark": "rgb(20, 23, 27)"}
    page, noticed = opened(browser, report)
    assert noticed == [report.as_uri()]
    assert report.stat().st_size < MEGABYTE
    assert page.locator("svg.plot").count() >= 8
    for scheme, paper in papers.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of two
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert page.evaluate(COVERED) == []
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(WIDER) <= 0

    page.set_viewport_size(PAPER)  # type: ignore[arg-type] # width and height
    page.emulate_media(media="print")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate(CUT) == []
    shade = "getComputedStyle(document.querySelector('.trust__cell')).printColorAdjust"
    assert page.evaluate(shade) == "exact"
    assert page.evaluate(WIDER) <= 0
    page.context.close()
