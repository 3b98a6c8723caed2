"""The widget on pages that forbid nearly everything, and on pages that are in its way: a strict
policy, hostile styles, frames, pages that replace their body, storage that throws."""

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.host_page import host_pages
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    HOST,
    MESSAGE,
    SAVED,
    Shop,
    agree,
    answers,
    asked,
    card,
    options,
    ready,
    sockets_of,
    soon,
    warnings_of,
)

HOSTILE = """
*{all:unset!important}
labelhub-widget{display:none!important;opacity:0!important;transform:rotate(9deg)!important}
button,section{display:none!important}
div{transform:translateX(90px)!important;position:static!important}
body{transform:scale(.9);position:relative;z-index:2147483647}
"""
PREFLIGHT = """
*,::before,::after{box-sizing:border-box;margin:0;padding:0;border:0 solid}
html{line-height:1.5;font-size:62.5%} button{font:inherit;color:inherit;background:none}
button:disabled{cursor:default} ol,ul{list-style:none} svg{display:block} [hidden]{display:none}
"""
THROWING = """
Storage.prototype.getItem = Storage.prototype.setItem = Storage.prototype.removeItem = () => {
  throw new DOMException("denied", "SecurityError");
};
window.BroadcastChannel = class { constructor() { throw new DOMException("denied"); } };
Object.defineProperty(navigator, "locks", { get() { throw new DOMException("denied"); } });
"""
NO_STORAGE = """
for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException("denied", "SecurityError"); },
  });
}
"""


def styled_corner(page: Page) -> bool:
    """Whether the card looks as it should, at the right of a page of 1280 pixels."""
    box = card(page).bounding_box()
    background = card(page).evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert box is not None
    at_corner = box["x"] + box["width"] == pytest.approx(1280 - 16, abs=20)
    return bool(background == "rgb(255, 255, 255)" and at_corner and 300 < box["width"] < 420)


def test_a_strict_policy_is_enough_for_the_companion(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    assert styled_corner(page)


def test_a_strict_policy_is_enough_for_the_chat(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site(), "chat"))
    page.locator("labelhub-widget .launcher").click()
    agree(page)
    page.get_by_label("Write a message").fill(MESSAGE)
    page.keyboard.press("Enter")
    said = page.locator("labelhub-widget .message.assistant .body").last
    expect(said).to_contain_text("text matcher")
    panel = page.locator("labelhub-widget .panel").bounding_box()
    assert panel is not None
    assert panel["width"] > 300
    assert panel["height"] > 300


@pytest.mark.parametrize("styles", [HOSTILE, PREFLIGHT], ids=["hostile", "preflight"])
def test_styles_of_the_page_do_not_reach_in(styles: str, open_as: OpenAs, shop: Shop) -> None:
    site = shop.site()
    page = open_as(None)
    page.goto(shop.loose_page(f"<style>{styles}</style>{HOST}{site.snippet()}"))
    asked(page)
    assert styled_corner(page)
    font = card(page).evaluate("(node) => parseFloat(getComputedStyle(node).fontSize)")
    assert font == 16
    held = page.locator("labelhub-widget").evaluate(
        "(node) => [getComputedStyle(node).opacity, getComputedStyle(node).transform]"
    )
    assert held == ["1", "none"]


def test_nothing_of_the_page_lies_above_the_card(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.loose_page(f"<style>{HOSTILE}</style>{HOST}{shop.site().snippet()}"))
    asked(page)
    box = options(page).first.bounding_box()
    assert box is not None
    point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    top = page.evaluate("([x, y]) => document.elementFromPoint(x, y).localName", point)
    assert top == "labelhub-widget"


def test_a_page_that_replaces_its_body_keeps_the_card(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    page.evaluate("() => document.body.replaceWith(document.createElement('body'))")
    expect(options(page).first).to_be_visible()
    page.evaluate("() => document.querySelector('labelhub-widget').remove()")
    expect(options(page).first).to_be_visible()
    page.evaluate("() => document.documentElement.replaceChildren(document.createElement('body'))")
    expect(options(page).first).to_be_visible()


def test_a_visit_as_turbo_makes_it_runs_the_script_again_for_nothing(
    open_as: OpenAs, shop: Shop
) -> None:
    page = open_as(None)
    told = warnings_of(page)
    page.goto(shop.loose_page(HOST + shop.site().snippet()))
    asked(page)
    page.evaluate(
        """() => {
          const next = document.createElement("body");
          const old = document.querySelector("script[data-site]");
          const script = document.createElement("script");
          for (const { name, value } of old.attributes) script.setAttribute(name, value);
          next.append(script);
          document.body.replaceWith(next);
          history.pushState({}, "", "/elsewhere");
        }"""
    )
    soon(page, lambda: told, "the warning")
    assert len(told) == 1
    expect(page.locator("labelhub-widget")).to_have_count(1)
    expect(options(page).first).to_be_visible()


def test_of_two_snippets_one_is_at_work(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    told, opened, site = warnings_of(page), sockets_of(page), shop.site()
    page.goto(shop.page(site, more=site.snippet()))
    asked(page)
    assert len(told) == 1
    assert len(opened) == 1
    expect(page.locator("labelhub-widget")).to_have_count(1)


@pytest.mark.parametrize("damage", [THROWING, NO_STORAGE], ids=["throws", "is-not-there"])
def test_without_storage_the_page_is_asked_all_the_same(
    damage: str, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site = shop.site()
    page = open_as(None)
    page.add_init_script(damage)
    page.goto(shop.page(site))
    asked(page)
    ready(page)
    options(page).first.click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert len(answers(server, site)) == 1


def framed(page: Page, frame: FrameLocator) -> None:
    """Write in the frame and agree there."""
    inner = page.frames[-1]
    inner.evaluate("(text) => LabelHub.message(text, {conversation: 'c'})", MESSAGE)
    frame.get_by_role("button", name="Agree").click()
    expect(frame.locator("labelhub-widget .choice").first).to_be_visible()


def test_in_a_frame_of_another_site_it_works_without_cookies(open_as: OpenAs, shop: Shop) -> None:
    """The browser keeps storage of such frames apart, as Safari does; cookies are off."""
    site = shop.site()
    with host_pages() as around:
        # Another site to the browser: the same machine by another name.
        outer = around.put("/", f'<iframe width="600" height="700" src="{shop.page(site)}">')
        page = open_as(None)
        with_cookies = page.context.new_cdp_session(page)
        with_cookies.send("Network.enable")
        with_cookies.send("Emulation.setDocumentCookieDisabled", {"disabled": True})
        page.goto(outer.replace("127.0.0.1", "localhost"))
        expect(page.frame_locator("iframe").locator("labelhub-widget")).to_be_attached()
        framed(page, page.frame_locator("iframe"))
        assert page.context.cookies() == []


def test_a_sandboxed_frame_is_nobodys_page(open_as: OpenAs, shop: Shop) -> None:
    site = shop.site()
    page = open_as(None)
    told, opened = warnings_of(page), sockets_of(page)
    inner = shop.page(site)
    page.goto(shop.loose_page(f'<iframe sandbox="allow-scripts" src="{inner}"></iframe>'))
    soon(page, lambda: told, "the warning")
    page.frames[-1].evaluate("(text) => LabelHub.message(text)", MESSAGE)
    assert len(told) == 1
    assert opened == []
    assert page.frame_locator("iframe").get_by_role("dialog").count() == 0
