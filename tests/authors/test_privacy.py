"""What an author may ask for: to see everything, and to have everything deleted."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection
from django.db.models import QuerySet
from django.utils import timezone

from apps.authors.models import (
    Author,
    Consent,
    Conversation,
    Event,
    Message,
    Question,
    Site,
)
from apps.authors.services.authors import author_of_subject
from apps.authors.services.privacy import author_data, erase_author, forget_old
from apps.debates.services import run_slice
from apps.labels.models import Annotator, Kind, Label
from apps.labels.services import record_label
from apps.projects.models import Item
from tests.factories.authors import answered_by, asked, author_of, message_of, site_with_features
from tests.factories.debates import started_run
from tests.factories.labels import draft, person

pytestmark = pytest.mark.django_db

#: Words that occur nowhere else.
MARK = "zyzzyva"
TEXT = f"I am looking for a {MARK} lamp that is warm and not too expensive."


def answered(site: Site, subject: str = "customer-1") -> Author:
    """Somebody who has written and answered."""
    author = author_of(site, subject)
    answered_by(author, TEXT)
    return author


def everything_stored() -> str:
    """Every cell of every table, as one text."""
    cells = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own tables
            cells += [str(cell) for row in cursor.fetchall() for cell in row]
    return "\n".join(cells)


def test_an_author_sees_what_was_written_asked_and_answered() -> None:
    author = answered(site_with_features(reward_cents=5))
    data = author_data(author)
    json.dumps(data)
    (conversation,) = data["conversations"]
    assert conversation["messages"][0]["text"] == TEXT
    (question,) = data["questions"]
    assert question["answers"][0]["value"] == question["options"][0]
    assert question["expected"]
    assert data["consents"][0]["version"] == 1
    assert data["rewards"][0]["cents"] == 5
    assert data["known_to_the_host_as"] == "customer-1"


# The run is driven by threads of its own: they see only what is committed.
@pytest.mark.django_db(transaction=True)
def test_deleting_leaves_nothing_of_an_author_anywhere() -> None:
    site = site_with_features(keep_text=Site.KeepText.SEALED)
    author = answered(site, "customer-4711")
    item = Item.objects.get()
    run = started_run(site.project)
    run_slice(run.pk)
    record_label(draft(item, person(site.project), item.options[1]))
    name, uid = author.pseudonym, author.uid.hex
    assert MARK in everything_stored()

    erasure = erase_author(author)

    left = everything_stored()
    for trace in (MARK, "customer-4711", name, uid):
        assert trace not in left
    assert erasure.removed["items"] == 1
    assert not Annotator.objects.filter(kind=Kind.AUTHOR).exists()
    assert [event.kind for event in Event.objects.all()] == [Event.Kind.ERASED]


def test_deleting_one_author_leaves_the_others() -> None:
    site = site_with_features()
    gone, stays = answered(site, "customer-1"), answered(site, "customer-2")
    erase_author(gone)
    assert Label.objects.filter(annotator__kind=Kind.AUTHOR).count() == 1
    assert Author.objects.get() == stays
    assert author_data(stays)["questions"]


def test_what_is_expected_is_not_told_while_it_can_be_answered() -> None:
    author = author_of(site_with_features())
    asked(author, TEXT, features=["urgency"])
    (question,) = author_data(author)["questions"]
    assert question["expected"] is None


def test_seeing_everything_takes_as_many_queries_for_any_traffic(
    django_assert_max_num_queries: Any,
) -> None:
    author = answered(site_with_features())
    for number in range(20):
        message_of(author, f"I need lamp number {number}.", conversation=f"talk {number}")
    with django_assert_max_num_queries(9):
        assert len(author_data(author)["conversations"]) == 21


def past_retention(author: Author) -> None:
    late = timezone.now() - timedelta(days=author.site.retention_days + 1)
    Message.objects.filter(author=author).update(received_at=late)
    Conversation.objects.filter(author=author).update(started_at=late)


def test_after_their_time_messages_are_forgotten_and_labels_stay() -> None:
    author = answered(site_with_features(keep_text=Site.KeepText.SEALED))
    text = "Another text that nobody was asked about, of which nothing stays."
    message_of(author, text, conversation="another")
    past_retention(author)
    assert forget_old(timezone.now()) == 2
    assert forget_old(timezone.now()) == 0
    (message,) = Message.objects.all()
    assert (message.text, message.sealed, message.fingerprint) == ("", None, "")
    assert Question.objects.count() == Label.objects.count() == 1
    assert Conversation.objects.get() == message.conversation


def test_of_what_was_asked_about_only_how_each_stage_ended_stays() -> None:
    author = answered(site_with_features())
    result = [{"stage": "prediction", "passed": True, "reason": "", "data": {"purpose": MARK}}]
    Message.objects.update(stages=result)
    past_retention(author)
    forget_old(timezone.now())
    assert Message.objects.get().stages == [result[0] | {"data": {}}]


def long_gone(author: Author) -> None:
    past_retention(author)
    late = timezone.now() - timedelta(days=author.site.retention_days + 1)
    Author.objects.filter(pk=author.pk).update(seen_at=late)


def test_authors_who_never_answered_are_forgotten_with_what_they_agreed_to() -> None:
    site = site_with_features()
    silent, unheard, here = (author_of(site, name) for name in ("one", "two", "three"))
    asked(unheard)
    Event.objects.create(site=site, author=silent, kind=Event.Kind.FLOOD)
    for author in (silent, unheard):
        long_gone(author)
    message_of(here)
    Author.objects.filter(pk=here.pk).update(seen_at=timezone.now() - timedelta(days=400))
    forget_old(timezone.now())
    assert [item.subject for item in Author.objects.all()] == ["three"]
    assert Consent.objects.get().author == here
    assert not Event.objects.exists()
    assert not Question.objects.exists()


@pytest.mark.parametrize("kept", ["answer", "ruling", "opted_out"])
def test_who_has_answered_or_was_ruled_or_wants_no_questions_stays(kept: str) -> None:
    site = site_with_features()
    author = answered(site) if kept == "answer" else author_of(site, "customer-1")
    if kept == "ruling":
        Author.objects.update(ruling=False)
    if kept == "opted_out":
        Author.objects.update(opted_out_at=timezone.now())
    long_gone(author)
    forget_old(timezone.now())
    assert Author.objects.get() == author


def test_an_author_created_and_erased_by_others_meanwhile_is_created_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site, create = site_with_features(), QuerySet.create
    losses = [IntegrityError("Another request created the author, who is erased again.")]

    def lose_once(authors: QuerySet[Author], **fields: Any) -> Author:
        if losses:
            raise losses.pop()
        return create(authors, **fields)

    monkeypatch.setattr(QuerySet, "create", lose_once)
    assert author_of_subject(site, "customer-1") == Author.objects.get(subject="customer-1")
