"""The README's "Two reviewers and an expert, in five minutes", word for word, in a real browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.steps import all_saved, go_to, press_and_go_on, readable, task
from tests.e2e.test_journey import download, expect_imported, upload

LABELS = ["praise", "complaint"]
TEXTS = ["The guide was kind.", "The bus never came.", "Well, what a tour that was."]
PASSWORD = "only-they-know-7"


@pytest.mark.timeout(300)
def test_two_reviewers_and_an_expert(open_as: OpenAs, server: Server, tmp_path: Path) -> None:
    manager = open_as("manager", viewport={"width": 1280, "height": 800}, accept_downloads=True)
    manager.goto("/")
    make_project(manager)
    upload(manager, texts_file(tmp_path), text="text", id_column="id")
    expect_imported(manager, created=len(TEXTS))
    crowd, experts = invite(manager, "crowd", people=2), invite(manager, "expert", people=1)

    for name, keys in (("two-anna", "121"), ("two-ben", "122")):
        page = open_as(None)
        join(page, crowd, name)
        label_all(page, dict(zip(TEXTS, keys, strict=True)))

    expert = open_as(None)
    join(expert, experts, "two-eva")
    decide_the_conflict(expert)

    assert exported_gold(manager, tmp_path) == dict(
        zip(TEXTS, ["praise", "complaint", "complaint"], strict=True)
    )


def make_project(page: Page) -> None:
    """Step 1."""
    page.get_by_role("link", name="New project").click()
    page.get_by_role("link", name="Type the labels yourself").click()
    page.get_by_label("Name", exact=True).first.fill("Two and an expert")
    rows = page.locator("[data-label-row]:visible")
    for index, label in enumerate(LABELS):
        if rows.count() <= index:
            page.get_by_role("button", name="Add a label").click()
        rows.nth(index).get_by_label("Name").fill(label)
    page.get_by_text("Details: guideline").click()
    expect(page.get_by_label("Annotators per item")).to_have_value("2")
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two and an expert")


def texts_file(folder: Path) -> Path:
    """A spreadsheet of texts."""
    path = folder / "tours.csv"
    path.write_text(
        "id,text\n" + "".join(f'{index},"{text}"\n' for index, text in enumerate(TEXTS))
    )
    return path


def invite(page: Page, kind: str, *, people: int) -> str:
    """Step 3: the link to hand over."""
    go_to(page, "Settings", "People")
    page.get_by_label("Labels as").select_option(kind)
    page.get_by_label("People per link").fill(str(people))
    page.get_by_role("button", name="Invite").click()
    expect(page.get_by_role("heading", name="Hand over this link")).to_be_visible()
    return page.locator("#new-link").inner_text().strip()


def join(page: Page, link: str, name: str) -> None:
    """Step 3 for one of them, who is then in the queue."""
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")


def label_all(page: Page, keys: dict[str, str]) -> None:
    """Step 4: a key per text, then Enter, until nothing is left."""
    for _ in keys:
        text = task(page).locator("[data-hero]").inner_text()
        press_and_go_on(page, keys[text.strip()], "Enter")
    all_saved(page)


def decide_the_conflict(page: Page) -> None:
    """Step 5: both opinions beside each other, one key, decided."""
    go_to(page, "Adjudicate")
    expect(page.get_by_role("heading", level=1)).to_have_text("Adjudication")
    page.wait_for_load_state()  # before its script is there, no key is heard
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/adjudication/\d+/"))
    expect(page.locator("[data-opinion]")).to_have_count(2)
    for name in ("two-anna", "two-ben"):
        expect(page.locator("[data-opinion]", has_text=name)).to_be_visible()
    readable(page)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/adjudication/$"))


def exported_gold(page: Page, folder: Path) -> dict[str, str]:
    """The gold of each text, as the export has it."""
    go_to(page, "Export")
    download(page, "jsonl", folder / "out.jsonl")
    items = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    return {item["text"]: item["gold"] for item in items}
