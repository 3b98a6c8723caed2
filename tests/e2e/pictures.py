"""The pictures of the README: ``make screenshots`` takes them anew, from a fresh demo.

Beside each picture lies a file with the words that it shows; test_pictures.py compares it with what
the page says now. So a picture cannot show a page that has changed its words.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import SETTLED
from tests.e2e.server import DEMO, Server
from tests.e2e.steps import open_page, opened_demo, press_and_go_on, review

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
MARKS = 5
#: Milliseconds until the widget asks, and until its question could be read.
PATIENCE = 30_000
#: The words of the interface in the order of the page, those inside the widget too; not what is
#: drawn anew in each demo: texts, rows, questions and their answers.
SEEN = """() => {
    const steady = (element) => element.checkVisibility()
        && element.closest("nav, h1, h2, h3, button, summary, label, dt, th, .funnel__name")
        && !element.closest("[dir=auto], .choice, #lh-asked")
        && !element.closest("main :is(li, table):not(nav *, .funnel *)");
    const words = (node) => node.nodeType === Node.TEXT_NODE
        ? (node.data.trim() && node.parentElement && steady(node.parentElement)
            ? [node.data.trim()] : [])
        : [node.shadowRoot, ...node.childNodes].filter(Boolean).flatMap(words);
    return words(document.documentElement).join("\\n");
}"""


def open_review(page: Page, _server: Server) -> None:
    """The review screen, at an item whose suggestion quotes several places."""
    review(page, DEMO)
    for _ in range(30):
        if page.locator("[data-hero] mark").count() >= MARKS:
            break
        press_and_go_on(page, "s")


def open_widget(page: Page, server: Server) -> None:
    """A question about a message that a visitor of the demo's shop has just written."""
    (site,) = server.api("GET", "projects/shop-talk/sites/")["results"]
    server.api("PATCH", f"sites/{site['public_key']}/", {"allowed_origins": [server.address]})
    page.goto("/demo/shop/")
    page.get_by_role("textbox").fill(
        "I need a warm lamp for a camping trip next week, and it should not cost too much."
    )
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Agree").click()
    expect(page.locator("labelhub-widget .choice").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Ready in")).to_be_hidden(timeout=PATIENCE)


def open_offers(page: Page, _server: Server) -> None:
    """What became of the offers of the demo's shop in four weeks."""
    page.goto("/p/shop-talk/sites/")
    site = page.get_by_role("link", name="Corner shop").get_attribute("href")
    page.goto(f"{site}offers/?days=28")


#: Who sees a picture's page, and what they do to come there.
PICTURES: dict[str, tuple[str | None, Callable[[Page, Server], None]]] = {
    "review": ("manager", open_review),
    "widget": (None, open_widget),
    "offers": ("manager", open_offers),
}


@contextmanager
def opened(name: str, server: Server, browser: Browser) -> Iterator[Page]:
    """The page of a picture, as it is to be taken."""
    username, go_there = PICTURES[name]
    look = {"color_scheme": "light", "reduced_motion": "reduce", "device_scale_factor": 1.5}
    page = open_page(server, browser, username, viewport=SIZE, **look)
    go_there(page, server)
    page.mouse.move(0, 0)
    page.wait_for_load_state("networkidle")
    page.evaluate(SETTLED)
    yield page
    page.context.close()


def words_of(page: Page) -> str:
    """The words of the interface, a line each, with a sign for numbers."""
    return re.sub(r"\d[\d.,]*", "#", page.evaluate(SEEN)) + "\n"


def main() -> None:
    """Take them all."""
    with opened_demo() as (server, browser):
        for name in PICTURES:
            with opened(name, server, browser) as page:
                page.screenshot(path=FOLDER / f"{name}.png")
                (FOLDER / f"{name}.txt").write_text(words_of(page), encoding="utf-8")
            print(name, flush=True)


if __name__ == "__main__":
    main()
