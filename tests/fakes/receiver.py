"""A server on loopback that is sent webhooks, traces or errors, and answers as it is told."""

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> bytes:
        """The body without its compression."""
        zipped = self.headers.get("content-encoding") == "gzip"
        return gzip.decompress(self.body) if zipped else self.body


@dataclass
class Receiver:
    """What came in, and what is answered: ``status``, ``headers``, ``body`` of each answer."""

    address: str
    received: list[Received] = field(default_factory=list)
    status: int | Callable[[Received], int] = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"thanks"
    drips: bool = False


@contextmanager
def receiver(path: str = "/hook?of=labels") -> Iterator[Receiver]:
    """A receiver that runs within the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        state = Receiver(f"http://127.0.0.1:{server.server_port}{path}")
        _Handler.states[server.server_port] = state
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield state
        finally:
            server.shutdown()
            del _Handler.states[server.server_port]


class _Handler(BaseHTTPRequestHandler):
    states: dict[int, Receiver] = {}
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Note it, and answer."""
        state = self.states[self.server.server_port]  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        got = Received(self.path, headers, body)
        state.received.append(got)
        status = state.status(got) if callable(state.status) else state.status
        self.send_response(status)
        for name, value in state.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(state.body)))
        self.end_headers()
        self._answer(state)

    def _answer(self, state: Receiver) -> None:
        if not state.drips:
            self.wfile.write(state.body)
            return
        for index in range(len(state.body)):
            self.wfile.write(state.body[index : index + 1])
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""
