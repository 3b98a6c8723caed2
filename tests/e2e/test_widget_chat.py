"""Chat mode: replies come in pieces, what was said is there again, a reply that failed is asked for
once more, and people can see and delete what is kept of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    MESSAGE,
    SAVED,
    Shop,
    add_model,
    agree,
    answers,
    card,
    events,
    happened,
    heard,
    kept,
    options,
    ready,
    rows,
    soon,
)
from tests.fakes.openai_server import FakeServer

#: What the built-in text matcher says first.
MATCHER = "not a language model"
LONG_REPLY = " ".join(f"Lamp number {number} is warm and not dear." for number in range(400))
OFF: dict[str, Any] = {"every_messages": 1000}
SAID = (
    "SELECT message.role FROM authors_message message JOIN authors_author author "
    "ON author.id = author_id JOIN authors_site site "
    "ON site.id = author.site_id WHERE public_key = ?"
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="module")
def model(server: Server, endpoint: FakeServer) -> str:
    return add_model(server, endpoint.base_url)


def enter(page: Page, url: str, answer: str = "Agree") -> None:
    """Open the chat and agree."""
    page.goto(url)
    page.locator("labelhub-widget .launcher").click()
    page.get_by_role("button", name=answer).click()
    expect(page.get_by_label("Write a message")).to_be_focused()


def write(page: Page, text: str = MESSAGE) -> None:
    """Send a message."""
    page.get_by_label("Write a message").fill(text)
    page.keyboard.press("Enter")


def said(page: Page, role: str) -> Locator:
    """What somebody has said."""
    return page.locator(f"labelhub-widget .message.{role} .body")


def choose(page: Page, item: str) -> None:
    """From the menu."""
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name=item).click()


def test_a_reply_comes_in_pieces(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(chat_model=model, **OFF), open_as(None)
    pieces: list[dict[str, object]] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda raw: pieces.append(json.loads(raw)))

    page.on("websocket", listen)
    endpoint.reset()
    endpoint.script(LONG_REPLY)
    enter(page, shop.page(site, "chat"))
    write(page)
    reply = said(page, "assistant").last
    expect(reply).to_have_text(LONG_REPLY)
    replies = [each["d"] for each in pieces if each["t"] == "reply"]
    deltas = [each["delta"] for each in replies if isinstance(each, dict) and "delta" in each]
    assert len(deltas) >= 2
    assert "".join(deltas) == LONG_REPLY
    expect(page.locator("labelhub-widget [data-streaming]")).to_have_count(0)
    log = page.get_by_role("log")
    expect(log).to_have_attribute("aria-busy", "false")
    assert log.evaluate("(node) => node.scrollHeight - node.scrollTop - node.clientHeight") < 80


def test_the_built_in_matcher_says_what_it_is(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    enter(page, shop.page(shop.site(**OFF), "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    expect(page.locator("labelhub-widget .panel")).to_contain_text(MATCHER)


def test_what_was_said_is_there_after_a_reload(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    enter(page, shop.page(shop.site(**OFF), "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    before = page.locator("labelhub-widget .message .body").all_inner_texts()
    page.reload()
    page.locator("labelhub-widget .launcher").click()
    expect(page.locator("labelhub-widget .message .body")).to_have_text(before)
    write(page, "And a tent for two people?")
    expect(said(page, "assistant")).to_have_count(2)


def test_a_reply_that_failed_is_asked_for_again(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(chat_model=model, **OFF), open_as(None)
    endpoint.reset()
    endpoint.script({"fault": "unavailable"}, {"fault": "unavailable"}, "Here is your lamp.")
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(page.get_by_text("No answer came.")).to_be_visible()
    page.get_by_role("button", name="Try again").press("Enter")
    expect(page.get_by_role("log")).to_be_focused()  # the button is gone
    expect(said(page, "assistant").last).to_have_text("Here is your lamp.")
    expect(page.get_by_text("No answer came.")).to_have_count(0)
    expect(said(page, "author")).to_have_count(1)


def test_a_message_written_offline_is_sent_later(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(**OFF), open_as(None)
    enter(page, shop.page(site, "chat"))
    soon(page, lambda: kept(page, site).get("tok"), "the welcome")
    page.context.set_offline(True)
    write(page)
    expect(page.get_by_text("Waiting for the connection")).to_be_visible()
    page.context.set_offline(False)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    expect(page.get_by_text("Waiting for the connection")).to_have_count(0)
    assert [row["role"] for row in rows(server, SAID, site.key)].count("author") == 1


def test_a_question_in_the_chat_is_answered(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    ready(page)
    options(page).nth(1).click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert [answer["position"] for answer in answers(server, site)] == [1]


def test_after_an_answer_by_key_one_writes_on(open_as: OpenAs, shop: Shop) -> None:
    """Out of a card that closes the focus goes to where one writes, also where that is not where
    it came from; never to the page's body."""
    page = open_as(None)
    enter(page, shop.page(shop.site(), "chat"))
    write(page)
    ready(page)
    page.evaluate("document.querySelector('labelhub-widget').shadowRoot.activeElement.blur()")
    options(page).first.focus()
    page.keyboard.press("1")
    expect(page.get_by_text(SAVED).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("labelhub-widget .slot .card")).to_have_count(0)
    expect(page.get_by_label("Write a message")).to_be_focused()


def test_show_my_data(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    enter(page, shop.page(shop.site(**OFF), "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    choose(page, "Show my data")
    save = page.get_by_role("button", name="Download")
    expect(save).to_be_visible()
    data = json.loads(page.locator("labelhub-widget pre").inner_text())
    assert MESSAGE in json.dumps(data)
    with page.expect_download() as found:
        save.click()
    assert json.loads(found.value.path().read_text()) == data
    page.get_by_role("button", name="Back").click()
    expect(said(page, "author")).to_have_text([MESSAGE])


def test_delete_my_data(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(**OFF), open_as(None)
    events(page, "erased")
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    choose(page, "Delete my data")
    expect(page.get_by_text("Delete everything kept about you here?")).to_be_visible()
    page.get_by_role("button", name="Keep").click()
    expect(said(page, "author")).to_have_count(1)
    choose(page, "Delete my data")
    page.get_by_role("button", name="Delete my data").last.click()
    expect(page.get_by_text("Deleted. Receipt:")).to_be_visible()
    (told,) = heard(page)
    (proof,) = rows(
        server,
        "SELECT receipt FROM authors_erasure erasure JOIN authors_site site "
        "ON site.id = erasure.site_id WHERE public_key = ?",
        site.key,
    )
    assert told[1]["receipt"].replace("-", "") == proof["receipt"]
    assert rows(server, SAID, site.key) == []
    assert kept(page, site) == {}
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    expect(said(page, "author")).to_have_count(0)


def test_no_more_questions_but_the_chat_goes_on(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(options(page).first).to_be_visible()
    choose(page, "Don’t ask me questions")
    expect(options(page)).to_have_count(0)
    soon(page, lambda: "opted_out" in happened(server, site), "the opt-out")
    write(page, "And a tent for two people next week?")
    expect(said(page, "assistant")).to_have_count(2)
    page.wait_for_timeout(500)
    expect(options(page)).to_have_count(0)
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("button", name="Don’t ask me questions")).to_be_hidden()


def test_who_only_wants_to_chat_leaves_nothing(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    enter(page, shop.page(site, "chat"), "Chat without questions")
    write(page)
    expect(said(page, "assistant").last).to_contain_text(MATCHER)
    page.wait_for_timeout(500)
    expect(options(page)).to_have_count(0)
    assert rows(server, SAID, site.key) == []


def test_dont_ask_again_in_the_companion_lasts(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    page.evaluate("(text) => LabelHub.message(text)", MESSAGE)
    agree(page)
    expect(options(page).first).to_be_visible()
    page.get_by_role("button", name="Don’t ask again").click()
    expect(page.get_by_text("You will not be asked again.").first).to_be_visible()
    soon(page, lambda: "opted_out" in happened(server, site), "the opt-out")
    page.wait_for_timeout(500)
    assert page.get_by_text("You will not be asked again.").first.is_visible(), "cut off at once"
    page.reload()
    expect(page.locator("labelhub-widget")).to_be_attached()
    page.evaluate("(text) => LabelHub.message(text)", "Another lamp, please, a warm one.")
    page.wait_for_timeout(500)
    expect(card(page)).to_have_count(0)
    assert len(rows(server, SAID, site.key)) == 1


def test_delete_my_data_in_the_companion(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    page.evaluate("(text) => LabelHub.message(text)", MESSAGE)
    agree(page)
    expect(options(page).first).to_be_visible()
    page.get_by_role("button", name="My data").click()
    page.get_by_role("button", name="Delete my data").click()
    expect(page.get_by_text("Delete everything kept about you here?")).to_be_visible()
    page.get_by_role("button", name="Delete my data").click()
    expect(page.get_by_text("Deleted. Receipt:").first).to_be_visible()
    assert rows(server, SAID, site.key) == []
    assert kept(page, site) == {}
