"""What the review screen asks and keeps: drafts, evidence, reasons, own keys, an hour's work."""

from collections.abc import Callable
from itertools import count
from statistics import quantiles
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.painting import WATCH
from tests.e2e.server import Server, until
from tests.e2e.steps import all_saved, chosen, item_of, press_and_go_on, review, same_page, task

SLUGS = count(1)
#: An emoji is two units to the browser and one code point to Python.
TEXT = "😀 The room was spotless.\r\nThe staff was kind, the staff was quick."

Project = Callable[..., str]


@pytest.fixture
def project(server: Server) -> Project:
    """Makes a project of these texts, its screen set up as told; gives its slug."""

    def make(*texts: str, **screen: Any) -> str:
        slug = server.project(f"screen-{next(SLUGS)}", texts or (TEXT, "Another one."))
        server.api("PATCH", f"projects/{slug}/screen/", screen)
        return slug

    return make


def labelled(server: Server, slug: str, number: int = 1) -> list[Any]:
    """What people said, once they said so much."""

    def said() -> list[Any] | None:
        labels = server.labels(slug)
        return labels if len(labels) >= number else None

    return list(until(said, f"{number} labels in {slug}"))


def test_what_was_begun_is_there_again_in_another_browser(
    open_as: OpenAs, project: Project
) -> None:
    slug = project(ask_rationale="optional")
    page = open_as("reviewer")
    review(page, slug)
    item = item_of(page)
    page.keyboard.press("2")
    page.keyboard.press("c")
    with page.expect_response("**/review/draft/"):
        page.keyboard.type("half a thou")
    page.close()

    again = open_as("reviewer")
    review(again, slug)

    assert (item_of(again), chosen(again)) == (item, ["Service"])
    expect(again.locator("[name=comment]")).to_have_value("half a thou")
    expect(again.get_by_text("Your draft is back")).to_be_visible()


def test_what_is_taken_back_is_there_as_it_was_given(open_as: OpenAs, project: Project) -> None:
    slug = project("One.", "Two.")
    page = open_as("reviewer")
    review(page, slug)
    with page.expect_response("**/review/draft/"):
        page.keyboard.press("2")
    press_and_go_on(page, "Enter")
    all_saved(page)
    with page.expect_response("**/review/undo/"):
        page.keyboard.press("u")
    expect(page.locator("[data-hero]")).to_have_text("One.")
    expect(task(page).locator(":checked")).to_have_value("Service")


@pytest.mark.parametrize("words", ["spotless", "The staff was kind"])
def test_a_place_that_is_marked_is_stored_as_it_stands_in_the_text(
    open_as: OpenAs, project: Project, server: Server, words: str
) -> None:
    slug = project(ask_evidence=True)
    page = open_as("reviewer")
    review(page, slug)
    page.keyboard.press("1")
    page.locator("[data-hero]").evaluate(SELECT, words)
    page.keyboard.press("m")
    expect(page.locator("[data-evidence-list] q")).to_have_text(words)
    press_and_go_on(page, "Enter")

    [label] = labelled(server, slug)
    assert label["evidence"] == {"Cleanliness": [words]}


#: Selects words in the text, as dragging over them does.
SELECT = """(hero, words) => {
  const node = hero.firstChild, range = document.createRange();
  const at = node.data.indexOf(words);
  range.setStart(node, at);
  range.setEnd(node, at + words.length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def test_without_a_mouse_words_are_typed(open_as: OpenAs, project: Project, server: Server) -> None:
    slug = project(ask_evidence=True)
    page = open_as("reviewer")
    review(page, slug)
    page.keyboard.press("2")
    page.keyboard.press("m")
    page.keyboard.type("STAFF was quick")
    page.keyboard.press("Enter")
    expect(page.locator("[data-evidence-list] q")).to_have_text("staff was quick")
    page.keyboard.press("Escape")
    press_and_go_on(page, "Enter")

    [label] = labelled(server, slug)
    assert label["evidence"] == {"Service": ["staff was quick"]}


def test_a_needed_reason_is_asked_for_in_place(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    slug = project(ask_rationale="required", ask_confidence=True)
    page = open_as("reviewer")
    review(page, slug)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Say why: this project asks for a reason.")).to_be_visible()
    page.keyboard.type("It says spotless.")
    page.keyboard.press("Escape")
    page.get_by_text("Certain").click()
    press_and_go_on(page, "a")

    [label] = labelled(server, slug)
    assert (label["rationale"], label["confidence"]) == ("It says spotless.", 0.99)


def test_cannot_tell_is_an_answer_and_later_is_none(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    slug = project("One.", "Two.", "Three.")
    page = open_as("reviewer")
    review(page, slug)
    press_and_go_on(page, "0")
    put_off = press_and_go_on(page, "p")
    press_and_go_on(page, "1", "Enter")

    assert item_of(page) == put_off
    labels = labelled(server, slug, 2)
    assert [label["abstained"] for label in labels] == [True, False]


def test_keys_are_as_each_person_wants_them(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    slug = project("One.", "Two.")
    page = open_as("reviewer")
    page.goto(f"{server.address}/settings/keys/")
    page.get_by_label("Skip: leave it to others").fill("k")
    page.get_by_role("button", name="Save the keys").click()
    review(page, slug)
    before = item_of(page)
    page.keyboard.press("s")
    assert item_of(page) == before
    press_and_go_on(page, "k")
    page.goto(f"{server.address}/settings/keys/")
    page.get_by_role("button", name="As they were at first").click()
    expect(page.get_by_label("Skip: leave it to others")).to_have_value("s")


def test_a_key_given_twice_is_refused(open_as: OpenAs, server: Server) -> None:
    page = open_as("reviewer")
    page.goto(f"{server.address}/settings/keys/")
    page.get_by_label("Skip: leave it to others").fill("x")
    page.get_by_role("button", name="Save the keys").click()
    expect(page.get_by_text("is the key for “Reject the suggestion” already")).to_be_visible()


def test_the_guideline_is_searched_beside_the_text(open_as: OpenAs, server: Server) -> None:
    page = open_as("manager")
    review(page, "hotel-reviews")
    page.keyboard.press("g")
    page.keyboard.type("the")
    expect(page.locator("[data-found]")).to_contain_text("1 of")
    page.keyboard.press("Enter")
    expect(page.locator("[data-found]")).to_contain_text("2 of")


def test_a_hundred_items_by_keyboard_in_one_sitting(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    slug = project(*(f"Text number {at}, with breakfast." for at in range(1, 102)))
    page = open_as("reviewer")
    review(page, slug)
    page.evaluate(WATCH)
    for at in range(100):
        press_and_go_on(page, str(1 + at % 5), "Enter")
    all_saved(page)

    assert same_page(page)
    assert len(labelled(server, slug, 100)) == 100
    painted = page.evaluate("window.painted")
    assert len(painted) == 100
    # Not a limit on this machine's speed: a page load or a round trip per item takes far longer.
    assert quantiles(painted, n=20)[-1] < 1000


def test_a_page_is_not_lost_to_the_back_button(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    slug = project("One.", "Two.", "Three.")
    page = open_as("reviewer")
    page.goto(f"{server.address}/p/{slug}/")
    review(page, slug)
    press_and_go_on(page, "1", "Enter")
    page.go_back()
    page.go_forward()
    expect(page.locator("[data-task]")).to_be_visible()
    press_and_go_on(page, "2", "Enter")

    assert _values(labelled(server, slug, 2)) == [["Cleanliness"], ["Service"]]


def test_who_may_no_longer_review_is_told_so(
    open_as: OpenAs, project: Project, server: Server, troubles: Troubles
) -> None:
    slug = project("One.", "Two.")
    page = open_as("reviewer")
    review(page, slug)
    who = {"username": "reviewer", "role": "viewer", "kind": "crowd"}
    server.api("POST", f"projects/{slug}/members/", who)
    page.keyboard.press("1")
    page.keyboard.press("Enter")

    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "refused")
    expect(page.get_by_text("This needs the role").first).to_be_visible()
    expect(page.get_by_text("signed out")).to_have_count(0)
    troubles.clear()


def _values(labels: list[Any]) -> list[Any]:
    return [label["value"] for label in labels]
