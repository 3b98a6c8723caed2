"""Adjudication by keyboard: choosing, marking evidence, naming people, deciding, undoing."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, Route, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.fought import fought
from tests.e2e.pages import SCHEMAS
from tests.e2e.server import Server, until
from tests.e2e.steps import SCROLLING, readable, sign_in

SIDES = ["negative", "positive"]


def test_an_expert_decides_without_a_mouse(open_as: OpenAs, server: Server) -> None:
    """With evidence and a reason; it is undone as it was given; and where nobody can tell, one key
    says so."""
    first, second = fought(server, "keys-fought", SCHEMAS["single"], SIDES, size=2)
    page = open_as("manager")
    page.goto("/p/keys-fought/adjudication/")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/adjudication/{first}/")
    readable(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Choose an answer first.")
    page.keyboard.press("j")
    expect(page.locator("[data-opinion][data-on]")).to_have_count(1)
    page.evaluate("""() => {
        const text = document.querySelector("[data-hero]").firstChild;
        document.getSelection().setBaseAndExtent(text, 0, text, 20);
    }""")
    expect(page.locator("[data-mark]")).to_be_visible()
    page.keyboard.press("q")
    expect(page.locator("[data-own] input:checked")).to_have_count(1)
    page.keyboard.press("2")
    expect(page.get_by_role("button", name=re.compile("Decide: negative"))).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.type("It is irony.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/adjudication/{second}/")
    (gold,) = server.api("GET", "projects/keys-fought/gold/")["results"]
    assert gold["value"] == "negative"
    newest = server.labels("keys-fought")[-1]
    assert newest["evidence"] == {"negative": ["What a charming idea"]}
    assert newest["rationale"] == "It is irony."

    page.keyboard.press("u")
    page.wait_for_url(f"**/adjudication/{first}/?again=*")
    expect(page.locator("#rationale")).to_have_value("It is irony.")
    assert server.api("GET", "projects/keys-fought/gold/")["count"] == 0
    readable(page)
    page.keyboard.press("0")
    page.wait_for_url(f"**/adjudication/{second}/")
    expect(page.get_by_text("Decided: unsure.")).to_be_visible()
    # The notice does not cover it.
    page.get_by_role("button", name="Undo").click(trial=True, timeout=2_000)
    assert server.api("GET", "projects/keys-fought/gold/")["count"] == 0
    newest = server.labels("keys-fought")[-1]
    assert (newest["value"], newest["abstained"]) == (None, True)


def test_enter_decides_no_set_that_nobody_chose(open_as: OpenAs, server: Server) -> None:
    schema = server.api("GET", "projects/hotel-reviews/")["schema"]
    first, second = (label["name"] for label in schema["labels"][:2])
    (item,) = fought(server, "none-fought", schema, [[first], [first, second]])
    page = open_as("manager")
    page.goto(f"/p/none-fought/adjudication/{item}/")
    readable(page)
    go = page.locator("[data-go]")
    for keys in ("Enter", "1 1 Enter"):
        for key in keys.split():
            page.keyboard.press(key)
        expect(page.get_by_role("alert")).to_have_text("Choose a label or “None of these” first.")
    assert server.api("GET", "projects/none-fought/gold/")["count"] == 0
    page.keyboard.press("1")
    expect(go).to_contain_text(f"Decide: {first}")
    page.keyboard.press("n")
    expect(page.locator(".task__answer :checked")).to_have_attribute("name", "none")
    expect(go).to_contain_text("Decide: none of these")
    page.keyboard.press("Enter")
    page.wait_for_url("**/adjudication/")
    (gold,) = server.api("GET", "projects/none-fought/gold/")["results"]
    assert gold["value"] == []


def test_a_decision_that_was_not_sent_is_there_again(
    open_as: OpenAs, server: Server, troubles: Troubles
) -> None:
    (item,) = fought(server, "lost-fought", SCHEMAS["single"], SIDES)
    page = open_as("manager")
    page.goto(f"/p/lost-fought/adjudication/{item}/")
    readable(page)
    page.keyboard.press("2")
    page.locator("#rationale").fill("It is irony.")
    page.context.set_offline(True)
    page.locator("[data-go]").click()
    page.wait_for_url("chrome-error://**")
    page.context.set_offline(False)
    page.go_back()
    readable(page)
    expect(page.locator("#rationale")).to_have_value("It is irony.")
    expect(page.get_by_role("button", name="Decide: negative")).to_be_visible()
    page.context.clear_cookies(name="sessionid")
    page.locator("[data-go]").click()
    sign_in(page, "manager", server.passwords["manager"], here=True)
    page.wait_for_url(f"**/p/lost-fought/adjudication/{item}/")
    assert server.api("GET", "projects/lost-fought/gold/")["count"] == 0
    troubles.clear()


def test_nothing_is_stored_of_a_case_that_nobody_can_have_read(
    open_as: OpenAs, server: Server
) -> None:
    (first,) = fought(server, "quick-fought", SCHEMAS["single"], SIDES)
    page = open_as("manager")
    page.clock.install()
    page.clock.pause_at(datetime.now(tz=UTC) + timedelta(hours=1))
    sent, held = list[str](), list[Route]()
    page.on("request", lambda it: sent.append(it.url) if it.method == "POST" else None)

    def hold_back(route: Route) -> None:
        held.append(route)

    page.route("**/js/adjudication.js", hold_back)
    page.goto(f"/p/quick-fought/adjudication/{first}/", wait_until="commit")
    until(lambda: _chooses(page, "2"), "the keys to be at work")
    failures: list[str] = []

    def press_all(when: str) -> None:
        for key in ("Enter", "0", "s", "Control+Enter"):
            page.keyboard.press(key)
            page.wait_for_timeout(100)  # a form would be on its way
            if sent:
                failures.append(f"{key}, {when}: {sent.pop()}")

    press_all("before the script is there")
    held[0].continue_()
    expect(page.locator("[data-steps]")).to_be_visible()
    press_all("as the case appears")
    assert failures == []
    page.clock.run_for(400)
    page.keyboard.press("Enter")
    page.wait_for_url("**/adjudication/")
    (gold,) = server.api("GET", "projects/quick-fought/gold/")["results"]
    assert gold["value"] == "negative"


def _chooses(page: Page, key: str) -> bool:
    page.keyboard.press(key)
    return page.locator(f".task__answer [data-key='{key}']").is_checked()


def test_a_phone_shows_the_text_above_fifty_labels(open_as: OpenAs, server: Server) -> None:
    names = [f"Label {number}" for number in range(50)]
    schema = {"task": "multi", "labels": [{"name": name} for name in names]}
    (item,) = fought(server, "phone-fought", schema, [names[:1], names[1:2]], repeats=15)
    phone = {"width": 390, "height": 844}
    page = open_as("manager", viewport=phone, has_touch=True, is_mobile=True)
    page.goto(f"/p/phone-fought/adjudication/{item}/")
    readable(page)
    decision = page.get_by_role("region", name="Your decision")
    go = decision.get_by_role("button", name="Choose an answer")
    expect(page.locator("[data-hero]")).to_be_in_viewport(ratio=0.05)
    expect(go).to_be_in_viewport(ratio=1)
    assert (decision.bounding_box() or {"height": 999})["height"] <= phone["height"] / 2 + 1
    last = decision.get_by_role("checkbox", name="None of these")
    last.scroll_into_view_if_needed()
    expect(page.locator("[data-hero]")).to_be_in_viewport()
    page.get_by_role("button", name="Next opinion").tap()
    expect(page.locator("[data-opinion][data-on] .opinion__who")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Send", exact=True).click(trial=True)
    decision.get_by_role("button", name="Hide the labels").tap()
    expect(last).to_be_hidden()
    expect(go).to_be_in_viewport(ratio=1)

    wide = open_as("manager", viewport={"width": 1280, "height": 800})
    wide.goto(f"/p/phone-fought/adjudication/{item}/")
    readable(wide)
    assert wide.evaluate(SCROLLING) == []
    wide.mouse.wheel(0, 1500)
    expect(wide.get_by_role("button", name="Choose an answer")).to_be_in_viewport(ratio=1)


def test_a_name_is_completed_and_a_comment_resolved(open_as: OpenAs, server: Server) -> None:
    (item,) = fought(server, "talk-fought", SCHEMAS["single"], SIDES)
    page = open_as("manager")
    page.goto(f"/p/talk-fought/items/{item}/")
    words = page.get_by_label("Comment on this item")
    words.press_sequentially("Ask @REV")
    expect(page.get_by_role("option", name="reviewer")).to_be_visible()
    page.keyboard.press("Enter")
    expect(words).to_have_value("Ask @reviewer ")
    page.get_by_role("button", name="Send", exact=True).click()
    comment = page.locator(".comment", has_text="Ask @reviewer")
    expect(comment.locator(".mention")).to_have_text("@reviewer")
    comment.get_by_role("button", name="Resolve").click()
    expect(comment.get_by_role("button", name="Open again")).to_be_visible()
