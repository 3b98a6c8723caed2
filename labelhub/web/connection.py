"""uvicorn's HTTP connection with two additions.

The application gets the transport, so that it can disconnect a client. When a client disconnects,
the running request learns of it: uvicorn informs only the newest one, which differs if a client
sends several requests without waiting for responses.
"""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

#: Key of the transport in a request's ``scope["state"]``.
TRANSPORT = "labelhub.transport"

#: Seconds within which a client must take more of its response. The kernel of a client that reads
#: 10 KB/s takes nothing for half a minute, and then 400 KB at once.
PATIENCE = 60.0

#: Bytes that the kernel may buffer unsent. By default it buffers megabytes, and a slow but steady
#: client would seem not to read for minutes.
UNSENT = 64 * 1024


class Connection(HttpToolsProtocol):
    _under_way: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, TRANSPORT: transport}

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._under_way = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        cycle = self._under_way
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()


def set_socket_options(listener: socket.socket) -> None:
    """Set the socket options that connections to ``listener`` inherit."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Linux has both, macOS only the first.
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # For the rest of a response that we no longer wait for.
        milliseconds = int(PATIENCE * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
