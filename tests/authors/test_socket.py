"""The widget's socket: from a message to a label, over real websockets."""

import pytest

from apps.authors.models import Author, Message, Question, Site
from apps.labels.models import Label
from tests.authors.live import Page, answer, hello_for, question_on, token_of, write
from tests.factories.authors import (
    asked,
    author_of,
    later,
    site_with_features,
)

# The server answers in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_message_is_asked_about_and_answered(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        question = question_on(page)
        assert len(question["opts"]) == 4
        assert question["min_ms"] >= 5000
        assert question["survey"]["n"] == 1
        assert answer(page, question) == page.heard[-1]
        assert page.heard[-1]["d"]["undo_ms"] == 5000
    label = Label.objects.get()
    assert label.value == question["opts"][0]["label"]


def test_the_next_question_comes_when_the_first_is_settled(address: str, site: Site) -> None:
    author = author_of(site)
    first, second = asked(author, features=["urgency", "main_attribute"])
    first.refresh_from_db()
    with Page.open(address, site, tok=token_of(author)) as page:
        assert page.wait_for("question")["d"]["qid"] == str(first.uid)
        page.outcome(page.say("dismiss", qid=str(first.uid), how="skip"))
        following = page.wait_for("question")
    assert (following["d"]["qid"], following["d"]["kind"]) == (str(second.uid), "word")


def test_an_author_comes_back_by_their_token_and_finds_the_question(
    address: str, site: Site
) -> None:
    with Page.open(address, site) as page:
        token_sent = page.heard[0]["d"]["tok"]
        question = question_on(page)
    with Page.open(address, site, tok=token_sent) as page:
        assert page.heard[0]["d"]["resumed"]
        assert page.wait_for("question")["d"]["qid"] == question["qid"]
        later(Author.objects.get(), 10)
        assert answer(page, question)["t"] == "ack"
    assert Author.objects.count() == 1


def test_a_token_that_is_not_known_makes_nobody(address: str, site: Site) -> None:
    others = token_of(author_of(site_with_features()))
    for tok in ("x" * 43, others):
        with Page.connect(address) as page:
            page.say("hello", **hello_for(site, tok=tok))
            assert page.wait_for("nack")["d"]["code"] == "erased"
            assert page.closed_with() == 4410
    assert not Author.objects.filter(site=site).exists()


def test_an_answer_in_one_tab_takes_the_question_off_the_other(address: str, site: Site) -> None:
    with Page.open(address, site) as first:
        known = first.heard[0]["d"]["tok"]
        question = question_on(first)
        with Page.open(address, site, tok=known) as second:
            second.wait_for("question")
            answer(first, question)
            assert second.wait_for("retract")["d"]["qid"] == question["qid"]
            assert answer(second, question)["d"]["code"] == "already_answered"


def test_dont_ask_me_again_ends_the_connection_and_is_kept(address: str, site: Site) -> None:
    with Page.open(address, site) as page:
        known = page.heard[0]["d"]["tok"]
        question = question_on(page)
        page.say("optout")
        assert page.closed_with() == 4410
    with Page.open(address, site, tok=known) as page:
        assert page.heard[0]["d"]["state"] == "opted_out"
        assert answer(page, question)["d"]["code"] == "opted_out"
        sent = write(page, "A lamp that is warm, and a tent for two.")
        assert page.outcome(sent)["d"]["code"] == "opted_out"
    assert Message.objects.count() == 1
    assert not Author.objects.get().consents.filter(withdrawn_at__isnull=True).exists()
    assert not Label.objects.exists()
    assert not Question.objects.filter(status="waiting").exists()
