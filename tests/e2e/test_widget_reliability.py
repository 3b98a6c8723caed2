"""An answer that was clicked is stored, and once: offline, through a killed server, in two tabs,
through a page that is left before the answer was acknowledged.

That thousands of answers of many clients survive several kills is tested without browsers, in
``tests/authors/test_kill.py``.
"""

import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import Troubles
from tests.e2e.conftest import OpenAs
from tests.e2e.server import ROOT, Server, environment, free_port, until
from tests.e2e.widget_steps import (
    SAVED,
    Shop,
    Site,
    answers,
    asked,
    asked_before,
    card,
    held,
    hurry,
    kept,
    labels,
    options,
    ready,
    sockets_of,
    soon,
    tell,
    words_of,
)


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
        self.process = _started(self.server)
        until(lambda: _is_there(self.server), "the server to be back")


@pytest.fixture(scope="module")
def mortal(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    with _copied(server, tmp_path_factory.mktemp("mortal")) as running:
        yield running


@contextmanager
def _copied(server: Server, folder: Path) -> Iterator[Mortal]:
    with (
        closing(sqlite3.connect(server.folder / "labelhub.sqlite3")) as source,
        closing(sqlite3.connect(folder / "labelhub.sqlite3")) as copy,
    ):
        source.backup(copy)
    shutil.copy(server.folder / "secret-key", folder / "secret-key")
    own = replace(server, address=f"http://127.0.0.1:{free_port()}", folder=folder)
    running = Mortal(own, _started(own))
    try:
        until(lambda: _is_there(own), "the copied server")
        yield running
    finally:
        running.kill()


def _started(server: Server) -> subprocess.Popen[bytes]:
    with (server.folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", server.address.rsplit(":", 1)[1]],
            cwd=ROOT,
            env=environment(server.folder),
            stdout=log,
            stderr=log,
        )


def _is_there(server: Server) -> bool:
    try:
        with urllib.request.urlopen(f"{server.address}/health/ready", timeout=5) as answer:  # noqa: S310 - our own
            return bool(answer.status == 200)
    except OSError:
        return False


def outbox_empty(page: Page, site: Site) -> None:
    """Everything was acknowledged."""
    soon(page, lambda: kept(page, site).get("outbox") == [], "all acks")


def test_what_is_answered_offline_arrives_once(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked_before(page, server, site)
    page.context.set_offline(True)
    chosen = words_of(options(page).nth(1))
    options(page).nth(1).click()
    expect(page.get_by_text("Saved here, and sent when you are online.").first).to_be_visible()
    assert answers(server, site) == []
    page.context.set_offline(False)
    soon(page, lambda: answers(server, site), "the answer")
    outbox_empty(page, site)
    assert [answer["value"] for answer in answers(server, site)] == [chosen]
    assert len(labels(server, shop, site)) == 1


def test_what_is_answered_offline_survives_the_page(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """Answered without a connection, the page closed, opened again when there is one."""
    site, page = shop.site(), open_as(None)
    address = shop.page(site)
    page.goto(address)
    asked_before(page, server, site)
    page.context.set_offline(True)
    options(page).first.click()
    expect(page.get_by_text("Saved here").first).to_be_visible()
    later = page.context.new_page()
    page.close()
    later.context.set_offline(False)
    later.goto(address)
    soon(later, lambda: answers(server, site), "the answer")
    outbox_empty(later, site)
    assert len(answers(server, site)) == 1


def test_a_page_left_between_click_and_ack(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked_before(page, server, site)
    with held(server):
        options(page).first.click()
        soon(page, lambda: _waits(page, site, "answer"), "the answer to be on its way")
        page.reload()
        expect(page.locator("labelhub-widget")).to_be_attached()
        assert answers(server, site) == []
    soon(page, lambda: answers(server, site), "the answer")
    outbox_empty(page, site)
    assert len(answers(server, site)) == 1
    assert len(labels(server, shop, site)) == 1


def test_a_server_killed_between_answer_and_ack(
    open_as: OpenAs, shop: Shop, mortal: Mortal, troubles: Troubles
) -> None:
    server = mortal.server
    own = replace(shop, server=server)
    site, page = own.site(), open_as(None)
    page.goto(own.page(site))
    asked_before(page, server, site)
    with held(server):
        options(page).nth(2).click()
        soon(page, lambda: _waits(page, site, "answer"), "the answer to be on its way")
        page.wait_for_timeout(200)
        mortal.kill()
    assert answers(server, site) == []
    expect(page.get_by_text("Saved here, and sent when you are online.").first).to_be_visible()
    mortal.start()
    soon(page, lambda: answers(server, site), "the answer")
    outbox_empty(page, site)
    (answer,) = answers(server, site)
    assert answer["position"] == 2
    assert len(labels(server, own, site)) == 1
    page.reload()
    expect(page.locator("labelhub-widget")).to_be_attached()
    tell(page, "Another lamp, for my sister, and rather soon.")
    expect(options(page).first).to_be_visible()
    assert len(answers(server, site)) == 1
    assert all("ERR_CONNECTION_REFUSED" in each for each in troubles)
    troubles.clear()


def _waits(page: Page, site: Site, kind: str) -> bool:
    """Whether a frame of that kind has been given and not been acknowledged."""
    waiting = kept(page, site).get("outbox", [])
    return any(frame["t"] == kind for frame in waiting)


def test_of_two_tabs_one_asks_and_one_answer_counts(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site)
    first.goto(address)
    asked_before(first, server, site)
    second = first.context.new_page()
    opened = sockets_of(second)
    second.goto(address)
    soon(second, lambda: opened, "the second tab's socket")
    second.wait_for_timeout(700)
    assert [card(first).count(), card(second).count()] == [1, 0]
    options(first).first.click()
    expect(first.get_by_text(SAVED).first).to_be_visible()
    first.get_by_role("button", name="Close").click()
    second.wait_for_timeout(700)
    assert [card(first).count(), card(second).count()] == [0, 0]
    assert len(answers(server, site)) == 1


def test_what_another_tab_was_asked_moves_on_when_it_is_closed(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site)
    first.goto(address)
    asked(first)
    hurry(server, site)
    second = first.context.new_page()
    second.goto(address)
    expect(second.locator("labelhub-widget")).to_be_attached()
    first.close()
    ready(second)
    options(second).first.click()
    expect(second.get_by_text(SAVED).first).to_be_visible()
    assert len(answers(server, site)) == 1


def test_two_browsers_of_one_person_give_one_answer(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """No lock and no channel joins them: the server takes the question off the other screen."""
    site, first = shop.site(), open_as(None)
    address = shop.page(site)
    first.goto(address)
    asked_before(first, server, site)
    second = open_as(None)
    name = f"labelhub.{site.key}"
    known = first.evaluate("(name) => localStorage.getItem(name)", name)
    second.add_init_script(f"localStorage.setItem({name!r}, {known!r})")
    second.goto(address)
    ready(second)
    options(first).first.click()
    expect(first.get_by_text(SAVED).first).to_be_visible()
    expect(card(second)).to_have_count(0)
    told = second.locator("labelhub-widget [role=status]").first
    expect(told).to_have_text("This question is no longer open.")
    assert len(answers(server, site)) == 1
