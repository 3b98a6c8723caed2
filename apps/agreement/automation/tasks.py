"""What must happen though nobody looks at the page.

Each promise that is live or not yet carried out is a job: it watches, and carries out whatever its
row says is still to be done. So nothing of it depends on the request that began it, nor on a
process that was killed in the midst of it.
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
    """Watch one promise and carry out what it says, until there is nothing to do."""
    wanted = Guarantee.objects.filter(UNDONE, pk=run.subject).select_related("project")
    if found := wanted.first():
        watch_and_settle(found)
        raise Postponed("It is looked at again.", PAUSE)


def watch_and_settle(guarantee: Guarantee) -> None:
    """Watch, then bring the items into line with what came of it."""
    watch_guarantee(guarantee)
    settle_items(guarantee)


def settle_if_small(guarantee: Guarantee) -> None:
    """Bring the items into line now where they are few; else it goes on in the background."""
    if ItemState.objects.filter(project=guarantee.project_id).count() <= AT_ONCE:
        settle_items(guarantee)


def check_live_promise(project: Project) -> tuple[Guarantee | None, Drawn | None, Audit | None]:
    """The live promise of the project, its sample and its audits, after a look at whether it still
    holds: for pages, which must not show as kept what is broken. Items follow in the background:
    whoever looks may be anybody."""
    found = live_guarantee(project)
    if found is None:
        return None, None, None
    found.project = project
    drawn, audit = check_guarantee(found)
    return (found, drawn, audit) if found.state in LIVE else (None, None, None)


def keep_guarantees() -> None:
    """See to it that each promise that is live or not yet carried out is looked after."""
    wanted = Guarantee.objects.filter(UNDONE)
    ensure_jobs(KIND, list(wanted.order_by("pk").values_list("pk", flat=True)))
