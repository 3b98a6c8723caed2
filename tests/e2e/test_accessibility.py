"""Every page: nothing for axe-core to find, short enough and without sideways scroll on a phone, a
quiet console."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import PHONE, SETTLED, Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.page_table import NOT_PAGES, VIEWS
from tests.e2e.pages import prepare
from tests.e2e.server import Server

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 320, "height": 800}
#: No page is longer.
MOST_SCREENS = 6
#: A browser applies the media queries of a new size with its next frame only.
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: What somebody reads without opening anything: not the entries of a closed list to choose from.
COUNT_WORDS = """() => {
    const main = document.querySelector("main") ?? document.body;
    const count = (text) => text.split(/\\s+/).filter(Boolean).length;
    const seen = (list) => list.getClientRects().length;
    const lists = [...main.querySelectorAll("select")].filter(seen);
    const entries = lists.reduce((sum, list) => sum + count(list.innerText) - 1, 0);
    return count(main.innerText) - entries;
}"""
#: Pages whose length is their purpose: every component, one after the other; the library's own.
LONG = {"design_system", "admin-changelist", "demo_shop"}
#: Where a page still fetches something by itself.
COMING = "[hx-trigger^=load] .skeleton"
# Without preload: to read an @import axe would write a style element, which the policy forbids.
EVERYTHING = {"resultTypes": ["violations"], "preload": False}
#: Faults of the console's theme: it has no main landmark.
OF_THE_THEME = ("landmark-one-main:", "landmark-unique:", "region:")
#: What a narrow page may lose with the words that it hides.
NAMES = EVERYTHING | {"runOnly": ["link-name", "button-name", "summary-name", "label"]}


@pytest.mark.timeout(900)
def test_everybody_can_use_every_page(
    server: Server, browser: Browser, open_as: OpenAs, troubles: Troubles, tmp_path: Path
) -> None:
    places = prepare(server, browser, tmp_path)
    pages: dict[str | None, Page] = {}
    found, sizes = [], []
    for view in VIEWS:
        if view.who not in pages:
            options = {"color_scheme": "light", "reduced_motion": "reduce"}
            pages[view.who] = open_as(view.who, viewport=WIDE, **options)
        page = pages[view.who]
        answer = page.goto(view.at(places))
        assert answer is not None
        if answer.status != view.status:
            found.append(f"{view.id}: {answer.status}")
        expect(page.locator(COMING)).to_have_count(0)
        if page.locator("h1").count() != 1 or not page.title().strip():
            found.append(f"{view.id}: heading or title")
        accepted = OF_THE_THEME if view.name == "admin" and view.who else ()
        here = [fault for fault in faults(page) if not fault.startswith(accepted)]
        found += [f"{view.id}: {fault}" for fault in [*here, *troubles]]
        troubles.clear()
        sizes.append(measure(page, view.id))
        page.set_viewport_size(WIDE)  # type: ignore[arg-type] # width and height
    print(table_of(sizes))  # shown if the test fails, or with -rP
    found += [
        f"{size.page}: {size.screens:.1f} screens of a phone"
        for size in sizes
        if size.screens > MOST_SCREENS and size.page not in LONG
    ]
    assert not found, "\n".join(found)


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page at 390×844: ``height`` in pixels, ``words`` in its main part."""

    page: str
    height: int
    words: int

    @property
    def screens(self) -> float:
        """The height in screens of a phone."""
        return self.height / PHONE["height"]


def measure(page: Page, name: str) -> PageSize:
    """The size of the page that is open; its viewport stays that of a phone."""
    page.set_viewport_size(PHONE)  # type: ignore[arg-type] # width and height
    page.evaluate(NEXT_FRAME)
    height = page.evaluate("document.documentElement.scrollHeight")
    return PageSize(name, height, page.evaluate(COUNT_WORDS))


def table_of(sizes: Iterable[PageSize]) -> str:
    """A line per page, the longest first."""
    rows = sorted(sizes, key=lambda size: -size.height)
    lines = [f"{row.screens:7.1f} {row.height:8,} {row.words:6,}  {row.page}" for row in rows]
    return "\n".join(["screens   height  words  page", *lines])


def faults(page: Page) -> list[str]:
    """What axe-core finds, one line per rule and place; and where the page itself scrolls sideways:
    tables may, in a frame of their own."""
    page.evaluate(SETTLED)
    violations = Axe().run(page, options=EVERYTHING).response["violations"]
    page.set_viewport_size(NARROW)  # type: ignore[arg-type] # width and height
    violations += Axe().run(page, options=NAMES).response["violations"]
    needed = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type] # as above
    return [
        f"{violation['id']}: {node['html'][:200]} {node['any'][:1]}"
        for violation in violations
        for node in violation["nodes"]
    ] + [f"{NARROW['width']} pixels: the page needs {needed}"] * (needed > NARROW["width"])


def test_no_page_is_left_out() -> None:
    looked_at = {view.name for view in VIEWS} | NOT_PAGES
    assert set(names(get_resolver().url_patterns)) - looked_at == set()


def names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    """All URL names outside the admin and REST."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield str(pattern.name)
        elif str(pattern.pattern) not in ("admin/", "v1/", "scim/v2/"):
            yield from names(pattern.url_patterns)
