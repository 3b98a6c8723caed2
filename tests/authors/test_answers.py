"""An answer is stored once, from whom it was asked; and questions that are asked twice."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.authors.errors import (
    BadField,
    ConsentOutdated,
    Erased,
    Expired,
    NotYours,
    OptedOut,
    TooEarly,
    TooLate,
    UnknownQuestion,
)
from apps.authors.models import Answer, Author, Event, Message, Question, Reward
from apps.authors.selectors.messages import question_words
from apps.authors.services.answers import SubmittedAnswer, dismiss, record_answer, undo
from apps.authors.services.limits import asked_before, history_of
from apps.authors.services.privacy import erase_author
from apps.authors.services.questions import next_question
from apps.authors.services.trust import set_ruling
from apps.labels.models import Gold, Kind, Label
from labelhub.core.errors import LabelhubError
from tests.cases import all_cases
from tests.factories.authors import asked, author_of, shown_to, site_with_features
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def say(author: Author, question: Question, ref: str = "a-1", **sent: Any) -> Answer:
    sent = sent or {"option": question.options[0]["id"]}
    now = timezone.now()
    return record_answer(
        author, question.uid, SubmittedAnswer(ref=ref, **sent), consent=None, received=now
    )


def question_for(author: Author, **fields: Any) -> Question:
    asked(author, **fields)
    return shown_to(author)


def label_of(answer: Answer) -> Label:
    """The label that an answer became."""
    assert answer.label_uid is not None
    return Label.objects.select_related("item", "annotator").get(uid=answer.label_uid)


def test_an_answer_becomes_the_authors_label_of_an_item_of_its_own(author: Author) -> None:
    question = question_for(author)
    answer = say(author, question)
    label = label_of(answer)
    assert label.annotator.kind == Kind.AUTHOR
    assert label.value == question.options[0]["label"]
    assert label.item.question == question.text
    assert label.item.options == [option["label"] for option in question.options]
    assert label.item.text == question.message.text
    assert label.seconds is not None
    assert 9 < label.seconds < 12
    gold = Gold.objects.get(item=label.item)
    assert (gold.basis, gold.value) == (Gold.Basis.AUTHOR, label.value)


def test_the_item_does_not_say_who_the_author_is() -> None:
    author = author_of(site_with_features(), "customer-4711")
    label = label_of(say(author, question_for(author)))
    assert "4711" not in str(label.item.meta) + label.annotator.name
    assert label.item.meta["author"] == label.annotator.name == author.pseudonym


def test_the_same_answer_sent_twice_counts_once(author: Author) -> None:
    question = question_for(author)
    assert say(author, question).pk == say(author, question).pk
    assert Label.objects.count() == 1


def test_an_id_is_good_for_one_question(author: Author) -> None:
    first = question_for(author)
    say(author, first)
    second = shown_to(author)
    with pytest.raises(BadField, match="each needs its own"):
        say(author, second, word="quiet")


@pytest.mark.parametrize("seconds", [0.0, 1.0, 4.0])
def test_what_comes_before_it_could_be_read_is_refused_and_counted(
    author: Author, seconds: float
) -> None:
    asked(author)
    question = shown_to(author, seconds_ago=seconds)
    with pytest.raises(TooEarly) as refused:
        say(author, question)
    assert 0 < refused.value.data["after_ms"] <= question.min_ms
    assert not Answer.objects.exists()
    assert not Label.objects.exists()
    question.refresh_from_db()
    assert question.early == 1
    assert Event.objects.get().kind == Event.Kind.REFUSED_EARLY


def test_a_question_that_was_never_sent_cannot_be_answered(author: Author) -> None:
    question = asked(author)[0]
    with pytest.raises(TooEarly):
        say(author, question)


def test_a_question_shown_while_the_line_was_down_is_timed_by_the_widget(author: Author) -> None:
    asked(author)
    question = shown_to(author, seconds_ago=60)
    now = timezone.now()
    Question.objects.filter(pk=question.pk).update(shown_at=now)
    sent = SubmittedAnswer(
        ref="a-1",
        option=question.options[0]["id"],
        visible_ms=9000,
        connected=now - timedelta(seconds=1),
    )
    answer = record_answer(author, question.uid, sent, consent=None, received=now)
    assert answer.timing == Answer.Timing.CLIENT


def test_what_the_widget_says_of_its_clock_counts_for_nothing_while_connected(
    author: Author,
) -> None:
    asked(author)
    question = shown_to(author, seconds_ago=1)
    before = timezone.now() - timedelta(minutes=5)
    sent = SubmittedAnswer(ref="a-1", option="a", visible_ms=60_000, connected=before)
    with pytest.raises(TooEarly):
        record_answer(author, question.uid, sent, consent=None, received=timezone.now())


def test_somebody_elses_question_is_refused(author: Author) -> None:
    question = question_for(author)
    stranger = author_of(author.site)
    with pytest.raises(NotYours):
        say(stranger, question)
    with pytest.raises(NotYours):
        dismiss(stranger, question.uid, "skip")
    assert not Answer.objects.exists()


def test_a_question_nobody_asked_is_refused(author: Author) -> None:
    with pytest.raises(UnknownQuestion):
        record_answer(
            author,
            uuid4(),
            SubmittedAnswer(ref="a", option="a"),
            consent=None,
            received=timezone.now(),
        )


@all_cases(
    "sent",
    [{"option": "z"}, {"option": ""}, {"word": "fast"}],
    ids=["no such option", "nothing", "a word where options are offered"],
)
def test_only_an_offered_option_is_taken(author: Author, sent: dict[str, str]) -> None:
    with pytest.raises(BadField):
        say(author, question_for(author), **sent)
    assert not Answer.objects.exists()


@all_cases("word", ["", "me@example.org", "x" * 41, "a\0b", "two words"])
def test_a_word_must_be_one_and_nobodys_address(author: Author, word: str) -> None:
    question = question_for(author, features=["main_attribute"])
    with pytest.raises(BadField):
        say(author, question, word=word)


def test_that_nothing_fits_is_an_abstention(author: Author) -> None:
    question = question_for(author)
    answer = say(author, question, nofit=True, word="other")
    label = label_of(answer)
    assert (label.abstained, label.value) == (True, None)
    assert label.rationale == "None of these fits: other"
    question.refresh_from_db()
    assert question.status == Question.Status.NOFIT
    assert not Gold.objects.exists()


def test_a_late_answer_is_kept_and_neither_decides_nor_earns_anything() -> None:
    author = author_of(site_with_features(reward_cents=5), "customer")
    question = question_for(author)
    Question.objects.filter(pk=question.pk).update(
        expires_at=timezone.now() - timedelta(minutes=1), status=Question.Status.EXPIRED
    )
    answer = say(author, question)
    assert answer.late
    assert label_of(answer).role == Label.Role.ADVISORY
    assert not Gold.objects.exists()
    assert not Reward.objects.exists()


def test_an_answer_of_the_next_day_is_refused(author: Author) -> None:
    question = question_for(author)
    Question.objects.filter(pk=question.pk).update(
        expires_at=timezone.now() - timedelta(hours=25), status=Question.Status.EXPIRED
    )
    with pytest.raises(Expired):
        say(author, question)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("skip", "skipped"),
        ("close", "closed"),
        ("esc", "closed"),
        ("host", "retracted"),
        ("timeout", "expired"),
    ],
)
def test_a_question_can_be_sent_away(author: Author, how: str, status: str) -> None:
    question = question_for(author)
    dismiss(author, question.uid, how)
    dismiss(author, question.uid, how)
    question.refresh_from_db()
    assert question.status == status
    assert not Label.objects.exists()


def test_skipping_brings_the_next_question_and_closing_none(author: Author) -> None:
    first = question_for(author)
    dismiss(author, first.uid, "skip")
    second = next_question(author)
    assert second is not None
    dismiss(author, second.uid, "close")
    assert next_question(author) is None


def test_what_the_page_closes_by_itself_is_no_sign_of_its_author(author: Author) -> None:
    wrong = []
    for how, signs in {"host": 0, "timeout": 0, "close": 1, "esc": 2, "skip": 3}.items():
        question = question_for(author, features=["urgency"])
        dismiss(author, question.uid, how)
        asked_so_far = asked_before(author.pk)
        history = history_of(author, question.message, asked_so_far, timezone.now())
        if (history.dismissals_in_a_row, history.open_questions) != (signs, 0):
            wrong.append((how, history))
    assert wrong == []


def test_an_answer_can_be_taken_back_at_once_and_given_anew(author: Author) -> None:
    question = question_for(author)
    first = say(author, question)
    undo(author, question.uid)
    assert Label.objects.current().count() == 0
    assert Gold.objects.current().count() == 0
    second = say(author, question, ref="a-2", option=question.options[1]["id"])
    labels = Label.objects.current()
    assert [label.value for label in labels] == [question.options[1]["label"]]
    assert second.pk != first.pk


def test_after_some_seconds_an_answer_stands(author: Author) -> None:
    question = question_for(author)
    say(author, question)
    Answer.objects.update(received_at=timezone.now() - timedelta(seconds=20))
    with pytest.raises(TooLate):
        undo(author, question.uid)
    assert Label.objects.current().count() == 1


def test_what_was_taken_back_cannot_be_sent_again_under_its_id(author: Author) -> None:
    """A frame that is repeated after an undo must not bring the answer back."""
    question = question_for(author)
    say(author, question)
    undo(author, question.uid)
    say(author, question)
    assert Label.objects.current().count() == 0


def test_taking_back_twice_is_taking_back_once(author: Author) -> None:
    """The acknowledgement may be lost on its way."""
    question = question_for(author)
    say(author, question)
    assert undo(author, question.uid) == undo(author, question.uid)
    assert Event.objects.filter(kind=Event.Kind.UNDONE).count() == 1


def test_a_ruling_since_the_author_was_read_counts(author: Author) -> None:
    question = question_for(author)
    set_ruling(author, trusted=False, reason="Sold answers.")
    answer = say(author, question)
    assert answer.excluded_for == "Sold answers."
    assert not Label.objects.exists()


def test_an_opt_out_since_the_author_was_read_counts(author: Author) -> None:
    question = question_for(author)
    Author.objects.filter(pk=author.pk).update(opted_out_at=timezone.now())
    with pytest.raises(OptedOut):
        say(author, question)


def test_who_is_gone_since_they_were_read_is_told_so(author: Author) -> None:
    question = question_for(author)
    erase_author(author)
    with pytest.raises(Erased):
        say(author, question)


def test_without_a_standing_consent_nothing_is_taken(author: Author) -> None:
    question = question_for(author)
    author.consents.update(withdrawn_at=timezone.now())
    with pytest.raises(ConsentOutdated):
        say(author, question)
    assert not Answer.objects.exists()


def test_a_thousand_early_clicks_do_not_fill_the_disk(author: Author) -> None:
    asked(author)
    question = shown_to(author, seconds_ago=1)
    for _ in range(10):
        with pytest.raises(TooEarly):
            say(author, question)
    question.refresh_from_db()
    assert question.early == 10
    assert Event.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_that_answer_at_once_one_is_heard() -> None:
    author = author_of(site_with_features(reward_cents=5), "customer")
    question = question_for(author)

    def outcome(place: int) -> str:
        try:
            me = Author.objects.select_related("site").get(pk=author.pk)
            say(me, question, ref=f"t-{place}", option=question.options[place]["id"])
        except LabelhubError as error:
            return error.code
        return "taken"

    assert sorted(at_once(outcome)) == ["already_answered"] * 3 + ["taken"]
    assert Answer.objects.count() == Label.objects.count() == Reward.objects.count() == 1


FIRST = "I need a quiet laptop for my studies by tomorrow, it is urgent."
SECOND = "Do you have any blue blankets as well? There is no hurry at all."


@pytest.fixture
def reasked_author() -> Author:
    return author_of(site_with_features(reask_share=1.0, most_questions=4))


def answered_before(reasked_author: Author, minutes_ago: int) -> Question:
    """A question about FIRST, asked and answered_before so long ago."""
    (first,) = asked(reasked_author, FIRST, features=["urgency"])
    index = timezone.now() - timedelta(minutes=minutes_ago)
    Question.objects.update(status=Question.Status.ANSWERED)
    Message.objects.update(received_at=index)
    sent = first.options[0]["label"]
    first.answers.create(
        author=reasked_author, ref="a-1", outcome="answer", value=sent, server_ms=6000, timing="ok",
        received_at=index,
    )  # fmt: skip
    return first


def test_it_is_asked_again_about_what_was_said_then(reasked_author: Author) -> None:
    first = answered_before(reasked_author, 10)
    questions = asked(reasked_author, SECOND, features=["budget"])
    assert [question.reask_of for question in questions] == [None, first]
    fresh, again = (question_words(question, reasked_author, of=2) for question in questions)
    assert again["re"] == first.message.ref != fresh["re"]
    assert again["conv"] == first.message.conversation.ref
    assert again["text"] == first.text


@pytest.mark.parametrize(
    ("minutes", "conversation"), [(2, "talk"), (45, "talk"), (10, "another talk")]
)
def test_not_at_once_not_late_and_not_in_another_conversation(
    reasked_author: Author, minutes: int, conversation: str
) -> None:
    answered_before(reasked_author, minutes)
    questions = asked(reasked_author, SECOND, features=["budget"], conversation=conversation)
    assert [question.reask_of for question in questions] == [None]
