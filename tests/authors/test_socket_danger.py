"""What an author in danger has on the screen goes off it, whichever page they wrote on."""

from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from apps.authors.consumers import session
from apps.authors.models import Author, Question, Site
from apps.echo.models import Decision
from tests.authors.live import Page, answer, question_on, write
from tests.factories.authors import message_of
from tests.factories.echo import echo_of
from tests.fakes.client import wait_for

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

CRISIS = "I want to kill myself"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ROUND", 0.1)
    monkeypatch.setattr(session, "GRACE", 0.6)


def offer_on(page: Page) -> str:
    """The id of an offer that the page has got."""
    author = Author.objects.get()
    author.site = author.site
    echo = echo_of(author.site)
    type(echo).objects.filter(pk=echo.pk).update(offers_on=True)
    decision = Decision(echo=echo, author=author, message_at=timezone.now(), policy="echo")
    decision.status, decision.item_ref = Decision.Status.WAITING, "tent"
    decision.offer = {"oid": str(decision.uid), "re": "m-1", "title": "Two-person tent"}
    decision.save()
    return str(page.wait_for("offer")["d"]["oid"])


def status_of(oid: str) -> str:
    return str(Decision.objects.get(uid=UUID(oid)).status)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_question_on_the_screen_is_taken_back_when_its_author_is_in_danger(
    address: str,
    site: Site,
    elsewhere: bool,
) -> None:
    with Page.open(address, site) as page:
        question = question_on(page)
        if elsewhere:  # said to another server
            message_of(Author.objects.get(), CRISIS)
        else:
            write(page, CRISIS)
        assert page.wait_for("retract")["d"]["qid"] == question["qid"]
        option = question["opts"][0]["id"]
        late = page.say("answer", qid=question["qid"], opt=option, ms=9000, kb=False)
        assert page.outcome(late)["d"]["code"] == "already_answered"
        assert page.nothing_more(0.5)
    assert Question.objects.get(uid=question["qid"]).status == Question.Status.RETRACTED


@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_offer_on_the_screen_is_taken_back_when_its_author_is_in_danger(
    address: str,
    site: Site,
    elsewhere: bool,
) -> None:
    with Page.open(address, site) as page:
        oid = offer_on(page)
        page.outcome(page.say("offered", oid=oid, what="shown"))
        if elsewhere:
            message_of(Author.objects.get(), CRISIS)
        else:
            write(page, CRISIS)
        result: dict[str, Any] = page.wait_for("retract")["d"]
        assert result == {"oid": oid, "why": "taken_back"}
    assert status_of(oid) == Decision.Status.EXPIRED


def test_a_page_that_was_away_hears_what_was_taken_back_meanwhile(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "GRACE", 5.0)
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        oid = offer_on(page)
        question = question_on(page)
        last = next(item["seq"] for item in page.heard if item["t"] == "question")
    message_of(Author.objects.get(), CRISIS)
    with Page.open(address, site, tok=known, last=last) as page:
        result = [page.wait_for("retract")["d"] for _ in range(2)]
        assert {item.get("qid") or item["oid"] for item in result} == {question["qid"], oid}
        assert page.nothing_more(0.5)


def test_a_page_that_was_away_keeps_what_stands(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        oid = offer_on(page)
        question = question_on(page)
        last = next(item["seq"] for item in page.heard if item["t"] == "question")
    with Page.open(address, site, tok=known, last=last) as page:
        assert page.wait_for("question")["d"]["qid"] == question["qid"]
        assert page.nothing_more(0.5)
        write(page, CRISIS)
        result = [page.wait_for("retract")["d"] for _ in range(2)]
        assert {item.get("qid") or item["oid"] for item in result} == {question["qid"], oid}


def test_a_page_whose_question_is_settled_is_not_looked_at_until_it_is_undone(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[set[UUID]] = []

    def taken_back(uids: set[UUID]) -> set[UUID]:
        looked.append(uids)
        return set()

    Site.objects.filter(pk=site.pk).update(most_questions=1)
    with Page.open(address, site) as page:
        question = question_on(page)
        assert answer(page, question)["t"] == "ack"
        monkeypatch.setattr(session, "withdrawn_questions", taken_back)
        assert page.nothing_more(0.5)
        assert looked == []
        page.outcome(page.say("undo", qid=question["qid"]))
        wait_for(lambda: {UUID(question["qid"])} in looked, seconds=5, what="a look")
