"""How much a new team has to do on an empty server: every click, key, field and file counts."""

import base64
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
PASSWORD = "three green kettles"
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
#: In the preview the text and what belongs to it end where the labels begin.
PREVIEW_IN_ORDER = """() => {
  const box = (name) => document.querySelector(`#preview .task__${name}`).getBoundingClientRect();
  return box("reading").bottom <= box("answer").top;
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
        page.wait_for_load_state()  # before its script is there, the page takes no file
        page.evaluate(DROP, [name, base64.b64encode(content.encode()).decode()])

    def sign_in(self, page: Page, username: str, password: str) -> None:
        """The address of the server is known."""
        page.goto("/")
        self.fill(page.get_by_label("User name or email"), username)
        self.fill(page.get_by_label("Password"), password)
        self.press(page, "Enter")
        page.wait_for_url(lambda url: "/login/" not in url)

    def create(self, page: Page, file_name: str) -> None:
        """A project of the file, with what is proposed."""
        self.drop(page, file_name, REVIEWS)
        expect(page.get_by_role("heading", name="What reviewers will see")).to_be_visible()
        assert page.evaluate(PREVIEW_IN_ORDER)
        self.click(page.get_by_role("button", name="Create and import"))

    def label(self, page: Page, key: str) -> None:
        """Answer the item on the review page."""
        expect(task(page)).to_be_visible()
        readable(page)
        self.press(page, key)
        self.press(page, "Enter")
        all_saved(page)

    def invite(self, manager: Page, people: int) -> str:
        """On the page of people; returns the link to hand over."""
        self.fill(manager.get_by_label("People per link"), str(people))
        self.click(manager.get_by_role("button", name="Invite"))
        expect(manager.get_by_role("heading", name="Hand over this link")).to_be_visible()
        return manager.locator("#new-link").inner_text().strip()

    def join(self, page: Page, link: str, username: str) -> None:
        """With a new account, which leads into the queue."""
        self.count += 1
        page.goto(link)
        self.fill(page.get_by_label("User name"), username)
        self.fill(page.get_by_label("Password"), PASSWORD)
        self.click(page.get_by_role("button", name="Join"))


def golds(server: Server) -> int:
    """How many items reviewers have decided by agreeing."""
    with closing(sqlite3.connect(server.folder / "labelhub.sqlite3")) as connection:
        sql = "SELECT count(*) FROM labels_gold WHERE basis = 'agreement'"
        return int(connection.execute(sql).fetchone()[0])


@pytest.fixture(scope="module")
def empty_server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("first-hour"), demo=False) as running:
        yield running


@pytest.mark.timeout(900)
def test_a_new_team_gets_from_an_empty_server_to_gold(
    browser: Browser, empty_server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    troubles = Troubles()
    opened: list[BrowserContext] = []

    def new_page() -> Page:
        context = browser.new_context(base_url=empty_server.address)
        context.set_default_timeout(STEP_PATIENCE)
        opened.append(context)
        page = context.new_page()
        troubles.watch(page)
        return page

    first, password = Team(), empty_server.passwords["manager"]
    manager = new_page()
    first.sign_in(manager, "manager", password)
    first.create(manager, "first_stays.csv")
    first.click(manager.get_by_role("link", name="Start reviewing"))
    first.label(manager, "1")

    second = Team()
    manager = new_page()
    second.sign_in(manager, "manager", password)
    second.click(manager.get_by_role("link", name="New project"))
    second.create(manager, "second_stays.csv")
    second.click(manager.get_by_role("link", name="Add people"))
    link = second.invite(manager, 2)
    for username in ("rita", "sam"):
        reviewer = new_page()
        second.join(reviewer, link, username)
        second.label(reviewer, "1")
    until(lambda: golds(empty_server), "gold by agreement")

    with capsys.disabled():
        print(f"\nto the first label: {first.count}, to the first gold: {second.count}")
    for context in opened:
        context.close()
    assert not troubles
    assert first.count <= MOST_TO_THE_FIRST_LABEL
    assert second.count <= MOST_TO_THE_FIRST_GOLD
