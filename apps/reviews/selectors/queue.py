"""What is offered to whom. The hot path: one statement over the index of queued items."""

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db.models import (
    Count,
    Exists,
    F,
    FilteredRelation,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind
from apps.common.prepared import PreparedQuery, prepared
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from apps.projects.selectors import reviewer_kind
from apps.reviews.models import Decision, Slot


class Look(NamedTuple):
    """How far to look: so many ``items`` of the queue, or of what is ``offered`` to the user."""

    items: int
    offered: bool = False


#: Places found per look.
BREADTH = 8
#: The last finds what somebody who is far ahead of the others has not labelled yet. What others
#: hold may stand before it, but nobody holds more than a few items.
LOOKS = (Look(32), Look(512), Look(8192, offered=True))


class Place(NamedTuple):
    """A slot that may be claimed: ``slot_id`` is None where it has to be made first."""

    item_id: int
    number: int
    slot_id: int | None


def offered_to(project: Project, user: User) -> QuerySet[ItemState]:
    """Queued items that ``user`` may label, the urgent first, whoever holds them just now.

    Not what they have labelled or skipped; what reviewers disagree on goes to experts alone.
    """
    states = ItemState.objects.awaiting_review().filter(project=project)
    return _offered(states, user.pk, expert=_is_expert(project, user))


def _is_expert(project: Project, user: User) -> bool:
    return reviewer_kind(user, project) == ReviewerKind.EXPERT


def _offered(states: QuerySet[ItemState], user_id: int, *, expert: bool) -> QuerySet[ItemState]:
    said = Label.objects.current().filter(item=OuterRef("item_id"), annotator__user=user_id)
    skipped = Decision.objects.filter(
        item=OuterRef("item_id"),
        reviewer=user_id,
        action=Decision.Action.SKIP,
        undone_at__isnull=True,
    )
    if not expert:
        states = states.exclude(stage=ItemState.Stage.CONFLICT)
    return states.filter(~Exists(said), ~Exists(skipped))


def open_places(
    states: QuerySet[ItemState], user_id: int, now: datetime
) -> QuerySet[ItemState, Any]:
    """Where ``user_id`` may be given one more lease at ``now``: rows of :class:`Place`.

    Nobody holds an item twice: its labels are to be those of several people. Slot numbers are
    handed out in order and never exceed what the item wants, so labelled and live slots together
    cannot either, however claims interleave. Labels that came without a slot (by import, or after
    a lease had lapsed) count as well.
    """
    free = Q(slot__label__isnull=True) & (
        Q(slot__lease_until__isnull=True) | Q(slot__lease_until__lte=now)
    )
    live = Q(slot__label__isnull=True, slot__lease_until__gt=now)
    return (
        states.annotate(slot=FilteredRelation("item__slots"))
        .values("item_id", "priority", "wanted", "labels_by_people")
        .annotate(
            slot_id=Min("slot__pk", filter=free),
            number=Coalesce(Min("slot__number", filter=free), Max("slot__number") + 1, Value(1)),
            live=Count("slot__pk", filter=live),
            own=Count("slot__pk", filter=live & Q(slot__holder=user_id)),
        )
        .filter(own=0, number__lte=F("wanted"), live__lt=F("wanted") - F("labels_by_people"))
        .values_list("item_id", "number", "slot_id")
    )


def next_places(project: Project, user: User, now: datetime) -> list[Place]:
    """The first few open places for ``user``, in the order of the queue. The hot path.

    It looks at the head of the queue, and further only when nothing there is for them.
    """
    expert = _is_expert(project, user)
    for look in LOOKS:
        if rows := _places_within(look, expert=expert)(project.pk, user.pk, now):
            return [Place(*row) for row in rows]
    return []


@cache
def _places_within(
    look: Look, *, expert: bool
) -> PreparedQuery[[int, int, datetime], tuple[Any, ...]]:
    def places(project: int, user: int, now: datetime) -> QuerySet[ItemState, tuple[Any, ...]]:
        queued = ItemState.objects.awaiting_review().filter(project=project)
        states = _offered(queued, user, expert=expert) if look.offered else queued
        # By primary key alone: given a choice PostgreSQL works out every queued item before it
        # sorts, as it cannot know that nearly all of them pass the conditions.
        head = states[: look.items].values("pk")
        near = ItemState.objects.filter(pk__in=head).order_by("-priority", "item_id")
        return open_places(_offered(near, user, expert=expert), user, now)[:BREADTH]

    return prepared(places)


def held_slots(project: Project, user: User, now: datetime) -> list[Slot]:
    """The slots ``user`` holds in ``project``, longest held first."""
    return _held(now, project.pk, user.pk)


@prepared
def _held(now: datetime, project: int, holder: int) -> QuerySet[Slot]:
    live = Slot.objects.live(now).filter(project=project, holder=holder)
    return live.order_by("lease_until", "pk")
