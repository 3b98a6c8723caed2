"""``/metrics``: what it shows, who may read it, and how to serve it.

It answers outside of Django, in a thread of its own, so that it can tell of a server whose threads
all wait for a database that hangs.
"""

import asyncio
import ipaddress
import logging
import secrets
import shutil
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, connections, transaction
from django.utils import timezone
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from apps.common.health import Reading, bucket_answers, redis_answers
from apps.common.metric_files import SlotsCollector, live_processes
from apps.common.request_record import RECORD, RequestRecord
from apps.common.shared_files import in_bucket
from labelhub.observe.state import READERS, gauge
from labelhub.web.asgi_types import App, Message, Receive, Send
from labelhub.web.clients import plain_address

logger = logging.getLogger(__name__)

PATH = "/metrics"
#: Headers by which a proxy says for whom it asks.
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")

#: Seconds for which numbers of the database are kept, and after which it counts as away.
KEPT, PATIENCE = 10.0, 3.0
#: Milliseconds after which PostgreSQL gives up one aggregate.
STATEMENT_MS = 2500

_threads = ThreadPoolExecutor(1, thread_name_prefix="metrics")


def read_database() -> list[Metric]:
    """All numbers of the database, at the database's price of a dozen statements.

    Raises:
        DatabaseError: it cannot be reached. A reader that fails leaves out its numbers only.
    """
    found: list[Metric] = []
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    for read in READERS:
        try:
            with transaction.atomic():
                if connection.vendor == "postgresql":
                    with connection.cursor() as cursor:
                        cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS}")
                found.extend(read(now))
        except Exception:  # the others are worth showing
            logger.exception("Metrics: %s failed", read.__name__)
    return found


def _read_and_close() -> list[Metric]:
    try:
        return read_database()
    finally:
        connections.close_all()


class DatabaseGauges:
    """The numbers of the database: one that hangs must not hold up the scrape."""

    def __init__(self) -> None:
        self._reading = Reading(_read_and_close, patience=PATIENCE, kept=KEPT)

    def collect(self) -> Iterator[Metric]:
        """The numbers, and whether the database answers."""
        found = self._reading.get()
        yield gauge("labelhub_database_up", float(found is not None))
        yield from found or ()


class MachineGauges:
    """Redis, the bucket, the disk, and the processes of this machine."""

    def collect(self) -> Iterator[Metric]:
        """The numbers of this moment."""
        if settings.REDIS_URL:
            yield gauge("labelhub_redis_up", float(redis_answers()))
        if in_bucket():
            yield gauge("labelhub_files_up", float(bucket_answers()))
        with suppress(OSError):
            disk = shutil.disk_usage(settings.DATA_DIR)
            yield gauge("labelhub_disk_free_bytes", disk.free)
            yield gauge("labelhub_disk_size_bytes", disk.total)
        yield from _process_metrics()


def _process_metrics() -> Iterator[Metric]:
    """Memory, processor time and open files of each live process, by its slot and role."""
    merged: dict[str, Metric] = {}
    for process in live_processes():
        collector = ProcessCollector("labelhub", pid=partial(int, process.pid), registry=None)
        for metric in collector.collect():
            kept = merged.setdefault(
                metric.name, Metric(metric.name, metric.documentation, metric.type)
            )
            for sample in metric.samples:
                labels = {"slot": process.slot, "role": process.role}
                kept.add_sample(sample.name, labels, sample.value)
    yield from merged.values()


#: All that is shown; the numbers of the database once, not per scrape.
SHOWN = CollectorRegistry()
SHOWN.register(SlotsCollector())
SHOWN.register(MachineGauges())
SHOWN.register(DatabaseGauges())


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
        found = ipaddress.ip_address(plain_address(address))
    except ValueError:
        return False
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The base class prints; and a scraper that did not wait for its answer is no error."""
        if not isinstance(sys.exception(), OSError):
            logger.exception("Metrics: a scrape failed")  # noqa: LOG004 - the base class handles one


def listen_for_scrapes(host: str, port: int) -> ThreadingHTTPServer | None:
    """Serve the metrics of a machine that has workers only; None, and a line in the log, if the
    port is taken: a worker without metrics is better than none."""
    try:
        server = _Server(host, port)
    except OSError as error:
        logger.error("LABELHUB_WORKER_METRICS: cannot listen on %s:%s (%s)", host, port, error)
        return None
    threading.Thread(target=server.serve_forever, name="metrics-server", daemon=True).start()
    return server
