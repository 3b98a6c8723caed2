"""As a site owner: paste the snippet into a page, chat, answer, find the label, export it, delete
the author's data, find it gone."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.host_page import HostPages, host_pages
from tests.e2e.server import Server, until

MESSAGE = "I need to buy a warm lamp quickly for a camping trip, and it should not cost too much."
HOST = '<p>Our shop.</p><textarea aria-label="Ask us" rows="3"></textarea>{snippet}'
#: Milliseconds until the longest question can have been read.
READ = 12_000


@pytest.fixture(scope="module")
def hosts() -> Iterator[HostPages]:
    with host_pages() as pages:
        yield pages


@pytest.fixture
def site(server: Server, hosts: HostPages) -> dict[str, Any]:
    """A project for authors' answers with a site that asks about every message."""
    slug = f"talk-{len(server.api('GET', 'projects/?page_size=200')['results'])}"
    schema = {"task": "per_item", "question": "", "labels": []}
    server.api("POST", "projects/", {"slug": slug, "name": slug, "schema": schema})
    made: dict[str, Any] = server.manage(
        "create_site", slug, "Shop", "--origin", hosts.origin, "--url", server.address
    )
    eager = {"every_messages": 1, "min_seconds": 0}
    server.api("PATCH", f"sites/{made['public_key']}/", eager)
    return made


def author_labels(server: Server, slug: str) -> list[Any]:
    """What authors said in the project, as REST tells it."""
    labels = server.api("GET", f"projects/{slug}/labels/?page_size=200")["results"]
    return [label for label in labels if label["annotator"]["kind"] == "author"]


def exported(server: Server, slug: str, folder: Path) -> list[dict[str, Any]]:
    """The items of the project as ``export_labels`` writes them."""
    target = folder / "labels.jsonl"
    server.manage("export_labels", slug, "--format", "jsonl", "--output", str(target))
    return [json.loads(line) for line in target.read_text().splitlines()]


def tell(page: Page, text: str) -> None:
    """What the host's chatbot does with a message."""
    page.evaluate("(text) => LabelHub.message(text, {conversation: 'c-1'})", text)


def answer_first(page: Page) -> str:
    """Choose the first option of the question that is shown; its words."""
    option = page.locator("labelhub-widget .choice").first
    words = option.inner_text().split("\n")[0].strip()
    expect(option).not_to_have_attribute("aria-disabled", "true", timeout=READ)
    option.click()
    return words


def test_a_site_owner_asks_an_author(
    open_as: OpenAs, server: Server, hosts: HostPages, site: dict[str, Any], tmp_path: Path
) -> None:
    page = open_as(None)
    page.goto(hosts.put("/", HOST.format(snippet=site["snippet"]), server=server.address))
    tell(page, MESSAGE)
    page.get_by_role("button", name="Agree").click()
    said = answer_first(page)

    def found() -> list[Any]:
        return author_labels(server, site["project"])

    (label,) = until(found, "the author's label")
    assert label["value"] == said

    (item,) = exported(server, site["project"], tmp_path)
    assert item["text"] == MESSAGE
    assert said in item["options"]
    assert said in json.dumps(item["labels"])

    receipt = page.evaluate("() => LabelHub.erase().then((done) => done.receipt)")
    assert receipt
    assert author_labels(server, site["project"]) == []
    assert exported(server, site["project"], tmp_path) == []
    assert page.evaluate("() => Object.keys(localStorage)") == []


def test_nothing_is_sent_or_stored_before_consent(
    open_as: OpenAs, server: Server, hosts: HostPages, site: dict[str, Any]
) -> None:
    page = open_as(None)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    url = hosts.put("/quiet", HOST.format(snippet=site["snippet"]), server=server.address)
    page.goto(url)
    tell(page, MESSAGE)
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    other = [each for each in asked if each != url and not each.endswith("/favicon.ico")]
    allowed = re.compile(rf"{re.escape(server.address)}/widget/(v1\.js|config/|[0-9a-f]{{12}}/)")
    assert [each for each in other if not allowed.match(each)] == []
    assert page.evaluate("() => [localStorage.length, sessionStorage.length]") == [0, 0]
    assert page.context.cookies() == []
    page.get_by_role("button", name="No thanks").click()
    (kept,) = page.evaluate("() => Object.entries(localStorage)")
    assert site["public_key"] in kept[0]
    assert len(kept[1]) < 4
    assert server.api("GET", f"sites/{site['public_key']}/messages/")["count"] == 0


def test_typing_goes_on_while_a_question_opens(
    open_as: OpenAs, server: Server, hosts: HostPages, site: dict[str, Any]
) -> None:
    page = open_as(None)
    page.goto(hosts.put("/typing", HOST.format(snippet=site["snippet"]), server=server.address))
    tell(page, MESSAGE)
    page.get_by_role("button", name="Agree").click()
    field = page.get_by_label("Ask us")
    field.press_sequentially("I would like 3 of 4, please", delay=40)
    expect(page.get_by_role("dialog").get_by_text("1 of")).to_be_visible()
    expect(field).to_be_focused()
    field.press_sequentially(" 1234")
    expect(field).to_have_value("I would like 3 of 4, please 1234")
    assert author_labels(server, site["project"]) == []


def test_a_page_of_another_origin_warns_once_and_gives_up(
    open_as: OpenAs, server: Server, site: dict[str, Any]
) -> None:
    with host_pages() as elsewhere:
        page = open_as(None)
        warnings: list[str] = []
        page.on("console", lambda m: warnings.append(m.text) if m.type == "warning" else None)
        with page.expect_console_message(lambda message: message.type == "warning"):
            page.goto(elsewhere.put("/", HOST.format(snippet=site["snippet"])))
        tell(page, MESSAGE)
        page.wait_for_timeout(500)
        assert len(warnings) == 1
        assert page.get_by_role("dialog").count() == 0
