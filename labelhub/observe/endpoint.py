"""``/metrics``: who may read it, and how to serve it.

It answers outside of Django, in a thread of its own, so that it can tell of a server whose threads
all wait for a database that hangs.
"""

import asyncio
import ipaddress
import logging
import secrets
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from apps.common.metric_files import SlotsCollector
from apps.common.request_record import RECORD, RequestRecord
from labelhub.observe.gauges import DatabaseGauges, MachineGauges
from labelhub.web.asgi_types import App, Message, Receive, Send

logger = logging.getLogger(__name__)

PATH = "/metrics"
#: Headers by which a proxy says for whom it asks.
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")

#: All that is shown; the numbers of the database once, not per scrape.
SHOWN = CollectorRegistry()
SHOWN.register(SlotsCollector())
SHOWN.register(MachineGauges())
SHOWN.register(DatabaseGauges())

_threads = ThreadPoolExecutor(1, thread_name_prefix="metrics")


class Answer(NamedTuple):
    """The response to a scrape."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refuse_scrape(address: str, headers: Mapping[str, str]) -> Answer | None:
    """None if the caller may read the metrics.

    The token, or a connection straight from a trusted network. A proxy never counts as such: it
    would let in whom it asks for. Without any setting there is nothing here.

    Args:
        address: of the caller, as trusted proxies say.
        headers: of the request, with names in lower case.
    """
    token: str = settings.LABELHUB_METRICS_TOKEN
    scheme, _, sent = headers.get("authorization", "").partition(" ")
    if token and scheme.lower() == "bearer":
        if secrets.compare_digest(sent.strip().encode(), token.encode()):
            return None
    elif _is_trusted(address) and not any(name in headers for name in FORWARDED):
        return None
    if token:
        challenge = {"www-authenticate": 'Bearer realm="LabelHub metrics"'}
        return Answer(HTTPStatus.UNAUTHORIZED, challenge, b"The metrics need their token.\n")
    return Answer(HTTPStatus.NOT_FOUND, {}, b"There is nothing here.\n")


def _is_trusted(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    # So a socket of both kinds names an address of the older one.
    found = getattr(found, "ipv4_mapped", None) or found
    networks = (ipaddress.ip_network(entry) for entry in settings.LABELHUB_METRICS_NETWORKS)
    return any(found in network for network in networks)


def read_metrics() -> Answer:
    """All metrics in Prometheus' text format."""
    return Answer(HTTPStatus.OK, {"content-type": CONTENT_TYPE_LATEST}, generate_latest(SHOWN))


def serve_metrics(app: App) -> App:
    """Answer ``/metrics``; pass on all else."""

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] != PATH:
            await app(scope, receive, send)
            return
        record: RequestRecord = scope[RECORD]
        record.route = PATH
        headers = {name.decode("latin1"): text.decode("latin1") for name, text in scope["headers"]}
        answer = refuse_scrape(record.address, headers)
        if answer is None and scope["method"] not in ("GET", "HEAD"):
            answer = Answer(HTTPStatus.METHOD_NOT_ALLOWED, {"allow": "GET, HEAD"}, b"")
        if answer is None:
            answer = await asyncio.get_running_loop().run_in_executor(_threads, read_metrics)
        sent = {
            **answer.headers,
            "content-length": str(len(answer.body)),
            "cache-control": "no-store",
        }
        await send(
            {
                "type": "http.response.start",
                "status": int(answer.status),
                "headers": [(name.encode(), text.encode()) for name, text in sent.items()],
            }
        )
        body = b"" if scope["method"] == "HEAD" else answer.body
        await send({"type": "http.response.body", "body": body})

    return served


class _Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        """The metrics, by the same rules."""
        headers = {name.lower(): text for name, text in self.headers.items()}
        answer = refuse_scrape(self.client_address[0], headers)
        if self.path != PATH:
            answer = Answer(HTTPStatus.NOT_FOUND, {}, b"")
        answer = answer or read_metrics()
        self.send_response(int(answer.status))
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class has it
        """Not each scrape."""


class _Server6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def listen_for_scrapes(host: str, port: int) -> ThreadingHTTPServer | None:
    """Serve the metrics of a machine that has workers only; None, and a line in the log, if the
    port is taken: a worker without metrics is better than none."""
    kind = _Server6 if ":" in host else ThreadingHTTPServer
    try:
        server = kind((host, port), _Handler)
    except OSError as error:
        logger.error("LABELHUB_WORKER_METRICS: cannot listen on %s:%s (%s)", host, port, error)
        return None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="metrics-server", daemon=True).start()
    return server
