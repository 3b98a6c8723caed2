"""Trust: what an author did is counted, judged, and can be overruled."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from apps.authors.models import Answer, Author, Question
from apps.authors.services import trust
from apps.authors.services.trust import evidence_of, judge_author, judge_due_authors, set_ruling
from apps.labels.models import Gold, Label
from tests.factories.authors import answered_by, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> Author:
    return author_of(site_with_features(per_day=1000, per_conversation=1000))


def answer(author: Author, number: int, option: str = "a", *, feature: str = "recipient") -> Answer:
    text = f"I need something for trip {number}, {number} days long."
    return answered_by(author, text, feature=feature, option=option).answers.get()


def suspicious(author: Author) -> None:
    """Always the first option, always tried too early, always the same few words."""
    for number in range(24):
        answer(author, number)
    Question.objects.filter(author=author).update(early=3)


def test_somebody_who_answers_as_people_do_is_believed(author: Author) -> None:
    for number, option in enumerate("bacdacbd"):
        answer(author, number, option)
    trust = judge_author(author.pk)
    assert trust is not None
    assert not trust.low


@pytest.mark.thorough
def test_several_signals_exclude_all_answers_and_a_ruling_brings_them_back(author: Author) -> None:
    suspicious(author)
    judge_author(author.pk)
    author.refresh_from_db()
    assert not author.trusted
    assert author.trust["signals"]
    assert Label.objects.current().count() == 0
    assert Gold.objects.current().count() == 0
    reasons = set(Answer.objects.values_list("excluded_for", flat=True))
    assert reasons == {author.trust["summary"][:300]}
    set_ruling(author, trusted=True, reason="Known in person.")
    assert Label.objects.current().count() == 24
    assert not Answer.objects.filter(excluded_at__isnull=False).exists()


@pytest.mark.thorough
def test_a_ruling_stands_whatever_the_signals_say(author: Author) -> None:
    set_ruling(author, trusted=True)
    suspicious(author)
    judge_author(author.pk)
    author.refresh_from_db()
    assert author.counts
    set_ruling(author, trusted=None)
    author.refresh_from_db()
    assert not author.counts


def test_who_has_answered_is_judged_once(author: Author) -> None:
    answer(author, 1)
    assert judge_due_authors() == 1
    assert judge_due_authors() == 0


def test_the_same_answer_to_the_same_question_counts_for_an_author(author: Author) -> None:
    first = answer(author, 1, "b").question
    again = answer(author, 2, "b").question
    Question.objects.filter(pk=again.pk).update(reask_of=first)
    Answer.objects.filter(question=again).update(value=first.answers.get().value)
    evidence = evidence_of(author, timezone.now())
    assert (evidence.reask_agreed, evidence.reask_total) == (1, 1)


def test_what_is_counted(author: Author) -> None:
    answer(author, 1, "c")
    message_of(author, "asdf asdf asdf asdf asdf asdf")
    Question.objects.update(early=2)
    evidence = evidence_of(author, timezone.now())
    assert (evidence.answers, evidence.early_attempts, evidence.messages) == (1, 1, 2)
    assert evidence.positions == (2,)
    assert evidence.surveys == 1
    assert not evidence.verified


def test_one_author_who_cannot_be_judged_keeps_nobody_else_waiting(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = author_of(author.site)
    for item in (author, other):
        answer(item, 1)
    judge = trust.judge_author

    def failing(author_id: int) -> object:
        if author_id == author.pk:
            raise RuntimeError
        return judge(author_id)

    monkeypatch.setattr(trust, "judge_author", failing)
    assert judge_due_authors() == 2
    other.refresh_from_db()
    assert other.trust
    assert judge_due_authors() == 0


def test_what_a_killed_process_left_of_a_ruling_is_finished(author: Author) -> None:
    answer(author, 1)
    Author.objects.filter(pk=author.pk).update(ruling=False, ruling_reason="?", judge_due=True)
    judge_due_authors()
    assert Answer.objects.get().excluded_for == "?"


def test_an_answer_that_comes_while_its_author_is_judged_is_due_for_the_next_time(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(author, 1)

    def meanwhile(whose: Author, now: datetime) -> object:
        found = evidence_of(whose, now)
        if Answer.objects.count() == 1:
            answer(author, 2)
        return found

    monkeypatch.setattr(trust, "evidence_of", meanwhile)
    judge_author(author.pk)
    author.refresh_from_db()
    assert author.judge_due
    assert judge_due_authors() == 1
    assert judge_due_authors() == 0


def test_judging_costs_few_queries(author: Author, django_assert_max_num_queries: object) -> None:
    for number in range(10):
        answer(author, number)
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        judge_author(author.pk)


def test_what_was_long_ago_is_forgiven(author: Author) -> None:
    answer(author, 1)
    evidence = evidence_of(author, timezone.now() + timedelta(days=40))
    assert (evidence.answers, evidence.messages) == (0, 0)


def test_scales_tell_nothing_of_positions(author: Author) -> None:
    answer(author, 1, "c", feature="urgency")
    assert evidence_of(author, timezone.now()).positions == ()
