"""What was written during a long time without a connection arrives as fast as the server takes it:
all of it, once, in its order, and without the server having to end the connection.
"""

import json
from datetime import datetime
from typing import Any

from playwright.sync_api import Page, WebSocket, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    SAVED,
    Shop,
    Site,
    agree,
    answers,
    asked_before,
    happened,
    kept,
    options,
    rows,
    soon,
    tell,
)

#: As many as the widget keeps, and what the server takes: at once, and each second.
QUEUED, BURST, RATE = 100, 20, 5
#: Of one page that nothing else is heard of, so many frames are under way.
UNDER_WAY = 10
WRITE_ALL = """(most) => {
  for (let number = 1; number <= most; number += 1) {
    LabelHub.message(`Message ${number}: a lamp for tent ${number}, please.`,
      { id: `m-${number}`, conversation: "c-1" });
  }
}"""


class Wire:
    """What passes through the page's sockets: ``most`` frames were under way at once."""

    def __init__(self, page: Page) -> None:
        self.closed = self.sent = self.refused = self.most = 0
        self._under_way: set[str] = set()
        page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        socket.on("framesent", self._went)
        socket.on("framereceived", self._came)
        socket.on("close", self._ended)

    def _went(self, raw: str | bytes) -> None:
        frame = json.loads(raw)
        if frame["t"] not in {"hello", "ping"}:
            self.sent += 1
            self._under_way.add(frame["id"])
            self.most = max(self.most, len(self._under_way))

    def _came(self, raw: str | bytes) -> None:
        frame = json.loads(raw)
        self.refused += frame["t"] == "nack"
        self._under_way.discard(frame.get("re", ""))

    def _ended(self, _: WebSocket) -> None:
        self.closed += 1
        self._under_way.clear()


def messages(server: Server, site: Site) -> list[dict[str, Any]]:
    """What the server has of the queue, in the order in which it came."""
    sql = (
        "SELECT ref, received_at FROM authors_message message JOIN authors_site site "
        "ON site.id = message.site_id WHERE public_key = ? AND ref LIKE 'm-%' ORDER BY message.id"
    )
    return rows(server, sql, site.key)


def seconds(found: list[dict[str, Any]]) -> float:
    """From the first that came to the last."""
    first, last = (datetime.fromisoformat(found[at]["received_at"]) for at in (0, -1))
    return (last - first).total_seconds()


def asked_offline(page: Page, shop: Shop, site: Site, messages: int) -> None:
    """A question is before somebody whose connection ends, and who goes on writing."""
    page.goto(shop.page(site, attributes='data-boundary="none"'))
    asked_before(page, shop.server, site)
    page.context.set_offline(True)
    page.evaluate(WRITE_ALL, messages)


def test_a_long_queue_arrives_whole_and_in_order(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, page = shop.site(every_messages=100), open_as(None)
    wire = Wire(page)
    page.goto(shop.page(site))
    tell(page)
    agree(page)
    soon(page, lambda: kept(page, site).get("outbox") == [], "the first message to be kept")
    page.context.set_offline(True)
    page.evaluate(WRITE_ALL, QUEUED)
    assert len(kept(page, site)["outbox"]) == QUEUED
    page.context.set_offline(False)
    expected = [f"m-{number}" for number in range(1, QUEUED + 1)]
    least = (QUEUED - BURST) / RATE
    page.wait_for_timeout(least * 1000)
    soon(page, lambda: len(messages(server, site)) >= QUEUED, "all messages")
    found = messages(server, site)
    soon(page, lambda: kept(page, site)["outbox"] == [], "all acks")
    told = f"{seconds(found):.1f} s, {wire.sent} sent, {wire.refused} refused, most {wire.most}"
    print(told)
    assert [row["ref"] for row in found] == expected
    assert seconds(found) <= 1.3 * least + 2, told
    assert wire.most <= UNDER_WAY, told
    assert wire.closed <= 1, "only going offline ended a connection"
    assert "flood" not in happened(server, site)


def test_an_answer_goes_before_what_was_written(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """Nobody waits for a queue of messages to see that an answer was taken."""
    site, page = shop.site(), open_as(None)
    asked_offline(page, shop, site, 60)
    options(page).first.click()
    page.context.set_offline(False)
    soon(page, lambda: answers(server, site), "the answer")
    assert len(messages(server, site)) <= BURST
    expect(page.get_by_text(SAVED).or_(page.get_by_text("Saved here")).first).to_be_visible()


def test_who_opts_out_keeps_what_was_not_sent_yet(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """The no goes before what was written, and the rest is forgotten."""
    site, page = shop.site(), open_as(None)
    asked_offline(page, shop, site, 30)
    page.get_by_role("button", name="Don’t ask again").click()
    page.context.set_offline(False)
    soon(page, lambda: "opted_out" in happened(server, site), "the opt-out")
    soon(page, lambda: kept(page, site)["outbox"] == [], "the queue to be emptied")
    page.wait_for_timeout(1000)
    assert messages(server, site) == []
