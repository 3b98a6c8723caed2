"""Reviewing by keyboard and by touch: what keys do and do not, and that no answer is lost."""

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
    all_saved,
    chosen,
    item_of,
    press_and_go_on,
    readable,
    review,
    same_page,
    task,
)

TEXTS = [
    "The room was spotless and the staff could not have been kinder.",
    "Breakfast was cold, and far too expensive for what it was.",
    "A short walk from the station, which matters with three suitcases.",
    "We were told the pool was open. It was not.",
    "Dust under the bed, but the location makes up for it.",
    "The pancakes alone are worth the price of the room.",
]
SLUGS = count(1)

Project = Callable[..., str]


@pytest.fixture
def project(server: Server) -> Project:
    """Makes a project of ``size`` texts, debated unless told otherwise; gives its slug."""

    def make(size: int, *, debated: bool = True, overlap: int = 1) -> str:
        slug = server.project(f"keys-{next(SLUGS)}", TEXTS[:size], overlap=overlap)
        if debated:
            server.run(slug)
        return slug

    return make


def said(server: Server, slug: str, number: int) -> list[Any]:
    """The labels people gave, once there are ``number`` of them."""
    return list(until(lambda: _exactly(server.labels(slug), number), f"{number} labels in {slug}"))


def _exactly(labels: list[Any], number: int) -> list[Any]:
    return labels if len(labels) == number else []


def test_number_keys_choose_and_enter_saves(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2, debated=False)
    page = open_as("manager")
    review(page, slug)
    page.keyboard.press("1")
    page.keyboard.press("3")
    assert chosen(page) == ["Cleanliness", "Price"]
    page.keyboard.press("3")
    assert chosen(page) == ["Cleanliness"]
    press_and_go_on(page, "Enter")
    assert same_page(page)
    [label] = said(server, slug, 1)
    assert label["value"] == ["Cleanliness"]


def test_nothing_is_stored_of_an_item_that_nobody_can_have_read(
    open_as: OpenAs, project: Project
) -> None:
    page = open_as("manager")
    sent, ahead = _answers_of(page), list[Response]()

    def note(response: Response) -> None:
        if response.url.endswith("/review/next/"):
            ahead.append(response)

    page.on("response", note)
    review(page, project(6))
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


def _answers_of(page: Page) -> list[str]:
    """The items that the page stores an answer or a skip of, as it sends them."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if re.search(r"/review/(submit|skip|postpone)/$", request.url):
            sent.extend(parse_qs(request.post_data or "")["item"])

    page.on("request", note)
    return sent


def test_until_its_script_is_there_the_page_answers_to_clicks_alone(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2)
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
    actions = {str(label["item"]): label["action"] for label in said(server, slug, 2)}
    assert actions.pop(fixed) == "fixed"
    assert list(actions.values()) == ["accepted"]


def _ticks(page: Page, key: str) -> bool:
    page.keyboard.press(key)
    return page.locator(f"[data-task] [data-key='{key}']").is_checked()


def test_keys_never_become_an_answer_in_words(open_as: OpenAs, server: Server) -> None:
    slug = _summed_up(server, TEXTS[:3])
    page = open_as("manager")
    review(page, slug)
    answer = task(page).locator("textarea[name=value]")
    page.keyboard.press("x")
    expect(answer).to_have_value("")
    rejected = press_and_go_on(page, "x")
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.keyboard.type("cold breakfast")
    page.keyboard.press("Escape")
    corrected = press_and_go_on(page, "Enter")
    accepted = press_and_go_on(page, "Enter")
    labels = {str(label["item"]): label for label in said(server, slug, 3)}
    assert {item: (label["action"], label["value"]) for item, label in labels.items()} == {
        rejected: ("rejected", None),
        corrected: ("rejected", "cold breakfast"),
        accepted: ("accepted", "a summary"),
    }


def _summed_up(server: Server, texts: list[str]) -> str:
    """A project that asks for words, each text with a suggestion; its slug."""
    slug = f"keys-{next(SLUGS)}"
    schema = {"task": "text", "question": "What is it about?"}
    server.api("POST", "projects/", {"slug": slug, "schema": schema, "blind_share": 0})
    suggested = [{"annotator": "bot", "kind": "llm", "value": "a summary"}]
    rows = [{"id": text[:9], "text": text, "labels": suggested} for text in texts]
    server.api("POST", f"projects/{slug}/import/", rows)
    return slug


def test_the_suggestion_chosen_after_all_is_called_accepted_before_it_is_stored(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    suggested = [key for key in "123456" if _is_suggested(page, key)]
    status = task(page).get_by_role("status")
    for key in ["x", *suggested]:
        page.keyboard.press(key)
    expect(status).to_have_text("This is the suggestion again: it is stored as accepted.")
    expect(task(page).get_by_role("button", name="Accept")).to_be_visible()
    press_and_go_on(page, "Enter")
    [label] = said(server, slug, 1)
    assert label["action"] == "accepted"


def _is_suggested(page: Page, key: str) -> bool:
    return task(page).locator(f"[data-suggested][data-key='{key}']").count() == 1


def test_undo_takes_a_rejection_back_that_was_not_stored(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    press_and_go_on(page, "s")
    before, suggested = item_of(page), chosen(page)
    page.keyboard.press("x")
    page.keyboard.press("u")
    assert (item_of(page), chosen(page)) == (before, suggested)
    expect(task(page).get_by_role("button", name="Reject")).to_be_visible()
    press_and_go_on(page, "Enter")
    [label] = said(server, slug, 1)
    assert label["action"] == "accepted"


def test_enter_stores_no_set_that_nobody_chose(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2, debated=False)
    page = open_as("manager")
    review(page, slug)
    before = item_of(page)
    for keys in (["Enter"], ["1", "1", "Enter"]):
        for key in keys:
            page.keyboard.press(key)
        expect(page.get_by_text("Choose a label or “None of these”, or skip.")).to_be_visible()
        expect(task(page).get_by_role("button", name="Choose an answer")).to_be_visible()
    assert item_of(page) == before
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(task(page).locator(":checked")).to_have_attribute("name", "none")
    press_and_go_on(page, "Enter")
    [label] = said(server, slug, 1)
    assert label["value"] == []


def test_a_suggestion_of_none_is_chosen_and_is_accepted(open_as: OpenAs, server: Server) -> None:
    slug = server.project(f"keys-{next(SLUGS)}", ["Umbrellas, umbrellas.", "Why, though?"])
    server.run(slug)
    page = open_as("manager")
    review(page, slug)
    before = item_of(page)
    none = task(page).get_by_role("checkbox", name="None of these")
    expect(none).to_be_checked()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(task(page).get_by_role("alert")).to_be_visible()
    assert item_of(page) == before
    page.keyboard.press("n")
    expect(task(page).get_by_role("button", name="Accept: None of these")).to_be_visible()
    press_and_go_on(page, "Enter")
    [label] = said(server, slug, 1)
    assert (label["value"], label["action"]) == ([], "accepted")


def test_what_the_button_names_stays_within_a_phone(open_as: OpenAs, project: Project) -> None:
    slug = project(1)
    page = open_as("manager", viewport={"width": 390, "height": 844})
    review(page, slug)
    for each in task(page).get_by_role("checkbox").all()[:-1]:
        each.check()
    go = task(page).get_by_role("button", name="Save:")
    names = task(page).locator(".choice:has(:checked) .choice__name").all_inner_texts()
    assert len(names) > 2
    expect(go).to_contain_text(", ".join(names))
    box = go.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390


def test_a_accepts_x_rejects_s_skips(open_as: OpenAs, server: Server, project: Project) -> None:
    slug = project(4)
    page = open_as("manager")
    review(page, slug)
    expect(task(page).get_by_role("button", name="Accept")).to_be_visible()
    accepted = press_and_go_on(page, "a")
    page.keyboard.press("5")
    names = task(page).locator(".choice:has(:checked) .choice__name").all_inner_texts()
    expect(task(page).get_by_role("button", name=f"Save: {', '.join(names)}")).to_be_visible()
    changed = press_and_go_on(page, "Enter")
    page.keyboard.press("x")
    page.keyboard.press("5")
    rejected = press_and_go_on(page, "Enter")
    press_and_go_on(page, "s")
    assert same_page(page)
    labels = {str(label["item"]): label for label in said(server, slug, 3)}
    actions = {item: label["action"] for item, label in labels.items()}
    assert actions == {accepted: "accepted", changed: "fixed", rejected: "rejected"}
    assert labels[rejected]["value"]
    expect(page.get_by_role("button", name="Take up the 1 you skipped")).to_be_visible()


def test_x_asks_for_the_right_answer_and_a_second_x_leaves_it_to_others(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    left = page.locator("[data-count=waiting]")
    expect(left).to_have_text("2")
    only = task(page).get_by_role("button", name="Only wrong")
    expect(only).to_be_hidden()
    page.keyboard.press("x")
    assert chosen(page) == []
    expect(task(page).get_by_role("status")).to_have_text(
        "Give the right answer. “Only wrong” leaves it to others; Undo takes the rejection back."
    )
    expect(only).to_be_visible()
    page.keyboard.press("Enter")  # nothing is chosen: nothing is sent
    expect(task(page).get_by_role("alert")).to_be_visible()
    assert not server.labels(slug)
    rejected = press_and_go_on(page, "x")
    expect(left).to_have_text("1")
    press_and_go_on(page, "0")
    labels = {str(label["item"]): label for label in said(server, slug, 2)}
    wrong = labels.pop(rejected)
    assert (wrong["value"], wrong["abstained"], wrong["rejected"]) == (None, False, True)
    (unsure,) = labels.values()
    assert unsure["abstained"]
    assert unsure["shown"]
    page.get_by_role("button", name="Take up the 1 whose suggestion you rejected").click()
    assert item_of(page) == rejected
    press_and_go_on(page, "a")


def test_keys_rest_while_somebody_types(open_as: OpenAs, project: Project) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    before, ticked = item_of(page), chosen(page)
    page.keyboard.press("c")
    page.keyboard.type("12345 asxu? Enter")
    page.keyboard.press("Enter")
    comment = task(page).get_by_label("Comment, or the reason why you skip")
    expect(comment).to_have_value("12345 asxu? Enter\n")
    assert (item_of(page), chosen(page)) == (before, ticked)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    press_and_go_on(page, "Enter")


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_a_key_with_a_modifier_is_the_browsers(
    open_as: OpenAs, project: Project, modifier: str
) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    before, ticked = item_of(page), chosen(page)
    for key in ("a", "x", "s", "u", "1", "2", "Enter"):
        page.keyboard.press(f"{modifier}+{key}")
    assert (item_of(page), chosen(page)) == (before, ticked)
    assert same_page(page)


def test_the_question_mark_lists_the_keys(open_as: OpenAs, project: Project) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of this page")
    expect(dialog).to_be_visible()
    for words in ("Skip: leave it to others", "Undo, step by step", "Cleanliness"):
        expect(dialog.get_by_text(words)).to_be_visible()
    before = item_of(page)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert item_of(page) == before


def test_undo_takes_answers_back_step_by_step(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(3)
    page = open_as("manager")
    review(page, slug)
    first = press_and_go_on(page, "Enter")
    second = press_and_go_on(page, "s")
    third = item_of(page)
    for expected in (second, first):
        page.keyboard.press("u")
        expect(page.locator(f'form[data-task][data-item="{expected}"]')).to_be_visible()
    assert [press_and_go_on(page, "a") for _ in range(3)] == [first, second, third]
    all_saved(page)
    assert same_page(page)
    # The undone answer, its withdrawal, and three that stand.
    assert len(said(server, slug, 5)) == 5
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def test_an_answer_that_could_not_be_sent_is_sent_again(
    open_as: OpenAs, server: Server, project: Project, troubles: Troubles
) -> None:
    slug = project(3)
    page = open_as("manager")
    review(page, slug)
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
            return
        failed.append(route.request.url)
        route.abort("connectionreset")

    page.route("**/review/submit/", fail_once)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("trying again")
    all_saved(page)
    assert len(failed) == 1
    assert len(said(server, slug, 1)) == 1
    troubles.clear()


def test_a_server_error_is_tried_again_too(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2)
    page = open_as("manager")
    review(page, slug)
    answers = iter([503, 500])

    def stumble(route: Route) -> None:
        status = next(answers, None)
        if status is None:
            route.continue_()
        else:
            route.fulfill(status=status, body="not now")

    page.route("**/review/submit/", stumble)
    press_and_go_on(page, "Enter")
    all_saved(page)
    assert len(said(server, slug, 1)) == 1


def test_work_done_offline_arrives_later(
    open_as: OpenAs, server: Server, project: Project, troubles: Troubles
) -> None:
    slug = project(3)
    page = open_as("manager")
    review(page, slug)
    # The next item is fetched ahead: there is work for one answer without the network.
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    first = press_and_go_on(page, "Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Your answer is kept here")
    assert server.labels(slug) == []
    page.context.set_offline(False)
    all_saved(page)
    [label] = said(server, slug, 1)
    assert str(label["item"]) == first
    troubles.clear()


def test_leaving_gives_the_item_back(open_as: OpenAs, project: Project) -> None:
    slug = project(1)
    mine, theirs = open_as("manager"), open_as("reviewer")
    review(mine, slug)
    held = item_of(mine)
    review(theirs, slug)
    expect(theirs.get_by_role("heading", name="Nothing left for you just now")).to_be_visible()
    mine.get_by_role("link", name="LabelHub").click()
    expect(mine.get_by_role("heading", level=1)).to_have_text("Projects")
    until(lambda: _looks_again(theirs, slug), "the item to be free")
    assert item_of(theirs) == held


def _looks_again(page: Page, slug: str) -> bool:
    review(page, slug)
    return task(page).count() == 1


def test_two_reviewers_never_see_the_same_item(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(6, debated=False)
    pages = [open_as("manager"), open_as("reviewer")]
    for page in pages:
        review(page, slug)
    seen: list[str] = []
    while working := [page for page in pages if task(page).count()]:
        seen += [press_and_go_on(page, "1", "Enter") for page in working]
    assert len(seen) == len(set(seen)) == 6
    assert len(said(server, slug, 6)) == 6


def test_an_answered_item_does_not_come_back(
    open_as: OpenAs, server: Server, project: Project
) -> None:
    slug = project(2, debated=False)
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
    assert len(said(server, slug, 1)) == 1


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


def test_a_phone_reviews_by_touch(open_as: OpenAs, server: Server, project: Project) -> None:
    slug = project(2, debated=False)
    page = open_as(
        "manager", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    review(page, slug)
    first = item_of(page)
    task(page).get_by_text("Food", exact=True).tap()
    assert chosen(page) == ["Food"]
    go = task(page).get_by_role("button", name="Save")
    # The button that goes on is within reach of the thumb, however long the text.
    expect(go).to_be_in_viewport()
    go.tap()
    expect(page.locator(f'form[data-task][data-item="{first}"]')).to_have_count(0)
    task(page).get_by_role("button", name="Skip").tap()
    expect(page.get_by_role("heading", name="Nothing left for you just now")).to_be_visible()
    assert same_page(page)
    [label] = said(server, slug, 1)
    assert (str(label["item"]), label["value"]) == (first, ["Food"])
