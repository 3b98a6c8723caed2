"""What is erased leaves every page at once, and no click on what was left brings it back; what is
closed is settled, so that the next message may be asked about."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    Shop,
    Site,
    agree,
    asked,
    asked_before,
    card,
    events,
    heard,
    held,
    kept,
    open_questions,
    options,
    rows,
    soon,
    tell,
)

#: A page whose clock is ten minutes fast.
FAST = """
const Right = Date, ahead = 600_000;
window.Date = class extends Right {
  constructor(...given) { given.length ? super(...given) : super(Right.now() + ahead); }
  static now() { return Right.now() + ahead; }
};
"""
AT_ONCE = 'data-boundary="none"'
SAID = (
    "SELECT m.ref FROM authors_message m JOIN authors_author a ON a.id = m.author_id"
    " JOIN authors_site s ON s.id = a.site_id WHERE s.public_key = ?"
)
AUTHORS = (
    "SELECT author.uid FROM authors_author author JOIN authors_site site "
    "ON site.id = author.site_id WHERE public_key = ?"
)


def erase(page: Page) -> str:
    """As the host's own link does; the receipt."""
    return str(page.evaluate("() => LabelHub.erase().then((done) => done.receipt)"))


def greeted_by(page: Page) -> None:
    """Agree; the page's hello is on its way."""
    hellos: list[bool] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: hellos.append(True)))
    agree(page)
    soon(page, lambda: hellos, "the hello to be on its way")


def nobody(page: Page, server: Server, site: Site) -> None:
    """For a while, too, as what a click sends takes its time."""
    page.wait_for_timeout(800)
    assert rows(server, AUTHORS, site.key) == []
    assert kept(page, site) == {}


def test_a_card_goes_with_the_person_and_no_click_on_it_makes_them_anew(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, server, site)
    stale = options(page).first.element_handle()
    receipt = erase(page)
    assert receipt
    expect(card(page)).to_have_count(0)
    stale.evaluate("(node) => node.click()")
    nobody(page, server, site)
    assert erase(page) == receipt


def test_the_other_tab_forgets_too(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    first.goto(address)
    asked(first)
    second = first.context.new_page()
    events(second, "erased")
    with second.expect_websocket():  # a page that begins later may ask for a consent
        second.goto(address)
    soon(second, lambda: open_questions(server, site), "a question")
    erase(first)
    expect(card(first)).to_have_count(0)
    second.bring_to_front()
    tell(second)
    expect(card(second)).to_have_count(0)
    nobody(second, server, site)


def test_a_tab_that_was_offline_meanwhile_makes_nobody(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, server, site)
    page.context.set_offline(True)
    (author,) = rows(server, AUTHORS, site.key)
    server.manage("erase_author", site.key, "--uid", author["uid"])
    options(page).first.click()
    page.context.set_offline(False)
    soon(page, lambda: kept(page, site) == {}, "the page to forget")
    nobody(page, server, site)


def test_where_the_host_has_the_consent_a_reload_makes_nobody_until_it_says_a_newer_one(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(consent_by="host"), open_as(None)
    address = shop.page(site, attributes=f'{AT_ONCE} data-consent="host"')
    page.goto(address)
    tell(page)
    soon(page, lambda: kept(page, site).get("outbox") == [], "the message to be kept")
    second = page.context.new_page()
    second.goto(address)
    tell(second, "And a lamp for my brother.")
    soon(second, lambda: len(rows(server, SAID, site.key)) == 2, "the message to be stored")
    soon(second, lambda: kept(second, site).get("outbox") == [], "its page to hear of it")
    consented = page.evaluate("() => Date.now()")
    erase(page)
    tell(second, "And I am still writing here, about a lamp.")
    nobody(second, server, site)
    page.goto(address)
    tell(page)
    page.evaluate(f"() => LabelHub.agree({consented} - 60000)")
    tell(page)
    nobody(page, server, site)
    page.evaluate("() => LabelHub.agree(Date.now() + 365 * 86400000)")
    tell(page)
    nobody(page, server, site)
    page.evaluate("() => LabelHub.agree(Date.now())")
    tell(page)
    soon(page, lambda: rows(server, AUTHORS, site.key), "an author")


def test_a_clock_that_is_fast_makes_no_consent_of_before_newer_than_the_erasure(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(consent_by="host"), open_as(None)
    page.add_init_script(FAST)
    address = shop.page(site, attributes=f'{AT_ONCE} data-consent="host"')
    page.goto(address)
    consented = page.evaluate("() => Date.now()")
    page.evaluate("(at) => LabelHub.agree(at)", consented)
    tell(page)
    soon(page, lambda: kept(page, site).get("outbox") == [], "the message to be kept")
    erase(page)
    page.goto(address)
    page.evaluate("(at) => LabelHub.agree(at)", consented)
    tell(page)
    nobody(page, server, site)
    page.evaluate("() => LabelHub.agree(Date.now())")
    tell(page)
    soon(page, lambda: rows(server, AUTHORS, site.key), "an author")


def test_an_erasure_waits_for_the_welcome_that_is_under_way(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    tell(page)
    with held(server):
        greeted_by(page)
        page.evaluate("() => { window.done = LabelHub.erase(); }")
    assert page.evaluate("() => window.done.then(({ receipt }) => receipt)")
    nobody(page, server, site)


def test_two_tabs_that_begin_at_once_are_one_person(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    first.goto(address)
    second = first.context.new_page()
    second.goto(address)
    tell(first)
    with held(server):
        greeted_by(first)
        tell(second, "And a blanket for my brother, who camps with us.")
        second.wait_for_timeout(500)
    soon(second, lambda: len(rows(server, SAID, site.key)) == 2, "both messages")
    assert len(rows(server, AUTHORS, site.key)) == 1
    assert erase(second)
    nobody(first, server, site)


def test_a_tab_erases_whom_another_one_has_just_made(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    first.goto(address)
    second = first.context.new_page()
    second.goto(address)
    tell(first)
    with held(server):
        greeted_by(first)
        second.evaluate("() => { window.done = LabelHub.erase(); }")
        second.wait_for_timeout(300)
    assert second.evaluate("() => window.done.then(({ receipt }) => receipt)")
    nobody(first, server, site)
    nobody(second, server, site)


def test_what_a_tab_writes_back_after_another_one_s_erasure_is_cleared(
    open_as: OpenAs, shop: Shop
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    page.wait_for_function("() => LabelHub.version")
    page.evaluate("() => LabelHub.close()")
    expect(page.locator("labelhub-widget")).to_be_attached()
    write_back = """([key, kept, before]) => {
      localStorage.setItem(key, kept);
      dispatchEvent(new StorageEvent("storage", { key, oldValue: before, newValue: null }));
    }"""
    old: dict[str, Any] = {"sid": "old", "consent": 1, "outbox": []}
    newer = old | {"sid": "newer"}
    wrong = []
    for written, stays in ((old, {}), (newer, newer)):
        args = [f"labelhub.{site.key}", json.dumps(written), json.dumps(old)]
        page.evaluate(write_back, args)
        if kept(page, site) != stays:
            wrong.append((written, kept(page, site)))
    assert wrong == []


def test_closing_settles_the_question_and_the_next_message_is_asked_about(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "dismissed")
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    page.evaluate("() => LabelHub.close()")
    expect(card(page)).to_have_count(0)
    soon(page, lambda: not open_questions(server, site), "the question to be closed")
    assert heard(page)[0][1]["how"] == "host"
    tell(page, "And a second lamp for my brother, who camps with us in the rain.")
    expect(options(page).first).to_be_visible()
