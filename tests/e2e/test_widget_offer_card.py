"""The card of what is recommended: for everybody, at every size, harmless whatever stands in it."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.offers import TITLE, became, brought, link, offer, offered, status, written
from tests.e2e.server import Server
from tests.e2e.test_widget_looks import looked_at, looked_once
from tests.e2e.widget_steps import (
    Shop,
    agree,
    evaluated,
    events,
    faults,
    heard,
    kept,
    soon,
    tell,
)

SCHEMES: list[Any] = ["light", "dark"]
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


def focused(page: Page) -> str:
    """The class of what has the focus inside the widget."""
    return str(page.evaluate(INSIDE))


def chatting(page: Page, shop: Shop, site: Any) -> None:
    """In the open chat, after a greeting that nothing is asked about."""
    page.goto(shop.page(site, "chat"))
    page.locator("labelhub-widget .launcher").click()
    agree(page)
    page.get_by_label("Write a message").fill("hello there!")
    page.keyboard.press("Enter")
    expect(page.locator("labelhub-widget .message.assistant .body")).not_to_be_empty()
    soon(page, lambda: kept(page, site).get("outbox") == [], "the message to be kept")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_the_companion(
    scheme: Any, open_as: OpenAs, shop: Shop, server: Server, tmp_path: Path
) -> None:
    site = shop.site()
    page = open_as(None, color_scheme=scheme, reduced_motion="reduce")
    written(page, shop.page(site), site)
    brought(page, server, site)
    found = faults(page, "an offer")
    offer(page).get_by_role("button", name="Yes").click()
    expect(offer(page)).to_contain_text("Thank you.")
    found += faults(page, "found helpful")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_the_chat(
    scheme: Any, open_as: OpenAs, shop: Shop, server: Server, tmp_path: Path
) -> None:
    site = shop.site()
    page = open_as(None, color_scheme=scheme, reduced_motion="reduce")
    chatting(page, shop, site)
    brought(page, server, site)
    brought(page, server, site)
    expect(offer(page)).to_have_count(2)
    found = faults(page, "two offers in the chat")
    found += looked_at(page, tmp_path, "chat", scheme)
    assert not found, "\n".join(found)
    expect(page.locator("labelhub-widget .log .offer")).to_have_count(2)


def test_it_fits_everywhere(open_as: OpenAs, shop: Shop, server: Server, tmp_path: Path) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    brought(page, server, site, text="A tent for two. " * 15, title="A long name of a ware " * 5)
    found = looked_at(page, tmp_path, "offer")
    page.set_viewport_size({"width": 320, "height": 256})
    found += looked_once(page, tmp_path, "magnified")
    assert not found, "\n".join(found)
    offer(page).get_by_role("button", name="No").scroll_into_view_if_needed()
    expect(offer(page).locator(".badge")).to_be_in_viewport(ratio=1)


def test_from_right_to_left(open_as: OpenAs, shop: Shop, server: Server, tmp_path: Path) -> None:
    site = shop.site(languages=["ar"])
    page = open_as(None, locale="ar")
    page.goto(shop.page(site))
    tell(page, "مرحبا", id="m-0")
    page.get_by_role("button", name="موافق").click()
    soon(page, lambda: kept(page, site).get("outbox") == [], "the message to be kept")
    brought(page, server, site, **ARABIC)
    expect(link(page)).to_contain_text("عرض التفاصيل")
    found = faults(page, "an offer") + looked_at(page, tmp_path, "arabic")
    assert not found, "\n".join(found)
    page.set_viewport_size({"width": 1280, "height": 800})
    badge = offer(page).locator(".badge").bounding_box()
    cross = offer(page).locator(".cross").bounding_box()
    assert badge is not None
    assert cross is not None
    assert cross["x"] < badge["x"], "what begins a line stands at its right"


def test_by_keys_alone(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    uid = brought(page, server, site)
    spoken = page.locator("labelhub-widget [role=status]").first
    expect(spoken).to_contain_text("Recommendation: A tent for two")
    expect(spoken).to_contain_text("Press Alt+Shift+Q.")
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    assert focused(page) == "ware"
    page.keyboard.press("Enter")
    soon(page, lambda: "clicked" in became(server, uid), "the click")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(offer(page)).to_contain_text("Thank you.")
    assert focused(page) == "ware"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "cross"
    page.keyboard.press("Enter")
    expect(offer(page)).to_have_count(0)
    assert page.evaluate(FOCUS) == "textarea"
    soon(page, lambda: "dismissed" in became(server, uid), "all of it")
    assert {"clicked", "helpful", "dismissed"} <= set(became(server, uid))


@pytest.mark.parametrize("mode", ["companion", "chat"])
def test_escape_sends_it_away_only_from_inside(
    mode: str, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    if mode == "chat":
        chatting(page, shop, site)
    else:
        written(page, shop.page(site), site)
    uid = brought(page, server, site)
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Escape")
    expect(offer(page)).to_be_visible()
    link(page).focus()
    page.keyboard.press("Escape")
    expect(offer(page)).to_have_count(0)
    soon(page, lambda: "dismissed" in became(server, uid), "that it was sent away")
    if mode == "chat":
        expect(page.get_by_label("Write a message")).to_be_focused()
    else:
        assert page.evaluate(FOCUS) == "textarea"


def test_a_mouse_leaves_the_caret_where_somebody_writes(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    brought(page, server, site)
    page.get_by_label("Ask us").focus()
    offer(page).get_by_role("button", name="Yes").click()
    expect(offer(page)).to_contain_text("Thank you.")
    page.keyboard.type("and")
    expect(page.get_by_label("Ask us")).to_have_value("and")


@pytest.mark.parametrize(
    "odd",
    [
        "javascript:window.harmed=1",
        " java\nscript:harmed=1",
        "data:,x",
        "https://shop.example@elsewhere.example/",
        "//shop.example:x@elsewhere.example/",
    ],
)
def test_what_leads_nowhere_is_not_shown(
    odd: str, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    events(page, "offer", "error")
    written(page, shop.page(site), site)
    uid = offered(server, site, link=odd)
    soon(page, lambda: heard(page), "that the page is told")
    assert [name for name, _ in heard(page)] == ["error"]
    assert heard(page)[0][1]["code"] == "offer"
    expect(offer(page)).to_have_count(0)
    assert (status(server, uid), became(server, uid)) == ("sent", [])


@pytest.mark.parametrize("width", [320, 1280])
def test_whatever_stands_in_it_is_text(
    width: int, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None, viewport={"width": width, "height": 700})
    written(page, shop.page(site), site)
    hostile = {"title": f"{IMAGE}{UNBROKEN}", "text": f"{IMAGE} {TURNED} {UNBROKEN}"}
    more = {"picture": "javascript:harmed=1", "label": f"{IMAGE}Ad", "why": IMAGE, "price": IMAGE}
    brought(page, server, site, **hostile, **more)
    assert offer(page).locator(".name").text_content() == hostile["title"]
    assert offer(page).locator(".pitch").text_content() == hostile["text"]
    assert evaluated(page, "window.harmed ?? 0") == 0
    expect(offer(page).locator("img, script, b")).to_have_count(0)
    assert offer(page).evaluate("(node) => node.scrollWidth <= node.clientWidth")
    badge = offer(page).locator(".badge")
    assert badge.evaluate("(node) => node.scrollWidth <= node.clientWidth + 1")


def test_another_sites_page_opens_beside_and_knows_nothing_of_this_one(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(), open_as(None)
    written(page, shop.page(site), site)
    uid = brought(page, server, site, link=f"{server.address}/health/ready")
    expect(link(page)).to_have_attribute("rel", "noopener")
    expect(link(page)).to_have_accessible_name(f"{TITLE} 129 EUR Take a look (opens a new tab)")
    with page.context.expect_page() as opened:
        link(page).click()
    assert opened.value.evaluate("window.opener === null")
    soon(page, lambda: "clicked" in became(server, uid), "the click")
    expect(offer(page)).to_be_visible()
