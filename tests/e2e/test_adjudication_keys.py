"""Adjudication by keyboard: choosing, marking evidence, naming people, deciding, undoing."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, Request, Route, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.fought import fought
from tests.e2e.pages import SCHEMAS
from tests.e2e.server import Server, until
from tests.e2e.steps import readable


def test_an_expert_decides_without_a_mouse(open_as: OpenAs, server: Server) -> None:
    sides = ["negative", "positive"]
    first, second = fought(server, "keys-fought", SCHEMAS["single"], sides, size=2)
    page = open_as("manager")
    page.goto("/p/keys-fought/adjudication/")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/adjudication/{first}/")
    readable(page)

    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Choose what is right first.")
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


def test_enter_decides_no_set_that_nobody_chose(open_as: OpenAs, server: Server) -> None:
    schema = server.api("GET", "projects/hotel-reviews/")["schema"]
    first, second = (label["name"] for label in schema["labels"][:2])
    (item,) = fought(server, "none-fought", schema, [[first], [first, second]])
    page = open_as("manager")
    page.goto("/p/none-fought/adjudication/")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/adjudication/{item}/")
    readable(page)
    go = page.locator("[data-go]")

    expect(go).to_contain_text("Choose an answer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Choose a label or “None of these” first.")
    page.keyboard.press("1")
    expect(go).to_contain_text(f"Decide: {first}")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    assert server.api("GET", "projects/none-fought/gold/")["count"] == 0
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_text("None of these")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("[data-hero]").focus()  # Enter would open the list of keys again
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(page.locator(".ruling :checked")).to_have_attribute("name", "none")
    expect(go).to_contain_text("Decide: none of these")
    page.keyboard.press("Enter")

    page.wait_for_url("**/adjudication/")
    (gold,) = server.api("GET", "projects/none-fought/gold/")["results"]
    assert gold["value"] == []


def test_nothing_is_stored_of_a_case_that_nobody_can_have_read(
    open_as: OpenAs, server: Server
) -> None:
    sides = ["negative", "positive"]
    (first,) = fought(server, "quick-fought", SCHEMAS["single"], sides)
    page = open_as("manager")
    page.clock.install()
    page.clock.pause_at(datetime.now(tz=UTC) + timedelta(hours=1))
    sent, held = _posts_of(page), list[Route]()

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


def _posts_of(page: Page) -> list[str]:
    """Where the page posts to, as it does."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.url)

    page.on("request", note)
    return sent


def _chooses(page: Page, key: str) -> bool:
    page.keyboard.press(key)
    return page.locator(f".ruling [data-key='{key}']").is_checked()


def test_a_name_is_completed_and_a_comment_resolved(open_as: OpenAs, server: Server) -> None:
    (item,) = fought(server, "talk-fought", SCHEMAS["single"], ["negative", "positive"])
    page = open_as("manager")
    page.goto(f"/p/talk-fought/items/{item}/")

    page.get_by_label("Say something about this item").press_sequentially("Ask @REV")
    expect(page.get_by_role("option", name="reviewer")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Say something about this item")).to_have_value("Ask @reviewer ")
    page.get_by_role("button", name="Comment", exact=True).click()

    said = page.locator(".comment", has_text="Ask @reviewer")
    expect(said.locator(".mention")).to_have_text("@reviewer")
    said.get_by_role("button", name="Resolve").click()
    expect(said.get_by_role("button", name="Open again")).to_be_visible()


def test_where_nobody_can_tell_one_key_says_so(open_as: OpenAs, server: Server) -> None:
    sides = ["negative", "positive"]
    first, second = fought(server, "unclear-fought", SCHEMAS["single"], sides, size=2)
    page = open_as("manager")
    page.goto(f"/p/unclear-fought/adjudication/{first}/")
    page.keyboard.press("r")
    page.keyboard.type("10 readings.")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    readable(page)

    page.keyboard.press("0")

    page.wait_for_url(f"**/adjudication/{second}/")
    expect(page.get_by_text("Decided: it cannot be told.")).to_be_visible()
    assert server.api("GET", "projects/unclear-fought/gold/")["count"] == 0
    newest = server.labels("unclear-fought")[-1]
    assert (newest["value"], newest["abstained"]) == (None, True)
    assert newest["rationale"] == "10 readings."
    page.goto("/p/unclear-fought/")
    page.get_by_role("link", name="cannot be told").click()
    expect(page.get_by_role("link", name="unclear-fought-0")).to_be_visible()
    page.goto("/p/unclear-fought/adjudication/")
    page.keyboard.press("u")
    page.wait_for_url(f"**/adjudication/{first}/?again=*")
    expect(page.locator("#rationale")).to_have_value("10 readings.")
