"""How a line connects: to no forbidden address, whatever a name resolves to by then.

Imported when a line is opened, as the client library is, and never at start-up (see ``gateway``).
"""

import socket
from typing import Any

import aiohttp
from aiohttp.abc import ResolveResult

from apps.llm.addresses import check_address


class CheckedResolver(aiohttp.ThreadedResolver):
    """Refuses what the connection would be opened to: a look at the name beforehand proves nothing,
    as the next answer may be another (DNS rebinding)."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of ``host``.

        Raises:
            AddressRefused: one of them is forbidden.
        """
        found = await super().resolve(host, port, family)
        for each in found:
            check_address(each["host"], host)
        return found


def checked_session(transport: Any) -> aiohttp.ClientSession:
    """The session that ``transport`` (the client library's, over aiohttp) would make, but for the
    resolver."""
    connector = aiohttp.TCPConnector(
        resolver=CheckedResolver(),
        ssl=transport.ssl_context,
        limit=transport.limits.max_connections,
        keepalive_timeout=transport.limits.keepalive_expiry,
    )
    return aiohttp.ClientSession(connector=connector)
