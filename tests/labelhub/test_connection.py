"""A real server of two threads against clients that send much at once and read nothing."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import uvicorn
from a2wsgi import WSGIMiddleware

from labelhub.web.connection import Connection, set_socket_options
from labelhub.web.responses import cut_off_slow_clients, stop_unread_responses
from tests.fakes.client import wait_for

THREADS = 2
END = b"\r\n0\r\n\r\n"
PIECES, PIECE = 2000, b"x" * 16_384  # 32 MB: more than all buffers on the way hold


class Server:
    """Answers ``/long`` with 32 MB and everything else with ``ok``."""

    def __init__(self, patience: float) -> None:
        self.under_way = 0
        asgi = WSGIMiddleware(stop_unread_responses(self._wsgi), workers=THREADS)  # type: ignore[arg-type]
        config = uvicorn.Config(
            cut_off_slow_clients(asgi, patience),  # type: ignore[arg-type]
            http=Connection,
            lifespan="off",
            log_config=None,
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)
        self.listener = socket.socket()
        set_socket_options(self.listener)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self._thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        wait_for(lambda: self.server.started, seconds=10, what="the server")
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self._thread.join(10)
        self.listener.close()

    def client(self, *paths: str) -> socket.socket:
        """A connection that sends a request for each path at once."""
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(10)
        made.connect(self.listener.getsockname())
        made.sendall(b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % p.encode() for p in paths))
        return made

    def answers(self) -> bool:
        """Whether somebody else gets an answer."""
        with self.client("/") as other:
            return b"200 OK" in other.recv(100)

    def _wsgi(self, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("content-type", "text/plain")])
        return self._long() if environ["PATH_INFO"] == "/long" else iter([b"ok"])

    def _long(self) -> Iterator[bytes]:
        self.under_way += 1
        try:
            for _ in range(PIECES):
                yield PIECE
        finally:
            self.under_way -= 1


def gets_everything(client: socket.socket) -> bool:
    """Whether an answer comes to its end; reads all there is."""
    piece = b""
    with client, contextlib.suppress(ConnectionResetError):
        while more := client.recv(1024 * 1024):
            piece = piece[-len(END) :] + more
            if piece.endswith(END):
                return True
    return False


def open_files() -> int:
    """How many this process has, connections among them."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing may be logged: strangers could fill the log."""
    yield
    assert caplog.get_records("call") == []


@pytest.mark.thorough
@pytest.mark.usefixtures("quiet")
def test_clients_that_read_nothing_are_cut_off_and_others_served_again() -> None:
    with Server(patience=0.5) as server:
        clients = [server.client(*["/long"] * 20) for _ in range(THREADS + 1)]
        wait_for(lambda: server.under_way == THREADS, seconds=10, what="busy threads")

        assert server.answers()
        wait_for(lambda: server.under_way == 0, seconds=20, what="the end of every answer")
        # Whoever waited for a thread may be served when all of them read at last.
        assert sum(gets_everything(client) for client in clients) <= 1


@pytest.mark.thorough
@pytest.mark.usefixtures("quiet")
def test_clients_that_leave_in_the_midst_of_several_requests_hold_nothing() -> None:
    with Server(patience=60) as server:
        clients = [server.client(*["/long"] * 20) for _ in range(THREADS + 1)]
        wait_for(lambda: server.under_way == THREADS, seconds=10, what="busy threads")
        for client in clients:
            client.close()

        assert server.answers()
        wait_for(lambda: server.under_way == 0, seconds=10, what="the end of every answer")


@pytest.mark.thorough
@pytest.mark.usefixtures("quiet")
def test_a_client_that_reads_steadily_gets_everything() -> None:
    with Server(patience=0.5) as server:
        assert gets_everything(server.client("/long"))


def test_nothing_is_kept_open_on_disk_or_network_afterwards() -> None:
    with Server(patience=0.3) as server:
        assert server.answers()
        before = open_files()
        for _ in range(5):
            server.client("/long", "/long").close()
        assert server.answers()
        wait_for(
            lambda: open_files() <= before,
            seconds=10,
            what="the end of every connection",
        )
