"""Every kind of error as problem+json."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelError
from django.http import Http404
from django.test import Client
from rest_framework import exceptions

from apps.common.api.errors import problem_response
from apps.reviews.queue.leases import QueueBusy
from labelhub.core.errors import Conflict, InvalidInput, NotFound

COMMON = {"type", "title", "status", "code", "detail"}


def answer(error: Exception) -> tuple[int, dict[str, Any]]:
    response = problem_response(error, {})
    assert response.content_type == "application/problem+json"
    assert response.data is not None
    assert set(response.data) >= COMMON
    assert response.data["status"] == response.status_code
    return response.status_code, response.data


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound("no"), 404, "not_found"),
        (Conflict("no"), 409, "conflict"),
        (InvalidInput("no"), 422, "invalid"),
        (Http404(), 404, "not_found"),
        (PermissionDenied(), 403, "forbidden"),
        (ModelError("no"), 422, "invalid"),
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.PermissionDenied(), 403, "forbidden"),
        (exceptions.PermissionDenied("no", "scope"), 403, "scope"),
        (exceptions.ParseError(), 400, "parse_error"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("x/y"), 415, "unsupported_media_type"),
        (exceptions.ValidationError("no"), 400, "invalid"),
    ],
)
def test_status_and_code(error: Exception, status: int, code: str) -> None:
    got, body = answer(error)
    assert (got, body["code"]) == (status, code)


def test_our_errors_carry_words_fields_and_data() -> None:
    faults = [{"field": "slug", "message": "is taken"}]
    _, body = answer(InvalidInput("slug: is taken", data={"errors": faults, "next": 3}))
    assert body["detail"] == "slug: is taken"
    assert body["errors"] == faults
    assert body["data"] == {"next": 3}


def test_what_may_be_tried_again_says_so() -> None:
    assert answer(QueueBusy("Ask again."))[1]["retryable"] is True
    assert "retryable" not in answer(Conflict("no"))[1]


def test_nested_validation_errors_are_flat() -> None:
    error = exceptions.ValidationError(
        {"labels": [{}, {"name": ["is empty"]}], "non_field_errors": ["wrong"], "task": "odd"}
    )
    _, body = answer(error)
    assert body["errors"] == [
        {"field": "labels.1.name", "message": "is empty"},
        {"field": "", "message": "wrong"},
        {"field": "task", "message": "odd"},
    ]
    assert "labels.1.name: is empty" in body["detail"]


def test_throttling_says_when_to_come_back() -> None:
    response = problem_response(exceptions.Throttled(wait=7), {})
    assert response["Retry-After"] == "7"


def test_an_unexpected_error_shows_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise RuntimeError("the secret inside")
    except RuntimeError as error:
        status, body = answer(error)
    assert status == 500
    assert "secret" not in str(body)
    assert "the secret inside" in caplog.text


def test_an_address_that_leads_nowhere_is_a_problem_too(client: Client) -> None:
    response = client.get("/api/v1/nothing/")
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "not_found"


def test_a_page_that_is_not_there_stays_a_page(client: Client) -> None:
    response = client.get("/nothing/")
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
