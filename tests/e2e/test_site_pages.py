"""A manager makes a site, tries it on a page of this server, and follows what becomes of it."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.steps import mark, same_page

WISH = "I want to buy a quiet laptop for the train, and it must not cost too much."


def made(page: Page, server: Server, slug: str) -> str:
    """A site of a new project, made by its page; the address of its pages."""
    server.api("POST", "projects/", {"slug": slug, "name": slug, "schema": {"task": "per_item"}})
    page.goto(f"/p/{slug}/sites/")
    page.get_by_role("link", name="Create the first site").click()
    page.get_by_label("Name", exact=True).fill("Corner shop")
    page.get_by_role("button", name="Create the site").click()
    expect(page.get_by_role("heading", name="Put the snippet into the page")).to_be_visible()
    return re.sub(r"install/$", "", page.url)


def write(page: Page, text: str) -> None:
    """As an author, in the preview."""
    page.get_by_label("Message as an author").fill(text)
    page.get_by_role("button", name="Send as an author").click()


def test_from_a_new_site_to_an_answer(open_as: OpenAs, server: Server) -> None:
    """The console says what would be asked, the preview asks it, the live page follows."""
    page = open_as("manager")
    site = made(page, server, "tried-shop")
    page.goto(f"{site}settings/")
    page.get_by_label("Messages between two surveys").fill("1")
    page.get_by_label("Seconds between two surveys").fill("0")
    page.get_by_role("button", name="Save the settings").click()
    page.goto(f"{site}console/")
    mark(page)
    page.get_by_label("A message as an author would write it").fill(WISH)
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_text(re.compile("The author would be asked \\d"))).to_be_visible()
    page.get_by_role("button", name="A greeting").click()
    expect(page.get_by_text("The author would not be asked about this message")).to_be_visible()
    expect(page.get_by_text("small talk").first).to_be_visible()
    assert same_page(page)

    page.goto(f"{site}live/")
    mark(page)
    author = page.context.new_page()
    author.goto(f"{site}preview/")
    write(author, WISH)
    author.get_by_role("button", name="Agree").click()
    card = author.get_by_role("dialog")
    expect(card).to_contain_text("When did you mean to buy")
    option = card.get_by_role("button", name="In some days")
    expect(option).not_to_have_attribute("aria-disabled", "true")
    option.click()
    expect(card).not_to_contain_text("When did you mean to buy")
    page.bring_to_front()
    expect(page.locator(".feed__text")).to_have_text([WISH])
    page.get_by_role("button", name="Pause").click()
    author.bring_to_front()
    write(author, "hello there!")
    page.bring_to_front()
    page.wait_for_timeout(3_000)
    expect(page.locator(".feed__text")).to_have_text([WISH])
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".feed__text")).to_have_text(["hello there!", WISH])
    assert same_page(page)

    page.goto(site)
    step = page.get_by_role("listitem").filter(has=page.get_by_text("Answered", exact=True))
    expect(step.first).to_contain_text("1")
    page.goto(f"{site}authors/")
    page.get_by_role("link", name=re.compile("^author-")).click()
    row = page.get_by_role("row").filter(has_text="When did you mean to buy")
    expect(row).to_contain_text("In some days")
