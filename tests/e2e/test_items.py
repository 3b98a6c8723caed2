"""Items and pages by keyboard and on a phone; the label editor with many labels."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import PHONE
from tests.e2e.conftest import OpenAs
from tests.e2e.server import DEMO, Server

MANY = {"task": "multi", "labels": [f"topic {number}" for number in range(1, 51)]}


@pytest.fixture
def items(open_as: OpenAs) -> Page:
    """The list, at the demo's first page."""
    page = open_as("manager")
    page.goto(f"/p/{DEMO}/items/")
    return page


def test_actions_appear_with_a_selection_and_name_its_number(items: Page) -> None:
    bar = items.get_by_role("form", name="Action on the selected items")
    expect(bar).to_be_hidden()
    expect(items.locator("[data-tick]:checked")).to_have_count(0)
    links = items.locator(".items-table tbody th a")
    links.nth(1).focus()
    items.keyboard.press("x")
    expect(bar.get_by_role("status")).to_have_text("1 selected")
    items.keyboard.press("ArrowDown")
    items.keyboard.press("ArrowDown")
    expect(links.nth(3)).to_be_focused()
    items.keyboard.press("Shift+X")
    expect(bar.get_by_role("status")).to_have_text("3 selected")
    bar.get_by_role("button", name="Preview").click()
    items.wait_for_url("**/bulk/new/?*")
    assert items.url.count("item=") == 3


def test_all_results_are_an_action_on_the_search(items: Page) -> None:
    items.goto(f"/p/{DEMO}/items/?q=room")
    items.get_by_label("Select all results").check()
    bar = items.get_by_role("form", name="Action on the selected items")
    expect(bar.get_by_role("status")).to_have_text(re.compile(r"^All \d+ results$"))
    bar.get_by_role("button", name="Preview").click()
    items.wait_for_url("**/bulk/new/?*")
    assert ("q=room" in items.url, "item=" in items.url) == (True, False)
    items.go_back()
    items.get_by_label("Select all results").check()
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_be_hidden()


def test_a_phone_shows_ten_rows_in_two_screens_and_a_tap_opens_one(items: Page) -> None:
    items.set_viewport_size(PHONE)  # type: ignore[arg-type] # width and height
    tenth = items.locator(".items-table tbody tr").nth(9).bounding_box()
    assert tenth is not None
    assert tenth["y"] + tenth["height"] <= 2 * PHONE["height"]
    # The whole row is the link, so a click on the text meets the link.
    items.locator(".items-table__text").first.click(force=True)
    items.wait_for_url(f"**/p/{DEMO}/items/*/")


def test_fifty_labels_fold_are_found_and_saved(open_as: OpenAs, server: Server) -> None:
    server.api("POST", "projects/", {"slug": "many", "name": "many", "schema": MANY})
    page = open_as("manager", viewport=PHONE)
    page.goto("/p/many/labels/")
    save = page.get_by_role("button", name="Save as a new version")
    expect(save).to_be_in_viewport()
    rows = page.locator("[data-label-row]:visible")
    expect(rows).to_have_count(50)
    page.get_by_placeholder("Find a label").fill("topic 42")
    expect(rows).to_have_count(1)
    rows.locator("summary").first.click()
    rows.get_by_label("Description").fill("The answer.")
    page.get_by_placeholder("Find a label").fill("")
    rows.nth(4).locator("summary").first.click()
    expect(page.locator(".label-row__fold[open]")).to_have_count(1)
    save.click()
    page.wait_for_load_state()
    labels = server.api("GET", "projects/many/")["schema"]["labels"]
    assert (len(labels), labels[41]["description"]) == (50, "The answer.")


def test_the_search_opens_pages_and_items_by_keyboard(items: Page) -> None:
    dialog = items.get_by_role("dialog", name="Search")
    items.keyboard.press("/")
    expect(dialog.get_by_role("link", name="Quality", exact=True)).to_be_visible()
    items.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    items.keyboard.press("Control+k")
    items.keyboard.type("kappa")
    items.keyboard.press("Enter")
    items.wait_for_url("**/agreement/")

    items.keyboard.press("Control+k")
    items.keyboard.type("hotel-00")
    expect(dialog.get_by_role("link", name="hotel-001")).to_be_visible()
    items.keyboard.press("ArrowDown")
    items.keyboard.press("Enter")
    items.wait_for_url("**/items/*/")
