"""Chat mode: replies come in pieces, what was said is there again, a reply that failed is asked for
once more, and people can see and delete what is kept of them."""

import json
from typing import Any

from playwright.sync_api import Page, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    MESSAGE,
    SAVED,
    Shop,
    agree,
    enter,
    events,
    faults,
    heard,
    kept,
    options,
    ready,
    said,
    soon,
    write,
)
from tests.fakes.openai_server import FakeServer

#: What the built-in text matcher says first.
MATCHER = "not a language model"
LONG_REPLY = " ".join(f"Lamp number {number} is warm and not dear." for number in range(400))
OFF: dict[str, Any] = {"every_messages": 1000}


def choose(page: Page, item: str) -> None:
    """From the menu."""
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name=item).click()


def test_replies_come_in_pieces_and_again_after_a_fault(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(chat_model=model, **OFF), open_as(None)
    pieces: list[dict[str, object]] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda raw: pieces.append(json.loads(raw)))

    page.on("websocket", listen)
    endpoint.reset()
    endpoint.script(
        LONG_REPLY, {"fault": "unavailable"}, {"fault": "unavailable"}, "Here is your lamp."
    )
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(said(page, "assistant").last).to_have_text(LONG_REPLY)
    replies = [piece["d"] for piece in pieces if piece["t"] == "reply"]
    deltas = [reply["delta"] for reply in replies if isinstance(reply, dict) and "delta" in reply]
    assert len(deltas) >= 2
    assert "".join(deltas) == LONG_REPLY
    expect(page.locator("labelhub-widget [data-streaming]")).to_have_count(0)
    log = page.get_by_role("log")
    expect(log).to_have_attribute("aria-busy", "false")
    assert log.evaluate("(node) => node.scrollHeight - node.scrollTop - node.clientHeight") < 80

    write(page, "And a tent for two people?")
    expect(page.get_by_text("No answer came.")).to_be_visible()
    page.get_by_role("button", name="Try again").press("Enter")
    expect(log).to_be_focused()  # the button is gone
    expect(said(page, "assistant").last).to_have_text("Here is your lamp.")
    expect(page.get_by_text("No answer came.")).to_have_count(0)
    expect(said(page, "author")).to_have_count(2)


def test_from_the_first_word_to_the_deletion_of_all(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(**OFF), open_as(None)
    events(page, "erased")
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    before = page.locator("labelhub-widget .message .body").all_inner_texts()
    page.reload()
    page.locator("labelhub-widget .launcher").click()
    expect(page.locator("labelhub-widget .message .body")).to_have_text(before)
    page.context.set_offline(True)
    write(page, "And a tent for two people?")
    expect(page.get_by_text("Waiting for the connection")).to_be_visible()
    page.context.set_offline(False)
    expect(said(page, "assistant")).to_have_count(2)
    expect(page.get_by_text("Waiting for the connection")).to_have_count(0)
    assert [row["role"] for row in site.rows("message")].count("author") == 2

    choose(page, "Show my data")
    save = page.get_by_role("button", name="Download")
    expect(save).to_be_visible()
    data = json.loads(page.locator("labelhub-widget pre").inner_text())
    assert MESSAGE in json.dumps(data)
    with page.expect_download() as found:
        save.click()
    assert json.loads(found.value.path().read_text()) == data
    page.get_by_role("button", name="Back").click()

    choose(page, "Delete my data")
    expect(page.get_by_text("Delete everything kept about you here?")).to_be_visible()
    page.get_by_role("button", name="Keep").click()
    expect(said(page, "author")).to_have_count(2)
    choose(page, "Delete my data")
    page.get_by_role("button", name="Delete my data").last.click()
    expect(page.get_by_text("Deleted. Receipt:")).to_be_visible()
    (erased,), (proof,) = heard(page), site.rows("erasure")
    assert erased[1]["receipt"].replace("-", "") == proof["receipt"]
    assert site.messages() == []
    assert kept(page, site) == {}
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    expect(said(page, "author")).to_have_count(0)


def test_questions_in_the_chat(open_as: OpenAs, shop: Shop) -> None:
    """Answered by key one writes on; who wants no more questions goes on without."""
    site = shop.site(chat_title="Corner shop")
    page = open_as(None, reduced_motion="reduce")
    page.goto(shop.page(site, "chat"))
    opener = page.get_by_role("button", name="Corner shop")
    expect(opener).to_be_visible()
    found = faults(page, "chat, closed")
    opener.click()
    agree(page)
    write(page)
    expect(options(page).first).to_be_visible()
    found += faults(page, "chat, open, with a question")
    page.get_by_role("button", name="Menu").click()
    found += faults(page, "chat, menu")
    assert not found, "\n".join(found)
    page.get_by_role("button", name="Menu").click()
    ready(page)
    page.evaluate("document.querySelector('labelhub-widget').shadowRoot.activeElement?.blur()")
    options(page).first.focus()
    page.keyboard.press("1")
    expect(page.get_by_text(SAVED).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("labelhub-widget .slot .card")).to_have_count(0)
    expect(page.get_by_label("Write a message")).to_be_focused()
    assert len(site.answers()) == 1

    write(page, "I need a second lamp for my brother, and it must be warm as well.")
    expect(options(page).first).to_be_visible()
    choose(page, "Don’t ask me questions")
    expect(options(page)).to_have_count(0)
    soon(page, lambda: "opted_out" in site.happened(), "the opt-out")
    write(page, "And a tent for two people next week?")
    expect(said(page, "assistant")).to_have_count(3)
    page.wait_for_timeout(500)
    expect(options(page)).to_have_count(0)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("button", name="Don’t ask me questions")).to_be_hidden()


def test_who_only_wants_to_chat_leaves_nothing(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    enter(page, shop.page(site, "chat"), "Chat without questions")
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    page.wait_for_timeout(500)
    expect(options(page)).to_have_count(0)
    assert site.messages() == []
