"""Chat mode: replies come in pieces, the conversation is there when one comes back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.authors.consumers import chat
from apps.authors.models import Author, Message, Site
from apps.authors.services.limits import budget_spent
from labelhub.core.interview.redaction import Redacted, redact
from labelhub.core.llm.errors import ModelUnreachable
from tests.authors.live import Page, end_of_reply, hello_for, served, token_of, write
from tests.factories.authors import TEXT, author_of, message_of, site_with_features
from tests.fakes.client import wait_for

TURNS = ["author", "assistant", "author", "assistant", "author"]
Said: TypeAlias = list[tuple[str, str]]
# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Said]:
    """What the model was given to read, each time; it takes a moment to answer."""
    given: list[Said] = []

    async def listening(_site: Site, history: Said, spoken: Any) -> AsyncGenerator[str, None]:
        given.append(list(history))
        await asyncio.sleep(0.3)
        spoken.text = "Fine."
        yield "Fine."

    monkeypatch.setattr(chat, "stream_reply", listening)
    return given


def pieces(page: Page) -> str:
    return "".join(
        item["d"]["delta"] for item in page.heard if item["t"] == "reply" and "delta" in item["d"]
    )


def test_a_message_is_answered_piece_by_piece(address: str, site: Site) -> None:
    with Page.open(address, site, mode="chat") as page:
        write(page, mid="m-1")
        reply = end_of_reply(page)
    assert reply["to"] == "m-1"
    assert reply["final"]
    assert pieces(page) == reply["text"] != ""


def test_replies_are_kept_as_context_and_shown_again(address: str, site: Site) -> None:
    with Page.open(address, site, mode="chat") as page:
        known = page.heard[0]["d"]["tok"]
        write(page, mid="m-1", conv="c-1")
        reply = end_of_reply(page)
        stored = Message.objects.filter(role="assistant")
        wait_for(stored.exists, seconds=5, what="the reply to be stored")
    with Page.open(address, site, mode="chat", tok=known) as page:
        history = page.wait_for("history")["d"]
    assert history["conv"] == "c-1"
    assert [(message["role"], message["text"]) for message in history["messages"]] == [
        ("author", TEXT),
        ("assistant", reply["text"]),
    ]


def test_a_reply_that_fails_can_be_had_again(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def failing(_site: Site, _history: Any, spoken: Any) -> AsyncGenerator[str, None]:
        tries.append(1)
        if len(tries) == 1:
            raise ModelUnreachable("Nobody answers.")
        spoken.text = "Here you are."
        yield "Here you are."

    monkeypatch.setattr(chat, "stream_reply", failing)
    with Page.open(address, site, mode="chat") as page:
        write(page, mid="m-1")
        failed = end_of_reply(page)
        assert (failed["failed"], failed["retry"]) == (True, True)
        assert page.outcome(page.say("retry", mid="m-1"))["t"] == "ack"
        assert end_of_reply(page)["text"] == "Here you are."
    assert Message.objects.filter(role="author").count() == 1


def test_who_wants_to_chat_and_not_to_be_asked_leaves_nothing(address: str, site: Site) -> None:
    with Page.connect(address) as page:
        page.say("hello", **hello_for(site, mode="chat", consent={"scope": ["chat"]}))
        assert page.wait_for("welcome")["d"]["state"] == "chat_only"
        write(page)
        assert end_of_reply(page)["text"]
        write(page, "And a tent for two, please, that is not too heavy.")
        assert end_of_reply(page)["text"]
        for kind in ("export", "erase", "optout"):
            page.say(kind)
        refused = page.outcome(page.say("answer", qid=str(uuid4()), opt="a", ms=6000))
        assert refused["t"] == "nack"
    assert not Author.objects.exists()
    assert not Message.objects.exists()


def test_who_does_not_want_to_be_asked_any_more_can_go_on_chatting(
    address: str, site: Site
) -> None:
    with Page.open(address, site, mode="chat") as page:
        write(page)
        page.until(lambda frame: frame["t"] == "reply" and "final" in frame["d"], 10)
        agreed = hello_for(site)["consent"] | {"scope": ["chat"]}
        assert page.outcome(page.say("consent", **agreed))["t"] == "ack"
        write(page, "And a tent for two, please, that is not too heavy.")
        assert end_of_reply(page)["text"]
    author = Author.objects.get()
    assert author.opted_out_at is not None
    assert author.messages.filter(role="author").count() == 1


def test_the_model_reads_what_is_kept_and_the_author_what_they_wrote(
    address: str, heard: list[Said]
) -> None:
    site = site_with_features(keep_text=Site.KeepText.SEALED)
    text = "Write to jane.roe@example.org when the lamp is there."
    with Page.open(address, site, mode="chat") as page:
        known = page.heard[0]["d"]["tok"]
        write(page, text)
        end_of_reply(page)
    with Page.open(address, site, mode="chat", tok=known) as page:
        assert page.wait_for("history")["d"]["messages"][0]["text"] == text
        write(page, "And a tent, please.")
        end_of_reply(page)
    assert "[e-mail]" in str(heard[-1])
    assert "jane" not in str(heard)


@pytest.mark.thorough
@pytest.mark.parametrize("scope", [["questions"], ["chat"]])
def test_what_is_not_kept_is_stripped_of_personal_data_beside_the_event_loop(
    address: str,
    site: Site,
    heard: list[Said],
    monkeypatch: pytest.MonkeyPatch,
    scope: list[str],
) -> None:
    where: list[str] = []

    def watched(text: str, **more: Any) -> Redacted:
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            where.append("event loop")
        where.append("names" if "names" in more else "no names")
        return redact(text, **more)

    def find_nothing() -> None:
        """Its first call loads a model."""
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            where.append("event loop")

    monkeypatch.setattr(chat, "redact", watched)
    monkeypatch.setattr(chat, "finder", find_nothing)
    with Page.open(address, site, mode="chat", consent={"scope": scope}) as page:
        write(page, "My boyfriend hits me; write to jane.roe@example.org.")
        end_of_reply(page)
    assert where == ["names"]
    assert "[e-mail]" in str(heard)
    assert "jane" not in str(heard)


@pytest.mark.thorough
def test_what_is_written_while_a_reply_comes_is_answered_after_it(
    address: str, site: Site, heard: list[Said]
) -> None:
    with Page.open(address, site, mode="chat") as page:
        for number in (1, 2, 3):
            write(page, f"A lamp for trip {number}, please.", mid=f"m-{number}")
        replies = [end_of_reply(page) for _ in range(3)]
    assert [(reply["to"], reply["final"]) for reply in replies] == [
        ("m-1", True),
        ("m-2", True),
        ("m-3", True),
    ]
    roles = [[role for role, _ in history] for history in heard]
    assert roles == [TURNS[:1], TURNS[:3], TURNS]


@pytest.mark.thorough
def test_a_reply_follows_its_author_to_the_next_page(
    address: str, site: Site, heard: list[Said]
) -> None:
    with Page.open(address, site, mode="chat") as page:
        known = page.heard[0]["d"]["tok"]
        page.outcome(write(page, mid="m-1"))
    with Page.open(address, site, mode="chat", tok=known) as page:
        page.wait_for("history")
        reply = end_of_reply(page)
        assert (reply["to"], reply["final"]) == ("m-1", True)
        stored = Message.objects.filter(role="assistant")
        wait_for(stored.exists, seconds=5, what="the reply to be stored")
        assert page.outcome(page.say("retry", mid="m-1"))["d"]["code"] == "bad_field"
        write(page, "And a rope.", mid="m-2")
        assert end_of_reply(page)["to"] == "m-2"
    assert [role for role, _ in heard[-1]] == ["author", "assistant", "author"]


@pytest.mark.thorough
def test_a_reply_under_way_is_kept_although_the_server_ends(site: Site, heard: list[Said]) -> None:
    with served() as address, Page.open(address, site, mode="chat") as page:
        page.outcome(write(page, mid="m-1"))
        page.drop()
    assert Message.objects.get(role="assistant").text == "Fine."


@pytest.mark.thorough
@pytest.mark.parametrize(("minutes", "answered"), [(1, True), (3, False)])
def test_who_was_not_answered_and_comes_back_soon_is_answered(
    address: str, site: Site, minutes: int, *, answered: bool
) -> None:
    author = author_of(site)
    message = message_of(author)
    Message.objects.update(received_at=timezone.now() - timedelta(minutes=minutes))
    with Page.open(address, site, mode="chat", tok=token_of(author)) as page:
        page.wait_for("history")
        if answered:
            assert end_of_reply(page)["to"] == message.ref
        else:
            assert page.nothing_more()


def test_what_a_chat_costs_counts_also_where_nothing_is_kept(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dear(_site: Site, _history: Said, spoken: Any) -> AsyncGenerator[str, None]:
        spoken.cost_nanousd = 1000
        raise ModelUnreachable("It broke off.")
        yield

    site = site_with_features(daily_budget_nanousd=1000)
    monkeypatch.setattr(chat, "stream_reply", dear)
    with Page.open(address, site, mode="chat", consent={"scope": ["chat"]}) as page:
        write(page)
        assert end_of_reply(page)["failed"]
        wait_for(lambda: budget_spent(site), seconds=5, what="the cost to be counted")
    assert not Message.objects.exists()


def test_companion_mode_answers_nothing(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        write(page)
        page.wait_for("question")
        assert not [item for item in page.heard if item["t"] == "reply"]
