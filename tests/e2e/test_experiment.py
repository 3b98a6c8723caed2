"""Which set-up should we use? An experiment on the demo, from its set-up to the real run."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import DEMO
from tests.e2e.steps import go_to

PROTOCOLS = ("Single annotator", "Extractor, critic, judge (ECJ)", "Discussion")
FINISHED = 60_000  # milliseconds; the offline model takes a few seconds


def test_three_protocols_are_tried_compared_read_and_one_is_used(open_as: OpenAs) -> None:
    page = open_as("manager", viewport={"width": 1280, "height": 900})
    page.goto(f"/p/{DEMO}/")
    go_to(page, "Models", "Experiments")
    expect(page.get_by_role("heading", level=1)).to_have_text("Experiments")
    set_up(page)
    watch(page)
    read_the_comparison(page)
    read_an_overruled_critic(page)
    use_one(page)


def set_up(page: Page) -> None:
    """Three ways to label; the cost follows every choice."""
    page.get_by_role("link", name=re.compile("New experiment|Set up an experiment")).click()
    page.get_by_label("Title").fill("Does talking help?")
    page.get_by_role("checkbox", name="Self-refine").uncheck()
    for name in PROTOCOLS:
        page.get_by_role("checkbox", name=name, exact=True).check()
    cost = page.get_by_role("complementary", name="What it will take")
    expect(cost).to_contain_text("vote of equal budget")
    for name in PROTOCOLS:
        expect(cost).to_contain_text(name)
    expect(cost).to_contain_text("Few verified items")
    page.get_by_role("button", name="Start the experiment").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Does talking help?")


def watch(page: Page) -> None:
    """The page follows the runs by itself and ends in the comparison."""
    found = page.get_by_role("heading", name="What was found")
    expect(found).to_be_visible(timeout=FINISHED)
    expect(page.locator("#experiment-progress")).to_have_count(0)


def read_the_comparison(page: Page) -> None:
    """Intervals beside every number, a vote beside every debate, sorted by quality."""
    table = page.get_by_role("region", name="Table of the set-ups")
    expect(table.get_by_role("row")).to_have_count(1 + 5)
    expect(table).to_contain_text("vote of equal budget for B")
    expect(table).to_contain_text("vote of equal budget for C")
    expect(table.get_by_role("img", name=re.compile("95 % interval")).first).to_be_visible()
    table.get_by_role("link", name="Exact match").click()
    expect(page).to_have_url(re.compile("sort=accuracy"))
    pairs = page.get_by_role("region", name="Table of pairs")
    expect(pairs.locator("tbody tr")).to_have_count(5)
    expect(page.get_by_role("img", name="Cost against quality")).to_be_visible()


def read_an_overruled_critic(page: Page) -> None:
    """From the comparison to the debate in which the judge did not follow the critic."""
    shelf = page.locator(".card", has=page.get_by_role("heading", name="The critic was overruled"))
    shelf.locator(".reading__text").first.click()
    expect(page).to_have_url(re.compile(r"/debates/\d+/"))
    main = page.get_by_role("main")
    for role in ("extractor", "critic", "judge"):
        expect(main.get_by_text(role, exact=False).first).to_be_visible()
    page.go_back()


def use_one(page: Page) -> None:
    """What was tried starts over all items, after its cost was shown."""
    page.get_by_role("link", name=re.compile("^Use this one ?: A, ")).click()
    expect(page.get_by_role("main")).to_contain_text("nothing")
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/"))
    expect(page.get_by_text("has started")).to_be_visible()
