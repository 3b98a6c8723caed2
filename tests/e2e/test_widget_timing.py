"""Reading time, on the widget's clock and on the server's: what is clicked too early is no answer,
what is forged is refused, a hidden tab reads nothing; and frames that no widget would send."""

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    SAVED,
    Shop,
    Site,
    agree,
    answers,
    asked,
    happened,
    kept,
    options,
    ready,
    rows,
    sockets_of,
    soon,
    tell,
)

#: A socket that says hello as the visitor of this page, and then what it is given.
RAW = """async ([address, key, frames]) => {
  const site = JSON.parse(localStorage.getItem(`labelhub.${key}`));
  const config = await (await fetch(`${address}/widget/config/${key}?lang=en`)).json();
  const { version: v, hash } = config.consent;
  const consent = { v, hash, scope: ["questions"], by: "widget" };
  const hello = { key, mode: "companion", tok: site.tok, last: 0, lang: "en", tz: "UTC", consent };
  const socket = new WebSocket(`${address.replace("http", "ws")}/ws/v1/widget/`, "al.v1");
  const heard = [];
  let number = 0;
  const frame = (t, d, more) => {
    number += 1;
    return JSON.stringify({ v: 1, t, id: `raw-${number}`, ts: Date.now(), d, ...more });
  };
  await new Promise((welcomed, failed) => {
    socket.onopen = () => socket.send(frame("hello", hello));
    socket.onmessage = ({ data }) => {
      heard.push(JSON.parse(data));
      if (heard.at(-1).t === "welcome") welcomed();
    };
    socket.onclose = ({ code }) => failed(new Error(`closed ${code}`));
  });
  let code = 0;
  const ended = new Promise((end) => {
    socket.onclose = (event) => { code = event.code; end(); };
    socket.onmessage = ({ data }) => {
      heard.push(JSON.parse(data));
      if (heard.at(-1).t === "pong" && heard.at(-1).re === "last") end();
    };
  });
  for (const each of frames) socket.send(typeof each === "string" ? each : frame(...each));
  socket.send(frame("ping", {}, { id: "last" }));
  await ended;
  socket.onclose = null;
  socket.close();
  return { heard, code };
}"""
HIDE = """(state) => {
  Object.defineProperty(document, "visibilityState", { get: () => state, configurable: true });
  Object.defineProperty(document, "hidden", { get: () => state === "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def forge(page: Page, site: Site, *frames: Any) -> tuple[dict[str, Any], int]:
    """Send frames by a socket of the test's own; the last reply to each id, and the close code."""
    told = page.evaluate(RAW, [site.address, site.key, list(frames)])
    return {each["re"]: each for each in told["heard"] if each.get("re")}, told["code"]


def visitor(open_as: OpenAs, shop: Shop) -> tuple[Page, Site]:
    """Somebody before whom a question has just appeared."""
    site = shop.site()
    page = open_as(None)
    page.goto(shop.page(site))
    asked(page)
    return page, site


def question(server: Server, site: Site) -> dict[str, Any]:
    """The site's only question."""
    sql = (
        "SELECT question.* FROM authors_question question JOIN authors_site site "
        "ON site.id = question.site_id WHERE public_key = ?"
    )
    (found,) = rows(server, sql, site.key)
    return found


def test_a_click_before_it_can_be_read_is_no_answer(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    page, site = visitor(open_as, shop)
    soon(page, lambda: question(server, site)["shown_at"], "the question to be shown")
    words = options(page).all_inner_texts()
    assert len(words) == 4, "all can be read from the start"
    expect(page.get_by_text("Ready in")).to_be_visible()
    options(page).first.click(force=True)
    soon(page, lambda: "early" in happened(server, site), "the early click to be noted")
    assert answers(server, site) == []
    assert question(server, site)["early"] == 1
    ready(page)
    assert options(page).all_inner_texts() == words
    options(page).first.click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert "refused_early" not in happened(server, site), "the two clocks agree"
    (answer,) = answers(server, site)
    assert answer["timing"] == "ok"
    assert answer["server_ms"] >= question(server, site)["min_ms"] - 250
    assert answer["visible_ms"] >= question(server, site)["min_ms"]


def test_a_forged_answer_that_comes_too_early_is_refused(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    page, site = visitor(open_as, shop)
    asked_now = question(server, site)
    uid, option = asked_now["uid"], json.loads(asked_now["options"])[0]["id"]
    forged = {"qid": uid, "opt": option, "ms": 99_000, "kb": False}
    told, _ = forge(page, site, ["shown", {"qid": uid, "lat": 1}], ["answer", forged])
    refused = told["raw-3"]
    assert (refused["t"], refused["d"]["code"]) == ("nack", "too_early")
    assert 0 < refused["d"]["after_ms"] <= 9000
    assert answers(server, site) == []
    assert "refused_early" in happened(server, site)


def test_a_hidden_tab_reads_nothing(open_as: OpenAs, shop: Shop, server: Server) -> None:
    """Headless, no tab is ever hidden: the page is told that it is."""
    page, site = visitor(open_as, shop)
    soon(page, lambda: question(server, site)["shown_at"], "the question to be shown")
    page.evaluate(HIDE, "hidden")
    left = page.get_by_text("Ready in").inner_text()
    page.wait_for_timeout(5500)
    now = page.get_by_text("Ready in").inner_text()
    assert abs(int(left.split()[2]) - int(now.split()[2])) <= 1
    assert options(page).first.get_attribute("aria-disabled") == "true"
    page.evaluate(HIDE, "visible")
    ready(page)


def test_a_tab_that_is_seen_again_connects_again(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    opened = sockets_of(page)
    page.goto(shop.page(site))
    asked(page)
    page.evaluate(HIDE, "hidden")
    page.context.set_offline(True)
    page.wait_for_timeout(600)  # longer than the first pause before a socket is opened again
    page.context.set_offline(False)
    page.wait_for_timeout(300)
    assert len(opened) == 1, "nobody looks, nobody calls"
    page.evaluate(HIDE, "visible")
    soon(page, lambda: len(opened) == 2, "another socket")


def test_frames_that_no_widget_sends(open_as: OpenAs, shop: Shop, server: Server) -> None:
    page, site = visitor(open_as, shop)
    uid = question(server, site)["uid"]
    said = {
        "text": "I want a red kettle for my sister.",
        "mid": "sent-twice",
        "conv": "c",
        "role": "author",
    }
    again = {"id": "twice"}
    told, code = forge(
        page,
        site,
        ["undo", {"qid": uid}],
        [
            "answer",
            {"qid": "00000000-0000-4000-8000-000000000000", "opt": "a", "ms": 1, "kb": False},
        ],
        ["nonsense", {"x": 1}],
        ["msg", said, again],
        ["msg", said, again],
        ["ping", {}, {"v": 2, "id": "second-version"}],
        ["answer", {"qid": uid}],
    )
    assert code == 0
    assert told["raw-2"]["d"]["code"] == "too_late"
    assert told["raw-3"]["d"]["code"] == "unknown_question"
    assert "raw-4" not in told
    assert told["twice"]["t"] == "ack"
    assert told["second-version"]["d"]["code"] == "unsupported_version"
    assert told["raw-8"]["d"]["code"] == "bad_field"
    assert len(rows(server, "SELECT 1 FROM authors_message WHERE ref = 'sent-twice'")) == 1


def test_a_frame_that_is_too_big_ends_the_connection(open_as: OpenAs, shop: Shop) -> None:
    page, site = visitor(open_as, shop)
    _, code = forge(page, site, "x" * 17_000)
    assert code == 4413


def test_a_flood_is_slowed_and_then_sent_away(open_as: OpenAs, shop: Shop, server: Server) -> None:
    page, site = visitor(open_as, shop)
    uid = question(server, site)["uid"]
    told, code = forge(page, site, *[["early", {"qid": uid, "ms": 1}]] * 120)
    refused = [each["d"] for each in told.values() if each["t"] == "nack"]
    assert {each["code"] for each in refused} == {"rate"}
    assert all(each["retry"] and each["after_ms"] > 0 for each in refused)
    assert code == 4429
    assert "flood" in happened(server, site)


def test_thirty_messages_in_a_second_all_arrive_once(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """The server says when it is too much; the widget sends again what was not taken."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    tell(page, "The first of many.", id="first")
    agree(page)
    soon(page, lambda: kept(page, site).get("tok"), "the welcome")
    for number in range(30):
        tell(page, f"Message number {number} about a lamp.", id=f"many-{number}")
    sql = (
        "SELECT message.ref FROM authors_message message JOIN authors_author author "
        "ON author.id = author_id JOIN authors_site site "
        "ON site.id = author.site_id WHERE public_key = ?"
    )

    def arrived() -> list[str]:
        found = sorted(row["ref"] for row in rows(server, sql, site.key))
        return found if len(found) >= 31 else []

    found = soon(page, arrived, "all messages")
    assert found == sorted(["first", *(f"many-{number}" for number in range(30))])
    soon(page, lambda: kept(page, site).get("outbox") == [], "all acks")
