"""Which key opens which door of a site."""

import time

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.authors.models import Author, Message, Site, SiteKey
from apps.authors.services.sites import revoke_key
from apps.common.sealing import digest
from tests.authors.api.calling import message, refused, server, url
from tests.factories.accounts import UserFactory, browser_of
from tests.factories.authors import server_key, signing_secret, site_with_features

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("scheme", ["Token", "Bearer", "bearer"])
def test_a_server_key_comes_in_the_authorization_header(site: Site, scheme: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"{scheme} {server_key(site)}")
    assert client.post(url(site, "messages/"), message()).status_code == 201


def test_keys_that_open_nothing(site: Site, manager: APIClient) -> None:
    revoked, other = server_key(site), server_key(site_with_features(consent_by="host"))
    kid = site.keys.get(digest=digest(revoked)).kid
    revoke_key(site=site, kid=kid)
    _, signing = signing_secret(site)
    wrong = [revoked, other, signing, "sk_unknown", "", "sk_" + "x" * 100_000, site.public_key]
    clients = [server(key) for key in wrong]
    result = {
        refused(client.post(url(site, "messages/"), message()), 401, "not_authenticated")["detail"]
        for client in clients
    }
    assert len(result) == 1, "unknown, revoked and foreign keys must not be result apart"
    assert not Author.objects.exists()


def test_an_unknown_site_answers_like_a_wrong_key(host: APIClient) -> None:
    unknown = host.post("/api/v1/sites/pk_nothing/messages/", message())
    wrong = server("sk_wrong").post("/api/v1/sites/pk_nothing/messages/", message())
    answers = [refused(answer, 401, "not_authenticated") for answer in (unknown, wrong)]
    assert len({str(answer | {"request_id": ""}) for answer in answers}) == 1
    assert not Message.objects.exists()


def test_too_many_requests_with_one_key_wait(
    site: Site, host: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SiteKey, "RATE", (3, 1000))
    address = url(site, "questions/?author=nobody")
    for _ in range(3):
        refused(host.get(address), 404, "not_found")
    response = host.get(address)
    refused(response, 429, "rate_limited")
    assert 0 < int(response["Retry-After"]) <= 1000
    refused(server(server_key(site)).get(address), 404, "not_found")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    refused(host.get(address), 404, "not_found")


def test_nor_does_an_operators_session(site: Site) -> None:
    user: User = UserFactory.create(is_superuser=True)
    browser = browser_of(user)
    response = browser.post(url(site, "messages/"), message(), content_type="application/json")
    refused(response, 401, "not_authenticated")
    assert not Message.objects.exists()
