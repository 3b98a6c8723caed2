"""The state of the installation in numbers, for metrics and the console.

Each function asks the database once or twice, whatever the data. ``now`` is the moment from which
ages count; ages are in seconds.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, FloatField, Max, Min, Q
from django.db.models.functions import Cast, Coalesce
from prometheus_client.core import GaugeMetricFamily, Metric

from apps.authors.models import Message, Question
from apps.common.audit import Action, chain_head
from apps.common.holds import held_since
from apps.common.jobs import job_state
from apps.common.models import AuditEntry, Job
from apps.common.workers import heartbeat_ages
from apps.debates.models import Run
from apps.labels.models import ItemState
from apps.projects.models import Item
from apps.reviews.models import Slot

MOST_REASONS = 30
#: Who may label what has no audience of its own.
EVERYBODY = "all"
#: What a gauge says, and its labels.
GAUGES = {
    "labelhub_queue_items": ("Items that want a person's label, by audience.", "audience"),
    "labelhub_queue_oldest_seconds": ("Seconds since the oldest was imported.", "audience"),
    "labelhub_leases_active": ("Items that people have on their screens.",),
    "labelhub_jobs": ("Unfinished jobs: running, waiting or postponed.", "kind", "state"),
    "labelhub_job_oldest_waiting_seconds": ("Seconds that the oldest waits for a worker.", "kind"),
    "labelhub_runs": ("Unfinished runs by status and reason of a pause.", "status", "reason"),
    "labelhub_run_budget_used_ratio": ("Largest share of its budget used by an unfinished run.",),
    "labelhub_worker_heartbeat_age_seconds": (
        "Seconds since a worker of the queue last showed itself, which each does every ten.",
        "queue",
    ),
    "labelhub_held": ("1 while a restored server waits for its release.",),
    "labelhub_messages_waiting": ("Messages that wait for the models.",),
    "labelhub_message_oldest_waiting_seconds": ("Seconds for which the oldest of them waits.",),
    "labelhub_questions_open": ("Questions before their authors, by status.", "status"),
    "labelhub_audit_head": ("Number of the last entry in the chain of the audit log.",),
    "labelhub_audit_unchained_seconds": ("Seconds that the oldest entry waits for the chain.",),
    "labelhub_audit_checked_seconds": (
        "Seconds since the audit log was last checked and found unchanged.",
    ),
    "labelhub_database_up": ("1 if the database answered within three seconds.",),
    "labelhub_redis_up": ("1 if Redis answered.",),
    "labelhub_files_up": ("1 if the bucket answered.",),
    "labelhub_disk_free_bytes": ("Room on the disk of the data folder.",),
    "labelhub_disk_size_bytes": ("Size of the disk of the data folder.",),
}


def gauge(name: str, numbers: float | Mapping[Any, float]) -> Metric:
    """A gauge of :data:`GAUGES`: its number, or numbers by the value, or values, of its labels."""
    text, *labels = GAUGES[name]
    if not isinstance(numbers, Mapping):
        return GaugeMetricFamily(name, text, value=numbers)
    made = GaugeMetricFamily(name, text, labels=labels)
    for values, number in numbers.items():
        made.add_metric((values,) if isinstance(values, str) else values, number)
    return made


def age(now: datetime, since: datetime | None) -> float:
    """Seconds; 0 if there is nothing."""
    return max((now - since).total_seconds(), 0.0) if since else 0.0


class JobRow(NamedTuple):
    """Unfinished jobs of a kind; ``state``: running, waiting or postponed. ``oldest``: since the
    first of them waits for a worker."""

    kind: str
    state: str
    jobs: int
    oldest: float


def job_rows(now: datetime) -> list[JobRow]:
    """Unfinished jobs by kind and state."""
    since = Min(Coalesce("lease_until", "created_at"), filter=Q(state="waiting"))
    rows = Job.objects.annotate(state=job_state(now)).values_list("kind", "state")
    found = rows.annotate(n=Count("pk"), since=since).order_by()
    return [JobRow(kind, state, number, age(now, first)) for kind, state, number, first in found]


def unchained_seconds(now: datetime) -> float:
    """For how long the oldest entry of the audit log waits to be added to its chain."""
    return age(now, AuditEntry.objects.filter(number=None).aggregate(oldest=Min("at"))["oldest"])


def _queue(now: datetime) -> Iterator[Metric]:
    states = ItemState.objects.filter(queued=True).values_list("audience")
    rows = list(states.annotate(n=Count("pk"), first=Min("item_id")).order_by())
    oldest = Item.objects.filter(pk__in=[first for *_, first in rows])
    imported = dict(oldest.values_list("pk", "created_at"))
    yield gauge("labelhub_queue_items", {by or EVERYBODY: number for by, number, _ in rows})
    ages = {by or EVERYBODY: age(now, imported.get(first)) for by, _, first in rows}
    yield gauge("labelhub_queue_oldest_seconds", ages)
    yield gauge("labelhub_leases_active", Slot.objects.live(now).count())


def _jobs(now: datetime) -> Iterator[Metric]:
    rows = job_rows(now)
    yield gauge("labelhub_jobs", {(row.kind, row.state): row.jobs for row in rows})
    waiting = {row.kind: row.oldest for row in rows if row.state == "waiting"}
    yield gauge("labelhub_job_oldest_waiting_seconds", waiting)


def _runs(_now: datetime) -> Iterator[Metric]:
    share = Cast("cost_nanousd", FloatField()) / Cast("budget_nanousd", FloatField())
    runs = Run.objects.filter(status__in=["queued", "running", "paused"])
    rows = list(
        runs.values_list("status", "pause_code")
        .annotate(n=Count("pk"), used=Max(share, filter=Q(budget_nanousd__gt=0)))
        .order_by("status", "pause_code")[:MOST_REASONS]
    )
    yield gauge("labelhub_runs", {(status, reason): number for status, reason, number, _ in rows})
    used = max((used or 0.0 for *_, used in rows), default=0.0)
    yield gauge("labelhub_run_budget_used_ratio", used)


def _workers(_now: datetime) -> Iterator[Metric]:
    ages = {queue: age.total_seconds() for queue, age in heartbeat_ages().items()}
    yield gauge("labelhub_worker_heartbeat_age_seconds", ages)
    yield gauge("labelhub_held", float(held_since() is not None))


def _authors(now: datetime) -> Iterator[Metric]:
    waiting = Message.objects.filter(status=Message.Status.RECEIVED)
    found = waiting.aggregate(number=Count("pk"), oldest=Min("received_at"))
    yield gauge("labelhub_messages_waiting", found["number"])
    yield gauge("labelhub_message_oldest_waiting_seconds", age(now, found["oldest"]))
    states = [Question.Status.WAITING, Question.Status.PUSHED, Question.Status.SHOWN]
    rows = Question.objects.filter(status__in=states, expires_at__gt=now).values_list("status")
    yield gauge("labelhub_questions_open", dict(rows.annotate(n=Count("pk")).order_by()))


def _audit(now: datetime) -> Iterator[Metric]:
    yield gauge("labelhub_audit_head", chain_head().number)
    yield gauge("labelhub_audit_unchained_seconds", unchained_seconds(now))
    last = AuditEntry.objects.filter(action=Action.LOG_CHECKED).aggregate(at=Max("at"))["at"]
    # Never checked: since the first entry.
    since = last or AuditEntry.objects.aggregate(at=Min("at"))["at"]
    yield gauge("labelhub_audit_checked_seconds", age(now, since))


READERS: tuple[Callable[[datetime], Iterator[Metric]], ...] = (
    _queue, _jobs, _runs, _workers, _authors, _audit,
)  # fmt: skip
