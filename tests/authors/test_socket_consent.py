"""What was agreed to counts with every message, and what was kept stays its author's."""

from typing import Any

import pytest

from apps.authors.models import Answer, Author, Message, Site
from apps.authors.selectors.sites import clear_known_sites
from apps.authors.services.sites import set_consent_text
from tests.authors.live import Page, answer, hello_for, question_on, token_of, write
from tests.factories.authors import author_of, message_of, site_with_features

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def new_text(site: Site) -> None:
    set_consent_text(site=site, texts={"en": "We now also read it aloud."}, actor=None)
    clear_known_sites()


def agree(page: Page, site: Site, *scope: str) -> str:
    """How an agreement to the site's present text was taken."""
    agreed = hello_for(site)["consent"] | {"scope": list(scope or ("questions",))}
    return str(page.outcome(page.say("consent", **agreed))["t"])


def only_chatting(site: Site, **hello: str) -> dict[str, Any]:
    return hello_for(site, mode="chat", consent={"scope": ["chat"]}, **hello)


def test_a_live_page_is_asked_anew_when_the_text_has_changed(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        question = question_on(page)
        new_text(site)
        for refused in (
            page.outcome(write(page, "And a tent for two, please.")),
            answer(page, question),
            page.outcome(page.say("dismiss", qid=question["qid"], how="skip")),
        ):
            assert (refused["d"]["code"], refused["d"]["retry"]) == ("consent_outdated", False)
        assert not Answer.objects.exists()
        assert agree(page, site) == "ack"
        assert answer(page, question)["t"] == "ack"
    assert Answer.objects.get().consent.text.version == 2  # type: ignore[union-attr]
    assert Message.objects.count() == 1


def test_the_old_text_can_not_be_agreed_to_any_more(address: str, site: Site) -> None:
    old = hello_for(site)["consent"]
    with Page.open(address, site) as page:
        new_text(site)
        refused = page.outcome(page.say("consent", **old))
        assert refused["d"]["code"] == "consent_outdated"


def test_where_the_host_has_the_consent_a_new_text_stops_nobody(address: str) -> None:
    site = site_with_features(consent_by=Site.ConsentBy.HOST)
    with Page.open(address, site) as page:
        new_text(site)
        assert page.outcome(write(page))["t"] == "ack"


def test_an_agreement_in_one_tab_does_not_speak_for_the_other(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        page.outcome(page.say("optout"))
    with Page.open(address, site, tok=known) as first, Page.open(address, site, tok=known) as two:
        assert first.outcome(write(first))["d"]["code"] == "opted_out"
        assert agree(two, site) == "ack"
        assert first.outcome(write(first))["d"]["code"] == "consent_outdated"
        assert agree(first, site) == "ack"
        answer(first, question_on(first))
    assert Answer.objects.get().consent is not None


def test_who_only_chats_agrees_to_a_new_text_too(address: str, site: Site) -> None:
    with Page.connect(address) as page:
        page.say("hello", **only_chatting(site))
        page.wait_for("welcome")
        new_text(site)
        assert page.outcome(write(page))["d"]["code"] == "consent_outdated"
        assert agree(page, site, "chat") == "ack"
        assert page.outcome(write(page))["t"] == "ack"
    assert not Author.objects.exists()


def test_a_no_counts_also_where_the_text_has_changed(address: str, site: Site) -> None:
    old = hello_for(site)["consent"] | {"scope": ["chat"]}
    with Page.open(address, site, mode="chat") as page:
        new_text(site)
        assert page.outcome(page.say("consent", **old))["d"]["code"] == "consent_outdated"
    assert Author.objects.get().opted_out_at is not None


def test_who_only_chats_from_now_on_can_still_see_and_delete_what_was_kept(
    address: str, site: Site
) -> None:
    with Page.open(address, site, mode="chat") as page:
        page.outcome(write(page))
        assert agree(page, site, "chat") == "ack"
        page.say("export")
        assert page.wait_for("data")["d"]["conversations"]
        assert page.outcome(page.say("erase"))["d"]["receipt"]
        assert page.closed_with() == 4410
    assert not Author.objects.exists()
    assert not Message.objects.exists()


def test_who_comes_back_only_to_chat_keeps_their_token_and_their_rights(
    address: str, site: Site
) -> None:
    author = author_of(site)
    message_of(author)
    known = token_of(author)
    with Page.connect(address) as page, Page.open(address, site, tok=known) as other:
        page.say("hello", **only_chatting(site, tok=known))
        welcome = page.wait_for("welcome")["d"]
        assert (welcome["state"], welcome["tok"]) == ("chat_only", known)
        page.say("export")
        assert page.wait_for("data")["d"]["conversations"]
        assert page.outcome(page.say("erase"))["t"] == "ack"
        assert other.closed_with() == 4410
    assert not Author.objects.exists()


def test_a_token_of_nobody_gives_no_rights(address: str, site: Site) -> None:
    with Page.connect(address) as page:
        page.say("hello", **only_chatting(site, tok="x" * 43))
        assert page.wait_for("welcome")["d"]["tok"] == ""
        for kind in ("export", "erase"):
            assert page.outcome(page.say(kind))["d"]["code"] == "not_yours"


def test_who_was_opted_out_can_see_their_data(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        page.outcome(page.say("optout"))
    with Page.open(address, site, tok=known) as page:
        page.say("export")
        assert page.wait_for("data")["d"]["opted_out"]
