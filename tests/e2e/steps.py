"""What people do, in few words: the steps that several stories share."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browser import MISSING, find_chromium, launched
from tests.e2e.server import Server, served

MARK = "document.documentElement.dataset.mark"
#: Parts of the page with a scroll bar of their own.
SCROLLING = """[...document.querySelectorAll("main *")].filter((part) =>
  part.scrollHeight > part.clientHeight + 1
  && ["auto", "scroll"].includes(getComputedStyle(part).overflowY)).map((part) => part.className)"""


def sign_in(page: Page, username: str, password: str, *, here: bool = False) -> None:
    """By the page everybody signs in at; ``here``: it is open already."""
    if not here:
        page.goto("/accounts/login/")
    page.get_by_label("User name or email").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/accounts/" not in url)


@contextmanager
def opened_demo() -> Iterator[tuple[Server, Browser]]:
    """For commands: a server with the demo, in a folder that is gone afterwards, and a browser."""
    chromium = find_chromium()
    if chromium is None:
        sys.exit(MISSING)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "server") as server,
        launched(chromium) as browser,
    ):
        yield server, browser


def open_page(server: Server, browser: Browser, username: str | None, **options: Any) -> Page:
    """A page of its own context, signed in as ``username``; None is nobody."""
    page = browser.new_context(base_url=server.address, **options).new_page()
    if username:
        sign_in(page, username, server.passwords[username])
    return page


def go_to(page: Page, room: str, tab: str = "") -> None:
    """A page of the project, by its menu and its room's tabs."""
    menu = page.get_by_role("navigation", name="Project")
    menu.get_by_role("link", name=room, exact=True).click()
    if tab:
        tabs = page.get_by_role("navigation", name=room)
        tabs.get_by_role("link", name=tab, exact=True).click()


def task(page: Page) -> Locator:
    """The item on the review screen, once its script is at work and it could be read."""
    return page.locator("form[data-task]:not([data-fresh])")


def item_of(page: Page) -> str:
    """Which item that is."""
    return task(page).get_attribute("data-item") or ""


def chosen(page: Page) -> list[str]:
    """The labels that are ticked."""
    return [str(box.get_attribute("value")) for box in task(page).locator(":checked").all()]


def review(page: Page, slug: str) -> None:
    """Open the review screen and mark the page, so that :func:`same_page` knows it again."""
    page.goto(f"/p/{slug}/review/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    readable(page)
    mark(page)


def readable(page: Page) -> None:
    """Wait until the item on the page could be read: before, no key is an answer."""
    expect(page.locator("form[data-fresh]")).to_have_count(0)


def mark(page: Page) -> None:
    """Leave a mark that any page load would wipe out."""
    page.evaluate(f"{MARK} = 'the same page'")


def same_page(page: Page) -> bool:
    """No page was loaded since it was marked."""
    return bool(page.evaluate(MARK) == "the same page")


def press_and_go_on(page: Page, *keys: str) -> str:
    """Press ``keys``, wait for another item (or the end); returns the item that was answered."""
    before = item_of(page)
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator(f'form[data-task][data-item="{before}"]')).to_have_count(0)
    expect(page.locator("[data-stage]:not([aria-busy]) > *")).to_have_count(1)
    readable(page)
    return before


def all_saved(page: Page) -> None:
    """What was answered has arrived."""
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved")
