"""What is asked for without a connection is done when there is one again, and said: deleting, also
on a later page; what was written in a session that never began; what was to be shown.
"""

import json

from playwright.sync_api import Page, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.test_widget_outbox import messages
from tests.e2e.widget_steps import (
    MESSAGE,
    Shop,
    agree,
    asked_before,
    card,
    events,
    heard,
    kept,
    options,
    rows,
    soon,
    tell,
)

AT_ONCE = 'data-boundary="none"'


def delete(page: Page) -> None:
    """By the card of a question, and without a connection."""
    page.get_by_role("button", name="My data").click()
    expect(page.get_by_role("button", name="Delete my data")).to_be_visible()
    page.context.set_offline(True)
    page.get_by_role("button", name="Delete my data").click()
    page.get_by_role("button", name="Delete my data").click()
    expect(card(page)).to_contain_text("It will be deleted as soon as you are online.")


def agree_offline(page: Page, address: str) -> None:
    """A message, then no connection, and only then the word that it may be asked about."""
    page.goto(address)
    tell(page, id="m-0")
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    page.context.set_offline(True)
    agree(page)


def test_what_is_deleted_offline_is_deleted_by_the_same_page(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "erased")
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, server, site)
    delete(page)
    tell(page, "This is not kept any more, and nothing is asked about it.")
    assert [frame["t"] for frame in kept(page, site)["outbox"] if frame["t"] == "msg"] == []
    page.context.set_offline(False)
    soon(page, lambda: heard(page), "the receipt")
    assert kept(page, site) == {}
    assert heard(page)[0][1]["receipt"]
    tell(page)
    page.wait_for_timeout(500)
    assert kept(page, site) == {}


def test_what_is_deleted_offline_is_deleted_by_the_next_page(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """No question comes before, and the browser keeps nothing after."""
    site, page = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    page.goto(address)
    asked_before(page, server, site)
    delete(page)
    later = page.context.new_page()
    events(later, "erased", "shown")
    page.close()
    later.context.set_offline(False)
    later.goto(address)
    soon(later, lambda: heard(later), "the receipt")
    assert [name for name, _ in heard(later)] == ["erased"]
    assert kept(later, site) == {}
    expect(card(later)).to_have_count(0)
    tell(later)
    later.wait_for_timeout(500)
    expect(card(later)).to_have_count(0)
    later.reload()
    tell(later)
    expect(later.get_by_role("button", name="Agree")).to_be_visible()
    sql = "SELECT count(*) AS many FROM authors_erasure e JOIN authors_site s ON s.id = e.site_id "
    assert rows(server, sql + "WHERE public_key = ?", site.key) == [{"many": 1}]


def test_a_session_that_never_began_is_resumed_in_its_order(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(every_messages=100), open_as(None)
    address = shop.page(site)
    agree_offline(page, address)
    tell(page, id="m-1")
    soon(page, lambda: len(kept(page, site).get("outbox", [])) == 2, "both to be kept")
    assert "sid" not in kept(page, site)
    later = page.context.new_page()
    page.close()
    later.goto("about:blank")
    later.context.set_offline(False)
    later.goto(address)
    tell(later, id="m-2")
    soon(later, lambda: len(messages(server, site)) == 3, "all messages")
    assert [row["ref"] for row in messages(server, site)] == ["m-0", "m-1", "m-2"]
    soon(later, lambda: kept(later, site)["outbox"] == [], "all acks")


def test_a_session_that_never_began_is_resumed_without_a_new_message(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(every_messages=100), open_as(None)
    address = shop.page(site)
    agree_offline(page, address)
    soon(page, lambda: kept(page, site).get("outbox"), "the message to be kept")
    later = page.context.new_page()
    page.close()
    later.context.set_offline(False)
    later.goto(address)
    soon(later, lambda: messages(server, site), "the message")
    assert [row["ref"] for row in messages(server, site)] == ["m-0"]


def test_my_data_are_shown_when_there_is_a_connection_and_only_here(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    page.goto(address)
    asked_before(page, server, site)
    page.get_by_role("button", name="My data").click()
    expect(page.get_by_role("button", name="Show my data")).to_be_visible()
    page.context.set_offline(True)
    page.get_by_role("button", name="Show my data").click()
    text = page.locator("labelhub-widget pre")
    expect(text).to_have_text("It will be shown as soon as you are online.")
    assert not any(frame["t"] == "export" for frame in kept(page, site)["outbox"])
    later = page.context.new_page()
    came: list[str] = []
    later.on("websocket", lambda socket: listen(socket, came))
    page.context.set_offline(False)
    expect(text).to_contain_text(MESSAGE)
    page.close()
    later.goto(address)
    expect(options(later).first).to_be_visible()
    assert "data" not in came


def listen(socket: WebSocket, came: list[str]) -> None:
    """Collect the kinds of frames that come."""
    socket.on("framereceived", lambda raw: came.append(json.loads(raw)["t"]))
