"""Auto-accept in a browser: the numbers follow the fields, and a sample can be completed."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.steps import item_of, press_and_go_on, task

DESK = "/p/library-desk"
#: Target, coverage, and the milliseconds before the next change.
HASTE = ((11, "75", 0), (12, "25", 30), (13, "50", 120), (20, "75", 450))


def test_numbers_follow_the_fields_and_a_sample_is_judged_at_once(open_as: OpenAs) -> None:
    """Where authors have spoken; fields changed in quick succession leave the console empty."""
    page = open_as("manager")
    page.goto(f"{DESK}/automation/")
    for target, coverage, pause in HASTE:
        page.get_by_label("Wrong at most, in per cent").fill(str(target))
        page.get_by_label("Items you hope to accept").select_option(coverage)
        page.wait_for_timeout(pause)
    takes = page.get_by_role("complementary", name="What it takes")
    expect(takes).to_contain_text("at most 20\xa0% wrong")
    expect(takes).to_have_count(1)
    expect(page.get_by_role("button", name="Draw the sample")).to_have_count(1)
    draw(page, DESK)
    expect(page.get_by_role("heading", name="What the sample showed")).to_be_visible()
    assert page.get_by_role("heading", name="The sample waits for people").count() == 0
    give_up(page)


def test_where_labels_came_with_the_items_the_sample_is_labelled_in_the_queue(
    server: Server, open_as: OpenAs, tmp_path: Path
) -> None:
    slug = server.project(
        "brought-labels", [f"The room was clean, night {index}." for index in range(6)]
    )
    names = [label["name"] for label in server.api("GET", f"projects/{slug}/")["schema"]["labels"]]
    items = server.api("GET", f"projects/{slug}/items/")["results"]
    rows = [
        {"item_id": item["external_id"], "annotator_id": who, "annotator_type": "crowd"}
        | {"labels": names[:1]}
        for item in items
        for who in ("c1", "c2")
    ]
    brought = tmp_path / "labels.jsonl"
    brought.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert server.manage("import_labels", slug, str(brought))["created"] == len(rows)
    server.run(slug, protocol="single")
    page = open_as("manager")
    draw(page, f"/p/{slug}")
    expect(page.get_by_role("heading", name="The sample waits for people")).to_be_visible()
    page.get_by_role("link", name="Label items").click()
    label_all(page)
    page.goto(f"/p/{slug}/automation/")
    expect(page.get_by_role("heading", name="What the sample showed")).to_be_visible()
    give_up(page)


def draw(page: Page, project: str) -> None:
    """A sample for a promise that few items can prove."""
    page.goto(f"{project}/automation/")
    page.get_by_label("Wrong at most, in per cent").fill("50")
    page.get_by_label("Confidence, in per cent").fill("50")
    page.get_by_label("Items you hope to accept").select_option("75")
    page.get_by_role("button", name="Draw the sample").click()


def give_up(page: Page) -> None:
    """So that the project is as before."""
    page.get_by_text(re.compile("Discard the sample")).click()
    page.get_by_role("button", name="Yes, discard it").click()
    expect(page.get_by_text("Earlier promises")).to_be_visible()
    expect(page.get_by_role("heading", name="The promise")).to_be_visible()


def label_all(page: Page) -> None:
    """Answer each item that the queue has, none of which shows a suggestion."""
    expect(task(page)).to_be_visible()
    while task(page).count():
        assert item_of(page)
        expect(task(page).locator(":checked")).to_have_count(0)
        press_and_go_on(page, "1", "Enter")
