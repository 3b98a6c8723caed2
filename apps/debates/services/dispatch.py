"""Which runs a worker should take up, each named to one worker at a time."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from apps.debates.models import Debate, Run

#: How long a task may take from its dispatch to its start before another is sent.
DISPATCH = timedelta(seconds=15)


def unfinished_runs() -> list[int]:
    """Ids of the runs a worker should drive or close now; paused ones whose time has come too.

    A run named here is not named again for a few seconds, by any process: its task is on its way.
    """
    now = timezone.now()
    Run.objects.filter(status=Run.Status.PAUSED, resume_at__lte=now).update(
        status=Run.Status.QUEUED, pause_code="", message="", resume_at=None, resumed_at=now
    )
    driven = Debate.objects.filter(lease_token__isnull=False, lease_until__gt=now).order_by()
    going = Run.objects.going().filter(_not_on_its_way(now)).exclude(pk__in=driven.values("run"))
    # In no order: where not all find a place, each has the same chance.
    ids = going.order_by("?").values_list("pk", flat=True)
    return [run_id for run_id in ids if mark_dispatched(run_id)]


def mark_dispatched(run_id: int) -> bool:
    """Note that a task for the run is on its way; False when somebody else just has."""
    now = timezone.now()
    free = Run.objects.going().filter(_not_on_its_way(now), pk=run_id)
    return bool(free.update(dispatched_until=now + DISPATCH))


def take_back_dispatch(run_id: int) -> None:
    """Its task was turned away: the run may be named again at once."""
    Run.objects.filter(pk=run_id).update(dispatched_until=None)


def _not_on_its_way(now: datetime) -> Q:
    return Q(dispatched_until__isnull=True) | Q(dispatched_until__lte=now)
