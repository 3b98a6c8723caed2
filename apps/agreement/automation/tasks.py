"""What must happen though nobody looks at the page.

The worker's housekeeping asks every few seconds which promises there are; a task looks after each:
it watches, and carries out whatever its row says is still to be done. So nothing of it depends on
the request that began it, nor on a process that was killed in the midst of it.
"""

import time
from datetime import timedelta

from celery import shared_task
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.agreement.automation.guarantee import LIVE, live_guarantee, settle
from apps.agreement.automation.judging import Drawn
from apps.agreement.automation.watching import check, watch
from apps.agreement.models import Guarantee
from apps.labels.models import ItemState
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Audit

#: Seconds between two rounds in a process, and between two looks of all processes together.
EVERY = 15.0
#: How long a task may take from its dispatch to its start, and how long for its work, before
#: another is sent.
DISPATCH, AT_WORK = timedelta(seconds=30), timedelta(minutes=2)
#: With more items than this the request does not wait for them.
AT_ONCE = 2000
_last: list[float] = []


@shared_task(name="agreement.look_after")
def look_after_task(guarantee_id: int) -> None:
    """Watch one promise and carry out what it says."""
    found = Guarantee.objects.filter(pk=guarantee_id).select_related("project").first()
    if found is None:
        return
    mine = timezone.now() + AT_WORK
    rows = Guarantee.objects.filter(pk=guarantee_id)
    rows.update(dispatched_until=mine)
    look_after(found)
    # Not where somebody has changed it meanwhile: that wants a task at once.
    rows.filter(dispatched_until=mine).update(
        dispatched_until=timezone.now() + timedelta(seconds=EVERY)
    )


def look_after(guarantee: Guarantee) -> None:
    """Watch, then bring the items into line with what came of it."""
    watch(guarantee)
    settle(guarantee)


def carry_out(guarantee: Guarantee) -> None:
    """Bring the items into line now where they are few, else in the background."""
    if ItemState.objects.filter(project=guarantee.project_id).count() <= AT_ONCE:
        settle(guarantee)
    else:
        _send(guarantee.pk)


def look(project: Project) -> tuple[Guarantee | None, Drawn | None, Audit | None]:
    """The live promise of the project, its sample and its audits, after a look at whether it still
    holds: for pages, which must not show as kept what is broken. Items follow in the background:
    whoever looks may be anybody."""
    found = live_guarantee(project)
    if found is None:
        return None, None, None
    found.project = project
    drawn, audit = check(found)
    if not found.applied:
        _send(found.pk)
    return (found, drawn, audit) if found.state in LIVE else (None, None, None)


def keep_guarantees() -> int:
    """Send a task for each promise that is live or not yet carried out, and that no task is about;
    how many. For the worker's housekeeping: every :data:`EVERY` seconds in a process, at no cost in
    between, and so often by all processes together."""
    now = time.monotonic()
    if _last and now - _last[0] < EVERY:
        return 0
    _last[:] = [now]
    wanted = Guarantee.objects.filter(Q(state__in=LIVE) | Q(applied=False))
    ids = [pk for pk in wanted.order_by().values_list("pk", flat=True) if _mark_dispatched(pk)]
    for guarantee_id in ids:
        look_after_task.delay(guarantee_id)
    return len(ids)


def _send(guarantee_id: int) -> None:
    """A broker that is down is logged, nothing more: the next round tries again."""
    if _mark_dispatched(guarantee_id):
        transaction.on_commit(lambda: look_after_task.delay(guarantee_id), robust=True)


def _mark_dispatched(guarantee_id: int) -> bool:
    """Note that a task for it is on its way; False where one is, or is at work."""
    now = timezone.now()
    unsent = Q(dispatched_until__isnull=True) | Q(dispatched_until__lte=now)
    free = Guarantee.objects.filter(unsent, pk=guarantee_id)
    return bool(free.update(dispatched_until=now + DISPATCH))
