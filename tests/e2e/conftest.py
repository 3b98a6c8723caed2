"""What every browser test has: a Chromium, a real server, pages signed in as somebody."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.browser import MISSING, Troubles, find_chromium, launched
from tests.e2e.server import Server, served
from tests.e2e.steps import sign_in
from tests.e2e.widget_steps import Shop, add_model, open_shop
from tests.fakes.openai_server import FakeServer

HERE = Path(__file__).parent
STEP_PATIENCE = 20_000  # milliseconds; a busy machine is no fault of the page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is marked."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without a Chromium skip; here, where all share a place, so that one line reports them all."""
    wanted = "chromium" in getattr(item, "fixturenames", ())
    if wanted and find_chromium() is None and os.environ.get("LABELHUB_REQUIRE_BROWSER") != "1":
        pytest.skip(MISSING)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; without one it is an error, see ``pytest_runtest_setup``."""
    found = find_chromium()
    if found is None:
        pytest.fail(MISSING)
    return found


@pytest.fixture(scope="session")
def server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests of this process."""
    base, worker = tmp_path_factory.getbasetemp(), os.environ.get("PYTEST_XDIST_WORKER")
    shared = base.parent if worker else base
    with served(shared / f"labelhub-{worker or 'alone'}") as running:
        yield running


@pytest.fixture(scope="module")
def shop(server: Server) -> Iterator[Shop]:
    """For tests of the widget: a project with sites of its own, and a host's web server."""
    with open_shop(server) as opened:
        yield opened


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeServer]:
    """A model's endpoint that answers as a test wants."""
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="module")
def model(server: Server, endpoint: FakeServer) -> str:
    """The model at ``endpoint``, for the projects of this server."""
    return add_model(server, endpoint.base_url)


# Not for the whole session: playwright's event loop runs in this thread while it is open, and
# the asynchronous tests of other modules need the thread without one.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser for the tests of a module."""
    expect.set_options(timeout=STEP_PATIENCE)
    with launched(chromium) as running:
        yield running


@pytest.fixture(scope="session")
def cookies() -> dict[str, Any]:
    """Who has signed in already, and how the server knows them."""
    return {}


class OpenAs(Protocol):
    """Opens a page for somebody; see :func:`open_as`."""

    def __call__(self, username: str | None, **options: Any) -> Page:
        """``options`` are those of a browser context; None is nobody."""
        ...


@pytest.fixture
def troubles() -> Troubles:
    """What any page of this test complained of. A test that expects some empties it."""
    return Troubles()


@pytest.fixture
def open_as(
    browser: Browser, server: Server, cookies: dict[str, Any], troubles: Troubles
) -> Iterator[OpenAs]:
    """Pages of their own context each, signed in as somebody; none may have complained."""
    opened: list[BrowserContext] = []

    def open_page(username: str | None, **options: Any) -> Page:
        context = browser.new_context(
            base_url=server.address, storage_state=cookies.get(username or ""), **options
        )
        opened.append(context)
        context.set_default_timeout(STEP_PATIENCE)
        page = context.new_page()
        troubles.watch(page)
        if username and username not in cookies:
            sign_in(page, username, server.passwords[username])
            cookies[username] = context.storage_state()
        return page

    yield open_page
    for context in opened:
        context.close()
    assert not troubles
