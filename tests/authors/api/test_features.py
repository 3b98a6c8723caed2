"""REST: sites/{public_key}/features/ and consent/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from apps.authors.selectors.sites import known_site
from labelhub.core.interview.features import starter_library
from tests.authors.api.calling import message, refused, url
from tests.common.openapi import assert_matches_schema

pytestmark = pytest.mark.django_db
FEATURES = "/api/v1/sites/{public_key}/features/"
SHOPPING = len(starter_library()["shopping"])
CONSENT = "/api/v1/sites/{public_key}/consent/"
MOOD = {"key": "mood", "name": "Mood", "definition": "How they feel.", "answer": "word"}
TASTE = {
    "key": "taste",
    "name": "Taste",
    "definition": "What they like.",
    "values": ["sweet", "salty"],
}


def test_members_list_the_features(site: Site, viewer: APIClient) -> None:
    response = viewer.get(url(site, "features/"))
    assert_matches_schema(response, "GET", FEATURES)
    body = response.json()
    assert body["count"] == SHOPPING
    assert body["results"][0]["definition"]["templates"]["en"]["question"]


def test_a_list_replaces_what_is_asked_and_what_is_left_out_stays_known(
    site: Site, manager: APIClient
) -> None:
    response = manager.put(url(site, "features/"), [TASTE, MOOD])
    assert response.status_code == 200, response.content
    assert_matches_schema(response, "PUT", FEATURES)
    rows = response.json()["results"]
    assert [row["key"] for row in rows if row["active"]] == ["taste", "mood"]
    assert len(rows) == SHOPPING + 2


def test_a_set_is_named_by_its_name(site: Site, manager: APIClient) -> None:
    response = manager.put(url(site, "features/"), {"set": "emotion"})
    assert response.status_code == 200
    assert "main_emotion" in {row.key for row in site.features.asked()}


def test_what_was_read_can_be_sent_back(site: Site, manager: APIClient) -> None:
    before = [row.definition for row in site.features.asked()]
    assert manager.put(url(site, "features/"), before).status_code == 200
    assert [row.definition for row in site.features.asked()] == before


@pytest.mark.thorough
@pytest.mark.parametrize(
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
        ([MOOD | {"key": "__proto__"}], "features.0.key"),
        ([MOOD | {"definition": "x" * 501}], "features.0.definition"),
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


def test_a_changed_consent_text_is_a_new_version(site: Site, manager: APIClient) -> None:
    texts = {"en": "May we read  what you write?"}
    response = manager.put(url(site, "consent/"), {"texts": texts})
    assert_matches_schema(response, "PUT", CONSENT)
    assert response.json()["version"] == 2
    assert response.json()["texts"] == {"en": "May we read what you write?"}
    again = manager.put(url(site, "consent/"), {"texts": texts})
    assert again.json()["version"] == 2


def test_the_widget_hears_of_a_new_text_at_once(site: Site, manager: APIClient) -> None:
    assert known_site(site.public_key).consent.version == 1
    manager.put(url(site, "consent/"), {"texts": {"en": "May we?"}})
    assert known_site(site.public_key).consent.version == 2


def test_the_host_learns_that_its_text_is_an_old_one(
    site: Site, manager: APIClient, host: APIClient
) -> None:
    manager.put(url(site, "consent/"), {"texts": {"en": "May we?"}})
    old = host.post(url(site, "messages/"), message(consent={"version": 1}))
    refused(old, 409, "consent_outdated")
    new = host.post(url(site, "messages/"), message(consent={"version": 2}))
    assert new.status_code == 201


@pytest.mark.parametrize(
    "texts", [{}, {"de": "Dürfen wir?"}, {"en": "x" * 601}, {"en": "May we?", "xx": "?"}]
)
def test_a_wrong_consent_text_is_refused(
    site: Site, manager: APIClient, texts: dict[str, str]
) -> None:
    refused(manager.put(url(site, "consent/"), {"texts": texts}), 422, "invalid")
    assert site.consent_texts.count() == 1


@pytest.mark.parametrize("sent", [{}, {"texts": "May we?"}, {"texts": {"en": ["May we?"]}}])
def test_a_consent_text_is_text(site: Site, manager: APIClient, sent: Any) -> None:
    refused(manager.put(url(site, "consent/"), sent), 400, "invalid")


@pytest.mark.parametrize("rest", ["features/", "consent/"])
def test_only_managers_change_what_is_asked(
    site: Site, viewer: APIClient, stranger: APIClient, host: APIClient, rest: str
) -> None:
    refused(viewer.put(url(site, rest), {"set": "emotion"}), 403, "forbidden")
    refused(stranger.put(url(site, rest), {"set": "emotion"}), 404, "not_found")
    refused(host.put(url(site, rest), {"set": "emotion"}), 401, "not_authenticated")
