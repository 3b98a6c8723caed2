"""Reviewing by keyboard and by touch: what keys do and do not, what the screen keeps, and that no
answer is lost."""

import re
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Request, Response, Route, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server, until
from tests.e2e.steps import (
    SCROLLING,
    all_saved,
    chosen,
    item_of,
    press_and_go_on,
    readable,
    review,
    same_page,
    task,
)

#: An emoji is two units to the browser and one code point to Python.
MARKED = "😀 The room was spotless.\r\nThe staff was kind, the staff was quick."
TEXTS = (
    "The room was spotless and the staff could not have been kinder.",
    "Breakfast was cold, and far too expensive for what it was.",
    "A short walk from the station, which matters with three suitcases.",
    "We were told the pool was open. It was not.",
    "Dust under the bed, but the location makes up for it.",
    "The pancakes alone are worth the price of the room.",
)
SLUGS = count(1)
#: Selects words in the text, as dragging over them does.
SELECT = """(hero, words) => {
  const node = hero.firstChild, range = document.createRange();
  const at = node.data.indexOf(words);
  range.setStart(node, at);
  range.setEnd(node, at + words.length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""

Project = Callable[..., str]


@pytest.fixture
def project(server: Server) -> Project:
    """Makes a project of these texts, or of so many, its screen set up as told; gives its slug."""

    def make(*texts: str, size: int = 0, debated: bool = False, **screen: Any) -> str:
        slug = server.project(f"keys-{next(SLUGS)}", texts or TEXTS[:size])
        if debated:
            server.run(slug)
        if screen:
            server.api("PATCH", f"projects/{slug}/screen/", screen)
        return slug

    return make


def labelled(server: Server, slug: str, number: int = 1) -> list[Any]:
    """The labels people gave, once there are ``number`` of them."""

    def found() -> list[Any] | None:
        labels = server.labels(slug)
        return labels if len(labels) == number else None

    return list(until(found, f"{number} labels in {slug}"))


def test_what_the_keys_do(open_as: OpenAs, server: Server, project: Project) -> None:
    """Accept, correct, reject and skip; undo step by step; none of it loads a page."""
    slug = project(size=6, debated=True)
    page = open_as("manager")
    review(page, slug)
    expect(task(page).get_by_role("button", name="Accept")).to_be_visible()
    accepted = press_and_go_on(page, "a")
    page.keyboard.press("5")
    names = task(page).locator(".choice:has(:checked) .choice__name").all_inner_texts()
    expect(task(page).get_by_role("button", name=f"Save: {', '.join(names)}")).to_be_visible()
    changed = press_and_go_on(page, "Enter")
    page.keyboard.press("x")
    assert chosen(page) == []
    expect(task(page).get_by_role("button", name="Only wrong")).to_be_visible()
    page.keyboard.press("Enter")  # nothing is chosen: nothing is sent
    expect(task(page).get_by_role("alert")).to_be_visible()
    page.keyboard.press("5")
    rejected = press_and_go_on(page, "Enter")
    page.keyboard.press("x")
    left_to_others = press_and_go_on(page, "x")
    unsure = press_and_go_on(page, "0")
    skipped = press_and_go_on(page, "s")
    for expected in (skipped, unsure):
        page.keyboard.press("u")
        expect(page.locator(f'form[data-task][data-item="{expected}"]')).to_be_visible()
        readable(page)
    assert [press_and_go_on(page, key) for key in "0s"] == [unsure, skipped]
    # The undone answer and its withdrawal, and five that stand.
    labels = {str(label["item"]): label for label in labelled(server, slug, 7)}
    assert {item: label["action"] for item, label in labels.items() if item != unsure} == {
        accepted: "accepted",
        changed: "fixed",
        rejected: "rejected",
        left_to_others: "rejected",
    }
    assert labels[rejected]["value"]
    assert labels[left_to_others]["value"] is None
    assert labels[unsure]["abstained"]
    all_saved(page)
    assert same_page(page)
    again = page.get_by_role("button", name="Take up the 1 you skipped and the 1 whose suggestion")
    again.click()
    expect(task(page)).to_be_visible()
    assert item_of(page) in {left_to_others, skipped}


def test_enter_stores_only_what_somebody_chose(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(size=3)
    page = open_as("manager")
    review(page, slug)
    before = item_of(page)
    for keys in ("Enter", "1 1 Enter"):
        for key in keys.split():
            page.keyboard.press(key)
        expect(page.get_by_text("Choose a label or “None of these”, or skip.")).to_be_visible()
    assert item_of(page) == before
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(task(page).locator(":checked")).to_have_attribute("name", "none")
    press_and_go_on(page, "Enter")
    put_off = press_and_go_on(page, "p")
    page.keyboard.press("1")
    page.keyboard.press("3")
    assert chosen(page) == ["Cleanliness", "Price"]
    page.keyboard.press("3")
    press_and_go_on(page, "Enter")
    assert item_of(page) == put_off
    assert [label["value"] for label in labelled(server, slug, 2)] == [[], ["Cleanliness"]]


def test_keys_rest_while_somebody_types_or_holds_a_modifier(
    open_as: OpenAs, project: Project
) -> None:
    page = open_as("manager")
    review(page, project(size=2, debated=True))
    before, ticked = item_of(page), chosen(page)
    for modifier in ("Control", "Alt", "Meta"):
        for key in ("a", "x", "s", "u", "1", "2", "Enter"):
            page.keyboard.press(f"{modifier}+{key}")
    assert same_page(page)
    page.keyboard.press("c")
    page.keyboard.type("12345 asxu? Enter")
    page.keyboard.press("Enter")
    comment = task(page).get_by_label("Comment, or why you skip")
    expect(comment).to_have_value("12345 asxu? Enter\n")
    page.keyboard.press("Escape")
    # A rejection that was not stored is taken back as it was made.
    page.keyboard.press("x")
    page.keyboard.press("u")
    assert (item_of(page), chosen(page)) == (before, ticked)
    press_and_go_on(page, "Enter")
    before = item_of(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of this page")
    for words in ("Skip: leave it to others", "Undo, step by step", "Cleanliness"):
        expect(dialog.get_by_text(words)).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert item_of(page) == before


def test_keys_are_as_each_person_wants_them(open_as: OpenAs, project: Project) -> None:
    page = open_as("reviewer")
    skip = page.get_by_label("Skip: leave it to others")
    page.goto("/settings/keys/")
    for key in ("x", "k"):
        skip.fill(key)
        page.get_by_role("button", name="Save the keys").click()
        if key == "x":
            taken = page.get_by_text("is already the key for “Reject the suggestion”")
            expect(taken).to_be_visible()
    review(page, project(size=2))
    before = item_of(page)
    page.keyboard.press("s")
    assert item_of(page) == before
    press_and_go_on(page, "k")
    page.goto("/settings/keys/")
    page.get_by_role("button", name="Restore the defaults").click()
    expect(skip).to_have_value("s")


def test_keys_never_become_an_answer_in_words(open_as: OpenAs, server: Server) -> None:
    slug = f"keys-{next(SLUGS)}"
    schema = {"task": "text", "question": "What is it about?"}
    server.api("POST", "projects/", {"slug": slug, "schema": schema, "blind_share": 0})
    suggested = [{"annotator": "bot", "kind": "llm", "value": "a summary"}]
    rows = [{"id": text[:9], "text": text, "labels": suggested} for text in TEXTS[:3]]
    server.api("POST", f"projects/{slug}/import/", rows)
    page = open_as("manager")
    review(page, slug)
    page.keyboard.press("x")
    expect(task(page).locator("textarea[name=value]")).to_have_value("")
    rejected = press_and_go_on(page, "x")
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.keyboard.type("cold breakfast")
    page.keyboard.press("Escape")
    corrected = press_and_go_on(page, "Enter")
    accepted = press_and_go_on(page, "Enter")
    labels = {str(label["item"]): label for label in labelled(server, slug, 3)}
    assert {item: (label["action"], label["value"]) for item, label in labels.items()} == {
        rejected: ("rejected", None),
        corrected: ("rejected", "cold breakfast"),
        accepted: ("accepted", "a summary"),
    }


def test_nothing_is_stored_of_an_item_that_nobody_can_have_read(
    open_as: OpenAs, project: Project
) -> None:
    page = open_as("manager")
    sent, ahead = _answers_of(page), list[Response]()

    def note(response: Response) -> None:
        if response.url.endswith("/review/next/"):
            ahead.append(response)

    page.on("response", note)
    review(page, project(size=6, debated=True))
    read: list[str] = []
    for keys in ("Enter Enter Enter", "s s s", "x x x x", "p p p", "0 0 0"):
        until(lambda: _arrived(page, ahead), "the next item to be at hand")
        ahead.clear()
        read.append(item_of(page))
        for key in keys.split():
            page.keyboard.press(key)
        readable(page)
        all_saved(page)
    assert sent == read


def test_until_its_script_is_there_the_page_answers_to_clicks_alone(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(size=2, debated=True)
    page = open_as("manager")
    held = _hold_back_one(page, "**/js/review.js")
    page.goto(f"/p/{slug}/review/", wait_until="commit")
    sent = _answers_of(page)
    until(lambda: _ticks(page, "5"), "the keys to be at work")
    for key in ("Enter", "x", "0", "s", "p"):
        page.keyboard.press(key)
        page.wait_for_timeout(100)  # a form would be on its way
    assert sent == []
    held[0].continue_()
    readable(page)
    # What was chosen meanwhile is a change of the suggestion.
    expect(task(page).get_by_role("button", name="Save")).to_be_visible()
    fixed = press_and_go_on(page, "Enter")
    all_saved(page)
    page.unroute_all()

    page.route(
        "**/js/review.js", lambda route: route.fulfill(content_type="text/javascript", body="")
    )
    page.goto(f"/p/{slug}/review/")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    actions = {str(label["item"]): label["action"] for label in labelled(server, slug, 2)}
    assert actions.pop(fixed) == "fixed"
    assert list(actions.values()) == ["accepted"]


def _ticks(page: Page, key: str) -> bool:
    page.keyboard.press(key)
    return page.locator(f"[data-task] [data-key='{key}']").is_checked()


def _answers_of(page: Page) -> list[str]:
    """The items that the page stores an answer or a skip of, as it sends them."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if re.search(r"/review/(submit|skip|postpone)/$", request.url):
            sent.extend(parse_qs(request.post_data or "")["item"])

    page.on("request", note)
    return sent


def _hold_back_one(page: Page, address: str) -> list[Route]:
    """The first request there, once it has been made; the others go through."""
    held: list[Route] = []

    def hold_back(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(address, hold_back)
    return held


def _arrived(page: Page, events: Sequence[object]) -> bool:
    page.wait_for_timeout(20)  # lets the page's events arrive
    return bool(events)


def test_no_answer_is_lost_on_its_way(
    open_as: OpenAs, server: Server, project: Project, troubles: Troubles
) -> None:
    """A connection that breaks, a server in trouble, and work without a network."""
    slug = project(size=5, debated=True)
    page = open_as("manager")
    review(page, slug)
    in_trouble, refused = True, 0

    def stumble(route: Route) -> None:
        nonlocal refused
        if not in_trouble:
            route.continue_()
            return
        refused += 1
        if refused % 2:
            route.abort("connectionreset")
        else:
            route.fulfill(status=503, body="not now")

    page.route("**/review/submit/", stumble)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("trying again")
    while refused < 2:
        page.wait_for_timeout(50)
    in_trouble = False
    all_saved(page)
    assert len(labelled(server, slug, 1)) == 1
    page.unroute_all()
    # The next item is fetched ahead: there is work for one answer without the network.
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    offline = press_and_go_on(page, "Enter")
    expect(page.locator("[data-saved]")).to_contain_text("This page keeps your answer")
    assert len(server.labels(slug)) == 1
    page.context.set_offline(False)
    all_saved(page)
    assert str(labelled(server, slug, 2)[-1]["item"]) == offline
    page.go_back()
    page.go_forward()
    expect(page.locator("[data-task]")).to_be_visible()
    press_and_go_on(page, "a")
    labelled(server, slug, 3)
    troubles.clear()


def test_an_answered_item_does_not_come_back(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(size=2)
    page = open_as("manager")
    # The item to come is asked for, and the server is slow to say that there was none.
    question = _hold_back_one(page, "**/review/next/")
    answer = _hold_back_one(page, "**/review/submit/")
    review(page, slug)
    first = item_of(page)
    until(lambda: _arrived(page, question), "the next item to be asked for")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    until(lambda: _arrived(page, answer), "the answer to be sent")
    question[0].fulfill(status=204)
    page.wait_for_timeout(500)  # time enough to ask again, before the answer has arrived
    answer[0].continue_()
    expect(page.locator(f'form[data-task][data-item="{first}"]')).to_have_count(0)
    expect(task(page)).to_be_visible()
    labelled(server, slug, 1)


def test_two_reviewers_never_see_the_same_item(
    open_as: OpenAs, server: Server, project: Project, troubles: Troubles
) -> None:
    """Who leaves gives the item back; who may no longer review is told so."""
    slug = project(size=6)
    mine, theirs = open_as("manager"), open_as("reviewer")
    for page in (mine, theirs):
        review(page, slug)
    seen: list[str] = []
    for _ in range(2):
        seen += [press_and_go_on(page, "1", "Enter") for page in (mine, theirs)]
    seen.append(press_and_go_on(theirs, "1", "Enter"))
    held = item_of(mine)
    assert len({*seen, held}) == 6
    expect(theirs.get_by_role("heading", name="Nothing left for you just now")).to_be_visible()
    mine.get_by_role("link", name="LabelHub").click()
    expect(mine.get_by_role("heading", level=1)).to_have_text("Projects")
    until(lambda: _looks_again(theirs, slug), "the item to be free")
    assert item_of(theirs) == held
    who = {"username": "reviewer", "role": "viewer", "kind": "crowd"}
    server.api("POST", f"projects/{slug}/members/", who)
    theirs.keyboard.press("1")
    theirs.keyboard.press("Enter")
    expect(theirs.locator("[data-saved]")).to_have_attribute("data-state", "refused")
    expect(theirs.get_by_text("This needs the role").first).to_be_visible()
    labelled(server, slug, 5)
    troubles.clear()


def _looks_again(page: Page, slug: str) -> bool:
    review(page, slug)
    return task(page).count() == 1


def test_a_choice_for_one_item_is_never_shown_on_another(
    open_as: OpenAs, project: Project, server: Server
) -> None:
    """Browsers tick again what was ticked when they go back to an address."""
    slug = project(size=3)
    mine, theirs = open_as("manager"), open_as("reviewer")
    review(mine, slug)
    first = item_of(mine)
    mine.keyboard.press("2")
    assert chosen(mine) == ["Service"]
    mine.goto("/")
    until(lambda: _looks_again(theirs, slug) and item_of(theirs) == first, "the item to be free")
    mine.go_back()
    readable(mine)
    assert item_of(mine) != first
    assert chosen(mine) == []
    assert server.labels(slug) == []


def test_a_deleted_item_does_not_come_back(
    open_as: OpenAs, project: Project, server: Server, troubles: Troubles
) -> None:
    slug = project(size=3)
    page = open_as("manager")
    review(page, slug)
    gone = {"code": "not_found", "message": "There is no item."}
    page.route("**/review/submit/", lambda route: route.fulfill(status=404, json=gone), times=1)
    press_and_go_on(page, "1", "Enter")
    expect(page.get_by_text("Not saved: There is no item.")).to_be_visible()
    expect(page.locator("[data-count=done]")).to_have_text("0")
    press_and_go_on(page, "1", "Enter")
    labelled(server, slug)
    troubles.clear()


def test_what_was_begun_is_there_again_in_another_browser(
    open_as: OpenAs, project: Project
) -> None:
    slug = project(size=2, ask_rationale="optional")
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


def test_evidence_reason_and_confidence(open_as: OpenAs, project: Project, server: Server) -> None:
    """Places are marked in the text or typed, and stored as they stand there."""
    asked = {"ask_evidence": True, "ask_rationale": "required", "ask_confidence": True}
    slug = project(MARKED, "Another one.", **asked)
    page = open_as("reviewer")
    review(page, slug)
    page.keyboard.press("2")
    page.locator("[data-hero]").evaluate(SELECT, "The staff was kind")
    page.keyboard.press("m")
    quotes = page.locator("[data-evidence-list] q")
    expect(quotes).to_have_text("The staff was kind")
    page.keyboard.press("m")
    page.keyboard.type("STAFF was quick")
    page.keyboard.press("Enter")
    expect(quotes).to_have_text(["The staff was kind", "staff was quick"])
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Give a reason: this project requires one.")).to_be_visible()
    page.keyboard.type("It says kind.")
    page.keyboard.press("Escape")
    page.get_by_text("Certain").click()
    press_and_go_on(page, "a")
    [label] = labelled(server, slug)
    assert label["evidence"] == {"Service": ["The staff was kind", "staff was quick"]}
    assert (label["rationale"], label["confidence"]) == ("It says kind.", 0.99)
    review(page, "hotel-reviews")
    page.keyboard.press("g")
    page.keyboard.type("the")
    expect(page.locator("[data-found]")).to_contain_text("1 of")
    page.keyboard.press("Enter")
    expect(page.locator("[data-found]")).to_contain_text("2 of")


def test_a_phone_reviews_by_touch(open_as: OpenAs, server: Server, project: Project) -> None:
    slug = project(size=2)
    phone = {"width": 390, "height": 844}
    page = open_as("manager", viewport=phone, has_touch=True, is_mobile=True)
    review(page, slug)
    first = item_of(page)
    for box in task(page).get_by_role("checkbox").all()[:-1]:
        box.check()
    go = task(page).get_by_role("button", name="Save")
    # The button that goes on is within reach of the thumb, however long the text.
    expect(go).to_be_in_viewport(ratio=1)
    names = task(page).locator(".choice:has(:checked) .choice__name").all_inner_texts()
    expect(go).to_contain_text(", ".join(names))
    go.tap()
    expect(page.locator(f'form[data-task][data-item="{first}"]')).to_have_count(0)
    task(page).get_by_role("button", name="Skip").tap()
    expect(page.get_by_role("heading", name="Nothing left for you just now")).to_be_visible()
    assert same_page(page)
    [label] = labelled(server, slug)
    assert (str(label["item"]), label["value"]) == (first, names)


def test_fifty_labels_and_a_long_text(open_as: OpenAs, server: Server) -> None:
    """Labels are found by letters, by words and as recently used ones; the text stays in sight."""
    slug = f"keys-{next(SLUGS)}"
    names = [f"{place}/{what}" for place in ("Room", "Pool") for what in "abcdefghij"]
    names += [f"Label {number}" for number in range(21, 50)] + ["Café"]
    schema = {"task": "multi", "labels": [{"name": name} for name in names]}
    server.api("POST", "projects/", {"slug": slug, "schema": schema, "blind_share": 0})
    quoted = {"Room/a": ["bed was hard"], "Pool/b": ["hard and"]}
    bot = {"annotator": "bot", "kind": "llm", "value": list(quoted), "evidence": quoted}
    text = "The bed was hard and loud. " + "Nobody came to help us for days. " * 180
    rows = [{"id": f"long {number}", "text": text, "labels": [bot]} for number in range(3)]
    server.api("POST", f"projects/{slug}/import/", rows)
    page = open_as("manager", viewport={"width": 1280, "height": 800})
    review(page, slug)

    # Each side marks the other, for the pointer and for the keyboard.
    linked = page.locator(".choice[data-linked]")
    page.get_by_title("Pool/b, Room/a").first.hover()
    expect(linked).to_have_count(2)
    page.get_by_title("Room/a", exact=True).first.focus()
    expect(linked).to_have_text(re.compile("Room: a"))
    task(page).get_by_role("checkbox", name="Pool: b").focus()
    expect(page.locator("mark[data-linked]")).to_have_text(["hard", "and"])

    page.keyboard.press("i")
    page.keyboard.press("f")
    page.keyboard.type("cafe")
    expect(page.locator(".choice[data-name]:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    assert chosen(page) == ["Room/a", "Pool/b", "Pool/c", "Café"]
    page.keyboard.press("f")
    page.keyboard.type("nothing like it")
    page.keyboard.press("Escape")
    expect(page.locator(".choice[data-name]:visible")).to_have_count(50)
    assert page.evaluate(SCROLLING) == []
    page.mouse.wheel(0, 2500)
    expect(task(page).get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
    press_and_go_on(page, "Enter")
    front = page.locator("[data-front] .choice")
    expect(front.last).to_have_attribute("data-name", "Café")
    expect(front.locator("[data-key=i]")).to_have_value("Pool/c")

    phone = {"width": 390, "height": 844}
    page = open_as("manager", viewport=phone, has_touch=True, is_mobile=True)
    review(page, slug)
    sheet = task(page).get_by_role("region", name="Your answer").bounding_box()
    assert sheet is not None
    assert sheet["height"] <= phone["height"] / 2 + 1
    last = task(page).get_by_role("checkbox", name="None of these")
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    expect(page.locator("[data-hero]")).to_be_in_viewport()
    page.get_by_title("Room/a", exact=True).first.tap()
    expect(page.locator(".choice[data-linked]")).to_be_in_viewport()
    page.get_by_role("button", name="Hide the labels").tap()
    expect(last).to_be_hidden()
    expect(task(page).get_by_role("button", name="Accept")).to_be_in_viewport(ratio=1)
