"""The whole journey of a manager, as one story in a real browser."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import ROOT, Server
from tests.e2e.steps import (
    all_saved,
    chosen,
    go_to,
    mark,
    press_and_go_on,
    readable,
    same_page,
    sign_in,
    task,
)

DEMO_FILES = ROOT / "apps/dashboards/demo"
BY_CSV = 60
REVIEWED = 20


@pytest.mark.timeout(300)
def test_from_a_file_of_reviews_to_labels_that_can_be_trusted(
    open_as: OpenAs, server: Server, tmp_path: Path
) -> None:
    page = open_as(None, viewport={"width": 1280, "height": 800}, accept_downloads=True)
    sign_in(page, "manager", server.passwords["manager"])
    create_project(page, "City breaks", aspects())

    reviews = demo_rows()
    upload(page, csv_of(reviews[:BY_CSV], tmp_path), text="review", id_column="nr")
    expect_imported(page, created=BY_CSV)
    upload(page, jsonl_of(reviews[BY_CSV:], tmp_path))
    expect_imported(page, created=len(reviews) - BY_CSV)

    start_offline_run(page)
    watch_it_finish(page, len(reviews))
    open_a_debate(page)

    review_by_keyboard(page)
    evaluate(page)

    exported = export(page, tmp_path)
    assert len(exported) == len(reviews)
    decided = counts(page)

    create_project(page, "City breaks again", aspects())
    upload(page, tmp_path / "ledger.jsonl")
    expect_imported(page, created=len(reviews))
    assert counts(page) == decided
    assert export(page, tmp_path) == exported
    same_figures(server, "city-breaks", "city-breaks-again")


def aspects() -> list[dict[str, Any]]:
    """The labels of the demo with all that is said of them."""
    schema = json.loads((DEMO_FILES / "hotel_schema.json").read_text())
    return list(schema["labels"])


def demo_rows() -> list[dict[str, Any]]:
    """The reviews written for the demo."""
    lines = (DEMO_FILES / "hotel_reviews.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def csv_of(rows: list[dict[str, Any]], folder: Path) -> Path:
    """Reviews as a spreadsheet would save them: other column names, no gold."""
    path = folder / "reviews.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["nr", "review", "hotel"])
        writer.writerows([row["id"], row["text"], row["meta"]["hotel"]] for row in rows)
    return path


def jsonl_of(rows: list[dict[str, Any]], folder: Path) -> Path:
    """Reviews whose labels somebody knows."""
    path = folder / "known.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def create_project(page: Page, name: str, labels: list[dict[str, Any]]) -> None:
    """Name it, define every aspect with its description and one with all details."""
    page.get_by_role("link", name="LabelHub").click()
    page.get_by_role("link", name="New project").click()
    page.get_by_role("link", name="Type the labels yourself").click()
    page.get_by_label("Name", exact=True).first.fill(name)
    page.get_by_role("radio", name="Several labels").check()
    rows = page.locator("[data-label-row]:visible")
    for index, label in enumerate(labels):
        if rows.count() <= index:
            page.get_by_role("button", name="Add a label").click()
        row = rows.nth(index)
        row.get_by_label("Name").fill(label["name"])
        row.get_by_label("Description").fill(label["description"])
        row.get_by_text("What counts, what does not, examples").click()
        row.get_by_label("Include").fill(label["include"])
        row.get_by_label("Exclude").fill(label["exclude"])
        row.get_by_label("Examples for").fill("\n".join(label["examples_for"]))
        row.get_by_label("Examples against").fill("\n".join(label["examples_against"]))
    page.get_by_text("Details: guideline").click()
    page.get_by_label("Annotators per item").fill("1")
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def upload(page: Page, path: Path, *, text: str = "", id_column: str = "") -> None:
    """Choose a file, then its columns where they are not recognised."""
    go_to(page, "Data", "Import")
    page.get_by_label("File", exact=True).set_input_files(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check the file")
    if text:
        expect(page.get_by_label("Text", exact=True)).to_have_value(text)
        page.get_by_text("Details: id").click()
        page.get_by_label(re.compile("^Id")).select_option(id_column)
    page.get_by_role("button", name="Import", exact=True).click()


def expect_imported(page: Page, *, created: int) -> None:
    """The page follows the import and ends with its outcome."""
    outcome = page.locator(".callout", has_text="rows read")
    expect(outcome).to_contain_text(f"{created} created", timeout=60_000)
    expect(outcome).not_to_contain_text("with faults")


def start_offline_run(page: Page) -> None:
    """Extractor, critic and judge on the built-in model; what it takes is shown before."""
    go_to(page, "Models")
    page.get_by_role("link", name="Plan the first run").click()
    page.locator('input[name="protocol"][value="ecj"]').check()
    takes = page.get_by_role("complementary", name="What it will take")
    expect(takes).to_contain_text("nothing")
    expect(takes).to_contain_text("not an LLM")
    page.get_by_role("button", name="Start the run").click()


def watch_it_finish(page: Page, items: int) -> None:
    """Nobody presses reload: the page itself shows the end."""
    expect(page.get_by_role("heading", level=1)).to_contain_text("run")
    progress = page.get_by_role("region", name="Progress")
    labelled = progress.locator("li", has_text="Labelled")
    expect(labelled).to_contain_text(str(items), timeout=120_000)
    expect(progress.locator(".badge").first).to_have_text(
        re.compile("done|finished", re.IGNORECASE)
    )
    expect(page.get_by_role("table").get_by_role("row")).not_to_have_count(1)


def open_a_debate(page: Page) -> None:
    """Who said what; a quote shows its place in the text."""
    page.get_by_role("rowheader").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Debate on")
    for role in ("Extractor", "Critic", "Judge"):
        expect(page.get_by_role("heading", name=role)).to_be_visible()
    page.locator("[data-quote]").first.click()
    expect(page.locator("[data-debate-text] mark[data-on]").first).to_be_visible()


def review_by_keyboard(page: Page) -> None:
    """Twenty items without mouse and without a page load in between."""
    go_to(page, "Review")
    expect(task(page)).to_be_visible()
    mark(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys of this page")).to_be_visible()
    page.keyboard.press("Escape")
    skipped = press_and_go_on(page, "s")
    page.keyboard.press("u")
    expect(page.locator(f'form[data-task][data-item="{skipped}"]')).to_be_visible()
    readable(page)
    for index in range(REVIEWED):
        answer_one(page, index)
    assert same_page(page)
    all_saved(page)
    expect(page.locator("[data-count=done]")).to_have_text(str(REVIEWED))


def answer_one(page: Page, number: int) -> None:
    """Most are accepted, some corrected, one rejected and corrected; a few come without a
    suggestion."""
    if not chosen(page):
        press_and_go_on(page, "n", "Enter")
    elif number % 5 == 3:
        before = chosen(page)
        page.keyboard.press("2")
        assert chosen(page) != before
        press_and_go_on(page, *([] if chosen(page) else ["n"]), "Enter")
    else:
        if number == 4:
            page.keyboard.press("x")
            page.keyboard.press("2")
            if not chosen(page):
                page.keyboard.press("n")
        press_and_go_on(page, "a" if number % 2 else "Enter")


def evaluate(page: Page) -> None:
    """Numbers with their doubt; a cell of a matrix leads to its items and their debates."""
    go_to(page, "Quality", "Evaluation")
    for name in ("F1 of each label", "Where it fails"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_text("Details", exact=True).click()
    for label in aspects():
        expect(page.get_by_role("heading", name=label["name"])).to_be_visible()
    expect(page.locator("main")).to_contain_text(re.compile(r"F1"))
    expect(page.locator(".tile").first).to_contain_text(re.compile(r"\d+\s?%"))
    cell = page.locator(".matrix a").first
    number = int(cell.inner_text())
    cell.click()
    expect(page.locator(".cell-item")).to_have_count(number)
    page.locator(".cell-item").first.get_by_role("link", name="Debate").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Debate on")


def export(page: Page, folder: Path) -> list[Any]:
    """Download the ledger as JSONL, and the table as CSV with the same number of items."""
    go_to(page, "Export")
    download(page, "jsonl", folder / "ledger.jsonl")
    download(page, "csv", folder / "ledger.csv")
    rows = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    with (folder / "ledger.csv").open(newline="", encoding="utf-8-sig") as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    return rows


def download(page: Page, format_name: str, path: Path) -> None:
    """One file, by its format."""
    page.get_by_label("Format").select_option(format_name)
    with page.expect_download() as begun:
        page.get_by_role("button", name="Export").click()
    begun.value.save_as(path)


def counts(page: Page) -> str:
    """Items and decided items, as the export page words them."""
    go_to(page, "Export")
    words = page.get_by_role("group", name="Contents").inner_text()
    assert re.search(r"all labels \(\d+\)\s+Gold only \(\d+\)", words)
    return words


def same_figures(server: Server, *slugs: str) -> None:
    """What REST says of quality is the same of both projects."""
    first, second = (server.api("GET", f"projects/{slug}/evaluation/") for slug in slugs)
    for figures in (first, second):
        assert figures["labels"]
    assert first["labels"] == second["labels"]
