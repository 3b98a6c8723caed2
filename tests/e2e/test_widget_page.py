"""The widget on pages that forbid nearly everything or are in its way, at every size and on phones;
and what it costs them.

Only Chromium is run: how other engines draw it, and their screen readers, has to be looked at by a
person. Of what they do otherwise, storage kept apart and storage that is not there are played.
"""

import json
import uuid
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.browser import SETTLED, Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.host_page import host_pages
from tests.e2e.widget_steps import (
    AT_ONCE,
    HOST,
    MESSAGE,
    SAVED,
    Shop,
    Site,
    agree,
    asked,
    card,
    enter,
    evaluated,
    insert,
    inspector,
    options,
    readable_now,
    ready,
    said,
    sockets_of,
    soon,
    tell,
    warnings_of,
    write,
)

HOSTILE = """
*{all:unset!important}
labelhub-widget{display:none!important;opacity:0!important;transform:rotate(9deg)!important}
button,section{display:none!important}
div{transform:translateX(90px)!important;position:static!important}
body{transform:scale(.9);position:relative;z-index:2147483647}
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
#: Takes all the room that the page has to store anything.
FILL = """(() => {
  for (let size = 1 << 20, text = "x".repeat(size); size; ) {
    try {
      localStorage.setItem(`filler-${size}-${localStorage.length}`, text);
    } catch {
      size >>= 1;
      text = text.slice(0, size);
    }
  }
})()"""
#: Ends the connection as the loss of the network does.
LOSE = 'dispatchEvent(new Event("offline"))'
CLOCK = "window.ahead = 0; const real = Date.now; Date.now = () => real() + window.ahead;"
#: What is on the screen, and what of it is not as it should be.
MISFITS = """() => {
  const root = document.querySelector("labelhub-widget").shadowRoot;
  const faults = [];
  const inside = (box, around, what) => {
    const out = box.left < around.left - 1 || box.right > around.right + 1;
    if (out) faults.push(`${what} sticks out`);
  };
  const screen = { left: 0, right: innerWidth };
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  for (const frame of root.querySelectorAll(".card, .panel")) {
    const box = frame.getBoundingClientRect();
    if (!box.width) continue;
    inside(box, screen, frame.className);
    // In the chat, the list of messages and the card share the height and scroll.
    const { top, bottom } = (frame.closest(".slot") ?? frame).getBoundingClientRect();
    if (top < -1 || bottom > innerHeight + 1) faults.push(`${frame.className} is too high`);
    if (frame.scrollWidth > frame.clientWidth) faults.push(`${frame.className} scrolls sideways`);
    for (const part of frame.querySelectorAll("button, p, input, textarea, blockquote")) {
      const own = part.getBoundingClientRect();
      if (own.width > 1) inside(own, box, part.className || part.localName);
    }
  }
  return faults;
}"""
SIZES = {320: 568, 1280: 800}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
#: Pixels that a finger needs, and of a phone's height those that a card may take.
TOUCH, MOST = 44, 0.47 * 844
COMPOSER = (
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<style>body{{margin:0}}form{{position:absolute;left:0;right:0;{place};padding:8px}}"
    "textarea{{width:100%;height:60px}}</style>"
    '<form><textarea aria-label="Ask us"></textarea><button type="button">Send</button></form>'
)
#: Shifts of the layout, and our scripts' part of frames that took long, with its milliseconds.
WATCH = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) shifts += each.value;
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_HEAP, CARDS = 1_500_000, 40
#: Skips one question after the other, as they come.
SKIP_ALL = """async (most) => {
  const root = document.querySelector("labelhub-widget").shadowRoot;
  const skip = () => root.querySelector("[data-key=s]");
  const until = async (ask) => { while (!ask()) await new Promise((go) => setTimeout(go, 10)); };
  for (let count = 0; count < most; count += 1) {
    await until(skip);
    skip().click();
    await until(() => !skip());
  }
  await until(skip);
}"""


def box(page: Page, selector: str) -> dict[str, float]:
    """Where something is on the screen."""
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    x, y, width, height = found["x"], found["y"], found["width"], found["height"]
    return {"x": x, "y": y, "width": width, "height": height, "bottom": y + height}


def looks_as_it_should(page: Page) -> bool:
    """Whether the card is white and stands at the right of a page of 1280 pixels."""
    own = box(page, "labelhub-widget .card")
    background = card(page).evaluate("(node) => getComputedStyle(node).backgroundColor")
    at_corner = own["x"] + own["width"] == pytest.approx(1280 - 16, abs=20)
    return bool(background == "rgb(255, 255, 255)" and at_corner and 300 < own["width"] < 420)


def misfits(page: Page, state: str) -> list[str]:
    """What does not fit, at all sizes, in usual and in forced colours."""
    found = []
    for colours in ("none", "active"):
        page.emulate_media(reduced_motion="reduce", forced_colors=colours)
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            evaluated(page, f"{SETTLED}.then(() => 0)")
            found += [f"{state}, {width}, {colours}: {misfit}" for misfit in page.evaluate(MISFITS)]
    return found


def test_styles_and_scripts_of_the_page_do_not_reach_in(open_as: OpenAs, shop: Shop) -> None:
    """Nothing of the page lies above the card, and a page that replaces its body keeps it."""
    page = open_as(None)
    page.goto(shop.loose_page(f"<style>{HOSTILE}</style>{HOST}{shop.site().snippet()}"))
    asked(page)
    assert looks_as_it_should(page)
    assert card(page).evaluate("(node) => parseFloat(getComputedStyle(node).fontSize)") == 16
    first = box(page, "labelhub-widget .choice")
    point = [first["x"] + first["width"] / 2, first["y"] + first["height"] / 2]
    top = page.evaluate("([x, y]) => document.elementFromPoint(x, y).localName", point)
    assert top == "labelhub-widget"

    page, site = open_as(None), shop.site()
    warnings, opened = warnings_of(page), sockets_of(page)
    page.goto(shop.page(site, more=site.snippet()))  # of two snippets one is at work
    asked(page)
    assert looks_as_it_should(page), "the strict policy of the page is enough"
    for change in (
        "document.body.replaceWith(document.createElement('body'))",
        "document.querySelector('labelhub-widget').remove()",
        "document.documentElement.replaceChildren(document.createElement('body'))",
    ):
        page.evaluate(f"() => {change}")
        expect(options(page).first).to_be_visible()
    expect(page.locator("labelhub-widget")).to_have_count(1)
    assert (len(warnings), len(opened)) == (1, 1)


def test_without_storage_the_page_is_asked_all_the_same(open_as: OpenAs, shop: Shop) -> None:
    for damage in (THROWING, NO_STORAGE):
        site, page = shop.site(), open_as(None)
        page.add_init_script(damage)
        page.goto(shop.page(site))
        asked(page)
        ready(page)
        options(page).first.click()
        expect(page.get_by_text(SAVED).first).to_be_visible()
        assert len(site.answers()) == 1


def test_whatever_else_is_stored_is_no_hindrance(open_as: OpenAs, shop: Shop) -> None:
    """Where the consent cannot be read, the page is asked again."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    agreed = {"consent": 1, "scope": ["questions"]}
    frames = [None, {"t": 7, "id": {}}, {"t": "msg", "d": 7}]
    cases: list[tuple[str, dict[str, Any], bool]] = [
        ("{", {}, True),
        ('"text"', {}, True),
        ("7", {}, True),
        (json.dumps({"consent": "1"}), {}, True),
        (json.dumps(agreed | {"__proto__": {"sid": "x"}, "outbox": 7}), {}, False),
        (json.dumps(agreed | {"outbox": frames}), {}, False),
        (json.dumps(agreed | {"at": "x", "scope": 7, "out": "x"}), {"sid": {}, "tok": 7}, False),
    ]
    for number, (main, who, is_asked) in enumerate(cases, start=1):
        name = f"labelhub.{site.key}"
        stored = {name: main, f"{name}.who": json.dumps(who)}
        page.evaluate(
            "(stored) => { localStorage.clear(); Object.assign(localStorage, stored); }", stored
        )
        page.reload()
        tell(page)
        if is_asked:
            agree(page)
        soon(page, partial(_has_messages, site, number), f"a message beside {main}")


def _has_messages(site: Site, most: int) -> bool:
    return len(site.messages()) == most


def test_in_a_full_storage_nobody_becomes_another_author(
    open_as: OpenAs, shop: Shop, troubles: Troubles
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    tell(page)
    expect(card(page)).to_be_visible()
    page.context.set_offline(True)
    agree(page)
    evaluated(page, FILL)
    page.context.set_offline(False)
    soon(page, lambda: len(site.messages()) == 1, "the first message")
    evaluated(page, LOSE)
    tell(page, "And a tent for two, please.")
    soon(page, lambda: len(site.messages()) == 2, "the second message")
    assert len(site.rows("author")) == 1
    assert all("ERR_INTERNET_DISCONNECTED" in trouble for trouble in troubles)
    troubles.clear()


def test_a_clock_that_is_set_changes_nothing(open_as: OpenAs, shop: Shop) -> None:
    """Forward: a question does not expire at once. Back: a lost connection comes back at once."""
    site, page = shop.site(), open_as(None)
    page.add_init_script(CLOCK)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    evaluated(page, "LabelHub.close()")
    soon(page, lambda: not site.open_questions(), "the question to be closed")
    evaluated(page, "ahead = 3_600_000")
    tell(page, "And a second lamp for my brother, who camps with us in the rain.")
    expect(options(page).first).to_be_visible()
    evaluated(page, LOSE)
    evaluated(page, "ahead = -3_600_000")
    tell(page, "And a rope.")
    soon(page, lambda: len(site.messages()) == 3, "the third message")


def test_an_odd_language_of_the_page_is_none(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes='data-lang="en_US.UTF-8"'))
    asked(page)


def test_where_it_cannot_load_nothing_is_said_to_be_deleted(
    open_as: OpenAs, shop: Shop, troubles: Troubles
) -> None:
    for answer in ({"status": 500}, {"body": "<html>"}, {"body": "null"}, {}):
        page = open_as(None)
        page.route("**/widget/config/**", partial(_answer, answer))
        page.goto(shop.page(shop.site()))
        tell(page)
        assert page.evaluate("LabelHub.erase()") == {"ok": False, "code": "load"}, answer
    assert all("ERR_FAILED" in trouble for trouble in troubles)
    troubles.clear()


def _answer(answer: dict[str, Any], route: Route) -> None:
    """By the machine in between; with nothing, the connection fails."""
    if answer:
        route.fulfill(**answer, headers={"Access-Control-Allow-Origin": "*"})
    else:
        route.abort()


def test_in_frames(open_as: OpenAs, shop: Shop) -> None:
    """In one of another site it works without cookies, and with storage kept apart; a sandboxed one
    is nobody's page."""
    site = shop.site()
    with host_pages() as around:
        # Another site to the browser: the same machine by another name.
        outer = around.put("/", f'<iframe width="600" height="700" src="{shop.page(site)}">')
        page = open_as(None)
        with_cookies = page.context.new_cdp_session(page)
        with_cookies.send("Network.enable")
        with_cookies.send("Emulation.setDocumentCookieDisabled", {"disabled": True})
        page.goto(outer.replace("127.0.0.1", "localhost"))
        frame = page.frame_locator("iframe")
        expect(frame.locator("labelhub-widget")).to_be_attached()
        page.frames[-1].evaluate("(text) => LabelHub.message(text)", MESSAGE)
        frame.get_by_role("button", name="Agree").click()
        expect(frame.locator("labelhub-widget .choice").first).to_be_visible()
        assert page.context.cookies() == []

    page = open_as(None)
    warnings, opened = warnings_of(page), sockets_of(page)
    inner = shop.page(site)
    page.goto(shop.loose_page(f'<iframe sandbox="allow-scripts" src="{inner}"></iframe>'))
    soon(page, lambda: warnings, "the warning")
    page.frames[-1].evaluate("(text) => LabelHub.message(text)", MESSAGE)
    assert (len(warnings), opened) == (1, [])
    assert page.frame_locator("iframe").get_by_role("dialog").count() == 0


def test_it_fits_everywhere(open_as: OpenAs, shop: Shop) -> None:
    """Also on a page magnified four times, where the card scrolls in itself, and in the chat."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    tell(page)
    expect(card(page)).to_be_visible()
    found = misfits(page, "consent")
    agree(page)
    expect(options(page).first).to_be_visible()
    found += misfits(page, "question")
    border = "(node) => getComputedStyle(node).borderTopStyle"
    assert options(page).first.evaluate(border) == "dashed", "forced colours keep every border"
    page.set_viewport_size({"width": 320, "height": 256})
    found += page.evaluate(MISFITS)
    last = page.get_by_role("button", name="My data")
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()

    page = open_as(None)
    enter(page, shop.page(site, "chat"))
    write(page)
    expect(said(page, "assistant").last).to_contain_text("text matcher")
    expect(options(page).first).to_be_visible()
    found += misfits(page, "chat")
    assert not found, "\n".join(found)


def test_on_a_phone_the_card_stays_low_and_off_the_composer(open_as: OpenAs, shop: Shop) -> None:
    """Below the composer where there is room enough, else right above it; a keyboard, which covers
    the lower part, does not cover the card, and nothing takes the focus."""
    page = open_as(None, **PHONE)
    for place, below in (("bottom:0", False), ("top:420px", True)):
        composer = COMPOSER.format(place=place)
        page.goto(shop.loose_page(composer + shop.site().snippet()))
        page.get_by_label("Ask us").tap()
        asked(page)
        own, form = box(page, "labelhub-widget .card"), box(page, "form")
        assert own["height"] <= MOST
        assert 0 <= own["y"] < own["bottom"] <= 844
        assert own["y"] >= form["bottom"] if below else own["bottom"] <= form["y"]
        first = box(page, "labelhub-widget .choice")
        assert own["y"] <= first["y"] < first["bottom"] <= own["bottom"], "an answer is seen"
    page.get_by_label("Ask us").tap()
    page.evaluate(
        """() => {
          Object.defineProperty(visualViewport, "height", { get: () => 540 });
          visualViewport.dispatchEvent(new Event("resize"));
        }"""
    )
    assert box(page, "labelhub-widget .card")["bottom"] <= box(page, "form")["y"]
    assert page.evaluate("document.activeElement.localName") == "textarea"
    small = too_small(page)
    page.get_by_role("button", name="My data").tap()
    page.get_by_role("button", name="Show my data").tap()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    small += too_small(page)
    assert not small


def too_small(page: Page) -> list[str]:
    """The buttons of the card that a finger could miss."""
    sizes = page.locator("labelhub-widget button").evaluate_all(
        "(all) => all.map((one) => [one.innerText, one.offsetWidth, one.offsetHeight])"
    )
    return [f"{words}: {wide} × {high}" for words, wide, high in sizes if min(wide, high) < TOUCH]


def test_it_costs_a_page_little_and_leaves_nothing_behind(open_as: OpenAs, shop: Shop) -> None:
    """No layout moves, the heap grows little, and forty cards leave nothing in it."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.hosts.put("/bare", HOST, server=site.server.address))
    bare = in_use(page)["JSHeapUsedSize"]
    page.add_init_script(WATCH)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked(page)
    grown = in_use(page)["JSHeapUsedSize"] - bare
    assert grown <= MOST_HEAP, f"{grown / 1e6:.2f} MB"
    assert evaluated(page, "shifts") == 0
    queue(site, CARDS + 30)
    readable_now(page, site)
    page.evaluate(SKIP_ALL, 10)
    before = in_use(page)
    page.evaluate(SKIP_ALL, CARDS)
    after = in_use(page)
    assert evaluated(page, "shifts") == 0
    assert after["JSEventListeners"] - before["JSEventListeners"] <= 4
    assert after["Nodes"] - before["Nodes"] <= 20
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] <= 200_000


def in_use(page: Page) -> dict[str, float]:
    """Bytes of the heap, nodes and listeners, after everything that is not needed has gone."""
    with inspector(page) as session:
        session.send("Performance.enable")
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}


def queue(site: Site, most: int) -> None:
    """So many more questions of the survey that is open."""
    (first,) = site.open_questions()
    waiting: dict[str, Any] = {"status": "waiting", "pushed_at": None, "shown_at": None}
    for number in range(2, most + 2):
        copy = first | waiting | {"uid": uuid.uuid4().hex, "number": number}
        insert(site.server, "authors_question", copy)
