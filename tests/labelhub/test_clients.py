"""Whose address a request has, also for the limits of sign-ins: the client's, whatever socket and
proxies are between."""

import asyncio
from typing import Any

import pytest
from allauth.account.adapter import get_adapter
from django.test import RequestFactory

from labelhub.web.asgi_types import Message
from labelhub.web.clients import name_clients


def client_of(address: str | None, forwarded: str) -> Any:
    """The client that the application sees, and allauth counts."""
    seen: list[Any] = []

    async def app(scope: Message, _receive: Any, _send: Any) -> None:
        seen.append(scope["client"])

    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    client = (address, 5) if address is not None else None
    scope = {"type": "http", "client": client, "headers": headers}
    asyncio.run(name_clients(app)(scope, None, None))  # type: ignore[arg-type]
    if not seen[0] or not seen[0][0]:
        return seen[0] and seen[0][0]
    request = RequestFactory().get("/", REMOTE_ADDR=seen[0][0], HTTP_X_FORWARDED_FOR=forwarded)
    return str(get_adapter().get_client_ip(request))


@pytest.mark.parametrize(
    ("address", "forwarded", "expected"),
    [
        ("203.0.113.5", "", "203.0.113.5"),
        ("2001:db8::5", "", "2001:db8::5"),
        # A socket for both kinds (--host ::).
        ("::ffff:203.0.113.5", "", "203.0.113.5"),
        ("::ffff:203.0.113.5", "198.51.100.7", "203.0.113.5"),
        # Proxies that are trusted: on this machine, and the one that the test sets.
        ("127.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("::ffff:127.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("::ffff:10.0.0.9", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.9", "198.51.100.7, 10.0.0.9", "198.51.100.7"),
        ("10.0.0.9", "::ffff:198.51.100.7", "198.51.100.7"),
        ("10.0.0.9", "192.0.2.1, 198.51.100.7", "198.51.100.7"),
        ("10.1.0.3", "198.51.100.7, 10.1.0.7", "198.51.100.7"),
        ("10.0.0.8", "198.51.100.7", "10.0.0.8"),
        # A local socket has no address, or an empty one.
        ("", "", ""),
        (None, "", None),
    ],
)
def test_clients(settings: Any, address: str | None, forwarded: str, expected: str | None) -> None:
    settings.LABELHUB_TRUSTED_PROXIES = ["10.0.0.9", "10.1.0.0/24"]
    assert client_of(address, forwarded) == expected
