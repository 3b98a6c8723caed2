"""A connection to one client, as uvicorn keeps it, and two things that uvicorn lacks.

The application learns of its transport, so that it can cut a client off; and when a client leaves,
the request that is being answered learns of it too: uvicorn tells only the newest one, which is
another where a client sends several requests at once without waiting for answers.
"""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

#: Where a request's ``scope["state"]`` has the transport.
TRANSPORT = "labelhub.transport"

#: Seconds in which a client must take something of its answer. The kernel of a client that reads
#: 10 KB/s says for half a minute that there is no room, and then takes 400 KB at once.
PATIENCE = 60.0

#: Bytes that the kernel may hold unsent. Without it these are megabytes, and a client that reads
#: steadily but slowly would look for minutes as if it did not read at all.
UNSENT = 64 * 1024


class Connection(HttpToolsProtocol):
    """uvicorn's protocol for HTTP/1.1."""

    _under_way: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, TRANSPORT: transport}

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._under_way = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client left, or was cut off."""
        super().connection_lost(exc)
        cycle = self._under_way
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()


def settle(listener: socket.socket) -> None:
    """Set what every connection to ``listener`` inherits."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Each where the system knows it: both on Linux, the first on macOS.
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # The rest of an answer, when nobody of ours waits for its delivery any more.
        milliseconds = int(PATIENCE * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
