"""The demo's shop recommends, clicks are counted, and the dashboard moves while one watches."""

from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.offers import became, link, offer
from tests.e2e.server import Server
from tests.e2e.steps import mark, same_page
from tests.e2e.widget_steps import agree, rows, soon

#: A visitor who says much of what an item may suit, in the words of the shop.
WISHES = (
    "Which light tent for two people would you buy for a first trip in autumn?",
    "We need a lamp for the tent that is warm and not too dear, for evenings outdoors.",
    "My budget is small; which kettle boils water on a camping trip?",
)

#: Steps from message to click that have to rise.
STEPS = ("Messages", "Shown", "Clicked")


def test_a_manager_sees_numbers_rise_while_a_visitor_writes_and_clicks(
    open_as: OpenAs, server: Server
) -> None:
    watched, learning, visitor = open_as("manager"), open_as("manager"), open_as(None)
    site = _corner_shop(server, watched)
    watched.goto(f"{site}offers/")
    learning.goto(f"{site}echo/")
    mark(watched)
    mark(learning)
    before = {name: _step(watched, name).inner_text() for name in STEPS}
    helpful = _helpful(watched).inner_text()
    rewards = _rewards(learning).inner_text()
    _thank_and_click(visitor, server)
    for name, least in before.items():
        expect(_step(watched, name)).not_to_have_text(least)
        assert int(_step(watched, name).inner_text()) > int(least)
    expect(_helpful(watched)).not_to_have_text(helpful)
    # A click is a reward, and so is what was said.
    expect(_rewards(learning)).not_to_have_text(rewards)
    assert same_page(watched)
    assert same_page(learning)


def test_a_page_that_refreshes_itself_shows_one_error_while_there_is_no_network(
    open_as: OpenAs, server: Server, troubles: Troubles
) -> None:
    page = open_as("manager")
    page.goto(f"{_corner_shop(server, page)}echo/")
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.context.set_offline(True)
    soon(page, lambda: len(failed) > 2, "the page to have tried three times")
    expect(page.locator("#toasts [data-toast=bad]")).to_have_count(1)
    page.close()
    troubles.clear()


def _thank_and_click(page: Page, server: Server) -> None:
    """Write in the shop's chat until something is recommended, say that it helped and click it,
    which leads to the ware."""
    page.goto("/demo/chat/")
    consent = page.locator("labelhub-widget .terms")
    expect(consent).to_contain_text("What is recommended rests on what you write.")
    agree(page)
    found = (_recommended(page, server, wish) for wish in WISHES)
    uid = next(uid for uid in found if uid)
    offer(page).get_by_role("button", name="Yes").click()
    link(page).click()
    page.wait_for_url("**/demo/shop/#*")
    soon(page, lambda: {"clicked", "helpful"} <= set(became(server, uid)), "both to be counted")


def _recommended(page: Page, server: Server, wish: str) -> str:
    """The offer's uid once it stands there, "" where none is made at the message; questions that
    come first are skipped."""
    (newest,) = rows(server, "SELECT max(id) AS id FROM echo_decision")
    page.get_by_label("Write a message").fill(wish)
    page.keyboard.press("Enter")
    sql = "SELECT uid, item_ref FROM echo_decision WHERE id > ? AND status != 'pending'"
    decided = soon(page, lambda: rows(server, sql, newest["id"]), "a decision")
    if not decided[0]["item_ref"]:
        return ""
    skip = page.get_by_role("button", name="Skip")

    def came() -> bool:
        if skip.is_visible():
            skip.click()
        return offer(page).is_visible()

    soon(page, came, "the recommendation")
    return str(decided[0]["uid"])


def _corner_shop(server: Server, page: Page) -> str:
    """The address of the pages of the demo's site, which is let onto its own demo pages."""
    listed = server.api("GET", "projects/shop-talk/sites/?page_size=50")["results"]
    (key,) = [site["public_key"] for site in listed if site["name"] == "Corner shop"]
    server.api("PATCH", f"sites/{key}/", {"allowed_origins": [server.address]})
    for experiment in server.api("GET", f"sites/{key}/echo/experiments/")["results"]:
        if experiment["started_at"] and not experiment["ended_at"]:  # of the accessibility test
            server.api("POST", f"sites/{key}/echo/experiments/{experiment['id']}/end/")
    page.goto("/p/shop-talk/sites/")
    return str(page.get_by_role("link", name="Corner shop").get_attribute("href"))


def _step(page: Page, name: str) -> Locator:
    """The number of a step from message to click."""
    step = page.locator("#offers .funnel__step", has=page.get_by_text(name, exact=True))
    return step.locator(".funnel__count")


def _helpful(page: Page) -> Locator:
    return page.locator("#offers .rates li", has_text="Rated helpful").locator("> span").last


def _rewards(page: Page) -> Locator:
    return page.locator("#echo-state .tile__note", has_text="reward").last
