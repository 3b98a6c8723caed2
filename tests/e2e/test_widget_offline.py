"""An answer that was clicked is stored, and once: offline, and through a killed server; what was
written meanwhile arrives in its order, and what is deleted offline is deleted by a later page.

That thousands of answers of many clients survive several kills is tested without browsers, in
``tests/authors/test_kill.py``.
"""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from playwright.sync_api import Page, WebSocket, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server, is_ready, start, until
from tests.e2e.widget_steps import (
    AT_ONCE,
    SAVED,
    Shop,
    Site,
    asked_before,
    card,
    events,
    heard,
    held,
    kept,
    options,
    settled,
    soon,
    tell,
    words_of,
)
from tests.fakes.stack import free_port

#: As many as the widget keeps, and what the server takes: at once, and each second.
QUEUED, BURST, RATE = 60, 20, 5
#: Of one page that nothing else is heard of, so many frames are under way.
UNDER_WAY = 10
WRITE_ALL = """(most) => {
  for (let number = 1; number <= most; number += 1) {
    LabelHub.message(`Message ${number}: a lamp for tent ${number}, please.`,
      { id: `m-${number}`, conversation: "c-1" });
  }
}"""
SAVED_HERE = "Saved here, and sent when you are online."


@dataclass
class Mortal:
    """A server of the test's own, with a copy of the data, that can be killed and started again."""

    server: Server
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """As ``kill -9`` does."""
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        """On the same port, with the same data."""
        self.process = start(self.server)
        until(lambda: is_ready(self.server, self.process), "the server to be back")


@contextmanager
def copied(server: Server, folder: Path) -> Iterator[Mortal]:
    """A server like this one, until the end."""
    with (
        closing(sqlite3.connect(server.folder / "labelhub.sqlite3")) as source,
        closing(sqlite3.connect(folder / "labelhub.sqlite3")) as copy,
    ):
        source.backup(copy)
    shutil.copy(server.folder / "secret-key", folder / "secret-key")
    own = replace(server, address=f"http://127.0.0.1:{free_port()}", folder=folder)
    running = Mortal(own, start(own))
    try:
        until(lambda: is_ready(own, running.process), "the copied server")
        yield running
    finally:
        running.kill()


class Wire:
    """What passes through the page's sockets: ``most`` frames were under way at once."""

    def __init__(self, page: Page) -> None:
        self.closed = self.most = 0
        self._under_way: set[str] = set()
        page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        socket.on("framesent", self._went)
        socket.on("framereceived", self._came)
        socket.on("close", self._ended)

    def _went(self, raw: str | bytes) -> None:
        frame = json.loads(raw)
        if frame["t"] not in {"hello", "ping"}:
            self._under_way.add(frame["id"])
            self.most = max(self.most, len(self._under_way))

    def _came(self, raw: str | bytes) -> None:
        self._under_way.discard(json.loads(raw).get("re", ""))

    def _ended(self, _: WebSocket) -> None:
        self.closed += 1
        self._under_way.clear()


def answer_waits(page: Page, site: Site) -> bool:
    """Whether an answer has been given and not been acknowledged."""
    return any(frame["t"] == "answer" for frame in kept(page, site).get("outbox", []))


def test_what_is_answered_offline_arrives_once(open_as: OpenAs, shop: Shop) -> None:
    """Also when the page is closed meanwhile, and opened again when there is a connection."""
    for closes in (False, True):
        site, page = shop.site(), open_as(None)
        address = shop.page(site)
        page.goto(address)
        asked_before(page, site)
        page.context.set_offline(True)
        chosen = words_of(options(page).nth(1))
        options(page).nth(1).click()
        expect(page.get_by_text(SAVED_HERE).first).to_be_visible()
        assert site.answers() == []
        if closes:
            later = page.context.new_page()
            page.close()
            page = later
        page.context.set_offline(False)
        if closes:
            page.goto(address)
        soon(page, site.answers, "the answer")
        settled(page, site)
        assert [answer["value"] for answer in site.answers()] == [chosen]


def test_a_server_killed_between_answer_and_ack(
    open_as: OpenAs, shop: Shop, troubles: Troubles, tmp_path: Path
) -> None:
    with copied(shop.server, tmp_path) as mortal:
        own = replace(shop, server=mortal.server)
        site, page = own.site(), open_as(None)
        page.goto(own.page(site))
        asked_before(page, site)
        with held(mortal.server):
            options(page).nth(2).click()
            soon(page, lambda: answer_waits(page, site), "the answer to be on its way")
            page.wait_for_timeout(200)
            mortal.kill()
        assert site.answers() == []
        expect(page.get_by_text(SAVED_HERE).first).to_be_visible()
        mortal.start()
        soon(page, site.answers, "the answer")
        settled(page, site)
        (answer,) = site.answers()
        assert answer["position"] == 2
        page.reload()
        expect(page.locator("labelhub-widget")).to_be_attached()
        tell(page, "Another lamp, for my sister, and rather soon.")
        expect(options(page).first).to_be_visible()
        assert len(site.answers()) == 1
        page.close()
    assert all("ERR_CONNECTION_REFUSED" in trouble for trouble in troubles)
    troubles.clear()


def test_a_long_queue_arrives_whole_and_in_order_after_the_answer(
    open_as: OpenAs, shop: Shop
) -> None:
    """As fast as the server takes it, and without the server having to end the connection."""
    site, page = shop.site(), open_as(None)
    wire = Wire(page)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, site)
    closed = wire.closed
    page.context.set_offline(True)
    page.evaluate(WRITE_ALL, QUEUED)
    options(page).first.click()
    page.context.set_offline(False)
    soon(page, site.answers, "the answer")
    assert len(site.messages()) <= BURST + 1
    expect(page.get_by_text(SAVED).or_(page.get_by_text("Saved here")).first).to_be_visible()
    page.wait_for_timeout(1000 * (QUEUED - BURST) / RATE)
    soon(page, lambda: len(site.messages()) > QUEUED, "all messages")
    settled(page, site)
    assert site.messages()[1:] == [f"m-{number}" for number in range(1, QUEUED + 1)]
    assert wire.most <= UNDER_WAY
    assert wire.closed - closed <= 1, "only going offline ended a connection"
    assert "flood" not in site.happened()


def test_what_is_deleted_offline_is_deleted_by_the_next_page(open_as: OpenAs, shop: Shop) -> None:
    """No question comes before, and the browser keeps nothing after."""
    site, page = shop.site(), open_as(None)
    address = shop.page(site, attributes=AT_ONCE)
    page.goto(address)
    asked_before(page, site)
    page.get_by_role("button", name="My data").click()
    expect(page.get_by_role("button", name="Delete my data")).to_be_visible()
    page.context.set_offline(True)
    page.get_by_role("button", name="Show my data").click()
    data = page.locator("labelhub-widget pre")
    expect(data).to_have_text("It will be shown as soon as you are online.")
    assert not any(frame["t"] == "export" for frame in kept(page, site)["outbox"])
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="My data").click()
    page.get_by_role("button", name="Delete my data").click()
    page.get_by_role("button", name="Delete my data").click()
    expect(card(page)).to_contain_text("It will be deleted as soon as you are online.")
    tell(page, "This is not kept any more, and nothing is asked about it.")
    assert [frame for frame in kept(page, site)["outbox"] if frame["t"] == "msg"] == []
    later = page.context.new_page()
    events(later, "erased", "shown")
    page.close()
    later.context.set_offline(False)
    later.goto(address)
    soon(later, lambda: heard(later), "the receipt")
    assert [name for name, _ in heard(later)] == ["erased"]
    assert kept(later, site) == {}
    tell(later)
    later.wait_for_timeout(500)
    expect(card(later)).to_have_count(0)
    later.reload()
    tell(later)
    expect(later.get_by_role("button", name="Agree")).to_be_visible()
    assert len(site.rows("erasure")) == 1


def test_a_page_left_between_click_and_ack(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked_before(page, site)
    with held(shop.server):
        options(page).first.click()
        soon(page, lambda: answer_waits(page, site), "the answer to be on its way")
        page.reload()
        expect(page.locator("labelhub-widget")).to_be_attached()
        assert site.answers() == []
    soon(page, site.answers, "the answer")
    settled(page, site)
    assert len(site.answers()) == 1


def test_who_opts_out_offline_sends_nothing_that_was_written(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site, attributes=AT_ONCE))
    asked_before(page, site)
    stored = site.messages()
    page.context.set_offline(True)
    page.evaluate(WRITE_ALL, 30)
    page.get_by_role("button", name="Don’t ask again").click()
    page.context.set_offline(False)
    soon(page, lambda: "opted_out" in site.happened(), "the opt-out")
    soon(page, lambda: kept(page, site).get("outbox") == [], "the queue to be emptied")
    page.wait_for_timeout(1000)
    assert site.messages() == stored
