"""REST: sites/{public_key}/questions/{qid}/answer/, dismiss/ and undo/."""

from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Answer, Question, Reward, Site
from apps.authors.services.authors import opt_out
from apps.labels.models import Label
from tests.authors.api.calling import refused, server, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import asked, author_of, server_key, shown_to, site_with_features

pytestmark = pytest.mark.django_db
ANSWER = "/api/v1/sites/{public_key}/questions/{qid}/answer/"
ANNA = {"author": "anna"}
FIRST = ANNA | {"id": "answer-1", "option": "a"}


@pytest.fixture
def question(site: Site) -> Question:
    """On Anna's screen for ten seconds: a choice of four; a word comes after it."""
    author = author_of(site, "anna")
    asked(author)
    return shown_to(author)


def path(question: Question, action: str = "answer") -> str:
    return url(question.site, f"questions/{question.uid}/{action}/")


def test_an_answer_becomes_a_label_and_earns_its_reward(
    host: APIClient, question: Question
) -> None:
    response = host.post(path(question), FIRST | {"visible_ms": 8000})
    assert response.status_code == 200, response.content
    assert_matches_schema(response, "POST", ANSWER)
    result = {"id": str(question.uid), "status": "answered", "undo_ms": 5000}
    assert response.json() == result
    answer = Answer.objects.get()
    assert answer.value == question.options[0]["label"]
    assert (answer.position, answer.visible_ms, answer.timing) == (0, 8000, "ok")
    assert answer.consent is not None
    label = Label.objects.get()
    assert (label.uid, label.value) == (answer.label_uid, answer.value)
    assert Reward.objects.get().cents == 5


def test_the_same_answer_again_is_the_same_answer(host: APIClient, question: Question) -> None:
    for _ in range(2):
        assert host.post(path(question), FIRST).status_code == 200
    assert (Answer.objects.count(), Reward.objects.count(), Label.objects.count()) == (1, 1, 1)


def test_another_answer_is_one_too_many(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    second = FIRST | {"id": "answer-2", "option": "b"}
    refused(host.post(path(question), second), 409, "already_answered")


def test_too_early_says_when_and_leaves_a_signal(
    site: Site, host: APIClient, question: Question
) -> None:
    now = timezone.now()
    Question.objects.filter(pk=question.pk).update(pushed_at=now, shown_at=now)
    body = refused(host.post(path(question), FIRST), 425, "too_early")
    assert question.min_ms - 1500 < body["data"]["after_ms"] <= question.min_ms
    assert not Answer.objects.exists()
    question.refresh_from_db()
    assert question.early == 1
    host.post(path(question, "shown"), ANNA)
    refused(host.post(path(question), FIRST), 425, "too_early")


def test_an_answer_before_it_was_fetched_or_shown(site: Site, host: APIClient) -> None:
    author = author_of(site, "anna")
    question = asked(author)[0]
    refused(host.post(path(question), FIRST), 425, "too_early")
    shown_to(author)
    Question.objects.filter(pk=question.pk).update(shown_at=None)
    refused(host.post(path(question), FIRST), 425, "too_early")
    attested = host.post(path(question), FIRST | {"visible_ms": question.min_ms})
    assert attested.status_code == 200
    assert Answer.objects.get().timing == "client_attested"
    assert not Reward.objects.exists()


def test_a_late_answer_counts_no_more(host: APIClient, question: Question) -> None:
    Question.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    assert host.post(path(question), FIRST).status_code == 200
    assert Answer.objects.get().late
    assert not Reward.objects.exists()


def test_a_much_later_one_is_not_taken(host: APIClient, question: Question) -> None:
    Question.objects.update(expires_at=timezone.now() - timedelta(hours=25))
    refused(host.post(path(question), FIRST), 409, "expired")


@pytest.mark.parametrize("word", ["", "silence"])
def test_nothing_fits(host: APIClient, question: Question, word: str) -> None:
    sent = ANNA | {"id": "answer-1", "nofit": True} | ({"word": word} if word else {})
    response = host.post(path(question), sent)
    assert response.json()["status"] == "nofit"
    assert (Answer.objects.get().outcome, Answer.objects.get().value) == ("nofit", word)
    assert Label.objects.get().abstained


def test_a_word_for_a_question_that_asks_for_one(
    site: Site, host: APIClient, question: Question
) -> None:
    host.post(path(question), FIRST)
    word = shown_to(question.author)
    assert word.kind == "word"
    refused(host.post(path(word), FIRST | {"id": "answer-2"}), 422, "bad_field")
    sent = ANNA | {"id": "answer-2", "word": "quiet"}
    assert host.post(path(word), sent).json()["status"] == "answered"
    assert Answer.objects.get(ref="answer-2").value == "quiet"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        {"option": None},
        {"option": "z"},
        {"option": ""},
        {"option": "Right now"},
        {"option": ["a"]},
        {"word": "quiet"},
        {"nofit": True},
        {"option": None, "word": "quiet"},
        {"option": None, "nofit": True, "word": "x" * 41},
        {"option": None, "nofit": True, "word": "jane.roe@example.org"},
        {"id": None},
        {"id": ""},
        {"id": "x" * 65},
        {"visible_ms": -1},
        {"visible_ms": 2**40},
        {"visible_ms": "long"},
    ],
)
def test_a_bad_answer_is_refused(
    host: APIClient, question: Question, change: dict[str, Any]
) -> None:
    sent = {name: value for name, value in (FIRST | change).items() if value is not None}
    refused(host.post(path(question), sent), 422, "bad_field")
    assert not Answer.objects.exists()


def test_an_id_names_one_answer_only(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    word = shown_to(question.author)
    sent = ANNA | {"id": "answer-1", "word": "quiet"}
    refused(host.post(path(word), sent), 422, "bad_field")


def test_who_opted_out_answers_nothing(host: APIClient, question: Question) -> None:
    opt_out(question.author)
    refused(host.post(path(question), FIRST), 409, "opted_out")


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
def test_a_question_is_sent_away(
    host: APIClient, question: Question, how: str, status: str
) -> None:
    for _ in range(2):
        response = host.post(path(question, "dismiss"), ANNA | {"how": how})
        assert response.json() == {"id": str(question.uid), "status": status}


def test_who_skips_is_asked_the_next_and_who_closes_is_not(
    site: Site, host: APIClient, question: Question
) -> None:
    host.post(path(question, "dismiss"), ANNA | {"how": "skip"})
    following = host.get(url(site, "questions/"), ANNA).json()["question"]
    assert following["survey"]["n"] == 2
    host.post(url(site, f"questions/{following['qid']}/dismiss/"), ANNA | {"how": "close"})
    assert host.get(url(site, "questions/"), ANNA).json() == {"question": None}


@pytest.mark.parametrize("how", ["nofit", "", None, "SKIP", ["skip"]])
def test_a_way_of_sending_away_that_is_none(
    host: APIClient, question: Question, how: object
) -> None:
    refused(host.post(path(question, "dismiss"), ANNA | {"how": how}), 422, "bad_field")


def test_what_was_answered_is_not_sent_away(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    response = host.post(path(question, "dismiss"), ANNA | {"how": "skip"})
    refused(response, 409, "already_answered")


def test_an_answer_is_taken_back_within_seconds(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    response = host.post(path(question, "undo"), ANNA)
    assert response.json() == {"id": str(question.uid), "status": "shown"}
    assert Reward.objects.get().void_at is not None
    assert not Label.objects.current().exists()
    second = FIRST | {"id": "answer-2", "option": "b"}
    assert host.post(path(question), second).status_code == 200
    assert Label.objects.current().get().value == question.options[1]["label"]


def test_but_not_later(host: APIClient, question: Question) -> None:
    refused(host.post(path(question, "undo"), ANNA), 409, "too_late")
    host.post(path(question), FIRST)
    Answer.objects.update(received_at=timezone.now() - timedelta(seconds=8))
    refused(host.post(path(question, "undo"), ANNA), 409, "too_late")


@pytest.mark.django_db(transaction=True)
def test_of_two_answers_at_once_one_is_heard() -> None:
    site = site_with_features(consent_by="host")
    author = author_of(site, "anna")
    asked(author, features=["urgency"])
    question, key, barrier = shown_to(author), server_key(site), Barrier(4)
    codes: list[int] = []

    def answer(option: str) -> None:
        barrier.wait()
        sent = FIRST | {"id": f"answer-{option}", "option": option}
        codes.append(server(key).post(path(question), sent).status_code)
        connection.close()

    threads = [Thread(target=answer, args=[option]) for option in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200, 409, 409, 409]
    assert (Answer.objects.count(), Label.objects.count()) == (1, 1)
