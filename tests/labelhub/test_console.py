"""The operator's console: its first page."""

from typing import Any

import pytest
from django.test import Client

from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


def test_index(operator: Client, django_assert_num_queries: Any) -> None:
    page = operator.get("/admin/")
    assert page.status_code == 200
    with django_assert_num_queries(0):
        operator.get("/admin/")
