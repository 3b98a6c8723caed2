"""What the widget costs a page: requests, moved content, long tasks, memory; and that nothing piles
up in a page that stays open for long.

Not covered: Lighthouse, which is no Python package; what it would measure (long tasks, shifts of
the layout, requests) is measured here, and on a slow processor in ``test_widget_slow.py``.
"""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    HOST,
    MESSAGE,
    SAVED,
    Shop,
    Site,
    agree,
    asked,
    card,
    evaluated,
    hurry,
    insert,
    inspector,
    open_questions,
    options,
    readable_now,
    sockets_of,
    tell,
)

#: Shifts of the layout, and our scripts' part of frames that took long, with its milliseconds.
WATCH = """
window.shifts = 0;
window.slow = [];
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) shifts += each.value;
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const frame of list.getEntries()) {
    for (const { sourceURL, duration } of frame.scripts) slow.push([sourceURL, duration]);
  }
}).observe({ type: "long-animation-frame", buffered: true });
"""
LONGEST_TASK = 50
MOST_HEAP = 1_500_000
#: A busy machine makes single tasks long; the best of so many visits counts.
VISITS = 3
CARDS, OPENINGS = 100, 120
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
OPEN_AND_CLOSE = """async (most) => {
  const root = document.querySelector("labelhub-widget").shadowRoot;
  for (let count = 0; count < most; count += 1) {
    root.querySelector(".launcher").click();
    await new Promise(requestAnimationFrame);
    root.querySelector(".top [aria-label=Close]").click();
    await new Promise(requestAnimationFrame);
  }
}"""


def in_use(page: Page) -> dict[str, float]:
    """Bytes of the heap, nodes and listeners, after everything that is not needed has gone."""
    with inspector(page) as session:
        session.send("Performance.enable")
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in metrics}


def stranger_requests(asked_for: list[str], site: Site, url: str) -> list[str]:
    """What was asked for that is neither the page, nor the widget's files and settings."""
    own = re.compile(rf"{re.escape(site.address)}/widget/(v1\.js|config/|[0-9a-f]{{12}}/)")
    return [each for each in asked_for if each.split("#")[0] != url and not own.match(each)]


@pytest.mark.parametrize("mode", ["companion", "chat"])
def test_before_consent_only_script_and_settings_are_fetched(
    mode: str, open_as: OpenAs, shop: Shop
) -> None:
    site, page = shop.site(), open_as(None)
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    opened = sockets_of(page)
    url = shop.page(site, mode)
    page.goto(url)
    expect(page.locator("labelhub-widget")).to_be_attached()
    if mode == "chat":
        page.locator("labelhub-widget .launcher").click()
    else:
        tell(page)
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    assert stranger_requests(asked_for, site, url) == []
    assert opened == []
    assert evaluated(page, "localStorage.length + sessionStorage.length") == 0
    assert page.context.cookies() == []


def test_who_said_no_is_left_alone(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    url = shop.page(site)
    page.goto(url)
    tell(page)
    page.get_by_role("button", name="No thanks").click()
    expect(card(page)).to_have_count(0)
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    page.reload()
    with page.expect_response(re.compile("/widget/config/")):
        pass
    tell(page)
    page.wait_for_timeout(500)
    files = [each for each in asked_for if "/widget/" in each]
    assert len(files) == 2, files
    expect(page.locator("labelhub-widget")).to_have_count(0)


def test_global_privacy_control_is_a_no(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.add_init_script(
        "Object.defineProperty(navigator, 'globalPrivacyControl', {get: () => true})"
    )
    opened = sockets_of(page)
    page.goto(shop.page(shop.site()))
    tell(page)
    page.wait_for_timeout(500)
    expect(page.locator("labelhub-widget")).to_have_count(0)
    assert opened == []
    assert evaluated(page, "localStorage.length") == 0


def test_nothing_moves_and_nothing_takes_long(open_as: OpenAs, shop: Shop, server: Server) -> None:
    visits = []
    for _ in range(VISITS):
        site, page = shop.site(), open_as(None)
        page.add_init_script(WATCH)
        page.goto(shop.page(site))
        asked(page)
        visits.append(costs(page, site))
        readable_now(page, server, site)
        options(page).first.click()
        expect(page.get_by_text(SAVED).first).to_be_visible()
        page.get_by_role("button", name="Close").click()
        expect(card(page)).to_have_count(0)
        visits[-1] += costs(page, site)
        if not visits[-1]:
            break
    assert [] in visits, visits


def costs(page: Page, site: Site) -> list[str]:
    """What was too much since the page was loaded."""
    shifts = evaluated(page, "shifts")
    slow = evaluated(page, f"slow.filter(([url]) => url.startsWith('{site.address}'))")
    long = [f"{ms:.0f} ms in {url}" for url, ms in slow if ms > LONGEST_TASK]
    return long + ([f"the layout shifts by {shifts}"] if shifts else [])


def test_the_heap_grows_little(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.hosts.put("/bare", HOST, server=site.address))
    bare = in_use(page)["JSHeapUsedSize"]
    page.goto(shop.page(site))
    asked(page)
    grown = in_use(page)["JSHeapUsedSize"] - bare
    assert grown <= MOST_HEAP, f"{grown / 1e6:.2f} MB"


def test_a_hundred_cards_leave_nothing_behind(open_as: OpenAs, shop: Shop, server: Server) -> None:
    """The server takes five frames a second of one page: faster they do not come."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes='data-boundary="none"'))
    asked(page)
    queue(server, site, CARDS + 40)
    hurry(server, site)
    page.evaluate(SKIP_ALL, 20)
    before = in_use(page)
    page.evaluate(SKIP_ALL, CARDS)
    after = in_use(page)
    assert after["JSEventListeners"] - before["JSEventListeners"] <= 4
    assert after["Nodes"] - before["Nodes"] <= 20
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] <= 200_000


def queue(server: Server, site: Site, most: int) -> None:
    """So many more questions of the survey that is open."""
    (first,) = open_questions(server, site)
    waiting: dict[str, Any] = {"status": "waiting", "pushed_at": None, "shown_at": None}
    for number in range(2, most + 2):
        copy = first | waiting | {"uid": uuid.uuid4().hex, "number": number}
        insert(server, "authors_question", copy)


def test_a_chat_opened_many_times_leaves_nothing_behind(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site(), "chat"))
    page.locator("labelhub-widget .launcher").click()
    agree(page)
    page.get_by_label("Write a message").fill(MESSAGE)
    page.keyboard.press("Enter")
    expect(options(page).first).to_be_visible()
    page.locator("labelhub-widget .top").get_by_role("button", name="Close").click()
    page.evaluate(OPEN_AND_CLOSE, 10)
    before = in_use(page)
    page.evaluate(OPEN_AND_CLOSE, OPENINGS)
    after = in_use(page)
    assert after["JSEventListeners"] - before["JSEventListeners"] <= 4
    assert after["Nodes"] - before["Nodes"] <= 20
    assert after["JSHeapUsedSize"] - before["JSHeapUsedSize"] <= 200_000
