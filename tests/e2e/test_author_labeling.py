"""As a site owner: paste the snippet into a page, chat, answer, find the label, export it, delete
the author's data, find it gone."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.host_page import host_pages
from tests.e2e.server import Server, until

MESSAGE = "I need to buy a warm lamp quickly for a camping trip, and it should not cost too much."
HOST = '<p>Our shop.</p><textarea aria-label="Ask us" rows="3"></textarea>{snippet}'
#: Milliseconds until the longest question can have been read.
READ = 12_000


def make_site(server: Server, origin: str) -> dict[str, Any]:
    """A project for authors' answers with a site that asks about every message."""
    schema = {"task": "per_item", "question": "", "labels": []}
    server.api("POST", "projects/", {"slug": "talk", "name": "talk", "schema": schema})
    made: dict[str, Any] = server.manage(
        "create_site", "talk", "Shop", "--origin", origin, "--url", server.address
    )
    eager = {"every_messages": 1, "min_seconds": 0}
    server.api("PATCH", f"sites/{made['public_key']}/", eager)
    return made


def author_labels(server: Server, slug: str) -> list[Any]:
    """The labels of authors in the project, over REST."""
    labels = server.api("GET", f"projects/{slug}/labels/?page_size=200")["results"]
    return [label for label in labels if label["annotator"]["kind"] == "author"]


def exported(server: Server, slug: str, folder: Path) -> list[dict[str, Any]]:
    """The items of the project as ``export_labels`` writes them."""
    target = folder / "labels.jsonl"
    server.manage("export_labels", slug, "--format", "jsonl", "--output", str(target))
    return [json.loads(line) for line in target.read_text().splitlines()]


def send_message(page: Page, text: str) -> None:
    """Pass a message to the widget, as the host's chatbot does."""
    page.evaluate("(text) => LabelHub.message(text, {conversation: 'c-1'})", text)


def answer_first(page: Page) -> str:
    """Choose the first option of the question that is shown; returns its text."""
    option = page.locator("labelhub-widget .choice").first
    words = option.inner_text().split("\n")[0].strip()
    expect(option).not_to_have_attribute("aria-disabled", "true", timeout=READ)
    option.click()
    return words


def test_a_site_owner_asks_an_author(open_as: OpenAs, server: Server, tmp_path: Path) -> None:
    with host_pages() as hosts:
        site, page = make_site(server, hosts.origin), open_as(None)
        page.goto(hosts.put("/", HOST.format(snippet=site["snippet"]), server=server.address))
        send_message(page, MESSAGE)
        page.get_by_role("button", name="Agree").click()
        field = page.get_by_label("Ask us")
        field.press_sequentially("I would like 3 of 4", delay=40)
        expect(page.get_by_role("dialog").get_by_text("1 of")).to_be_visible()
        field.press_sequentially(", please 1234")  # typing goes on while a question opens
        expect(field).to_have_value("I would like 3 of 4, please 1234")
        chosen = answer_first(page)
        (label,) = until(lambda: author_labels(server, site["project"]), "the author's label")
        assert label["value"] == chosen

        (item,) = exported(server, site["project"], tmp_path)
        assert item["text"] == MESSAGE
        assert chosen in item["options"]
        assert chosen in json.dumps(item["labels"])

        receipt = page.evaluate("() => LabelHub.erase().then((done) => done.receipt)")
        assert receipt
        assert author_labels(server, site["project"]) == []
        assert exported(server, site["project"], tmp_path) == []
        assert page.evaluate("() => Object.keys(localStorage)") == []

        with host_pages() as elsewhere:  # a page of another origin warns once and gives up
            other = open_as(None)
            warnings: list[str] = []
            other.on("console", lambda m: warnings.append(m.text) if m.type == "warning" else None)
            with other.expect_console_message(lambda message: message.type == "warning"):
                other.goto(elsewhere.put("/", HOST.format(snippet=site["snippet"])))
            send_message(other, MESSAGE)
            other.wait_for_timeout(300)
            assert len(warnings) == 1
            assert other.get_by_role("dialog").count() == 0
