"""The page of a run follows it without anybody pressing reload; the page that plans one says what
each choice will take."""

from typing import Any

from playwright.sync_api import Locator, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.steps import mark, same_page

TEXTS = ["The lift is slow and sings.", "A room with a view of the other room."]


def figure(takes: Locator, name: str) -> Locator:
    """What the preview says of it."""
    return takes.locator("dt", has_text=name).locator("xpath=following-sibling::dd[1]")


def test_a_run_is_followed_paused_and_cancelled(open_as: OpenAs, server: Server) -> None:
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
    while len(heard) < 1:  # the page also looks now and then without being told
        page.wait_for_timeout(20)
    server.api("POST", f"runs/{run['id']}/pause/")
    while len(heard) < 2:
        page.wait_for_timeout(20)
    expect(progress).to_contain_text("Paused")
    progress.get_by_role("button", name="Resume").click()
    progress.get_by_role("button", name="Pause").click()
    expect(progress).to_contain_text("Paused by hand")
    for answer, state in (("Keep as it is", "Paused"), ("Cancel the run", "Cancelled")):
        progress.get_by_role("button", name="Cancel for good").click()
        asked = page.get_by_role("dialog", name="Cancel this run for good?")
        asked.get_by_role("button", name=answer).click()
        expect(asked).to_be_hidden()
        expect(progress.locator(".badge").first).to_have_text(state)


def test_a_courtroom_is_set_up_started_and_watched(open_as: OpenAs, server: Server) -> None:
    """Costs and settings follow what is chosen, and what is typed meanwhile is kept."""
    slug = "tried"
    single = {"task": "single", "question": "", "labels": [{"name": "good"}, {"name": "bad"}]}
    server.api("POST", "projects/", {"slug": slug, "name": slug, "schema": single})
    server.api("POST", f"projects/{slug}/import/", [{"text": text} for text in TEXTS])
    page = open_as("manager")
    page.goto(f"/p/{slug}/runs/new/")
    takes = page.get_by_role("complementary", name="What it will take")
    mark(page)
    page.get_by_role("radio", name="Single annotator").check()
    page.get_by_label("How many items").fill("1")
    page.get_by_label("How many items").press("Tab")
    expect(figure(takes, "Calls")).to_have_text("1")
    page.get_by_label("How many items").fill("")
    page.get_by_role("radio", name="Courtroom").check()
    expect(page.get_by_label("Judges")).to_have_value("3")
    expect(figure(takes, "Calls")).to_have_text("12")
    page.get_by_label("Judges").select_option("5")
    expect(figure(takes, "Calls")).to_have_text("16")
    page.get_by_label("Precedents for each label").fill("1")
    page.get_by_label("Precedents for each label").press("Tab")
    expect(page.get_by_label("Reporter")).to_be_visible()
    expect(page.get_by_label("Precedents are for")).to_be_focused()
    expect(page.get_by_label("Judges")).to_have_value("5")
    assert same_page(page)
    page.get_by_role("button", name="Start the run").click()
    progress = page.get_by_role("region", name="Progress")
    expect(progress.locator(".badge").first).to_have_text("Done")
    expect(progress).to_contain_text("2 of 2")
    asked = page.get_by_role("region", name="Specification of the run")
    expect(asked).to_contain_text("Judges")


def test_a_run_is_planned_without_scripts(open_as: OpenAs, server: Server) -> None:
    slug = server.project("plain", TEXTS)
    page = open_as("manager", java_script_enabled=False)
    page.goto(f"/p/{slug}/runs/new/")
    page.get_by_role("radio", name="Discussion").check()
    page.get_by_role("button", name="Show its settings").click()
    expect(page.get_by_label("Rounds of discussion")).to_have_value("2")
    expect(page.get_by_role("complementary", name="What it will take")).to_contain_text("6 to 18")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Discussion")
