"""What the widget's socket refuses, how, and that nothing of it is written."""

import json
import time
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from websockets.exceptions import ConnectionClosed

from apps.authors.consumers import chat, session, widget
from apps.authors.consumers.socket import BURST, RATE, Socket
from apps.authors.models import Answer, Author, Event, Message, Question, Site
from apps.authors.selectors.sites import clear_known_sites
from apps.authors.services.sites import update_site
from tests.authors.live import Page, answer, hello_for, here, token_of, write
from tests.factories.authors import (
    ORIGIN,
    TEXT,
    author_of,
    site_with_features,
)
from tests.fakes.client import wait_for

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_forged_early_answer_is_refused_with_the_time_left(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        write(page)
        question = page.wait_for("question")["d"]
        page.say("shown", qid=question["qid"], lat=0)
        for claimed in (0, 5000, 60_000):
            refused = answer(page, question, ms=claimed)
            assert refused["d"]["code"] == "too_early"
            assert refused["d"]["retry"]
            assert 0 < refused["d"]["after_ms"] <= question["min_ms"]
    assert not Answer.objects.exists()
    assert Question.objects.first().early == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", None])
def test_pages_of_other_origins_are_refused_for_good(
    address: str, site: Site, origin: str | None
) -> None:
    with Page.connect(address, origin=origin) as page:
        page.say("hello", **hello_for(site))
        assert page.closed_with() == 4403
    assert not Author.objects.exists()


def test_a_site_that_is_switched_off_hears_nobody(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        update_site(site=site, enabled=False)
        clear_known_sites()
        write(page)
        assert page.closed_with() == 4403
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"v": 0}, {"v": 2}, {"hash": "0" * 32}, {"by": "host"}],
    ids=["older", "newer", "other words", "said to be the host's"],
)
def test_without_consent_to_the_present_text_nothing_is_written(
    address: str, site: Site, change: dict[str, Any]
) -> None:
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, consent=change))
        assert page.closed_with() == 4401
        assert page.heard[-1]["d"]["code"] == "consent_outdated"
    assert not Author.objects.exists()


def test_the_first_frame_must_be_a_hello(address: str) -> None:
    with Page.connect(address) as page:
        page.say("msg", text=TEXT, mid="m", conv="c", role="author")
        assert page.closed_with() == 4401
    assert not Message.objects.exists()


def test_who_says_nothing_is_sent_away_after_five_seconds(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert widget.GREETING == 5.0
    monkeypatch.setattr(widget, "GREETING", 0.2)
    started = time.monotonic()
    with Page.connect(address) as page:
        assert page.closed_with() == 4401
    assert time.monotonic() - started > 0.15


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("nonsense", 4400),
        (b"\x00\x01", 4400),
        ("x" * 17_000, 4413),
        (json.dumps({"v": 1, "t": "msg", "id": "a", "d": {"text": "x" * 17_000}}), 4413),
    ],
    ids=["no JSON", "bytes", "17 KB", "a message of 17 KB"],
)
def test_what_is_no_frame_ends_the_connection(
    address: str, site: Site, raw: Any, code: int
) -> None:
    with Page.open(address, site) as page:
        page.send(raw)
        assert page.closed_with() == code
    assert not Message.objects.exists()


def test_a_frame_with_a_fault_is_refused_by_its_id(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        page.send({"v": 1, "t": "msg", "id": "f-1", "d": {"text": 5}})
        assert page.outcome("f-1")["d"]["code"] == "bad_field"
        page.send({"v": 2, "t": "ping", "id": "f-1", "d": {}})
        assert page.outcome("f-1")["d"]["code"] == "unsupported_version"
        assert page.outcome(page.say("early", qid=str(uuid4()), ms=1))["t"] == "ack"


def test_kinds_and_fields_of_later_versions_are_passed_over(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        page.send({"v": 1, "t": "dance", "id": "f-1", "d": {}, "extra": True})
        page.say("ping", id="f-2", later="field")
        assert page.wait_for("pong")["re"] == "f-2"


def test_a_flood_is_held_back_and_then_ended(address: str, site: Site) -> None:
    began = time.monotonic()
    with Page.open(address, site) as page:
        for number in range(120):
            write(page, f"A lamp for trip {number}, please.")
        assert page.closed_with() == 4429
        refused = [item["d"] for item in page.heard if item["t"] == "nack"]
    assert {item["code"] for item in refused} == {"rate"}
    assert all(item["retry"] and item["after_ms"] > 0 for item in refused)
    # However slowly this machine sends.
    assert Message.objects.count() <= BURST + RATE * (time.monotonic() - began)
    assert Event.objects.filter(kind=Event.Kind.FLOOD).exists()


@pytest.mark.parametrize(
    "frame",
    [
        {"v": 1, "t": "msg", "id": "f", "d": {"text": "x"}},
        {"v": 2, "t": "early", "id": "f", "d": {}},
        {"v": 1, "t": "dance", "id": "f", "d": {}},
        {"v": 1, "t": "ping", "id": "f", "d": {}},
    ],
    ids=["a fault in a field", "another version", "an unknown kind", "signs of life"],
)
def test_a_flood_is_ended_whatever_it_is_made_of(
    address: str, site: Site, frame: dict[str, Any]
) -> None:
    with Page.open(address, site) as page:
        with suppress(ConnectionClosed):  # it may be ended before all is sent
            for _ in range(100):
                page.send(frame)
        assert page.closed_with() == 4429


def test_signs_of_life_are_heard_while_messages_are_held_back(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        for _ in range(30):
            page.say("early", qid=str(uuid4()), ms=1)
        page.say("ping", id="p-1")
        assert page.wait_for("pong")["re"] == "p-1"
        assert [item for item in page.heard if item["t"] == "nack" and item["d"]["retry"]]


@pytest.mark.thorough
@pytest.mark.parametrize("scope", [["questions"], ["chat"]])
def test_who_is_silent_for_long_is_sent_away(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch, scope: list[str]
) -> None:
    monkeypatch.setattr(session, "SILENT", 0.2)
    monkeypatch.setattr(session, "ROUND", 0.1)
    with Page.open(address, site, mode="chat", consent={"scope": scope}) as page:
        assert page.closed_with() == 4408
    wait_for(lambda: here() == 0, seconds=5, what="everybody to have gone")


def test_who_could_not_be_greeted_is_not_waited_for(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_session: object) -> None:
        raise OperationalError("The database is away.")

    monkeypatch.setattr(chat, "send_history", broken)
    with Page.open(address, site, mode="chat") as page:
        assert page.closed_with() == 1006  # the server gave up, without a word
    wait_for(lambda: here() == 0, seconds=5, what="everybody to have gone")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sent", "kept"), [("de", "DE"), ("<b>", ""), ("d", ""), ("DEU", ""), ("\u00e4\u00e4", "")]
)
def test_a_country_is_two_letters_or_none(
    address: str, monkeypatch: pytest.MonkeyPatch, sent: str, kept: str
) -> None:
    site = site_with_features(country_header="X-Country")
    monkeypatch.setattr(Socket, "header", lambda _, name: sent if "C" in name else ORIGIN)
    with Page.open(address, site) as page:
        page.outcome(write(page))
    assert Message.objects.get().country == kept


def test_of_too_many_sockets_of_one_author_the_oldest_goes(address: str, site: Site) -> None:
    known = token_of(author_of(site))
    with Page.open(address, site, tok=known) as oldest:
        pages = [Page.open(address, site, tok=known) for _ in range(5)]
        opened = [page.__enter__() for page in pages]
        assert oldest.closed_with() == 4409
        assert opened[0].outcome(write(opened[0]))["t"] == "ack"
        for page in pages:
            page.__exit__(None, None, None)
