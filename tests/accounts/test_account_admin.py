"""The operator's pages of people and keys."""

import pytest
from django.test import Client

from apps.accounts.models import ApiKey
from tests.factories.accounts import ApiKeyFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


def test_a_key_shows_no_digest_and_takes_no_change(operator: Client) -> None:
    key = ApiKeyFactory.create()
    url = f"/admin/accounts/apikey/{key.pk}/change/"
    assert key.digest not in operator.get(url).content.decode()
    operator.post(url, {"digest": "x" * 64, "name": "other"})
    key.refresh_from_db()
    assert key.name == "test"


def test_keys_are_revoked_by_action(operator: Client) -> None:
    keys = ApiKeyFactory.create_batch(2)
    data = {"action": "revoke", "_selected_action": [key.pk for key in keys]}
    operator.post("/admin/accounts/apikey/", data)
    assert not ApiKey.objects.active().exists()
