"""Messages are screened and stripped of personal data before they are stored, and stored once."""

import pytest

from apps.authors.models import Author, Message, Site
from apps.authors.services.messages import Incoming, context_of, store_message
from apps.authors.services.privacy import open_text
from tests.cases import all_cases
from tests.factories.authors import TEXT, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db

PRIVATE = "Please send the offer for the blue tent to jane.roe@example.org before Friday."


def test_personal_data_is_gone_before_anything_is_stored(author: Author) -> None:
    message = message_of(author, PRIVATE)
    stored = Message.objects.filter(pk=message.pk).values().get()
    assert "jane" not in str(stored)
    assert "[e-mail]" in message.text
    assert message.sealed is None


def test_nothing_of_a_sensitive_message_is_kept_but_its_topic(author: Author) -> None:
    message = message_of(author, "I wanted to kill myself and need a lamp for winter.")
    stored = Message.objects.filter(pk=message.pk).values().get()
    assert (message.dropped_at, message.reason, message.text) == ("sensitive", "danger", "")
    assert "lamp" not in str(stored)


@all_cases("word", ["depression", "jane.roe@example.org", "hunter2secret"])
def test_no_stage_keeps_the_words_of_the_raw_text(author: Author, word: str) -> None:
    message = message_of(author, " ".join([word] * 7))
    assert message.status == Message.Status.DROPPED
    assert word not in str(Message.objects.filter(pk=message.pk).values("stages", "reason").get())


def test_raw_text_is_kept_encrypted_where_the_site_wants_it() -> None:
    author = author_of(site_with_features(keep_text=Site.KeepText.SEALED))
    message = message_of(author, PRIVATE)
    stored = Message.objects.get(pk=message.pk)
    assert b"jane" not in bytes(stored.sealed or b"")
    assert open_text(stored.text, stored.sealed) == PRIVATE


def test_a_site_may_keep_nothing_of_what_was_not_asked_about() -> None:
    author = author_of(site_with_features(keep_text=Site.KeepText.NOTHING))
    assert message_of(author, "hello").text == ""
    reply = "Your two lamps are on their way to Leeds."
    assert message_of(author, reply, role="assistant").text == ""
    assert message_of(author).text == TEXT


def test_the_same_message_sent_twice_is_one(author: Author) -> None:
    sent = Incoming(ref="m-1", conversation="talk", role="author", text=TEXT)
    first, second = (store_message(author.site, author.pk, sent) for _ in range(2))
    assert (first.fresh, second.fresh) == (True, False)
    assert first.message == second.message


def test_the_context_is_the_five_messages_before(author: Author) -> None:
    for number in range(7):
        message_of(author, f"Question number {number}: which lamp is the warmest?")
    message_of(author, "Something else in another talk, about tents.", conversation="other")
    last = message_of(author)
    assert [text[16] for _, text in context_of(last)] == ["2", "3", "4", "5", "6"]


def test_the_language_of_a_message_is_found_among_the_sites(author: Author) -> None:
    site = site_with_features(languages=["en", "de"])
    text = "Ich suche eine warme Lampe, die nicht viel kostet."
    assert message_of(author_of(site), text).language == "de"
    assert message_of(author, text).language == "en"


def test_a_second_message_costs_few_queries(
    author: Author, django_assert_num_queries: object
) -> None:
    message_of(author)
    sent = Incoming(ref="m-2", conversation="talk", role="author", text="A tent for two, please.")
    with django_assert_num_queries(6):  # type: ignore[operator]
        store_message(author.site, author.pk, sent)
