"""What a site recommends, in the widget: seen before it counts as seen, every click counted, also
where the page leaves, never in the way of a question, and harmless whatever stands in it."""

from functools import partial
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.offers import (
    ASKS,
    TITLE,
    await_event,
    became,
    brought,
    link,
    named,
    offer,
    offered,
    status,
    written,
)
from tests.e2e.widget_steps import (
    AT_ONCE,
    HOST,
    Shop,
    asked,
    card,
    change,
    enter,
    evaluated,
    events,
    faults,
    heard,
    options,
    said,
    settled,
    soon,
    tell,
    write,
)

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
FOCUS = "() => document.activeElement.localName"
INSIDE = "() => document.querySelector('labelhub-widget').shadowRoot.activeElement?.className ?? ''"
IMAGE = "<img src=x onerror='window.harmed=1'>"
TURNED = "\u202eturned\u202c"
UNBROKEN = "W" * 300
ARABIC: dict[str, Any] = {
    "label": "توصية",
    "title": "خيمة لشخصين",
    "text": "خيمة خفيفة تُنصب في خمس دقائق وتبقى جافة.",
    "lang": "ar",
    "dir": "rtl",
    "helpful": {"ask": "هل كان هذا مفيدًا؟", "yes": "نعم", "no": "لا"},
    "why": "اختير بناءً على ما كتبته هنا.",
}
LEAD_NOWHERE = (
    "javascript:window.harmed=1",
    " java\nscript:harmed=1",
    "data:,x",
    "https://shop.example@elsewhere.example/",
    "//shop.example:x@elsewhere.example/",
)


def focused(page: Page) -> str:
    """The class of what has the focus inside the widget."""
    return str(page.evaluate(INSIDE))


def test_it_says_what_it_is_and_counts_as_shown_after_a_second(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None, reduced_motion="reduce")
    page.add_init_script(CLOCK)
    written(page, shop.page(site), site)
    uid = brought(page, site)
    for words in ("Recommendation", TITLE, "Chosen by what you wrote here."):
        expect(offer(page)).to_contain_text(words)
    found = faults(page, "an offer")
    soon(page, lambda: status(shop.server, uid) == "shown", "the display to be counted")
    assert page.evaluate("seen - came") >= 1000
    assert became(shop.server, uid) == ["shown"]
    brought(page, site, **ARABIC)
    expect(offer(page)).to_have_count(1)  # a newer one takes the place of an older one
    found += faults(page, "from right to left")
    assert not found, "\n".join(found)


def test_what_is_behind_a_closed_chat_was_not_shown(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    enter(page, shop.page(site, "chat"))
    write(page, "hello there!")
    expect(said(page, "assistant")).not_to_be_empty()
    settled(page, site)
    page.get_by_role("button", name="Close").click()
    uid = offered(site)
    expect(offer(page)).to_be_attached()
    page.wait_for_timeout(1500)
    assert became(shop.server, uid) == []
    page.locator("labelhub-widget .launcher").click()
    expect(page.locator("labelhub-widget .log .offer")).to_be_visible()
    await_event(page, shop.server, uid, "shown")
    assert not faults(page, "in the chat")


def test_every_click_counts_once(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    uid = brought(page, site)
    link(page).dblclick()
    await_event(page, shop.server, uid, "clicked", 2)
    with page.context.expect_page() as opened:
        link(page).click(button="middle")
    opened.value.close()
    link(page).click(button="right")
    await_event(page, shop.server, uid, "clicked", 3)
    settled(page, site)
    assert became(shop.server, uid).count("clicked") == 3

    page = open_as(None)
    page.add_init_script(SENDS_TWICE)
    written(page, shop.page(site), site)
    uid = brought(page, site)
    link(page).click()
    offer(page).get_by_role("button", name="No").click()
    soon(page, lambda: len(became(shop.server, uid)) == 3, "all three")
    settled(page, site)
    assert sorted(became(shop.server, uid)) == ["clicked", "not_helpful", "shown"]


def test_a_click_counts_though_the_page_leaves_or_is_offline(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.add_init_script(LOSES_CLICKS)
    address = shop.page(site)
    written(page, f"{address}?lost", site)
    away = shop.loose_page("<h1>The tent</h1>")
    uid = brought(page, site, link=away.removeprefix(shop.hosts.origin))
    link(page).click()
    page.wait_for_url(away)
    assert "clicked" not in became(shop.server, uid)
    page.goto(address)
    await_event(page, shop.server, uid, "clicked")
    settled(page, site)
    expect(offer(page)).to_have_count(0)

    uid = brought(page, site)
    page.context.set_offline(True)
    link(page).click()
    offer(page).get_by_role("button", name="Yes").click()
    offer(page).get_by_role("button", name="Close").click()
    expect(offer(page)).to_have_count(0)
    page.context.set_offline(False)
    await_event(page, shop.server, uid, "dismissed")
    settled(page, site)
    kinds = [kind for kind in became(shop.server, uid) if kind != "shown"]
    assert sorted(kinds) == ["clicked", "dismissed", "helpful"]


def test_a_question_comes_first(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    uid = offered(site)
    soon(page, lambda: status(shop.server, uid) == "sent", "the offer to be sent")
    page.wait_for_timeout(500)
    expect(offer(page)).to_have_count(0)
    page.get_by_role("button", name="Skip").click()
    expect(offer(page)).to_be_visible()
    expect(card(page)).to_have_count(0)
    change(shop.server, 'UPDATE echo_echo SET "on" = 0 WHERE site_id = (SELECT id FROM authors_site'
                        " WHERE public_key = ?)", site.key)  # fmt: skip
    link(page).focus()
    tell(page, "And a lamp for it that is warm and not too dear, for Friday evening.")
    expect(options(page).first).to_be_visible()
    expect(offer(page)).to_have_count(0)
    page.get_by_role("button", name="Skip").click()
    expect(offer(page)).to_be_visible()
    tell(page, "I want to kill myself")
    expect(offer(page)).to_have_count(0)
    assert status(shop.server, uid) == "expired"


def test_by_keys_alone(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    uid = brought(page, site)
    spoken = page.locator("labelhub-widget [role=status]").first
    expect(spoken).to_contain_text("Recommendation: A tent for two")
    expect(spoken).to_contain_text("Press Alt+Shift+Q.")
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Escape")
    expect(offer(page)).to_be_visible()
    page.keyboard.press("Alt+Shift+Q")
    assert focused(page) == "ware"
    page.keyboard.press("Enter")
    await_event(page, shop.server, uid, "clicked")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(offer(page)).to_contain_text("Thank you.")
    assert focused(page) == "helped"  # a second Enter does not follow the link
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "ware"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "cross"
    page.keyboard.press("Enter")
    expect(offer(page)).to_have_count(0)
    assert page.evaluate(FOCUS) == "textarea"
    await_event(page, shop.server, uid, "dismissed")
    kinds = became(shop.server, uid)
    assert {"helpful", "dismissed"} <= set(kinds)
    assert kinds.count("clicked") == 1


def test_what_mattered_most_is_asked_once_after_a_rating(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None, reduced_motion="reduce")
    events(page, "offer")
    written(page, shop.page(site), site)
    uid = brought(page, site, helpful=ASKS)
    spoken, ask = offer(page).get_by_role("status"), "What mattered most for this suggestion?"
    expect(offer(page)).not_to_contain_text(ask)
    offer(page).get_by_role("button", name="Yes").dblclick()  # the second click answers nothing
    expect(spoken).to_have_text(ask)
    group = offer(page).get_by_role("group", name=ask)
    buttons = [*(name for _, name in ASKS["mattered"]["options"]), "None of these"]
    expect(group.get_by_role("button")).to_have_text(buttons)
    found = faults(page, "the question")
    # Where the card gets lower, the second click would be one on the item.
    group.get_by_role("button", name="Budget").dblclick()
    expect(spoken).to_have_text("Saved. Thank you.")
    expect(group.get_by_role("button")).to_have_count(0)
    await_event(page, shop.server, uid, "named")
    assert named(shop.server, uid) == ["budget"]
    event, detail = heard(page)[-1]
    assert (event, detail["what"], detail["feature"]) == ("offer", "mattered", "budget")
    assert "clicked" not in became(shop.server, uid)
    row, lower = offer(page).get_by_role("group"), "(row) => row.offsetHeight < 40"
    soon(page, lambda: row.evaluate(lower), "the row to be as low as its text")
    assert not found, "\n".join(found)


def test_what_mattered_most_by_keys_on_a_phone(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None, viewport={"width": 390, "height": 844})
    written(page, shop.page(site), site)
    uid = brought(page, site, helpful=ASKS)
    link(page).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(offer(page).get_by_role("status")).to_contain_text("What mattered most")
    assert focused(page) == "helped"  # a second Enter answers nothing
    page.keyboard.press("Enter")
    none = offer(page).get_by_role("button", name="None of these")
    assert named(shop.server, uid) == []
    assert offer(page).evaluate("(node) => node.scrollWidth <= node.clientWidth")
    assert not faults(page, "the question on a phone")
    for _ in range(5):
        page.keyboard.press("Tab")
    expect(none).to_be_focused()
    expect(none).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    assert focused(page) == "helped"
    page.keyboard.press("Enter")
    await_event(page, shop.server, uid, "named")
    assert named(shop.server, uid) == [""]
    assert "clicked" not in became(shop.server, uid)
    page.keyboard.press("Escape")
    expect(offer(page)).to_have_count(0)

    uid = brought(page, site, helpful=ASKS)  # ignored
    offer(page).get_by_role("button", name="No").click()
    offer(page).get_by_role("button", name="Close").click()
    await_event(page, shop.server, uid, "dismissed")
    assert named(shop.server, uid) == []


def has_heard(page: Page, number: int) -> bool:
    """Whether the page was told so many things."""
    return len(heard(page)) == number


def test_what_leads_nowhere_is_not_shown(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "offer", "error")
    written(page, shop.page(site), site)
    for number, odd in enumerate(LEAD_NOWHERE, start=1):
        uid = offered(site, link=odd)
        soon(page, partial(has_heard, page, number), "that the page is told")
        assert (heard(page)[-1][0], heard(page)[-1][1]["code"]) == ("error", "offer"), odd
        expect(offer(page)).to_have_count(0)
        assert (status(shop.server, uid), became(shop.server, uid)) == ("sent", []), odd


def test_whatever_stands_in_it_is_text(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None, viewport={"width": 320, "height": 700})
    written(page, shop.loose_page(HOST + site.snippet()), site)
    hostile = {"title": f"{IMAGE}{UNBROKEN}", "text": f"{IMAGE} {TURNED} {UNBROKEN}"}
    more = {"picture": "javascript:harmed=1", "label": f"{IMAGE}Ad", "why": IMAGE, "price": IMAGE}
    brought(page, site, **hostile, **more)
    assert offer(page).locator(".name").text_content() == hostile["title"]
    assert offer(page).locator(".pitch").text_content() == hostile["text"]
    assert evaluated(page, "window.harmed ?? 0") == 0
    expect(offer(page).locator("img, script, b")).to_have_count(0)
    assert offer(page).evaluate("(node) => node.scrollWidth <= node.clientWidth")
    brought(page, site, picture="/nothing-here.png", link=f"{shop.server.address}/health/ready")
    expect(link(page)).to_contain_text(TITLE)
    expect(offer(page).locator("img")).to_have_count(0)  # it cannot be loaded
    expect(link(page)).to_have_attribute("rel", "noopener")
    expect(link(page)).to_have_accessible_name(f"{TITLE} 129 EUR Take a look (opens a new tab)")
    with page.context.expect_page() as opened:
        link(page).click()
    assert opened.value.evaluate("window.opener === null")
