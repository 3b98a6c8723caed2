"""What is erased leaves every page at once, and no click on what was left brings it back; what is
closed is settled, so that the next message may be asked about."""

import json

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    AT_ONCE,
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
    options,
    settled,
    sockets_of,
    soon,
    tell,
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


#: What another tab stores reaches a page later than the lock that the tab lets go.
LATE_NEWS = """(() => {
  const read = Storage.prototype.getItem;
  const isKnown = (text) => Boolean(text?.includes('"sid"'));
  let since = Infinity;
  setInterval(() => {
    const known = Object.keys(localStorage).some((name) => isKnown(read.call(localStorage, name)));
    since = known ? Math.min(since, performance.now()) : Infinity;
  }, 10);
  Storage.prototype.getItem = function (name) {
    const text = read.call(this, name);
    if (!isKnown(text) || performance.now() > since + 400) return text;
    const { sid, tok, ...rest } = JSON.parse(text);
    return JSON.stringify(rest);
  };
})();"""


#: A tab that does not see yet who this browser is, as if another had just stored it.
STALE = """(() => {
  const read = Storage.prototype.getItem;
  window.stale = false;
  Storage.prototype.getItem = function (name) {
    const text = read.call(this, name);
    if (!window.stale || !text?.includes('"sid"')) return text;
    const { sid, tok, ...rest } = JSON.parse(text);
    return JSON.stringify(rest);
  };
})();"""


def nobody(page: Page, site: Site) -> None:
    """For a while, too, as what a click sends takes its time."""
    page.wait_for_timeout(500)
    assert site.rows("author") == []
    assert kept(page, site) == {}


def test_a_card_goes_with_the_person_from_every_tab(open_as: OpenAs, shop: Shop) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    first.goto(address)
    asked_before(first, site)
    second = first.context.new_page()
    with second.expect_websocket():  # a page that begins later may ask for a consent
        second.goto(address)
    first.bring_to_front()
    stale = options(first).first.element_handle()
    receipt = erase(first)
    assert receipt
    expect(card(first)).to_have_count(0)
    stale.evaluate("(node) => node.click()")
    nobody(first, site)
    assert erase(first) == receipt
    second.bring_to_front()
    tell(second)
    expect(card(second)).to_have_count(0)
    nobody(second, site)


def test_a_tab_that_was_offline_meanwhile_makes_nobody(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, site)
    page.context.set_offline(True)
    (author,) = site.rows("author")
    site.server.manage("erase_author", site.key, "--uid", author["uid"])
    options(page).first.click()
    page.context.set_offline(False)
    soon(page, lambda: kept(page, site) == {}, "the page to forget")
    nobody(page, site)


def test_what_a_tab_writes_back_after_another_ones_erasure_is_cleared(
    open_as: OpenAs, shop: Shop
) -> None:
    """Unless a newer session has begun there since."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    settled(page, site)
    write_back = """([key, who]) => {
      localStorage.setItem(`${key}.who`, who);
      dispatchEvent(new StorageEvent("storage", { key, newValue: null }));
    }"""
    old = kept(page, site)
    newer = old | {"sid": "newer"}
    for written, stays in ((newer, newer), (old, {})):
        who = json.dumps({"sid": written["sid"], "tok": written["tok"]})
        page.evaluate(write_back, [f"labelhub.{site.key}", who])
        assert kept(page, site) == stays, written


def test_tabs_that_begin_at_once_are_one_person_whom_one_of_them_erases(
    open_as: OpenAs, shop: Shop
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    first.goto(address)
    second = first.context.new_page()
    second.add_init_script(LATE_NEWS)
    second.goto(address)
    tell(first)
    with held(shop.server):
        greeted_by(first)
        tell(second, "And a blanket for my brother, who camps with us.")
        second.wait_for_timeout(500)
    soon(second, lambda: len(site.messages()) == 2, "both messages")
    assert len(site.rows("author")) == 1
    assert erase(second)
    nobody(first, site)

    first.reload()
    second.reload()
    tell(first)
    with held(shop.server):  # the welcome is under way
        greeted_by(first)
        second.evaluate("() => { window.done = LabelHub.erase(); }")
        second.wait_for_timeout(300)
    assert second.evaluate("() => window.done.then(({ receipt }) => receipt)")
    nobody(first, site)
    nobody(second, site)


def test_what_a_tab_stores_undoes_nothing_that_another_has_just_stored(
    open_as: OpenAs, shop: Shop
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site)
    first.goto(address)
    tell(first)
    agree(first)
    settled(first, site)
    known = kept(first, site)
    second = first.context.new_page()
    second.add_init_script(STALE)
    opened = sockets_of(second)
    second.goto(address)
    soon(second, lambda: opened, "the second tab's socket")
    second.evaluate("() => { window.stale = true; }")
    second.context.set_offline(True)
    tell(second, "And a blanket for my brother, who camps with us.")

    def messages() -> int:
        return [frame["t"] for frame in kept(first, site)["outbox"]].count("msg")

    soon(second, lambda: messages() == 1, "the message to be stored")
    tell(first, "And a rope.")
    soon(first, lambda: messages() == 2, "both messages to be stored")
    assert kept(first, site) | {"outbox": []} == known
    second.evaluate("() => { window.stale = false; }")
    second.context.set_offline(False)
    soon(second, lambda: len(site.messages()) == 3, "all messages")
    assert len(site.rows("author")) == 1


def test_closing_settles_the_question_and_the_next_message_is_asked_about(
    open_as: OpenAs, shop: Shop
) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "dismissed")
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    page.evaluate("() => LabelHub.close()")
    expect(card(page)).to_have_count(0)
    soon(page, lambda: not site.open_questions(), "the question to be closed")
    assert heard(page)[0][1]["how"] == "host"
    tell(page, "And a second lamp for my brother, who camps with us in the rain.")
    expect(options(page).first).to_be_visible()
