"""REST: sites/{public_key}/questions/ and …/shown/."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Question, Site
from apps.authors.services.authors import opt_out
from tests.authors.api.calling import refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import asked, author_of, later, shown_to

pytestmark = pytest.mark.django_db
TURN = "/api/v1/sites/{public_key}/questions/"
SHOWN = TURN + "{qid}/shown/"
ANNA = {"author": "anna"}


def test_the_question_whose_turn_it_is_is_told_and_marked_as_sent(
    site: Site, host: APIClient
) -> None:
    first, second = asked(author_of(site, "anna"))
    response = host.get(url(site, "questions/"), ANNA)
    assert_matches_schema(response, "GET", TURN)
    body = response.json()["question"]
    assert (body["qid"], body["status"], body["kind"]) == (str(first.uid), "pushed", "choice4")
    assert (body["survey"], body["reward"]) == ({"n": 1, "of": 2}, "0.05 USD")
    assert len(body["opts"]) == 4
    assert "value" not in body["opts"][0]
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.pushed_at is not None
    assert second.pushed_at is None


def test_the_turn_takes_few_queries(
    site: Site, host: APIClient, django_assert_num_queries: Any
) -> None:
    asked(author_of(site, "anna"))
    host.get(url(site, "questions/"), ANNA)
    with django_assert_num_queries(4):  # key, author, question, questions of the message
        host.get(url(site, "questions/"), ANNA)


def test_shown_counts_when_it_is_posted_and_the_first_time(site: Site, host: APIClient) -> None:
    question = asked(author_of(site, "anna"))[0]
    host.get(url(site, "questions/"), ANNA)
    address = url(site, f"questions/{question.uid}/shown/")
    before = timezone.now()
    response = host.post(address, ANNA)
    assert_matches_schema(response, "POST", SHOWN)
    body = response.json()
    assert (body["id"], body["status"]) == (str(question.uid), "shown")
    assert question.min_ms - 1500 < body["after_ms"] <= question.min_ms
    shown = Question.objects.get(pk=question.pk).shown_at
    assert shown is not None
    assert before <= shown <= timezone.now()
    later(question.author, seconds=2)
    again = host.post(address, ANNA).json()["after_ms"]
    assert question.min_ms - 4000 < again <= question.min_ms - 2000
    assert Question.objects.get(pk=question.pk).shown_at == shown - timedelta(seconds=2)


@pytest.mark.thorough
@pytest.mark.parametrize("action", ["shown", "answer", "dismiss", "undo"])
def test_questions_of_others_and_of_nobody(site: Site, host: APIClient, action: str) -> None:
    author_of(site, "anna")
    asked(author_of(site, "bert"))
    theirs = shown_to(author_of(site, "bert"))
    sent = {"author": "anna", "id": "1", "option": "a", "how": "skip"}
    address = url(site, f"questions/{theirs.uid}/{action}/")
    refused(host.post(address, sent), 403, "not_yours")
    for uid in (uuid4(), "nothing", "1", "%F0%9F%99%82", "../../x"):
        path = url(site, f"questions/{uid}/{action}/")
        assert host.post(path, sent).status_code == 404
    unknown = host.post(url(site, f"questions/{uuid4()}/{action}/"), sent)
    refused(unknown, 404, "unknown_question")
    refused(host.post(address, sent | {"author": "nobody"}), 404, "not_found")
    refused(host.post(address, {"id": "1", "option": "a", "how": "skip"}), 422, "bad_field")


def test_a_question_in_turn_may_be_shown_without_being_fetched(site: Site, host: APIClient) -> None:
    first, second = asked(author_of(site, "anna"))
    refused(host.post(url(site, f"questions/{second.uid}/shown/"), ANNA), 425, "too_early")
    assert host.post(url(site, f"questions/{first.uid}/shown/"), ANNA).status_code == 200
    second.refresh_from_db()
    assert second.pushed_at is None


def test_nothing_to_ask_is_null(site: Site, host: APIClient) -> None:
    author = author_of(site, "anna")
    assert host.get(url(site, "questions/"), ANNA).json() == {"question": None}
    asked(author)
    opt_out(author)
    assert host.get(url(site, "questions/"), ANNA).json() == {"question": None}
