"""Offers that wait in the server's own database for whoever writes at a site, and what became of
them there. How they are decided about is tested elsewhere; from here on all is real."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from tests.e2e.server import Server
from tests.e2e.widget_steps import Site, agree, insert, rows, settled, soon, tell

#: Seconds after its message in which an offer is brought.
MOMENT = 120
TITLE = "Two-person tent"
WORDS: dict[str, Any] = {
    "re": "m-0",
    "conv": "c-1",
    "label": "Recommendation",
    "title": TITLE,
    "text": "A tent for two that is up in five minutes.",
    "link": "/#tent",
    "picture": "",
    "price": "129 EUR",
    "lang": "en",
    "dir": "ltr",
    "helpful": {"ask": "Was this helpful?", "yes": "Yes", "no": "No"},
    "why": "Chosen by what you wrote here.",
}

#: An offer that asks what mattered most, once it is rated.
ASKS: dict[str, Any] = WORDS["helpful"] | {
    "mattered": {
        "ask": "What mattered most for this suggestion?",
        "options": [
            ["urgency", "Urgency"],
            ["budget", "Budget"],
            ["experience_level", "How much experience there is with such things"],
            ["recipient", "Who it is for"],
        ],
        "none": "None of these",
    }
}


def written(page: Page, address: str, site: Site) -> None:
    """Open a page, write something there that nothing is asked about, and agree; the server knows
    its author then."""
    page.goto(address)
    tell(page, "hello there!", id="m-0")
    agree(page)
    settled(page, site)


def offered(site: Site, *, left: float = MOMENT, **words: Any) -> str:
    """An offer to the site's newest author that ends in so many seconds; its uid."""
    author, server = site.rows("author")[-1], site.server
    _switch_on(server, author["site_id"])
    now = datetime.now(UTC)
    uid = uuid4()
    offer = WORDS | {"oid": str(uid)} | words
    decision = {
        "uid": uid.hex,
        "echo_id": author["site_id"],
        "author_id": author["id"],
        "message_at": _stored(now - timedelta(seconds=MOMENT - left)),
        "created_at": _stored(now),
        "offer": json.dumps(offer),
        "status": "waiting",
        "item_ref": "tent",
        "arm": "",
        "unit": "",
        "policy": "echo",
        "why": "",
        "propensity": 1.0,
        "propensities": "{}",
        "reasons": "[]",
        "vertical": "",
        "cost_nanousd": 0,
    }
    insert(server, "echo_decision", decision)
    return uid.hex


def offer(page: Page) -> Locator:
    """The card of an offer."""
    return page.locator("labelhub-widget .offer")


def link(page: Page) -> Locator:
    """Where it leads."""
    return offer(page).get_by_role("link")


def brought(page: Page, site: Site, **words: Any) -> str:
    """An offer that is before the author's eyes, and leads to a place of the page; its uid."""
    path = urlsplit(page.url).path
    uid = offered(site, **{"link": f"{path}#tent", **words})
    expect(offer(page)).to_be_visible()
    return uid


def became(server: Server, uid: str) -> list[str]:
    """What the server was told of an offer, in order."""
    sql = (
        "SELECT kind FROM echo_offerevent event JOIN echo_decision decision "
        "ON decision.id = decision_id WHERE uid = ? ORDER BY event.id"
    )
    return [row["kind"] for row in rows(server, sql, uid)]


def named(server: Server, uid: str) -> list[str]:
    """The features of an offer that its author named as what mattered most."""
    sql = (
        "SELECT feature FROM echo_offerevent event JOIN echo_decision decision "
        "ON decision.id = decision_id WHERE uid = ? AND kind = 'named'"
    )
    return [row["feature"] for row in rows(server, sql, uid)]


def await_event(page: Page, server: Server, uid: str, kind: str, times: int = 1) -> None:
    """Until the server was told this of it so often."""
    soon(page, lambda: became(server, uid).count(kind) == times, f"{kind} {times} times")


def status(server: Server, uid: str) -> str:
    """How far it has come."""
    (row,) = rows(server, "SELECT status FROM echo_decision WHERE uid = ?", uid)
    return str(row["status"])


def _switch_on(server: Server, site_id: int) -> None:
    if rows(server, "SELECT 1 FROM echo_echo WHERE site_id = ?", site_id):
        return
    demo = rows(server, "SELECT * FROM echo_echo WHERE offers_on")[0]
    fresh = {"site_id": site_id, "logged": 0, "learnt": 0, "state": b""}
    insert(server, "echo_echo", demo | fresh)


def _stored(moment: datetime) -> str:
    """As Django writes it into SQLite."""
    return moment.replace(tzinfo=None).isoformat(" ", "microseconds")
