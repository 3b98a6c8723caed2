"""What the browser tests of the widget share: sites, hosts' pages, visitors, the server's own data.

Nobody waits for reading time that a test is not about: :func:`readable_now` moves a question into
the past, in the server's own database.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.e2e.browser import SETTLED
from tests.e2e.host_page import HostPages, host_pages
from tests.e2e.server import Server

MESSAGE = "I need to buy a warm lamp quickly for a camping trip, and it should not cost too much."
HOST = (
    '<main><h1>Our shop</h1><p id="told"></p>'
    '<label>Ask us <textarea rows="3" cols="30"></textarea></label></main>'
)
#: Seconds within which anything happens on a busy machine.
PATIENCE = 20.0
#: Milliseconds until the longest question can have been read.
READ = 12_000
#: As the widget's own words and the server's.
SAVED = "Saved. Thank you."
MOODS = ("Frustrated", "In two minds", "Calm", "Upbeat")
#: For the snippet: a question opens as soon as it has come.
AT_ONCE = 'data-boundary="none"'

_VALUES = ["negative", "mixed", "neutral", "positive"]
_ARABIC = ("محبط", "متردد", "هادئ", "متفائل")
MOOD: dict[str, Any] = {
    "key": "mood",
    "name": "Mood",
    "definition": "How the author felt.",
    "values": _VALUES,
    "always": True,
    "templates": {
        "en": {
            "question": "How did you feel when you wrote this message?",
            "options": dict(zip(_VALUES, MOODS, strict=True)),
        },
        "ar": {
            "question": "كيف كان شعورك عندما كتبت هذه الرسالة؟",
            "options": dict(zip(_VALUES, _ARABIC, strict=True)),
        },
    },
}
WORD = {
    "key": "matters",
    "name": "What matters",
    "definition": "Which quality mattered most.",
    "answer": "word",
    "always": True,
    "templates": {"en": {"question": "In one word, what mattered most to you here?"}},
}
_numbers = count(1)


@dataclass(frozen=True)
class Site:
    """A site that asks one thing about every message, and what the server has of it."""

    key: str
    server: Server

    def snippet(self, mode: str = "companion", attributes: str = "") -> str:
        """The script tag that a host pastes."""
        return (
            f'<script async src="{self.server.address}/widget/v1.js" data-site="{self.key}" '
            f'data-mode="{mode}" {attributes}></script>'
        )

    def rows(self, table: str, where: str = "1") -> list[dict[str, Any]]:
        """Rows of a table of ``authors`` that name this site, oldest first."""
        sql = (
            f"SELECT it.* FROM authors_{table} it JOIN authors_site site ON site.id = it.site_id "  # noqa: S608 - our own words
            f"WHERE public_key = ? AND {where} ORDER BY it.id"
        )
        return rows(self.server, sql, self.key)

    def open_questions(self) -> list[dict[str, Any]]:
        """Questions that wait for an answer."""
        return self.rows("question", "it.status IN ('waiting', 'pushed', 'shown')")

    def answers(self) -> list[dict[str, Any]]:
        """Answers that stand, oldest first."""
        sql = (
            "SELECT answer.* FROM authors_answer answer JOIN authors_question question "
            "ON question.id = question_id JOIN authors_site site ON site.id = question.site_id "
            "WHERE public_key = ? AND undone_at IS NULL ORDER BY answer.id"
        )
        return rows(self.server, sql, self.key)

    def messages(self) -> list[str]:
        """Ids of the messages that the server has, in the order in which they came."""
        return [row["ref"] for row in self.rows("message")]

    def happened(self) -> list[str]:
        """Kinds of events, oldest first."""
        return [row["kind"] for row in self.rows("event")]

    def hurry(self) -> None:
        """The open questions take no time to read, and were sent a minute ago."""
        change(
            self.server,
            "UPDATE authors_question SET min_ms = 300, "
            "pushed_at = datetime(coalesce(pushed_at, created_at), '-60 seconds'), "
            "shown_at = datetime(shown_at, '-60 seconds') "
            "WHERE status IN ('waiting', 'pushed', 'shown') "
            "AND site_id = (SELECT id FROM authors_site WHERE public_key = ?)",
            self.key,
        )


@dataclass(frozen=True)
class Shop:
    """A project for authors' answers, its sites, and a host's web server."""

    server: Server
    hosts: HostPages
    project: str

    def site(self, *features: dict[str, Any], server: Server | None = None, **fields: Any) -> Site:
        """A new site for the host's pages that asks about each message, at ``server``."""
        served = server or self.server
        plan = {
            "name": f"Shop {next(_numbers)}",
            "allowed_origins": [self.hosts.origin],
            "features": list(features or [MOOD]),
            "most_questions": 1,
            "reask_share": 0,
            "every_messages": 1,
            "min_seconds": 0,
            "per_conversation": 1000,
            "per_day": 1000,
        }
        made = served.api("POST", f"projects/{self.project}/sites/", plan | fields)
        return Site(made["public_key"], served)

    def page(
        self, site: Site, mode: str = "companion", attributes: str = "", more: str = ""
    ) -> str:
        """The address of a page with the snippet that allows the widget what it must, no more."""
        body = HOST + site.snippet(mode, attributes) + more
        return self.hosts.put(f"/{next(_numbers)}", body, server=site.server.address)

    def loose_page(self, body: str) -> str:
        """The address of a page of any HTML, without a policy."""
        return self.hosts.put(f"/{next(_numbers)}", body)


@contextmanager
def open_shop(server: Server) -> Iterator[Shop]:
    """A project of its own, and a host's web server while the tests run."""
    slug = f"widget-{next(_numbers)}"
    server.api("POST", "projects/", {"slug": slug, "name": slug, "schema": {"task": "per_item"}})
    with host_pages() as hosts:
        yield Shop(server, hosts, slug)


# --- What a visitor does and sees.


def tell(page: Page, text: str = MESSAGE, **about: Any) -> None:
    """What the host's chatbot does with a message."""
    usual = {"conversation": "c-1"}
    page.evaluate("([text, about]) => LabelHub.message(text, about)", [text, usual | about])


def agree(page: Page) -> None:
    """By the widget's own card."""
    page.get_by_role("button", name="Agree").click()


def card(page: Page) -> Locator:
    """The card of the consent or of a question."""
    return page.get_by_role("dialog")


def options(page: Page) -> Locator:
    """What can be answered."""
    return page.locator("labelhub-widget .choice")


def words_of(option: Locator) -> str:
    """What an option says, without its digit."""
    return option.locator("span").inner_text()


def status(page: Page) -> str:
    """What screen readers are told."""
    return page.locator("labelhub-widget [role=status]").first.inner_text()


def ready(page: Page) -> None:
    """The question has been read: it may be answered."""
    expect(options(page).first).to_be_visible()
    expect(options(page).first).not_to_have_attribute("aria-disabled", "true", timeout=READ)


def asked(page: Page, text: str = MESSAGE) -> None:
    """Write, agree if that is asked, and wait for the question."""
    tell(page, text)
    consent = page.get_by_role("button", name="Agree")
    expect(consent.or_(options(page).first)).to_be_visible()
    if consent.is_visible():
        consent.click()
    expect(options(page).first).to_be_visible()


def readable_now(page: Page, site: Site) -> None:
    """Let the time pass that the open question takes to read, and open the page again."""
    soon(page, site.open_questions, "a question")
    site.hurry()
    page.reload()
    ready(page)


def asked_before(page: Page, site: Site) -> None:
    """A page that was opened again while a question stood, which can be answered at once."""
    tell(page)
    agree(page)
    readable_now(page, site)


def enter(page: Page, url: str, answer: str = "Agree") -> None:
    """Open the chat and agree."""
    page.goto(url)
    page.locator("labelhub-widget .launcher").click()
    page.get_by_role("button", name=answer).click()
    expect(page.get_by_label("Write a message")).to_be_focused()


def write(page: Page, text: str = MESSAGE) -> None:
    """Send a message in the chat."""
    page.get_by_label("Write a message").fill(text)
    page.keyboard.press("Enter")


def said(page: Page, role: str) -> Locator:
    """What somebody has said in the chat."""
    return page.locator(f"labelhub-widget .message.{role} .body")


def kept(page: Page, site: Site) -> dict[str, Any]:
    """What the browser keeps of the site: who this is, what they agreed to, and the ``outbox``."""
    name = f"labelhub.{site.key}"
    stored = page.evaluate("() => ({...localStorage})")
    facts = [json.loads(stored[item]) for item in (name, f"{name}.who") if item in stored]
    frames = [json.loads(stored[item]) for item in stored if item.startswith(f"{name}.out.")]
    if not facts and not frames:
        return {}
    known = {field: value for fact in facts for field, value in fact.items()}
    return known | {"outbox": sorted(frames, key=itemgetter("ts"))}


def settled(page: Page, site: Site) -> None:
    """All that was told has been taken."""
    soon(page, lambda: kept(page, site).get("outbox") == [], "all acks")


def events(page: Page, *names: str) -> None:
    """Collect what the widget tells the page, in ``window.heard``."""
    page.add_init_script(
        f"window.heard = []; for (const name of {json.dumps(names)}) addEventListener("
        "`labelhub:${name}`, ({detail}) => heard.push([name, detail]));"
    )


def heard(page: Page) -> list[Any]:
    """What :func:`events` has collected."""
    return list(page.evaluate("() => window.heard"))


def soon(page: Page, ask: Callable[[], Any], what: str) -> Any:
    """The first true answer of ``ask``, while the page goes on.

    Raises:
        AssertionError: there was none in time.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := ask():
            return answer
        page.wait_for_timeout(50)
    raise AssertionError(f"waited {PATIENCE:.0f} s in vain for {what}")


# --- What the server has.


def rows(server: Server, sql: str, *values: Any) -> list[dict[str, Any]]:
    """Rows of the server's own database."""
    with closing(_connected(server)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, values)]


def change(server: Server, sql: str, *values: Any) -> None:
    """Write into the server's own database."""
    with closing(_connected(server)) as connection:
        connection.execute(sql, values)


def add_model(server: Server, base_url: str) -> str:
    """A model at an endpoint of the test's, like the one that the server has; its name."""
    name = f"test-{next(_numbers)}"
    (model,) = rows(server, "SELECT * FROM llm_modelspec WHERE name = 'silent'")
    (provider,) = rows(server, "SELECT * FROM llm_provider WHERE id = ?", model["provider_id"])
    insert(server, "llm_provider", provider | {"name": name, "base_url": base_url})
    (made,) = rows(server, "SELECT id FROM llm_provider WHERE name = ?", name)
    insert(server, "llm_modelspec", model | {"name": name, "provider_id": made["id"]})
    return name


def insert(server: Server, table: str, row: dict[str, Any]) -> None:
    """A row, under an id of its own; table and columns are the database's own words."""
    columns = [name for name in row if name != "id"]
    marks = ", ".join("?" * len(columns))
    names = ", ".join(f'"{name}"' for name in columns)
    sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - see above
    change(server, sql, *(row[name] for name in columns))


@contextmanager
def held(server: Server) -> Iterator[None]:
    """Nothing can be committed meanwhile: whoever writes waits."""
    with closing(_connected(server)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.rollback()


def _connected(server: Server) -> sqlite3.Connection:
    path = server.folder / "labelhub.sqlite3"
    return sqlite3.connect(path, timeout=20, isolation_level=None)


# --- What is measured.


@contextmanager
def inspector(page: Page) -> Iterator[CDPSession]:
    """The browser's own tools, which no policy of the page binds."""
    session = page.context.new_cdp_session(page)
    try:
        yield session
    finally:
        session.detach()


def evaluated(page: Page, expression: str) -> Any:
    """The value of an expression, also where the page forbids to evaluate strings."""
    with inspector(page) as session:
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        found = session.send("Runtime.evaluate", asked)
    assert "exceptionDetails" not in found, found["exceptionDetails"]
    return found["result"].get("value")


def faults(page: Page, state: str) -> list[str]:
    """What axe-core finds in the page and the widget, one line per rule and place."""
    evaluated(page, f"{SETTLED}.then(() => 0)")
    evaluated(page, f"{_axe()};0")
    run = "axe.run(document, {resultTypes: ['violations'], preload: false})"
    found = json.loads(
        evaluated(page, f"{run}.then(({{violations}}) => JSON.stringify(violations))")
    )
    return [
        f"{state}: {violation['id']}: {node['html'][:160]} {node['failureSummary'][:160]}"
        for violation in found
        for node in violation["nodes"]
    ]


@lru_cache(maxsize=1)
def _axe() -> str:
    return str(Axe().axe_script)


def warnings_of(page: Page) -> list[str]:
    """Collect what the console is warned of by the widget."""
    heard: list[str] = []
    page.on("console", lambda m: heard.append(m.text) if "LabelHub" in m.text else None)
    return heard


def sockets_of(page: Page) -> list[str]:
    """Collect the sockets that the page opens."""
    opened: list[str] = []
    page.on("websocket", lambda socket: opened.append(socket.url))
    return opened
