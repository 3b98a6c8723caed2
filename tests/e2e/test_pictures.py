"""The README's pictures show what the pages say now."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.pictures import FOLDER, PICTURES, opened, words_of
from tests.e2e.server import Server, served

# A second server starts while others test.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def fresh_server(server: Server) -> Iterator[Server]:
    """The demo as it is when it starts; other tests change the demo of ``server``."""
    with served(Path(f"{server.folder}-pictures")) as running:
        yield running


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_the_words_of_its_page(
    name: str, fresh_server: Server, browser: Browser
) -> None:
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    with opened(name, fresh_server, browser) as page:
        assert words_of(page) == kept, "the page has changed: run `make screenshots`"
