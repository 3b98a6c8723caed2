"""The state of the installation in rows, for metrics and the console.

Each function asks the database once or twice, whatever the data. ``now`` is the moment from which
ages count; ages are in seconds.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, FloatField, Max, Min, Q
from django.db.models.functions import Cast, Coalesce

from apps.authors.models import Message, Question
from apps.common.audit import Action
from apps.common.jobs import job_state
from apps.common.models import AuditEntry, Job
from apps.debates.models import Run
from apps.labels.models import ItemState
from apps.projects.models import Item
from apps.reviews.models import Slot

MOST_REASONS = 30
#: Who may label what has no audience of its own.
EVERYBODY = "all"


class QueueRow(NamedTuple):
    """Items of one audience that wait for people; ``oldest``: since the first was imported."""

    audience: str
    items: int
    oldest: float


class JobRow(NamedTuple):
    """Unfinished jobs of a kind; ``state``: running, waiting or postponed. ``oldest``: since the
    first of them waits for a worker."""

    kind: str
    state: str
    jobs: int
    oldest: float


class RunRow(NamedTuple):
    """Unfinished runs with one status and reason of a pause, and the largest share of its budget
    that one of them has used."""

    status: str
    reason: str
    runs: int
    used: float


class Backlog(NamedTuple):
    """How many wait, and for how long the oldest does."""

    number: int
    oldest: float


def age(now: datetime, since: datetime | None) -> float:
    """Seconds; 0 if there is nothing."""
    return max((now - since).total_seconds(), 0.0) if since else 0.0


def queue_rows(now: datetime) -> Iterator[QueueRow]:
    """What waits for people: by whom it may be labelled, and for how long it has been there."""
    rows = list(
        ItemState.objects.filter(queued=True)
        .values_list("audience")
        .annotate(n=Count("pk"), first=Min("item_id"))
        .order_by()
    )
    imported = dict(
        Item.objects.filter(pk__in=[first for *_, first in rows]).values_list("pk", "created_at")
    )
    for audience, number, first in rows:
        yield QueueRow(audience or EVERYBODY, number, age(now, imported.get(first)))


def count_leases(now: datetime) -> int:
    """Items that people have on their screens."""
    return Slot.objects.live(now).count()


def job_rows(now: datetime) -> Iterator[JobRow]:
    """Unfinished jobs by kind and state."""
    since = Min(Coalesce("lease_until", "created_at"), filter=Q(state="waiting"))
    rows = Job.objects.annotate(state=job_state(now)).values_list("kind", "state")
    for kind, found, number, first in rows.annotate(n=Count("pk"), since=since).order_by():
        yield JobRow(kind, found, number, age(now, first))


def run_rows() -> Iterator[RunRow]:
    """Unfinished runs by status, and by why they pause."""
    share = Cast("cost_nanousd", FloatField()) / Cast("budget_nanousd", FloatField())
    rows = (
        Run.objects.filter(status__in=["queued", "running", "paused"])
        .values_list("status", "pause_code")
        .annotate(n=Count("pk"), used=Max(share, filter=Q(budget_nanousd__gt=0)))
        .order_by("status", "pause_code")[:MOST_REASONS]
    )
    for status, reason, number, used in rows:
        yield RunRow(status, reason, number, used or 0.0)


def waiting_messages(now: datetime) -> Backlog:
    """Messages of authors that wait for the models."""
    found = Message.objects.filter(status=Message.Status.RECEIVED).aggregate(
        number=Count("pk"), oldest=Min("received_at")
    )
    return Backlog(found["number"], age(now, found["oldest"]))


def open_questions(now: datetime) -> dict[str, int]:
    """Status → questions before their authors."""
    states = [Question.Status.WAITING, Question.Status.PUSHED, Question.Status.SHOWN]
    rows = Question.objects.filter(status__in=states, expires_at__gt=now).values_list("status")
    return dict(rows.annotate(n=Count("pk")).order_by())


def unchained_seconds(now: datetime) -> float:
    """For how long the oldest entry of the audit log waits to be added to its chain."""
    return age(now, AuditEntry.objects.filter(number=None).aggregate(oldest=Min("at"))["oldest"])


def unchecked_seconds(now: datetime) -> float:
    """Since the audit log was last checked and found unchanged, or else since its first entry."""
    checks = AuditEntry.objects.filter(action=Action.LOG_CHECKED).aggregate(last=Max("at"))
    return age(now, checks["last"] or AuditEntry.objects.aggregate(first=Min("at"))["first"])
