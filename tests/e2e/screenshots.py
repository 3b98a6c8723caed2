"""Pictures of every page: ``python tests/e2e/screenshots.py FOLDER [NAME …]``.

Starts a server of its own with the demo. Each page is taken at 1280 and 390 pixels, light and dark;
NAME narrows it to pages whose name starts so. The README's pictures are made by pictures.py.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Browser, Page

from tests.e2e.browser import SETTLED
from tests.e2e.page_table import VIEWS, View
from tests.e2e.pages import prepare
from tests.e2e.server import Server
from tests.e2e.steps import open_page, opened_demo

SIZES = {1280: 800, 390: 844}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main(words: Sequence[str]) -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(words)
    with opened_demo() as (server, browser):
        take_all(server, browser, asked.folder, asked.names)


def take_all(server: Server, browser: Browser, folder: Path, names: Sequence[str]) -> None:
    """``FOLDER/<page>-<width>-<scheme>.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as files:
        places = prepare(server, browser, Path(files))
    pages: dict[str | None, Page] = {}
    for view in VIEWS:
        if names and not view.id.startswith(tuple(names)):
            continue
        if view.who not in pages:
            pages[view.who] = open_page(server, browser, view.who)
        take(pages[view.who], view, places, folder)


def take(page: Page, view: View, places: dict[str, Any], folder: Path) -> None:
    """Both widths, both schemes, the whole length."""
    page.goto(view.at(places))
    page.wait_for_load_state("networkidle")
    for width, height in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(SETTLED)
            page.screenshot(path=folder / f"{view.id}-{width}-{scheme}.png", full_page=True)
    print(view.id, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
