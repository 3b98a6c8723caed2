"""REST: sites/{public_key}/echo/features/, selections/ and decisions/ as managers read them."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Question
from apps.authors.services.features import add_features
from apps.echo.models import Echo, Selection
from labelhub.core.interview.features import parse_feature
from tests.authors.api.calling import refused, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of
from tests.factories.echo import TEXT, answer, ask_author

pytestmark = pytest.mark.django_db


def answered(echo: Echo, subject: str = "anna") -> Question:
    author = author_of(echo.site, subject)
    question = next(asked for asked in ask_author(author, TEXT) if asked.options)
    answer(author, question)
    return question


@pytest.mark.thorough
def test_a_thousand_features_are_paged_with_as_many_queries(
    echo: Echo, viewer: APIClient, django_assert_num_queries: Any
) -> None:
    few = 7  # key, site, membership, count, features, Echo, selections
    viewer.get(url(echo.site, "echo/features/"))
    with django_assert_num_queries(few):
        viewer.get(url(echo.site, "echo/features/"))
    have = echo.site.features.count()
    many = [
        parse_feature(
            {"key": f"f{number}", "name": f"F {number}", "definition": "x", "values": ["a", "b"]}
        )
        for number in range(1000 - have)
    ]
    add_features(site=echo.site, features=many)
    with django_assert_num_queries(few):
        body = viewer.get(url(echo.site, "echo/features/"), {"page_size": 1000}).json()
    assert (body["count"], len(body["results"])) == (1000, 1000)
    page = viewer.get(url(echo.site, "echo/features/"), {"page": 2, "page_size": 300}).json()
    assert len(page["results"]) == 300
    refused(viewer.get(url(echo.site, "echo/features/"), {"page": 99}), 404, "not_found")


def test_what_was_selected_and_asked_and_why(echo: Echo, manager: APIClient) -> None:
    question = answered(echo)
    response = manager.get(url(echo.site, "echo/selections/"))
    assert_matches_schema(response, "GET", "/api/v1/sites/{public_key}/echo/selections/")
    (row,) = response.json()["results"]
    assert row["id"] == str(Selection.objects.get().uid)
    assert row["asked"][question.feature.key]["asked"] is True
    assert row["message"] == question.message.ref
    assert "anna" not in str(row)
