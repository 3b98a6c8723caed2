"""Every page: nothing for axe-core to find in light and dark, no sideways scroll, quiet console."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import SETTLED
from tests.e2e.conftest import OpenAs
from tests.e2e.page_table import NOT_PAGES, SEEN_DAILY, VIEWS, View
from tests.e2e.pages import prepare
from tests.e2e.server import Server

# With several processes: the data of the pages, which takes a while, is made once.
pytestmark = pytest.mark.xdist_group("pages")

WIDE = {"width": 1280, "height": 800}
NARROW = (390, 320)
#: Where a page still fetches something by itself.
COMING = "[hx-trigger^=load] .skeleton"
# Without preload: to read an @import axe would write a style element, which the policy forbids.
EVERYTHING = {"resultTypes": ["violations"], "preload": False}
#: The dark page is the same page in other colours.
COLOURS = EVERYTHING | {"runOnly": ["color-contrast"]}


@pytest.fixture(scope="session")
def known() -> dict[str, Any]:
    """Outlives the module: with several processes its tests may come in more than one batch."""
    return {}


@pytest.fixture(scope="module")
def places(
    known: dict[str, Any],
    server: Server,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """The ids in the addresses; the data is made once for all pages."""
    if not known:
        known.update(prepare(server, browser, tmp_path_factory.mktemp("files")))
    return known


def marked(view: View) -> Any:
    """The view as a parameter of a test."""
    often = view.name in SEEN_DAILY and not view.state
    return pytest.param(view, id=view.id, marks=[] if often else [pytest.mark.thorough])


@pytest.mark.parametrize("view", [marked(view) for view in VIEWS])
def test_everybody_can_use_the_page(view: View, open_as: OpenAs, places: dict[str, Any]) -> None:
    page = open_as(view.who, viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    answer = page.goto(view.at(places))
    assert answer is not None
    assert answer.status == view.status
    expect(page.locator(COMING)).to_have_count(0)
    assert page.locator("h1").count() == 1
    assert page.title().strip()
    found = faults(page, "light", EVERYTHING)
    page.emulate_media(color_scheme="dark")
    found += faults(page, "dark", COLOURS)
    for width in NARROW:
        page.set_viewport_size({"width": width, "height": 800})
        found += too_wide(page, width)
    found += faults(page, "narrow", EVERYTHING)
    assert not found, "\n".join(found)


def faults(page: Page, mode: str, options: dict[str, Any]) -> list[str]:
    """What axe-core finds, one line per rule and place."""
    # Colours that are still on their way from the other mode would be measured as they pass.
    page.evaluate(SETTLED)
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{mode}: {violation['id']}: {node['html'][:200]} {node['any'][:1]}"
        for violation in violations
        for node in violation["nodes"]
    ]


def too_wide(page: Page, width: int) -> list[str]:
    """The page itself must not scroll sideways; tables may, in a frame of their own."""
    needed = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width} pixels: the page needs {needed}"] if needed > width else []


def test_no_page_is_left_out() -> None:
    looked_at = {view.name for view in VIEWS} | NOT_PAGES
    assert set(names(get_resolver().url_patterns)) - looked_at == set()


def names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    """All URL names outside the admin and REST."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield str(pattern.name)
        elif str(pattern.pattern) not in ("admin/", "v1/"):
            yield from names(pattern.url_patterns)
