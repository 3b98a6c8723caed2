"""A host's own page on a port of its own: blank but for a text field and the snippet."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: All that a host must allow, and nothing else.
POLICY = (
    "default-src 'none'; script-src {server}; connect-src {server} {socket}; style-src 'none'; "
    "require-trusted-types-for 'script'"
)


class HostPages:
    """Pages by path; ``origin`` is theirs."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._pages: dict[str, tuple[str, str]] = {}

    def put(self, path: str, body: str, *, server: str = "") -> str:
        """Serve ``body`` at ``path``, strictly where ``server`` is given; returns its URL."""
        policy = POLICY.format(server=server, socket=server.replace("http", "ws", 1))
        html = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>{body}'
        self._pages[path] = (html, policy if server else "")
        return f"{self.origin}{path}"

    def find(self, path: str) -> tuple[str, str] | None:
        """HTML and policy of a path."""
        return self._pages.get(path.partition("?")[0])


@contextmanager
def host_pages() -> Iterator[HostPages]:
    """A web server for a host's pages."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.find(self.path)
            html, policy = found or ("", "")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        pages = HostPages(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield pages
        finally:
            server.shutdown()
