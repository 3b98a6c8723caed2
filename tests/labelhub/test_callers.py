"""Who may send a file to import: somebody known to the database."""

import pytest
from django.conf import settings
from django.test import Client

from apps.accounts.services import revoke_api_key
from labelhub.web.callers import is_known_caller
from tests.factories.accounts import ApiKeyFactory, UserFactory, browser_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def keep_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes what its own thread has opened; here that would be the test's."""
    monkeypatch.setattr("labelhub.web.callers.connections.close_all", lambda: None)


def cookie(client: Client) -> dict[bytes, bytes]:
    name = settings.SESSION_COOKIE_NAME
    return {b"cookie": f"a=b; {name}={client.cookies[name].value}".encode()}


def test_an_active_key_is_known_in_each_of_its_headers() -> None:
    key = ApiKeyFactory.create(plain="lh_known")
    ways = [
        {b"x-api-key": b"lh_known"},
        {b"authorization": b"Token lh_known"},
        {b"authorization": b"bearer lh_known"},
    ]
    assert all(is_known_caller(headers) for headers in ways)
    revoke_api_key(key=key)
    assert not any(is_known_caller(headers) for headers in ways)


def test_who_is_signed_in_is_known_until_they_sign_out() -> None:
    client = browser_of(UserFactory.create())
    headers = cookie(client)
    assert is_known_caller(headers)
    client.logout()
    assert not is_known_caller(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"x-api-key": b"lh_made_up"},
        {b"authorization": b"Basic eDp5"},
        {b"authorization": b"Token"},
        {b"cookie": b"sessionid=made-up"},
        {b"cookie": b"sessionid"},
        {b"cookie": b"\xff;=;\x00"},
    ],
)
def test_strangers_are_not(headers: dict[bytes, bytes]) -> None:
    assert not is_known_caller(headers)
