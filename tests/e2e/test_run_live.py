"""The page of a run follows it: what happens elsewhere shows without anybody pressing reload."""

from typing import Any

from playwright.sync_api import Page, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.steps import mark, same_page

TEXTS = ["The lift is slow and sings.", "A room with a view of the other room."]


def test_a_run_that_is_paused_elsewhere_says_so_at_once(open_as: OpenAs, server: Server) -> None:
    slug = server.project("followed", TEXTS)
    plan = {"protocol": "single", "model": "silent"}
    run = server.api("POST", f"projects/{slug}/runs/", plan)
    page = open_as("manager")
    heard: list[Any] = []

    def hear(socket: WebSocket) -> None:
        # playwright marks its handlers, which a method of a list cannot bear.
        socket.on("framereceived", lambda frame: heard.append(frame))  # noqa: PLW0108

    page.on("websocket", hear)
    page.goto(f"/p/{slug}/runs/{run['id']}/")
    progress = page.get_by_role("region", name="Progress")
    expect(progress.locator(".badge").first).to_have_text("Running")
    wait_for(page, heard, 1)
    server.api("POST", f"runs/{run['id']}/pause/")
    wait_for(page, heard, 2)
    expect(progress).to_contain_text("Paused")
    expect(progress.get_by_role("button", name="Resume")).to_be_visible()


def wait_for(page: Page, heard: list[Any], number: int) -> None:
    """So many messages of the socket; the page also looks now and then without being told."""
    while len(heard) < number:
        page.wait_for_timeout(20)


def test_a_run_is_paused_and_cancelled_by_its_buttons(open_as: OpenAs, server: Server) -> None:
    slug = server.project("steered", TEXTS)
    plan = {"protocol": "single", "model": "silent"}
    run = server.api("POST", f"projects/{slug}/runs/", plan)
    page = open_as("manager")
    page.goto(f"/p/{slug}/runs/{run['id']}/")
    progress = page.get_by_role("region", name="Progress")
    progress.get_by_role("button", name="Pause").click()
    expect(progress).to_contain_text("Paused by hand")
    progress.get_by_role("button", name="Cancel for good").click()
    expect(progress.locator(".badge").first).to_have_text("Cancelled")


def test_the_costs_follow_what_is_chosen(open_as: OpenAs, server: Server) -> None:
    slug = server.project("weighed", TEXTS)
    page = open_as("manager")
    page.goto(f"/p/{slug}/runs/new/")
    takes = page.get_by_role("complementary", name="What it will take")
    expect(takes).to_contain_text("nothing")
    mark(page)
    page.get_by_role("radio", name="Single annotator").check()
    page.get_by_label("How many items").fill("1")
    page.get_by_label("How many items").press("Tab")
    calls = takes.locator("dt", has_text="Calls").locator("xpath=following-sibling::dd[1]")
    expect(calls).to_have_text("1")
    page.locator("select:visible").first.select_option(label="silent · Environment")
    expect(takes).to_contain_text("unknown")
    assert same_page(page)
