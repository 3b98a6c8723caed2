"""REST: sites/{public_key}/features/ and consent/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from labelhub.core.interview.features import starter_library
from tests.authors.api.calling import refused, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema

pytestmark = pytest.mark.django_db
SHOPPING = len(starter_library()["shopping"])
MOOD = {"key": "mood", "name": "Mood", "definition": "How they feel.", "answer": "word"}
TASTE = {
    "key": "taste",
    "name": "Taste",
    "definition": "What they like.",
    "values": ["sweet", "salty"],
}


FEATURES = "/api/v1/sites/{public_key}/features/"


@pytest.mark.thorough
@all_cases(
    ("sent", "field"),
    [
        ({}, "features"),
        ({"set": "groceries"}, "features"),
        ({"set": ["shopping"]}, "features"),
        ("shopping", "features"),
        ([], "features"),
        ([MOOD, MOOD], "features.1.key"),
        ([MOOD | {"colour": "red"}], "features.0.colour"),
        ([MOOD, TASTE | {"values": ["sweet"]}], "features.1.values"),
        ([[]], "features.0"),
        ([MOOD] * 1001, "features"),
    ],
)
def test_a_wrong_feature_is_named_and_nothing_changed(
    site: Site, manager: APIClient, sent: Any, field: str
) -> None:
    body = refused(manager.put(url(site, "features/"), sent), 422, "invalid")
    assert [fault["field"] for fault in body["errors"]] == [field]
    assert site.features.asked().count() == SHOPPING


@all_cases("texts", [{}, {"de": "Dürfen wir?"}, {"en": "x" * 601}, {"en": "May we?", "xx": "?"}])
def test_a_wrong_consent_text_is_refused(
    site: Site, manager: APIClient, texts: dict[str, str]
) -> None:
    refused(manager.put(url(site, "consent/"), {"texts": texts}), 422, "invalid")
    assert site.consent_texts.count() == 1


def test_a_list_replaces_what_is_asked_and_what_is_left_out_stays_known(
    site: Site, manager: APIClient
) -> None:
    response = manager.put(url(site, "features/"), [TASTE, MOOD])
    assert response.status_code == 200, response.content
    assert_matches_schema(response, "PUT", FEATURES)
    rows = response.json()["results"]
    assert [row["key"] for row in rows if row["active"]] == ["taste", "mood"]
    assert len(rows) == SHOPPING + 2
