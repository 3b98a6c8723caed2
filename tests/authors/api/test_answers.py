"""REST: sites/{public_key}/questions/{qid}/answer/, dismiss/ and undo/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Answer, Question, Reward, Site
from apps.labels.models import Label
from tests.authors.api.calling import refused, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import asked, author_of, shown_to

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
    assert Label.objects.get().uid == answer.label_uid
    assert Reward.objects.get().cents == 5


@pytest.mark.thorough
@all_cases(
    "change",
    [
        {"option": None},
        {"option": ""},
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


def test_an_answer_is_taken_back_within_seconds(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    response = host.post(path(question, "undo"), ANNA)
    assert response.json() == {"id": str(question.uid), "status": "shown"}
    assert not Label.objects.current().exists()


def test_what_was_answered_is_not_sent_away(host: APIClient, question: Question) -> None:
    host.post(path(question), FIRST)
    response = host.post(path(question, "dismiss"), ANNA | {"how": "skip"})
    refused(response, 409, "already_answered")
