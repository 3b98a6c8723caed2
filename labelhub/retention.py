"""Delete old data on schedule: a job, in chunks, that resumes where it was killed.

Authors' messages have a schedule of their own for each site, webhook deliveries and uploads in
their apps. What labels, gold and their provenance need is never deleted.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.common.audit import Action, check_log, cut_log, old_entries, record
from apps.common.bulk import empty_write_ahead_log
from apps.common.jobs import JobRun, ensure_jobs, job
from apps.debates.models import Debate, Run, Turn
from apps.exchange.models import SavedExport
from apps.exchange.saved.services import delete_export
from apps.projects.invitations import KEPT as INVITATIONS_KEPT
from apps.projects.models import ImportBatch, Invitation, Notification
from apps.projects.notifications import KEPT as NOTIFICATIONS_KEPT

KIND = "labelhub.retention"
#: The only subject of the job.
_ONLY = 1
#: Seconds between two starts of the job by one worker.
EVERY = 6 * 3600.0
#: Rows of one transaction, and seconds between two, in which others write.
CHUNK, PAUSE = 1000, 0.05
_next_start = 0.0


def _delete(rows: QuerySet[Any], most: int) -> int:
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:most])
    return rows.filter(pk__in=ids).order_by().delete()[0] if ids else 0


def _delete_exports(rows: QuerySet[SavedExport], most: int) -> int:
    exports = list(rows.order_by("pk")[:most])
    for export in exports:
        delete_export(export=export)
    return len(exports)


def _empty_imports(rows: QuerySet[ImportBatch], most: int) -> int:
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:most])
    return ImportBatch.objects.filter(pk__in=ids).update(errors=[])


def _ended_runs(before: datetime) -> QuerySet[Run]:
    ended = (Run.Status.DONE, Run.Status.CANCELLED)
    return Run.objects.filter(status__in=ended, finished_at__lt=before, texts_deleted_at=None)


def _texts_of(runs: QuerySet[Run]) -> QuerySet[Turn]:
    """Turns of ended runs. A failed debate may be resumed, and needs its turns for that."""
    resumable = Q(debate__status=Debate.Status.FAILED, debate__run__status=Run.Status.DONE)
    return Turn.objects.filter(debate__run__in=runs).exclude(resumable)


def _old_texts(before: datetime) -> QuerySet[Turn]:
    return _texts_of(_ended_runs(before)).exclude(messages=[], text="", reasoning="")


def _empty_turns(rows: QuerySet[Turn], most: int) -> int:
    """Take out what was sent and written; answers, costs and times stay, which reports count.
    Without its key no later call reuses the answer."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:most])
    emptied = {"messages": [], "text": "", "reasoning": "", "call_key": ""}
    return Turn.objects.filter(pk__in=ids).update(**emptied)


def keeping_time(kept: timedelta | str) -> timedelta | None:
    """How long: a time, or the setting that holds the days; None: for ever."""
    if isinstance(kept, timedelta):
        return kept
    return timedelta(days=days) if (days := getattr(settings, kept)) > 0 else None


@dataclass(frozen=True, slots=True)
class Rule:
    """What is deleted.

    Attributes:
        name: for the command, the audit log and docs/privacy.md.
        kept: how long, as :func:`keeping_time` takes it.
        old: the rows from before a time.
        delete: deletes at most so many of them; returns how many.
    """

    name: str
    kept: timedelta | str
    old: Callable[[datetime], QuerySet[Any]]
    delete: Callable[[Any, int], int] = _delete

    def rows(self) -> QuerySet[Any] | None:
        """What would go now; None if nothing goes by its age."""
        kept = keeping_time(self.kept)
        return None if kept is None else self.old(timezone.now() - kept)


def _ended_sessions(before: datetime) -> QuerySet[UserSession]:
    """Devices of sessions that ended; of one that just begins, the session may not be stored."""
    key = OuterRef("session_key")
    current = Session.objects.filter(session_key=key, expire_date__gte=before)
    rows: QuerySet[UserSession] = UserSession.objects.filter(~Exists(current))
    return rows.filter(last_seen_at__lt=before - timedelta(hours=1))


AUDIT_DAYS, TURN_DAYS = "LABELHUB_AUDIT_DAYS", "LABELHUB_TURN_DAYS"
RULES = (
    Rule("sessions", timedelta(), lambda before: Session.objects.filter(expire_date__lt=before)),
    Rule("devices of sessions", timedelta(), _ended_sessions),
    Rule(
        "notifications",
        NOTIFICATIONS_KEPT,
        lambda before: Notification.objects.filter(created_at__lt=before),
    ),
    Rule(
        "invitations",
        INVITATIONS_KEPT,
        lambda before: Invitation.objects.filter(expires_at__lt=before),
    ),
    Rule(
        "import faults",
        "LABELHUB_LOG_DAYS",
        lambda before: ImportBatch.objects.filter(finished_at__lt=before).exclude(errors=[]),
        _empty_imports,
    ),
    Rule(
        "saved exports",
        "LABELHUB_EXPORT_DAYS",
        lambda before: SavedExport.objects.filter(finished_at__lt=before),
        _delete_exports,
    ),
    Rule("texts of runs", TURN_DAYS, _old_texts, _empty_turns),
    Rule(
        "console entries",
        AUDIT_DAYS,
        lambda before: LogEntry.objects.filter(action_time__lt=before),
    ),
)


def start_retention() -> None:
    """Start the job every few hours; called by workers, and cheap."""
    global _next_start  # noqa: PLW0603 - one worker per process
    if time.monotonic() >= _next_start:
        _next_start = time.monotonic() + EVERY
        ensure_jobs(KIND, [_ONLY])


@job(KIND, outward=True)
def apply_retention(run: JobRun) -> None:
    """Delete what is older than its schedule; the audit log tells how much of what, and is checked
    once a day."""
    apply_rules(run.keep)
    check_log(run.keep)


def apply_rules(keep: Callable[[], None] = lambda: None) -> dict[str, int]:
    """How many rows of each rule went. ``keep`` is called between chunks, and may end the work."""
    gone: dict[str, int] = {}
    for rule in RULES:
        while count := _apply(rule):
            gone[rule.name] = gone.get(rule.name, 0) + count
            keep()
            time.sleep(PAUSE)
    if kept := keeping_time(TURN_DAYS):
        _ended_runs(timezone.now() - kept).update(texts_deleted_at=timezone.now())
    if kept := keeping_time(AUDIT_DAYS):
        while count := cut_log(timezone.now() - kept):
            gone["audit log"] = gone.get("audit log", 0) + count
            keep()
    if gone:
        empty_write_ahead_log()
    return gone


def _apply(rule: Rule) -> int:
    rows = rule.rows()
    if rows is None:
        return 0
    with transaction.atomic():
        count = rule.delete(rows, CHUNK)
        if count:
            record(Action.RETENTION_APPLIED, name=rule.name, changes={"rows": (count, 0)})
    return count


def count_old() -> dict[str, int | None]:
    """How many rows of each rule would go now; None: none goes by its age."""
    counts: dict[str, int | None] = {}
    for rule in RULES:
        rows = rule.rows()
        counts[rule.name] = None if rows is None else rows.count()
    kept = keeping_time(AUDIT_DAYS)
    old = None if kept is None else old_entries(timezone.now() - kept)
    counts["audit log"] = None if old is None else old.count()
    return counts
