"""Models do not go on for somebody who has left, and not without end for anybody."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from apps.authors.consumers import chat, session
from apps.authors.models import Message, Question, Site
from apps.authors.services import questions
from tests.authors.live import Page, end_of_reply, hello_for, question_on, write
from tests.factories.authors import TEXT, site_with_features
from tests.fakes.client import wait_for

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "GRACE", 0.6)


class Model:
    """A chat model that talks until it is stopped."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stopped = threading.Event()

    async def __call__(self, _site: Site, history: Any, spoken: Any) -> AsyncGenerator[str, None]:
        self.asked.append(history[-1][1])
        try:
            while True:
                spoken.text += "word "
                yield "word "
                await asyncio.sleep(0.02)
        finally:
            spoken.cost_nanousd = 700
            self.stopped.set()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    found = Model()
    monkeypatch.setattr(chat, "stream_reply", found)
    return found


@pytest.mark.parametrize("scope", [["chat", "questions"], ["chat"]])
def test_a_reply_stops_when_its_author_has_left_and_the_next_is_not_begun(
    address: str, site: Site, model: Model, scope: list[str]
) -> None:
    with Page.open(address, site, mode="chat", consent={"scope": scope}) as page:
        for number in range(6):
            page.outcome(write(page, f"{TEXT} Number {number}."))
        page.wait_for("reply")
    assert model.stopped.wait(5)
    wait_for(lambda: site.uses.filter(cost_nanousd=700).exists(), seconds=5, what="its cost")
    assert len(model.asked) == 1
    assert Message.objects.filter(role="author").count() == (6 if "questions" in scope else 0)
    assert not Message.objects.filter(role="assistant").exists()


def test_who_comes_back_at_once_has_their_reply_go_on(
    address: str, site: Site, model: Model
) -> None:
    with Page.open(address, site, mode="chat") as page:
        known = page.heard[0]["d"]["tok"]
        write(page)
        page.wait_for("reply")
    with Page.open(address, site, mode="chat", tok=known) as page:
        page.wait_for("reply")
        assert not model.stopped.wait(1.5)
        assert len(model.asked) == 1


class Steps:
    """Models that are asked step by step; the first answer comes once ``go_on`` is set."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()

    async def __call__(self, _spec: Any, call: Any, models: Any, spent: list[int]) -> Any:
        self.calls.append(call.role)
        self.begun.set()
        await asyncio.to_thread(self.go_on.wait, 20)
        return await asking_reply(_spec, call, models, spent)


asking_reply = questions._reply


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    found = Steps()
    monkeypatch.setattr(questions, "_reply", found)
    return found


@pytest.mark.parametrize("answers", [True, False])
def test_nothing_more_is_asked_of_models_once_an_author_has_left(
    address: str, site: Site, steps: Steps, answers: bool
) -> None:
    with Page.open(address, site) as page:
        for number in range(5):
            page.outcome(write(page, f"{TEXT} Number {number}."))
        assert steps.begun.wait(5)
        begun = len(steps.calls)
    if answers:
        steps.go_on.set()
    over = Message.objects.filter(status=Message.Status.RECEIVED)
    wait_for(lambda: not over.exists(), seconds=10, what="the messages to be done with")
    steps.go_on.set()
    assert len(steps.calls) == begun
    assert Message.objects.filter(dropped_at="left").exists()
    assert Message.objects.exclude(text="").count() == 5, "what was acknowledged stays"
    assert not Question.objects.exists()


def test_a_question_that_its_author_left_behind_does_not_bar_the_next_message(
    address: str, site: Site
) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        question_on(page)
    closed = Question.objects.filter(status=Question.Status.EXPIRED)
    wait_for(closed.exists, seconds=5, what="the question to be closed")
    with Page.open(address, site, tok=known) as page:
        write(page, "I want to buy a second lamp as a gift, and it must not cost too much.")
        assert page.wait_for("question")["d"]["text"]


def test_a_question_stays_for_who_is_back_at_once(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        question = question_on(page)
    with Page.open(address, site, tok=known) as page:
        assert page.wait_for("question")["d"]["qid"] == question["qid"]
        assert page.nothing_more(1.0)
    assert Question.objects.filter(uid=question["qid"], status=Question.Status.SHOWN).exists()


def test_an_answer_that_was_given_without_a_connection_still_counts(
    address: str, site: Site
) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        question = question_on(page)
    closed = Question.objects.filter(status=Question.Status.EXPIRED)
    wait_for(closed.exists, seconds=5, what="the question to be closed")
    with Page.open(address, site, tok=known) as page:
        option = question["opts"][0]["id"]
        sent = page.say("answer", qid=question["qid"], opt=option, ms=9000, kb=False)
        assert page.outcome(sent)["t"] == "ack"
    assert Question.objects.get(uid=question["qid"]).status == Question.Status.ANSWERED


def test_the_chat_says_when_it_was_all_for_today(address: str) -> None:
    site = site_with_features(replies_anonymous=1)
    with Page.open(address, site, mode="chat", lang="de") as page:
        ends = []
        for number in range(2):
            page.outcome(write(page, f"{TEXT} Number {number}."))
            ends.append(end_of_reply(page))
    assert ends[0]["final"]
    assert (ends[1]["code"], ends[1]["retry"]) == ("limit", False)
    assert ends[1]["message"] == "Das war alles für heute. Bitte kommen Sie morgen wieder."
    assert site.uses.get().refused == 1


CHAT_ONLY = {"scope": ["chat"]}


@pytest.mark.parametrize("consents", [[{}, {}], [{}, CHAT_ONLY]], ids=["as before", "chat only"])
def test_a_new_hello_does_not_begin_the_limit_of_a_person_anew(
    address: str, consents: list[dict[str, Any]]
) -> None:
    site = site_with_features(replies_anonymous=1)
    result = []
    tok = ""
    for consent in consents:
        agreed = hello_for(site)["consent"] | consent
        with Page.open(address, site, mode="chat", tok=tok, consent=agreed) as page:
            tok = page.heard[0]["d"]["tok"]
            write(page)
            result.append(end_of_reply(page))
    assert [item.get("code") for item in result] == [None, "limit"]
