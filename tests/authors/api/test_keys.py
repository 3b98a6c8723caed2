"""REST: sites/{public_key}/keys/."""

import pytest
from rest_framework.test import APIClient

from apps.authors.models import Site, SiteKey
from tests.authors.api.calling import message, refused, server, url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import server_key, site_with_features

pytestmark = pytest.mark.django_db
KEYS = "/api/v1/sites/{public_key}/keys/"


def test_a_server_key_is_told_once_and_only_its_hash_kept(site: Site, manager: APIClient) -> None:
    response = manager.post(url(site, "keys/"), {"purpose": "server"})
    assert response.status_code == 201
    assert_matches_schema(response, "POST", KEYS)
    assert response["Cache-Control"] == "no-store"
    secret = response.json()["secret"]
    assert secret.startswith("sk_")
    key = SiteKey.objects.get(kid=response.json()["kid"])
    assert secret not in str(key.__dict__)
    assert server(secret).post(url(site, "messages/"), message()).status_code == 201


def test_keys_of_another_site_are_out_of_reach(site: Site, manager: APIClient) -> None:
    other = site_with_features()
    server_key(other)
    kid = SiteKey.objects.get(site=other).kid
    refused(manager.delete(url(site, f"keys/{kid}/")), 404, "not_found")
    assert SiteKey.objects.get(kid=kid).revoked_at is None
