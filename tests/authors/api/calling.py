"""Calling the REST addresses of a site, as people and as the host's servers."""

from itertools import count
from typing import Any

from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.authors.models import Site
from tests.factories.accounts import ApiKeyFactory
from tests.factories.authors import TEXT

_numbers = count(1)


def person(user: User) -> APIClient:
    """``user`` with an API key of their own."""
    plain = f"lh_{next(_numbers):043d}"
    ApiKeyFactory.create(user=user, plain=plain)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {plain}")
    return client


def server(key: str) -> APIClient:
    """Whoever holds that server key."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def url(site: Site, rest: str = "") -> str:
    """An address below the site's own."""
    return f"/api/v1/sites/{site.public_key}/{rest}"


def message(**changes: Any) -> dict[str, Any]:
    """The body of a message; ``name=None`` leaves a field out."""
    usual = {
        "author": "customer-17",
        "id": "message-1",
        "conversation": "chat-1",
        "text": TEXT,
        "consent": True,
    }
    return {name: value for name, value in (usual | changes).items() if value is not None}


def refused(response: Any, status: int, code: str) -> dict[str, Any]:
    """The problem in ``response``, after checking that it is this one."""
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["code"]) == (status, code), body
    assert response["Content-Type"] == "application/problem+json"
    return body
