"""REST: projects/{slug}/sites/ and sites/{public_key}/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site
from labelhub.core.interview.features import starter_library
from tests.authors.api.calling import refused, url
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import server_key, signing_secret
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db
LIST, ONE = "/api/v1/projects/{slug}/sites/", "/api/v1/sites/{public_key}/"
NEW = {
    "name": "Shop",
    "allowed_origins": ["https://Shop.Example.org/"],
    "features": {"set": "shopping"},
}


@pytest.fixture
def project_url(site: Site) -> str:
    return f"/api/v1/projects/{site.project.slug}/sites/"


def test_a_site_is_made_from_the_starter_library(manager: APIClient, project_url: str) -> None:
    sent = NEW | {"languages": ["en", "de"], "reward_cents": 5, "daily_budget_usd": "2.50"}
    response = manager.post(project_url, sent)
    assert response.status_code == 201, response.content
    assert_matches_schema(response, "POST", LIST)
    body = response.json()
    assert body["public_key"].startswith("pk_")
    assert body["allowed_origins"] == ["https://shop.example.org"]
    assert (body["reward_cents"], body["daily_budget_usd"]) == (5, 2.5)
    assert set(body["consent"]["texts"]) == {"en", "de"}
    assert f'data-site="{body["public_key"]}"' in body["snippet"]
    assert "http://testserver/widget/v1.js" in body["snippet"]
    made = Site.objects.get(public_key=body["public_key"])
    assert made.features.asked().count() == len(starter_library()["shopping"])
    assert made.created_by is not None


@pytest.mark.thorough
@all_cases(
    ("change", "field"),
    [
        ({"features": [{"key": "Mood!"}]}, "features.0.key"),
        ({"allowed_origins": ["shop.example.org"]}, "allowed_origins"),
        ({"languages": ["tlh"]}, "languages"),
        ({"consent": {"de": "Dürfen wir?"}}, "consent"),
        ({"consent": {"en": "May we?", "tlh": "nuqneH"}}, "consent"),
        ({"colour": "red"}, "colour"),
        ({"country_header": "X" * 100}, "country_header"),
        ({"name": ""}, "name"),
        ({"most_questions": 9}, "most_questions"),
        ({"daily_budget_usd": -1}, "daily_budget_usd"),
        ({"model": "no-such-model"}, "model"),
    ],
)
def test_a_wrong_field_is_named(
    manager: APIClient, project_url: str, change: dict[str, Any], field: str
) -> None:
    response = manager.post(project_url, NEW | change)
    assert response.status_code in (400, 422), response.content
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    assert Site.objects.filter(name="Shop").count() == 0


def test_members_see_a_site_without_secrets(site: Site, viewer: APIClient) -> None:
    secrets = [server_key(site), signing_secret(site)[1]]
    response = viewer.get(url(site))
    assert_matches_schema(response, "GET", ONE)
    assert {key["purpose"] for key in response.json()["keys"]} == {"server", "sign"}
    shown = response.content.decode()
    assert not [secret for secret in secrets if secret in shown]
    assert "digest" not in shown
    assert "sealed" not in shown


def test_changes_are_all_made_or_none(site: Site, manager: APIClient) -> None:
    model = ModelSpecFactory.create()
    response = manager.patch(url(site), {"model": model.name, "most_questions": 2})
    assert_matches_schema(response, "PATCH", ONE)
    assert response.json()["model"] == f"{model.provider.name}/{model.name}"

    wrong = manager.patch(url(site), {"most_questions": 1, "currency": "dollars"})

    assert wrong.status_code in (400, 422)
    site.refresh_from_db()
    assert (site.most_questions, site.model) == (2, model)


def test_a_language_comes_first_once_there_is_a_text_to_agree_to(
    site: Site, manager: APIClient
) -> None:
    refused(manager.patch(url(site), {"languages": ["de", "en"]}), 422, "invalid")
    texts = {"en": "May we?", "de": "Dürfen wir?"}
    assert manager.put(url(site, "consent/"), {"texts": texts}).status_code == 200
    assert manager.patch(url(site), {"languages": ["de", "en"]}).status_code == 200
