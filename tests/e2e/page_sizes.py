"""How long the pages are on a phone and how many words they show: ``python tests/e2e/page_sizes.py
[NAME …]`` starts a server with the demo and prints a table, the longest page first.

NAME narrows it to pages whose name starts so.
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
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


def main(names: Sequence[str]) -> None:
    """Measure them."""
    # Needs a browser and a server, which those who only measure a page have already.
    from tests.e2e.browser import MISSING, find_chromium, launched  # noqa: PLC0415
    from tests.e2e.page_table import VIEWS  # noqa: PLC0415
    from tests.e2e.pages import prepare  # noqa: PLC0415
    from tests.e2e.server import served  # noqa: PLC0415
    from tests.e2e.steps import sign_in  # noqa: PLC0415

    chromium = find_chromium()
    if chromium is None:
        sys.exit(MISSING)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "server") as server,
        launched(chromium) as browser,
    ):
        places = prepare(server, browser, Path(folder))
        pages: dict[str | None, Page] = {}
        sizes = []
        for view in VIEWS:
            if names and not view.id.startswith(tuple(names)):
                continue
            if view.who not in pages:
                page = browser.new_context(base_url=server.address, viewport=PHONE).new_page()  # type: ignore[arg-type] # width and height
                if view.who:
                    sign_in(page, view.who, server.passwords[view.who])
                pages[view.who] = page
            pages[view.who].goto(view.at(places))
            pages[view.who].wait_for_load_state("networkidle")
            sizes.append(measure(pages[view.who], view.id))
        print(table_of(sizes))


if __name__ == "__main__":
    main(sys.argv[1:])
