"""The state of a queue for one person: what they can do, and why there is no more."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind
from apps.common.figures import count_words
from apps.labels.blindness import SETTLED
from apps.labels.models import Assignment, ItemState
from apps.projects.models import Project
from apps.projects.selectors import reviewer_kind
from apps.reviews.models import UNDOABLE, Decision, DecisionQuerySet, Purpose, ReviewerStatus, Slot
from apps.reviews.queue.selectors import (
    must_qualify,
    offered_to,
    open_items,
    reviewer_status_of,
    unseen_gold_questions,
)

#: How many holders are named; the others are counted.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Holding:
    """Items that one other person holds, and when the last of those leases lapses."""

    name: str
    items: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Qualifying:
    """Progress of a qualification; ``left`` gold questions are new to the reviewer."""

    done: int
    needed: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProgress:
    """The bar above an item: how many items are ``left`` for this person, ``with_gold`` of them,
    and how many they did today."""

    left: int
    with_gold: int
    done_today: int

    @property
    def today(self) -> int:
        """Items done today and left, together."""
        return self.done_today + self.left


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus(QueueProgress):
    """Counts of all ``items``, and of those ``waiting`` for people. This person can claim ``open``
    at once; ``for_experts`` and ``for_others`` wait for other kinds of people or for their
    assignees; ``on_desk`` are this person's adjudications."""

    items: int
    waiting: int
    open: int
    mine: int
    on_desk: int
    done_by_me: int
    skipped_by_me: int
    rejected_by_me: int
    postponed_by_me: int
    for_experts: int
    for_others: int
    decided: int
    unclear: int
    qualifying: Qualifying | None = None
    paused: ReviewerStatus | None = None
    held: list[Holding] = field(default_factory=list)

    @property
    def nothing_left(self) -> bool:
        """Whether no item can be handed to this person now."""
        if self.paused:
            return True
        if self.qualifying and not self.mine:
            return not self.qualifying.left
        return not (self.open or self.mine or self.postponed_by_me)


def queue_progress(project: Project, user: User) -> QueueProgress:
    """Progress of ``user``, who has an item. A few counts by indexes."""
    # Items that wait for this person's kind, without those that they have answered or skipped.
    open_to = ["", reviewer_kind(user, project)]
    waits = ItemState.objects.filter(project=project, queued=True, audience__in=open_to)
    waiting_too = Q(item__state__queued=True, item__state__audience__in=open_to)
    mine = UNDOABLE & ~Q(action=Decision.Action.POSTPONE) & waiting_too
    today = Q(label__rejected=False, created_at__gte=_midnight(timezone.now()))
    known = Q(item__state__gold__isnull=False)
    counts = Decision.objects.standing(project, user).aggregate(
        mine=Count("item", distinct=True, filter=mine),
        known=Count("item", distinct=True, filter=mine & known),
        today=Count("item", distinct=True, filter=today),
    )
    given = Assignment.objects.filter(
        project=project, user=user, open=True, item__state__audience=ItemState.Audience.NAMED
    )
    waiting = waits.order_by().aggregate(all=Count("pk"), known=Count("gold"))
    return QueueProgress(
        left=max(0, waiting["all"] - counts["mine"] + given.count()),
        with_gold=max(0, waiting["known"] - counts["known"]),
        done_today=counts["today"],
    )


def queue_status(project: Project, user: User) -> QueueStatus:
    """The queue for ``user``, who has no item. It counts all waiting items, which is too slow for
    the path that hands out items."""
    now = timezone.now()
    reviewer_status = reviewer_status_of(project, user)
    paused = (
        reviewer_status
        if reviewer_status and reviewer_status.status == ReviewerStatus.Status.PAUSED
        else None
    )
    states = ItemState.objects.filter(project=project).order_by()
    queued = states.filter(queued=True)
    settled = states.filter(stage__in=SETTLED).values_list("stage").annotate(n=Count("pk"))
    stages = Counter(dict(settled))
    decisions = Decision.objects.standing(project, user).order_by()
    labelled = decisions.filter(label__rejected=False)
    put_off = decisions.filter(action=Decision.Action.POSTPONE, item__state__queued=True)
    expert = reviewer_kind(user, project) == ReviewerKind.EXPERT
    audience = ItemState.Audience
    given = Assignment.objects.filter(project=project, user=user, open=True).values("item")
    named = queued.filter(audience=audience.NAMED).exclude(item__in=given)
    held = Slot.objects.live(now).filter(project=project, holder=user).order_by()
    holds = Counter(held.values_list("purpose", flat=True))
    on_desk = holds.pop(Purpose.SETTLE, 0)
    qualifying = None
    if must_qualify(project, user, reviewer_status):
        tried = Decision.objects.filter(project=project, reviewer=user, purpose=Purpose.QUALIFY)
        done = tried.exclude(label__rejected=True).count()
        left = unseen_gold_questions(project.pk, user.pk).count()
        qualifying = Qualifying(done, project.qualify_items, left)
    return QueueStatus(
        items=states.count(),
        waiting=queued.count(),
        open=0 if paused else open_items(project, user, now),
        mine=holds.total(),
        on_desk=on_desk,
        left=0,
        with_gold=0,
        done_by_me=_count_items(labelled),
        done_today=_count_items(labelled.filter(created_at__gte=_midnight(now))),
        skipped_by_me=decisions.skips().filter(item__state__queued=True).count(),
        rejected_by_me=decisions.only_rejecting().filter(item__state__queued=True).count(),
        postponed_by_me=put_off.count(),
        for_experts=0 if expert else queued.filter(audience=audience.EXPERT).count(),
        for_others=named.count() + queued.filter(audience=audience.CROWD).count() * expert,
        decided=stages[ItemState.Stage.DECIDED],
        unclear=stages[ItemState.Stage.UNCLEAR],
        qualifying=qualifying,
        paused=paused,
        held=list(_held_by_others(project, user, now)),
    )


def _count_items(decisions: DecisionQuerySet) -> int:
    """The number of different items; a revised answer counts once."""
    return decisions.values("item").distinct().count()


def _held_by_others(project: Project, user: User, now: datetime) -> Iterable[Holding]:
    """Holders of items that this person could label; the last row sums up the rest."""
    rows = (
        Slot.objects.live(now)
        .filter(project=project, item__in=offered_to(project, user).order_by().values("item_id"))
        .exclude(holder=user)
        .values("holder__username")
        .annotate(n=Count("item", distinct=True), until=Max("lease_until"))
        .order_by("-n", "holder__username")
    )
    found = [
        Holding(row["holder__username"] or gettext("somebody"), row["n"], row["until"])
        for row in rows
    ]
    yield from found[:NAMED]
    if rest := found[NAMED:]:
        yield Holding(
            ngettext("%(number)s other", "%(number)s others", len(rest))
            % {"number": count_words(len(rest))},
            sum(holding.items for holding in rest),
            max(holding.until for holding in rest),
        )


def _midnight(now: datetime) -> datetime:
    return timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
