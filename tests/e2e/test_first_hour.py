"""How much a new team has to do on an empty server: every click, key, field and file counts."""

import base64
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import STEP_PATIENCE
from tests.e2e.server import Server, served, until
from tests.e2e.steps import all_saved, readable, task

MOST_TO_THE_FIRST_LABEL = 8
MOST_TO_THE_FIRST_GOLD = 25
REVIEWS = "\n".join(
    ["text,category"]
    + [f"The room was quiet on night {night}.,good" for night in range(3)]
    + [f"The lift was broken on day {day}.,bad" for day in range(2)]
    + ["Breakfast ended before nine.,", "We would come again.,"]
)
DROP = """([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name));
  const zone = document.querySelector("form[data-drop]");
  const how = { bubbles: true, cancelable: true, dataTransfer: data };
  zone.dispatchEvent(new DragEvent("drop", how));
}"""


class Team:
    """What people do, counted."""

    def __init__(self) -> None:
        self.count = 0

    def click(self, target: Locator) -> None:
        self.count += 1
        target.click()

    def fill(self, field: Locator, text: str) -> None:
        self.count += 1
        field.fill(text)

    def press(self, page: Page, key: str) -> None:
        self.count += 1
        page.keyboard.press(key)

    def drop(self, page: Page, name: str, content: str) -> None:
        self.count += 1
        page.evaluate(DROP, [name, base64.b64encode(content.encode()).decode()])

    def sign_in(self, page: Page, username: str, password: str) -> None:
        """The address of the server is known."""
        page.goto("/")
        self.fill(page.get_by_label("User name or email"), username)
        self.fill(page.get_by_label("Password"), password)
        self.press(page, "Enter")
        page.wait_for_url(lambda url: "/login/" not in url)

    def label(self, page: Page, key: str) -> None:
        """Answer the item on the review page."""
        expect(task(page)).to_be_visible()
        readable(page)
        self.press(page, key)
        self.press(page, "Enter")
        all_saved(page)

    def add_reviewer(self, manager: Page, username: str) -> str:
        """On the page of people; returns the password that was shown."""
        self.fill(manager.get_by_label("User name", exact=True), username)
        self.click(manager.get_by_role("button", name="Create the account"))
        expect(manager.get_by_role("heading", name=f"{username} can sign in")).to_be_visible()
        return manager.locator("#new-password").inner_text().strip()

    def open_review(self, page: Page, slug: str) -> None:
        """From the page after the sign-in, unless that is the queue already."""
        if not page.url.endswith(f"/p/{slug}/review/"):
            self.click(page.get_by_role("link", name="First stays", exact=True))
            self.click(page.get_by_role("link", name="Review", exact=True).first)


def golds(server: Server) -> int:
    """How many items reviewers have decided by agreeing."""
    with closing(sqlite3.connect(server.folder / "labelhub.sqlite3")) as connection:
        sql = "SELECT count(*) FROM labels_gold WHERE basis = 'agreement'"
        return int(connection.execute(sql).fetchone()[0])


@pytest.fixture(scope="module")
def empty_server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("first-hour"), demo=False) as running:
        yield running


@pytest.mark.timeout(300)
def test_a_new_team_gets_from_an_empty_server_to_gold(
    browser: Browser, empty_server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    team, troubles = Team(), Troubles()
    opened: list[BrowserContext] = []

    def new_page() -> Page:
        context = browser.new_context(base_url=empty_server.address)
        context.set_default_timeout(STEP_PATIENCE)
        opened.append(context)
        page = context.new_page()
        troubles.watch(page)
        return page

    manager = new_page()
    team.sign_in(manager, "manager", empty_server.passwords["manager"])
    team.drop(manager, "first_stays.csv", REVIEWS)
    expect(manager.get_by_role("heading", name="What reviewers will see")).to_be_visible()
    team.click(manager.get_by_role("button", name="Create and import"))
    team.click(manager.get_by_role("link", name="Start reviewing"))
    team.label(manager, "1")
    to_first_label = team.count

    slug = re.search("/p/([^/]+)/", manager.url).group(1)  # type: ignore[union-attr]  # it is there
    manager.goto(f"/p/{slug}/")
    team.click(manager.get_by_role("link", name="People", exact=True).first)
    for username in ("rita", "sam"):
        password = team.add_reviewer(manager, username)
        reviewer = new_page()
        team.sign_in(reviewer, username, password)
        team.open_review(reviewer, slug)
        team.label(reviewer, "1")
    until(lambda: golds(empty_server), "gold by agreement")
    to_first_gold = team.count

    with capsys.disabled():
        print(f"\nto the first label: {to_first_label}, to the first gold: {to_first_gold}")
    for context in opened:
        context.close()
    assert not troubles
    assert to_first_label <= MOST_TO_THE_FIRST_LABEL
    assert to_first_gold <= MOST_TO_THE_FIRST_GOLD
