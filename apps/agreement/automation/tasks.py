"""The background work of promises.

Each promise that is live or not yet carried out is a job: it watches, and carries out whatever its
row says is still to be done. Nothing depends on the request that began it, or on a process that was
killed meanwhile.
"""

from datetime import timedelta

from django.db.models import Q

from apps.agreement.automation.guarantee import (
    KIND,
    LIVE,
    check_guarantee,
    live_guarantee,
    settle_items,
    watch_guarantee,
)
from apps.agreement.automation.sample import Drawn
from apps.agreement.models import Guarantee
from apps.common.jobs import JobRun, Postponed, ensure_jobs, job
from apps.labels.models import ItemState
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Audit

#: Between two looks at a promise.
PAUSE = timedelta(seconds=15)
#: With more items than this the request does not wait for them.
AT_ONCE = 2000
UNDONE = Q(state__in=LIVE) | Q(applied=False)


@job(KIND, lease=timedelta(minutes=2))
def look_after_job(run: JobRun) -> None:
    """Watch one promise and update its items, until there is nothing to do."""
    wanted = Guarantee.objects.filter(UNDONE, pk=run.subject).select_related("project")
    if found := wanted.first():
        watch_guarantee(found)
        settle_items(found)
        raise Postponed("It is looked at again.", PAUSE)


def settle_if_small(guarantee: Guarantee) -> None:
    """Update the items now if they are few; else a job does it."""
    if ItemState.objects.filter(project=guarantee.project_id).count() <= AT_ONCE:
        settle_items(guarantee)


def check_live_promise(project: Project) -> tuple[Guarantee | None, Drawn | None, Audit | None]:
    """The project's live promise, its sample and its audits, after a check that it still holds:
    no page may show a broken promise as kept. The items follow in the background."""
    found = live_guarantee(project)
    if found is None:
        return None, None, None
    found.project = project
    drawn, audit = check_guarantee(found)
    return (found, drawn, audit) if found.state in LIVE else (None, None, None)


def keep_guarantees() -> None:
    """Make sure that each promise that is live or not yet carried out has its job."""
    wanted = Guarantee.objects.filter(UNDONE)
    ensure_jobs(KIND, list(wanted.order_by("pk").values_list("pk", flat=True)))
