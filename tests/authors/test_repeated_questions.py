"""A question asked twice: about the same message, as long as its author still knows it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.authors.models import Author, Message, Question
from apps.authors.selectors.messages import question_words
from tests.factories.authors import asked, author_of, site_with_features

pytestmark = pytest.mark.django_db

FIRST = "I need a quiet laptop for my studies by tomorrow, it is urgent."
SECOND = "Do you have any blue blankets as well? There is no hurry at all."


@pytest.fixture
def author() -> Author:
    return author_of(site_with_features(reask_share=1.0, most_questions=4))


def answered(author: Author, minutes_ago: int) -> Question:
    """A question about FIRST, asked and answered so long ago."""
    (first,) = asked(author, FIRST, features=["urgency"])
    index = timezone.now() - timedelta(minutes=minutes_ago)
    Question.objects.update(status=Question.Status.ANSWERED)
    Message.objects.update(received_at=index)
    sent = first.options[0]["label"]
    first.answers.create(
        author=author, ref="a-1", outcome="answer", value=sent, server_ms=6000, timing="ok",
        received_at=index,
    )  # fmt: skip
    return first


def test_it_is_asked_again_about_what_was_said_then(author: Author) -> None:
    first = answered(author, 10)
    questions = asked(author, SECOND, features=["budget"])
    assert [question.reask_of for question in questions] == [None, first]
    fresh, again = (question_words(question, author, of=2) for question in questions)
    assert again["re"] == first.message.ref != fresh["re"]
    assert again["conv"] == first.message.conversation.ref
    assert again["text"] == first.text


@pytest.mark.parametrize(
    ("minutes", "conversation"), [(2, "talk"), (45, "talk"), (10, "another talk")]
)
def test_not_at_once_not_late_and_not_in_another_conversation(
    author: Author, minutes: int, conversation: str
) -> None:
    answered(author, minutes)
    questions = asked(author, SECOND, features=["budget"], conversation=conversation)
    assert [question.reask_of for question in questions] == [None]
