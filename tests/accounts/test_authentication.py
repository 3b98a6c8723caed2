"""Signing in to the REST interface by key or session."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey
from apps.accounts.services import create_api_key, revoke_api_key
from tests.cases import all_cases
from tests.factories.accounts import ApiKeyFactory, UserFactory

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/"


@pytest.mark.parametrize(
    "header",
    [
        {"HTTP_AUTHORIZATION": "Token {}"},
        {"HTTP_AUTHORIZATION": "Bearer {}"},
        {"HTTP_AUTHORIZATION": "bearer {}"},
        {"HTTP_X_API_KEY": "{}"},
    ],
)
def test_a_key_opens_the_door_in_every_documented_header(header: dict[str, str]) -> None:
    plain = create_api_key(user=UserFactory.create(), name="script").plain
    filled = {name: value.format(plain) for name, value in header.items()}
    assert APIClient().get(URL, **filled).status_code == 200  # type: ignore[arg-type]


def test_only_the_digest_of_a_key_is_kept() -> None:
    key, plain = create_api_key(user=UserFactory.create(), name="script")
    key.refresh_from_db()
    kept = [str(getattr(key, field.attname)) for field in ApiKey._meta.concrete_fields]
    assert plain not in kept
    assert len(plain) == 46
    assert plain.startswith(key.prefix)


@all_cases("sent", ["Token nonsense", "Token ", "Token lh_\x00", "Bearer 1 2 3"])
def test_an_unknown_key_is_401(sent: str) -> None:
    response = APIClient().get(URL, HTTP_AUTHORIZATION=sent)
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"


def test_a_revoked_key_is_401() -> None:
    key, plain = create_api_key(user=UserFactory.create(), name="script")
    revoke_api_key(key=key)
    assert APIClient().get(URL, HTTP_X_API_KEY=plain).status_code == 401


def test_the_key_of_an_inactive_person_is_401() -> None:
    plain = create_api_key(user=UserFactory.create(is_active=False), name="script").plain
    assert APIClient().get(URL, HTTP_X_API_KEY=plain).status_code == 401


def test_a_read_key_reads_but_changes_nothing() -> None:
    plain = create_api_key(user=UserFactory.create(), name="script", scope="read").plain
    client = APIClient(HTTP_X_API_KEY=plain)
    assert client.get(URL).status_code == 200
    refused = client.post(URL, {"slug": "x", "task": "text"})
    assert refused.status_code == 403
    assert refused.json()["code"] == "scope"


def test_the_use_of_a_key_is_noted_at_most_once_a_minute() -> None:
    key = ApiKeyFactory.create(plain="lh_known")
    client = APIClient(HTTP_X_API_KEY="lh_known")
    client.get(URL)
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None
    client.get(URL)
    key.refresh_from_db()
    assert key.last_used_at == first
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    client.get(URL)
    key.refresh_from_db()
    assert key.last_used_at > first


def test_a_session_changes_something_only_with_the_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory.create())
    assert client.get(URL).status_code == 200
    refused = client.post(URL, {"slug": "x", "task": "text"}, content_type="application/json")
    assert refused.status_code == 403
    token = client.get("/keys/").cookies["csrftoken"].value
    sent = client.post(
        URL,
        {"slug": "x", "task": "text"},
        content_type="application/json",
        headers={"X-CSRFToken": token},
    )
    assert sent.status_code == 201, sent.content
