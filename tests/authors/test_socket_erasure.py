"""Erased means erased: nothing of a person's pages goes on, and nothing that comes late from them
makes them anew."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from time import sleep
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.authors.consumers import chat
from apps.authors.models import Answer, Author, Consent, Conversation, Message, Question, Site
from apps.authors.services.privacy import erase_author
from tests.authors.live import Page, hello_for, question_on, token, write
from tests.factories.authors import site_with_features
from tests.fakes.client import wait_for

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def nobody_is_kept() -> bool:
    kept = (Author, Consent, Conversation, Message, Question, Answer)
    return not any(model.objects.exists() for model in kept)


def refused(address: str, site: Site, **hello: Any) -> int:
    """The code with which somebody is sent away who says hello."""
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, **hello))
        assert page.wait_for("nack")["d"]["code"] == "erased"
        return page.closed_with()


def late_frames(question: dict[str, Any], site: Site) -> list[tuple[str, dict[str, Any]]]:
    qid, option = question["qid"], question["opts"][0]["id"]
    return [
        ("answer", {"qid": qid, "opt": option, "ms": 9000, "kb": False}),
        ("shown", {"qid": qid, "lat": 1}),
        ("early", {"qid": qid, "ms": 1}),
        ("dismiss", {"qid": qid, "how": "close"}),
        ("dismiss", {"qid": qid, "how": "nofit"}),
        ("undo", {"qid": qid}),
        ("msg", {"text": "Anything at all.", "mid": "m", "conv": "c", "role": "author"}),
        ("offered", {"oid": str(uuid4()), "what": "click"}),
        ("consent", hello_for(site)["consent"]),
        ("export", {}),
        ("erase", {}),
        ("optout", {}),
    ]


@pytest.mark.parametrize("kind", range(12))
def test_what_comes_late_from_an_erased_person_is_refused_for_good(
    address: str, site: Site, kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.authors.consumers.session.ROUND", 60.0)
    with Page.open(address, site) as page:
        question = question_on(page)
        erase_author(Author.objects.get())
        name, d = late_frames(question, site)[kind]
        result = page.outcome(page.say(name, **d))
        assert (result["t"], result["d"]["code"], result["d"]["retry"]) == ("nack", "erased", False)
        assert page.closed_with() == 4410
    assert nobody_is_kept()


def test_all_pages_of_an_erased_person_are_closed_and_told(address: str, site: Site) -> None:
    with ExitStack() as opened:
        first = opened.enter_context(Page.open(address, site))
        known = first.heard[0]["d"]["tok"]
        others = [opened.enter_context(Page.open(address, site, tok=known)) for _ in range(2)]
        done = first.outcome(first.say("erase"))["d"]
        assert (done["done"], bool(done["receipt"])) == (True, True)
        assert first.closed_with() == 4410
        for page in others:
            assert page.wait_for("nack")["d"]["code"] == "erased"
            assert page.closed_with() == 4410
    assert nobody_is_kept()


def test_the_page_that_erases_gets_its_receipt_before_anything_closes_it(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the server looks for erased authors between the erasure and the receipt."""
    monkeypatch.setattr("apps.authors.consumers.session.ROUND", 0.02)

    def erase_slowly(author: Author) -> Any:
        erasure = erase_author(author)
        sleep(0.3)
        return erasure

    monkeypatch.setattr("apps.authors.services.privacy.erase_author", erase_slowly)
    with Page.open(address, site) as page:
        assert page.outcome(page.say("erase"))["d"]["receipt"]
        assert page.closed_with() == 4410


def test_an_erasure_by_the_site_s_people_closes_the_open_pages(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        erase_author(Author.objects.get())  # by another process: this server is told nothing
        assert page.closed_with() == 4410
        assert page.heard[-1]["d"]["code"] == "erased"


def test_what_the_host_says_counts_again_once_it_is_newer_than_the_erasure(
    address: str,
) -> None:
    site = site_with_features(consent_by="host")
    ident = token(site)
    with Page.open(address, site, ident=ident) as page:
        page.outcome(page.say("erase"))
    assert refused(address, site, ident=ident) == 4410
    assert refused(address, site, ident=ident, consent={"at": 1}) == 4410
    assert nobody_is_kept()
    moment = int(timezone.now().timestamp() * 1000) + 1
    with Page.open(address, site, ident=ident, consent={"at": moment}):
        assert Consent.objects.count() == 1


def test_a_reply_under_way_ends_with_the_erasure(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[int] = []
    ended = threading.Event()

    async def endless(_site: Site, _history: Any, spoken: Any) -> AsyncGenerator[str, None]:
        try:
            while True:
                pieces.append(1)
                spoken.text += "word "
                yield "word "
                await asyncio.sleep(0.05)
        finally:
            ended.set()

    monkeypatch.setattr(chat, "stream_reply", endless)
    with Page.open(address, site, mode="chat") as page:
        write(page)
        page.wait_for("reply")
        page.outcome(page.say("erase"))
        assert ended.wait(5)
        assert page.closed_with() == 4410
    wait_for(nobody_is_kept, seconds=5, what="nothing to be left")
