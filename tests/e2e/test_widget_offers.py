"""What a site recommends, in the widget: seen before it counts as seen, every click counted, also
where the page leaves, and never in the way of a question."""

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.offers import (
    TITLE,
    became,
    brought,
    count,
    link,
    offer,
    offered,
    status,
    written,
)
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    HOST,
    Shop,
    Site,
    agree,
    asked,
    card,
    change,
    events,
    heard,
    kept,
    options,
    soon,
    tell,
)

AT_ONCE = 'data-boundary="none"'
#: The time when a card came, and when it was told to have been seen.
CLOCK = """(() => {
  const look = () => {
    const host = document.querySelector("labelhub-widget");
    if (host?.shadowRoot.querySelector(".offer")) window.came ??= performance.now();
    else requestAnimationFrame(look);
  };
  look();
  addEventListener("labelhub:offer", ({ detail }) => {
    if (detail.what === "shown") window.seen = performance.now();
  });
})()"""
#: On the path "/lost…" no click gets through: the page is gone before it is sent.
LOSES_CLICKS = """if (location.search === "?lost") {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (!data.includes('"what":"click"')) send.call(this, data);
  };
}"""
SENDS_TWICE = """const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  send.call(this, data);
  if (data.includes('"offered"')) send.call(this, data);
};"""


def settled(page: Page, site: Site) -> None:
    """All that was told has been taken."""
    soon(page, lambda: kept(page, site)["outbox"] == [], "all acks")


def test_it_says_what_it_is_and_counts_as_shown_after_a_second(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.add_init_script(CLOCK)
    written(page, shop.page(site), site)
    uid = brought(page, server, site)
    expect(offer(page)).to_contain_text("Recommendation")
    expect(offer(page)).to_contain_text(TITLE)
    expect(offer(page)).to_contain_text("Chosen by what you wrote here.")
    soon(page, lambda: status(server, uid) == "shown", "the display to be counted")
    assert page.evaluate("seen - came") >= 1000
    assert became(server, uid) == ["shown"]


def test_what_is_behind_a_closed_chat_was_not_shown(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, "chat"))
    launcher = page.locator("labelhub-widget .launcher")
    launcher.click()
    agree(page)
    page.get_by_label("Write a message").fill("hello there!")
    page.keyboard.press("Enter")
    expect(page.locator("labelhub-widget .message.assistant .body")).not_to_be_empty()
    settled(page, site)
    page.get_by_role("button", name="Close").click()
    uid = offered(server, site)
    expect(offer(page)).to_be_attached()
    page.wait_for_timeout(1500)
    assert became(server, uid) == []
    launcher.click()
    expect(page.locator("labelhub-widget .log .offer")).to_be_visible()
    soon(page, lambda: became(server, uid) == ["shown"], "the display to be counted")
    page.context.set_offline(True)
    page.context.set_offline(False)
    page.wait_for_timeout(1500)
    expect(page.locator("labelhub-widget .log .offer")).to_be_visible()


def test_every_click_counts(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "offer")
    written(page, shop.page(site), site)
    uid = brought(page, server, site)
    link(page).dblclick()
    soon(page, lambda: count(server, uid, "clicked") == 2, "both clicks")
    with page.context.expect_page() as opened:
        link(page).click(button="middle")
    opened.value.close()
    link(page).click(button="right")
    soon(page, lambda: count(server, uid, "clicked") == 3, "the middle button's")
    settled(page, site)
    assert count(server, uid, "clicked") == 3
    told = [detail["what"] for _, detail in heard(page)]
    assert told.count("click") == 3
    assert status(server, uid) == "shown"


def test_a_click_counts_though_the_page_leaves_before_it_is_sent(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.add_init_script(LOSES_CLICKS)
    address = shop.page(site)
    written(page, f"{address}?lost", site)
    away = shop.loose_page("<h1>The tent</h1>")
    uid = brought(page, server, site, link=away.removeprefix(shop.hosts.origin))
    link(page).click()
    page.wait_for_url(away)
    assert count(server, uid, "clicked") == 0
    page.goto(address)
    soon(page, lambda: count(server, uid, "clicked") == 1, "the click")
    settled(page, site)
    expect(offer(page)).to_have_count(0)


def test_what_happens_offline_is_told_when_there_is_a_connection(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    uid = brought(page, server, site)
    page.context.set_offline(True)
    link(page).click()
    offer(page).get_by_role("button", name="Yes").click()
    expect(offer(page).get_by_role("button", name="No")).to_have_count(0)
    offer(page).get_by_role("button", name="Close").click()
    expect(offer(page)).to_have_count(0)
    page.context.set_offline(False)
    soon(page, lambda: count(server, uid, "dismissed") == 1, "all of it")
    settled(page, site)
    told = became(server, uid)
    assert sorted(set(told) - {"shown"}) == ["clicked", "dismissed", "helpful"]
    assert len(told) == len(set(told))


def test_what_arrives_twice_counts_once(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.add_init_script(SENDS_TWICE)
    written(page, shop.page(site), site)
    uid = brought(page, server, site)
    link(page).click()
    offer(page).get_by_role("button", name="No").click()
    soon(page, lambda: len(became(server, uid)) == 3, "all three")
    settled(page, site)
    assert sorted(became(server, uid)) == ["clicked", "not_helpful", "shown"]


def test_an_open_question_comes_first(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    uid = offered(server, site)
    soon(page, lambda: status(server, uid) == "sent", "the offer to be sent")
    page.wait_for_timeout(700)
    expect(offer(page)).to_have_count(0)
    expect(options(page).first).to_be_visible()
    page.get_by_role("button", name="Skip").click()
    expect(offer(page)).to_be_visible()
    expect(card(page)).to_have_count(0)


def test_a_question_that_comes_meanwhile_is_asked_at_once_and_alone(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site, attributes=AT_ONCE), site)
    brought(page, server, site)
    change(server, 'UPDATE echo_echo SET "on" = 0 WHERE site_id = (SELECT id FROM authors_site '
                   "WHERE public_key = ?)", site.key)  # fmt: skip
    link(page).focus()
    tell(page, "And a lamp for it that is warm and not too dear, for Friday evening.")
    expect(options(page).first).to_be_visible()
    expect(offer(page)).to_have_count(0)
    page.get_by_role("button", name="Skip").click()
    expect(offer(page)).to_be_visible()
    expect(options(page)).to_have_count(0)


def test_one_that_ends_before_it_could_be_shown_is_dropped(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    uid = offered(server, site, left=6)
    soon(page, lambda: status(server, uid) == "sent", "the offer to be sent")
    page.wait_for_timeout(6500)
    page.get_by_role("button", name="Skip").click()
    expect(options(page)).to_have_count(0)
    page.wait_for_timeout(1000)
    expect(offer(page)).to_have_count(0)
    assert became(server, uid) == []


def test_a_newer_one_takes_the_place_of_an_older_one(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    brought(page, server, site)
    offered(server, site, title="Storm lamp")
    expect(offer(page)).to_contain_text("Storm lamp")
    expect(offer(page)).to_have_count(1)


def test_after_a_sign_of_danger_it_goes_off_the_screen(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site, attributes=AT_ONCE), site)
    uid = brought(page, server, site)
    tell(page, "I want to kill myself")
    expect(offer(page)).to_have_count(0)
    assert status(server, uid) == "expired"


def test_the_demos_shop_recommends(open_as: OpenAs, server: Server) -> None:
    """Everything real: what is written is decided about, worded, shown and clicked."""
    path = _corner_shop(server)
    server.api("PATCH", path, {"allowed_origins": [server.address]})
    page = open_as(None)
    events(page, "offer")
    page.goto("/demo/shop/")
    page.get_by_label("Your message").fill(
        "Which light tent for two people would you buy for a first trip in autumn?"
    )
    page.get_by_role("button", name="Send").click()
    consent = page.locator("labelhub-widget .terms")
    expect(consent).to_contain_text("What is recommended rests on what you write.")
    agree(page)
    skip = page.get_by_role("button", name="Skip")

    def came() -> bool:
        if skip.is_visible():
            skip.click()
        return offer(page).is_visible()

    soon(page, came, "an offer")
    link(page).click()
    soon(page, lambda: {"shown", "click"} <= {it["what"] for _, it in heard(page)}, "both")
    uid = heard(page)[0][1]["oid"].replace("-", "")
    soon(page, lambda: {"shown", "clicked"} <= set(became(server, uid)), "both to be counted")
    assert status(server, uid) == "shown"


def _corner_shop(server: Server) -> str:
    found = server.api("GET", "projects/shop-talk/sites/?page_size=50")
    listed = found["results"] if isinstance(found, dict) else found
    (key,) = [each["public_key"] for each in listed if each["name"] == "Corner shop"]
    return f"sites/{key}/"


def test_a_picture_that_cannot_be_loaded_disappears(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.loose_page(HOST + site.snippet()), site)
    brought(page, server, site, picture="/nothing-here.png")
    expect(link(page)).to_contain_text(TITLE)
    expect(offer(page).locator("img")).to_have_count(0)
