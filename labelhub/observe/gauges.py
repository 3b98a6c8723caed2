"""The state of the installation, read from the database when it is scraped.

A few aggregates whose number does not depend on the data. They are kept for some seconds, longer
the longer they took, so that even scrapes without end use a small share of the database.
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, connections, transaction
from django.db.models import Case, CharField, Count, FloatField, Max, Min, Q, Value, When
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone
from prometheus_client import ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric

from apps.authors.models import Message, Question
from apps.common.audit import Action, chain_head
from apps.common.metric_files import live_processes
from apps.common.models import AuditEntry, Job, WorkerSign
from apps.common.views import redis_answers
from apps.debates.models import Run
from apps.labels.models import ItemState
from apps.projects.models import Item
from apps.reviews.models import Slot

logger = logging.getLogger(__name__)

#: Seconds for which numbers are kept, and times that their reading took.
KEPT, KEPT_TIMES = 10.0, 20.0
#: Seconds after which the database counts as away.
PATIENCE = 3.0
#: Milliseconds after which PostgreSQL gives up one aggregate.
STATEMENT_MS = 2500
MOST_REASONS = 30

Read = Callable[[datetime], Iterator[Metric]]


def _age(now: datetime, since: datetime | None) -> float:
    return max((now - since).total_seconds(), 0.0) if since else 0.0


def read_queue(now: datetime) -> Iterator[Metric]:
    """What waits for people: by whom it may be labelled, and for how long it has been there."""
    depth = GaugeMetricFamily(
        "labelhub_queue_items",
        "Items that want a person's label, by audience.",
        labels=["audience"],
    )
    oldest = GaugeMetricFamily(
        "labelhub_queue_oldest_seconds",
        "Seconds since the oldest of them was imported.",
        labels=["audience"],
    )
    rows = list(
        ItemState.objects.filter(queued=True)
        .values_list("audience")
        .annotate(n=Count("pk"), first=Min("item_id"))
        .order_by()
    )
    added = dict(
        Item.objects.filter(pk__in=[first for *_, first in rows]).values_list("pk", "created_at")
    )
    for audience, number, first in rows:
        depth.add_metric([audience or "all"], number)
        oldest.add_metric([audience or "all"], _age(now, added.get(first)))
    yield from (depth, oldest)


def read_leases(now: datetime) -> Iterator[Metric]:
    """Items that people hold now."""
    yield GaugeMetricFamily(
        "labelhub_leases_active",
        "Items that people have on their screens.",
        value=Slot.objects.live(now).count(),
    )


def read_jobs(now: datetime) -> Iterator[Metric]:
    """Unfinished jobs by kind and state, and since when the oldest waits for a worker."""
    number = GaugeMetricFamily(
        "labelhub_jobs", "Unfinished jobs: running, waiting or postponed.", labels=["kind", "state"]
    )
    oldest = GaugeMetricFamily(
        "labelhub_job_oldest_waiting_seconds",
        "Seconds for which the oldest job without a worker waits.",
        labels=["kind"],
    )
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    state = Case(
        When(free, then=Value("waiting")),
        When(lease_token=None, then=Value("postponed")),
        default=Value("running"),
        output_field=CharField(),
    )
    since = Min(Coalesce("lease_until", "created_at"), filter=free)
    rows = Job.objects.annotate(state=state).values_list("kind", "state")
    for kind, found, count, waits in rows.annotate(n=Count("pk"), since=since).order_by():
        number.add_metric([kind, found], count)
        if found == "waiting":
            oldest.add_metric([kind], _age(now, waits))
    yield from (number, oldest)


def read_runs(_now: datetime) -> Iterator[Metric]:
    """Unfinished runs, why they pause, and how much of its budget the nearest to its end used."""
    number = GaugeMetricFamily(
        "labelhub_runs", "Unfinished runs by status and reason of a pause.",
        labels=["status", "reason"],
    )  # fmt: skip
    share = Cast("cost_nanousd", FloatField()) / Cast("budget_nanousd", FloatField())
    rows = (
        Run.objects.filter(status__in=["queued", "running", "paused"])
        .values_list("status", "pause_code")
        .annotate(n=Count("pk"), used=Max(share, filter=Q(budget_nanousd__gt=0)))
        .order_by("status", "pause_code")[:MOST_REASONS]
    )
    used = 0.0
    for status, code, count, most in rows:
        number.add_metric([status, code], count)
        used = max(used, most or 0.0)
    yield number
    yield GaugeMetricFamily(
        "labelhub_run_budget_used_ratio",
        "Largest share of its budget that an unfinished run has used.",
        value=used,
    )


def read_worker(now: datetime) -> Iterator[Metric]:
    """Since when no worker has shown itself; nothing before the first server started."""
    seen = WorkerSign.objects.values_list("seen_at", flat=True).first()
    if seen is not None:
        yield GaugeMetricFamily(
            "labelhub_worker_heartbeat_age_seconds",
            "Seconds since a worker last showed itself, which each does every ten.",
            value=_age(now, seen),
        )


def read_authors(now: datetime) -> Iterator[Metric]:
    """Messages that wait for a model, and questions that wait for their author."""
    waiting = Message.objects.filter(status=Message.Status.RECEIVED).aggregate(
        number=Count("pk"), oldest=Min("received_at")
    )
    yield GaugeMetricFamily(
        "labelhub_messages_waiting", "Messages that wait for the models.", value=waiting["number"]
    )
    yield GaugeMetricFamily(
        "labelhub_message_oldest_waiting_seconds",
        "Seconds for which the oldest of them waits.",
        value=_age(now, waiting["oldest"]),
    )
    opened = GaugeMetricFamily(
        "labelhub_questions_open", "Questions before their authors, by status.", labels=["status"]
    )
    states = [Question.Status.WAITING, Question.Status.PUSHED, Question.Status.SHOWN]
    rows = Question.objects.filter(status__in=states, expires_at__gt=now).values_list("status")
    for status, number in rows.annotate(n=Count("pk")).order_by():
        opened.add_metric([status], number)
    yield opened


def read_audit(now: datetime) -> Iterator[Metric]:
    """The end of the audit log's chain, and how long entries wait to be added to it."""
    yield GaugeMetricFamily(
        "labelhub_audit_head",
        "Number of the last entry in the chain of the audit log.",
        value=chain_head().number,
    )
    unchained = AuditEntry.objects.filter(number=None).aggregate(oldest=Min("at"))
    yield GaugeMetricFamily(
        "labelhub_audit_unchained_seconds",
        "Seconds for which the oldest entry waits to be added to the chain.",
        value=_age(now, unchained["oldest"]),
    )
    whole = AuditEntry.objects.filter(action=Action.LOG_CHECKED).aggregate(last=Max("at"))
    began = AuditEntry.objects.aggregate(first=Min("at"))
    yield GaugeMetricFamily(
        "labelhub_audit_checked_seconds",
        "Seconds since the audit log was last checked and found unchanged.",
        value=_age(now, whole["last"] or began["first"]),
    )


READERS: tuple[Read, ...] = (
    read_queue, read_leases, read_jobs, read_runs, read_worker, read_authors, read_audit,
)  # fmt: skip


def read_database() -> list[Metric]:
    """All numbers of the database, at the database's price of a dozen statements.

    Raises:
        DatabaseError: it cannot be reached. One aggregate that fails leaves out its numbers only.
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


@dataclass(eq=False)
class DatabaseGauges:
    """The numbers of the database, read by a thread of its own: a database that hangs must neither
    hold up the scrape nor more than this thread."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="metrics-database")
    )
    _reading: "Future[tuple[list[Metric], float]] | None" = None
    _found: Sequence[Metric] = ()
    _until: float = 0.0

    def collect(self) -> Iterator[Metric]:
        """The numbers, and whether the database answers."""
        found = self._read()
        yield GaugeMetricFamily(
            "labelhub_database_up",
            f"1 if the database answered within {PATIENCE:.0f} seconds.",
            value=float(found is not None),
        )
        yield from found or ()

    def _read(self) -> Sequence[Metric] | None:
        with self._lock:
            if time.monotonic() < self._until:
                return self._found
            if self._reading is None:
                self._reading = self._pool.submit(_timed_read)
            try:
                self._found, seconds = self._reading.result(PATIENCE)
            except Late:
                return None  # it goes on; the next scrape asks for it
            except Exception as error:  # the rest is shown all the same
                self._reading = None
                if not isinstance(error, DatabaseError):
                    logger.exception("Metrics: the database could not be read")
                return None
            self._reading = None
            self._until = time.monotonic() + max(KEPT, KEPT_TIMES * seconds)
            return self._found


def _timed_read() -> tuple[list[Metric], float]:
    started = time.monotonic()
    try:
        return read_database(), time.monotonic() - started
    finally:
        connections.close_all()


class MachineGauges:
    """Redis, the disk, and the processes of this machine."""

    def collect(self) -> Iterator[Metric]:
        """The numbers of this moment."""
        if settings.REDIS_URL:
            yield GaugeMetricFamily(
                "labelhub_redis_up",
                "1 if Redis answered.",
                value=float(redis_answers(settings.REDIS_URL)),
            )
        with suppress(OSError):
            disk = shutil.disk_usage(settings.DATA_DIR)
            yield GaugeMetricFamily(
                "labelhub_disk_free_bytes", "Room on the disk of the data folder.", value=disk.free
            )
            yield GaugeMetricFamily(
                "labelhub_disk_size_bytes", "Size of the disk of the data folder.", value=disk.total
            )
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
