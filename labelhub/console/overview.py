"""The first page of the console: all that an operator on call looks at, in one screen."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.admin import SOON
from apps.accounts.models import ApiKey, User
from apps.accounts.operations import locked_out
from apps.common.figures import duration, localise, money, share_words
from apps.common.health import LEAST_ROOM, bucket_answers, redis_answers
from apps.common.holds import held_since
from apps.common.metric_files import live_processes
from apps.common.queues import QUEUES
from apps.common.shared_files import in_bucket
from apps.common.workers import SILENCE, heartbeat_ages, list_workers
from apps.debates.models import Run
from apps.llm.admin import STATES as PROVIDER_STATES
from apps.llm.admin import known_cost
from apps.llm.models import Provider
from apps.projects.audit_log import action_label, all_entries
from labelhub.admin import STATES, job_words, list_jobs
from labelhub.observe.state import job_rows, unchained_seconds

#: Rows of each list.
MOST = 5
MOST_ENTRIES = 6
#: Days of spending.
PERIODS = (1, WEEK := 7, MONTH := 30)
#: Seconds that entries may wait for the audit chain.
UNCHAINED = 60.0
OK, WARN, BAD = "success", "warning", "danger"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the installation: its name, how it is, and its tone."""

    name: str | Promise
    state: str
    tone: str = OK


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The context of the page, by a number of statements that does not depend on the data."""
    now = timezone.now()
    spending, ages, processes = read_spending(now), heartbeat_ages(), read_processes()
    return context | {
        "parts": read_parts(ages, spending, unchained_seconds(now)),
        "held": held_since(),
        "processes": processes,
        "no_worker": not any(row["queues"] for row in processes),
        "unserved": [queue for queue in QUEUES if ages.get(queue, timedelta.max) > SILENCE],
        "jobs": read_job_figures(now),
        "stuck": [
            (job, job_words(job.kind)) for job in list_jobs().exclude(message="")[:MOST]
        ],
        "runs": read_runs(),
        "spending": spending[:MOST],
        "more_providers": max(len(spending) - MOST, 0),
        "people": read_people(now),
        "keys": read_keys(now),
        "entries": [
            (entry, action_label(entry))
            for entry in all_entries(request.user)[:MOST_ENTRIES]  # type: ignore[arg-type]  # signed in
        ],
    }  # fmt: skip


def read_parts(
    ages: dict[str, timedelta], spending: list[dict[str, Any]], unchained: float
) -> list[Part]:
    """How the parts are. The database answered, or there were no page."""
    parts = [Part(_("Database"), gettext("ok"))]
    if settings.REDIS_URL:
        parts.append(_part(_("Redis"), redis_answers(), gettext("not reachable")))
    if ages:
        silence = min(ages.values())
        gone = gettext("none for %(time)s") % {"time": duration(silence.total_seconds())}
        parts.append(_part(_("Workers"), silence <= SILENCE, gone))
    else:
        parts.append(Part(_("Workers"), gettext("none yet"), WARN))
    if in_bucket():
        parts.append(_part(_("Files"), bucket_answers(), gettext("the bucket does not answer")))
    parts.append(_disk())
    failing = [row for row in spending if row["tone"] == BAD]
    if spending:
        names = ", ".join(row["name"] for row in failing)
        parts.append(_part(_("Models"), not failing, names))
    late = gettext("%(time)s behind") % {"time": duration(unchained)}
    parts.append(_part(_("Audit log"), unchained <= UNCHAINED, late))
    return parts


def _part(name: Promise, good: bool, fault: str) -> Part:  # noqa: FBT001 - reads well
    return Part(name, gettext("ok")) if good else Part(name, fault, BAD)


def _disk() -> Part:
    try:
        disk = shutil.disk_usage(settings.DATA_DIR)
    except OSError:
        return Part(_("Disk"), gettext("not reachable"), BAD)
    words = gettext("%(size)s GB free") % {"size": localise(f"{disk.free / 1e9:.1f}")}
    if disk.free < LEAST_ROOM:
        return Part(_("Disk"), words, BAD)
    return Part(_("Disk"), words, WARN if disk.free < disk.total / 10 else OK)


def read_processes() -> list[dict[str, Any]]:
    """Workers of all machines with what they serve, and web processes of this machine."""
    rows = [
        {
            "name": worker.name,
            "role": _("worker"),
            "queues": ", ".join(worker.queues),
            "seen": duration(worker.age.total_seconds()),
            "tone": OK if worker.age <= SILENCE else BAD,
        }
        for worker in list_workers()[:MOST]
    ]
    web = [process.pid for process in live_processes() if process.role == "web"]
    rows += [
        {"name": f"{pid}", "role": _("web, this machine"), "queues": "", "seen": "", "tone": OK}
        for pid in web[:MOST]
    ]
    return rows


def read_job_figures(now: datetime) -> dict[str, Any]:
    """Jobs by state, and how long the oldest waits."""
    rows = list(job_rows(now))
    oldest = max((row.oldest for row in rows if row.state == "waiting"), default=0.0)
    return {
        "states": [
            (words, sum(row.jobs for row in rows if row.state == state), state)
            for state, words in STATES.items()
        ],
        "oldest": duration(oldest) if oldest else "",
    }


def read_runs() -> list[dict[str, Any]]:
    """The unfinished runs, those that pause first, with what they spent."""
    runs = (
        Run.objects.filter(status__in=["queued", "running", "paused"])
        .select_related("project")
        .only("status", "message", "protocol", "cost_nanousd", "budget_nanousd", "project__slug")
        .order_by("status", "-pk")[:MOST]
    )
    return [
        {
            "run": run,
            "url": reverse("run_detail", args=[run.project.slug, run.pk]),
            "spent": money(run.cost_nanousd),
            "budget": money(run.budget_nanousd) if run.budget_nanousd is not None else "",
            "tone": WARN if run.status == Run.Status.PAUSED else OK,
        }
        for run in runs
    ]


def read_spending(now: datetime) -> list[dict[str, Any]]:
    """Each provider with its state and what was spent with it: today, in 7 and in 30 days (UTC);
    the most expensive first."""
    today = now.astimezone(UTC).date()

    def total(field: str, days: int) -> Sum:
        since = Q(daily_use__day__gt=today - timedelta(days=days))
        return Sum(f"daily_use__{field}", filter=since, default=0)

    providers = (
        Provider.objects.exclude(kind=Provider.Kind.OFFLINE)
        .annotate(
            **{f"cost_{days}": total("cost_nanousd", days) for days in PERIODS},
            **{f"unpriced_{days}": total("unpriced", days) for days in PERIODS},
            tokens=total("tokens", MONTH),
            calls=total("requests", MONTH),
            calls_today=total("requests", 1),
            errors=total("errors", 1),
        )
        .filter(Q(removed_at=None) | Q(calls__gt=0))
        .select_related("project")
        .order_by(f"-cost_{MONTH}", "name")
    )
    return [_spending_row(provider) for provider in providers]


def _spending_row(provider: Any) -> dict[str, Any]:
    share = provider.errors / provider.calls_today if provider.calls_today else 0.0
    bad = provider.state in ("failing", "limited") or share >= 0.5
    return {
        "provider": provider,
        "name": provider.name,
        "state": gettext(PROVIDER_STATES[provider.state]),
        "tone": BAD if bad else WARN if provider.state == "paused" else OK,
        "costs": [
            known_cost(getattr(provider, f"cost_{days}"), getattr(provider, f"unpriced_{days}"))
            for days in PERIODS
        ],
        "tokens": provider.tokens,
        "calls": provider.calls,
        "errors": share_words(share) if provider.calls_today else "–",
    }


def read_people(now: datetime) -> dict[str, int]:
    """How many people there are, and how many cannot sign in."""
    active = Q(is_active=True)
    found: dict[str, int] = User.objects.aggregate(
        active=Count("pk", filter=active),
        operators=Count("pk", filter=active & Q(is_superuser=True)),
        week=Count("pk", filter=active & Q(last_login__gt=now - timedelta(days=WEEK))),
        inactive=Count("pk", filter=~active),
    )
    return found | {"locked": locked_out().count()}


def read_keys(now: datetime) -> dict[str, int]:
    """How many keys work, and how many of them want a look."""
    found: dict[str, int] = ApiKey.objects.active().aggregate(
        works=Count("pk"),
        soon=Count("pk", filter=Q(expires_at__lte=now + SOON)),
        unused=Count("pk", filter=Q(last_used_at=None)),
    )
    return found
