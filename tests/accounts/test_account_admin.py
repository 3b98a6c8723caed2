"""The operator's pages of people and keys."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import ApiKey
from tests.factories.accounts import ApiKeyFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize(("page", "queries"), [("user", 5), ("apikey", 6)])
def test_lists_take_the_same_queries_for_many_rows(
    operator: Client, django_assert_max_num_queries: Any, page: str, queries: int
) -> None:
    ApiKeyFactory.create_batch(8)
    # session, operator, count, rows, full count, and for keys the range of dates
    with django_assert_max_num_queries(queries + 2):
        response = operator.get(f"/admin/accounts/{page}/")
    assert response.status_code == 200


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
