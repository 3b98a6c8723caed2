"""A real Chromium: where it is, and how the browser tests open pages in it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "browser tests need a Chromium, none was found: apt-get install chromium, or set CHROMIUM=path"
)
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
#: For ``page.evaluate``: colours on their way from the other scheme have arrived.
SETTLED = "Promise.allSettled(document.getAnimations().map((one) => one.finished))"
#: What Chromium itself writes to the console for a status that a test provokes on purpose.
STATUS_LINE = "Failed to load resource: the server responded with a status of"
#: What htmx writes when a newer request takes the place of one under way, as pages ask it to; what
#: fails is written as ``htmx:sendError`` or ``htmx:responseError`` too.
REPLACED = ("htmx:sendAbort", "htmx:afterRequest")


def find_chromium() -> str | None:
    """``CHROMIUM``, else the first of the usual names on PATH; None where there is none."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """A headless browser that calls nobody but the server under test."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Troubles(list[str]):
    """What a page complained of: console errors and warnings of the policy, failed scripts."""

    def watch(self, page: Page) -> None:
        """Write down everything from now on."""
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.append(f"script: {error}"))

    def _heard(self, message: ConsoleMessage) -> None:
        policy = "Content Security Policy" in message.text
        expected = message.text.startswith((STATUS_LINE, *REPLACED))
        if (message.type == "error" or policy) and not expected:
            self.append(f"{message.type}: {message.text}")
