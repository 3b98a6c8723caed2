"""The address of a client, as trusted proxies say."""

import ipaddress
from typing import Any, cast

from django.conf import settings
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from labelhub.web.asgi_types import App, Message, Receive, Send

#: A proxy on this machine needs no setting.
LOOPBACK = ("127.0.0.1", "::1")


def plain_address(address: str) -> str:
    """An IPv4 address as such: a socket for both kinds calls it ``::ffff:a.b.c.d``."""
    try:
        mapped = getattr(ipaddress.ip_address(address), "ipv4_mapped", None)
    except ValueError:  # of a local socket
        return address
    return str(mapped or address)


def name_clients(app: App) -> App:
    """Let ``scope["client"]`` be the client's address and not its proxy's."""
    trusted = [*LOOPBACK, *settings.LABELHUB_TRUSTED_PROXIES]
    # Before, so that a proxy is recognised, and after, as it may name such an address itself.
    proxied = cast(Any, ProxyHeadersMiddleware(cast(Any, _plain(app)), trusted))
    return _plain(proxied)


def _plain(app: App) -> App:
    async def named(scope: Message, receive: Receive, send: Send) -> None:
        if client := scope.get("client"):
            scope["client"] = (plain_address(client[0]), client[1])
        await app(scope, receive, send)

    return named
