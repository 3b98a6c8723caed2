"""/keys/: one's own API keys."""

import pytest
from django.test import Client

from apps.accounts.models import ApiKey
from apps.common.sealing import digest
from tests.factories.accounts import ApiKeyFactory, UserFactory

pytestmark = pytest.mark.django_db
URL = "/keys/"


def test_a_new_key_is_shown_once_and_works(client: Client) -> None:
    client.force_login(UserFactory.create())
    response = client.post(URL, {"name": "my script", "scope": "write"}, follow=True)
    assert response.redirect_chain == [(URL, 302)]
    plain = response.context["plain"]
    assert response.content.decode().count(plain) == 1
    assert "no-store" in response["Cache-Control"]
    assert ApiKey.objects.get().digest == digest(plain)
    again = client.get(URL).content.decode()
    assert plain not in again
    assert "my script" in again


def test_only_own_live_keys_are_listed(client: Client) -> None:
    own = ApiKeyFactory.create(name="my own")
    ApiKeyFactory.create(name="of somebody else")
    client.force_login(own.user)
    page = client.get(URL).content.decode()
    assert "my own" in page
    assert "of somebody else" not in page


def test_a_key_can_be_revoked(client: Client) -> None:
    key = ApiKeyFactory.create()
    client.force_login(key.user)
    response = client.post(f"/keys/{key.pk}/revoke/", follow=True)
    assert "no longer works" in response.content.decode()
    assert not ApiKey.objects.active().exists()


def test_the_key_of_somebody_else_cannot_be_revoked(client: Client) -> None:
    key = ApiKeyFactory.create()
    client.force_login(UserFactory.create())
    assert client.post(f"/keys/{key.pk}/revoke/").status_code == 404
    assert ApiKey.objects.active().exists()
