"""The whole truth about a queue, for one person: what they can do, and why there is no more."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Max
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.projects.selectors import reviewer_kind
from apps.reviews.models import Decision, Slot
from apps.reviews.selectors.queue import offered_to, open_places

#: How many holders are named; the others are counted.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Holding:
    """Items that one other person holds, and when the last of those leases lapses."""

    name: str
    items: int
    until: datetime


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """Counts of items. ``open`` can be claimed at once by this person."""

    items: int
    waiting: int
    open: int
    mine: int
    done_by_me: int
    done_today: int
    skipped_by_me: int
    for_experts: int
    decided: int
    held: list[Holding] = field(default_factory=list)

    @property
    def nothing_left(self) -> bool:
        """Whether there is truly nothing that this person could label now or take up again."""
        return not (self.open or self.mine)

    @property
    def settled(self) -> int:
        """How many items want no more labels of people."""
        return self.items - self.waiting

    @property
    def free_at(self) -> datetime | None:
        """When the last lease of others lapses, unless they renew it."""
        return max((holding.until for holding in self.held), default=None)


def queue_status(project: Project, user: User) -> QueueStatus:
    """Where the queue stands for ``user``. It counts: not for the path that hands out items."""
    now = timezone.now()
    offered = offered_to(project, user).order_by()
    states = ItemState.objects.filter(project=project).order_by()
    counts = states.aggregate(items=Count("pk"))
    expert = reviewer_kind(user, project) == ReviewerKind.EXPERT
    conflicts = states.filter(queued=True, stage=ItemState.Stage.CONFLICT)
    decisions = Decision.objects.standing(project, user).order_by()
    labelled = decisions.exclude(action=Decision.Action.SKIP)
    return QueueStatus(
        items=counts["items"],
        waiting=states.filter(queued=True).count(),
        open=open_places(offered, user.pk, now).count(),
        mine=Slot.objects.live(now).filter(project=project, holder=user).count(),
        done_by_me=labelled.count(),
        done_today=labelled.filter(created_at__gte=_midnight(now)).count(),
        skipped_by_me=decisions.skips().filter(item__state__queued=True).count(),
        for_experts=0 if expert else conflicts.count(),
        decided=states.filter(stage=ItemState.Stage.DECIDED).count(),
        held=list(_held_by_others(project, user, now)),
    )


def _held_by_others(project: Project, user: User, now: datetime) -> Iterable[Holding]:
    """Who holds what this person could label otherwise; the last holder lumps the rest together."""
    rows = (
        Slot.objects.live(now)
        .filter(project=project, item__in=offered_to(project, user).order_by().values("item_id"))
        .exclude(holder=user)
        .values("holder__username")
        .annotate(n=Count("item", distinct=True), until=Max("lease_until"))
        .order_by("-n", "holder__username")
    )
    found = [Holding(row["holder__username"] or "somebody", row["n"], row["until"]) for row in rows]
    yield from found[:NAMED]
    if rest := found[NAMED:]:
        yield Holding(
            f"{len(rest)} others", sum(one.items for one in rest), max(one.until for one in rest)
        )


def _midnight(now: datetime) -> datetime:
    local = timezone.localtime(now)
    return local - timedelta(
        hours=local.hour, minutes=local.minute, seconds=local.second, microseconds=local.microsecond
    )
