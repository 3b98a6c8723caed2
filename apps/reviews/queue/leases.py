"""Leases: short, exclusive, renewable, on SQLite and PostgreSQL alike.

Exclusive because taking a slot is one statement: an UPDATE that only matches while nobody holds
the slot, or an INSERT that the unique (item, number) lets through once. ``skip_locked`` would not
do: SQLite ignores it. Items whose answer is known come among the others, to check people.
"""

import random
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.prepared import Update, prepared_update
from apps.common.rows import insert_row
from apps.labels.models import Label
from apps.projects.models import Project
from apps.reviews.comments.services import checked_words
from apps.reviews.models import Decision, Draft, Intervention, Purpose, ReviewerStatus, Slot
from apps.reviews.queue.selectors import (
    Place,
    held_slots,
    last_known,
    live_leases,
    must_qualify,
    next_known,
    next_places,
    offered_to,
    open_places,
    reviewer_status_of,
)
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError

LEASE_SECONDS = 600
#: What one page holds: the item on screen and the next one. More is only given back, by undo.
MOST_HELD = 2
#: Looks at the queue per claim. A place lost means that somebody else got it, so the queue moves on
#: meanwhile, and so many losses in a row do not happen by chance.
ROUNDS = 25
NOT_HELD = {"lease_token": None, "lease_until": None}
#: Seconds that a claim waits for those of others in the same process.
LONGEST_WAIT = 1.0
_claiming = threading.Lock()
#: So long after somebody was paused what they send may have been on their screen.
ON_SCREEN = timedelta(hours=1)
#: Which of the known items comes, and whether one comes, is to be foreseen by nobody.
_draws = random.SystemRandom()


class ReviewerPaused(LabelhubError):
    """A manager has paused this person's work, or they did not qualify for it."""

    code = "reviewer_paused"
    http_status = 403


class NotAsked(InvalidInput):
    """Somebody who is given no items answers one."""

    code = "not_asked"


def check_may_work(project: Project, user: User) -> ReviewerStatus | None:
    """Where ``user`` stands, if they may work.

    Raises:
        ReviewerPaused: they may not, with the reason that was given.
    """
    standing = reviewer_status_of(project, user)
    if standing is not None and standing.status == ReviewerStatus.Status.PAUSED:
        reason = f" The reason given: {standing.reason}" if standing.reason else ""
        raise ReviewerPaused(
            f"Your work in '{project.name}' is paused.{reason} "
            "What you have labelled is kept; ask a manager of the project to let you go on."
        )
    return standing


def check_asked(project: Project, user: User, label: Label) -> None:
    """Pass an answer to an item that the queue gave to ``user``, or that comes from somebody whom
    it would give items; of who was paused within the hour, too, who may have had it on screen.

    Raises:
        NotAsked: neither.
    """
    standing = reviewer_status_of(project, user)
    paused = standing is not None and standing.status == ReviewerStatus.Status.PAUSED
    if not (paused or must_qualify(project, user, standing)):
        return
    if standing and paused and standing.changed_at > timezone.now() - ON_SCREEN:
        return
    if Slot.objects.filter(label=label).exists():
        return
    why = "your work here is paused" if paused else "items of known answer come first"
    raise NotAsked(f"This item was not given to you: {why}. Nothing was stored.")


def known_purpose(project: Project, user: User, standing: ReviewerStatus | None) -> Purpose | None:
    """What an item of known answer would be handed out for now; None: none is due."""
    if must_qualify(project, user, standing):
        return Purpose.QUALIFY
    due = project.check_share and _draws.random() < project.check_share
    return Purpose.CHECK if due else None


def take_again(
    project: Project, user: User, until: datetime, *, besides: Collection[UUID] = ()
) -> Slot | None:
    """The item of known answer that ``user`` had and has not answered, skipped or put off: whoever
    came back to another one would know why."""
    now = timezone.now()
    left = Decision.objects.standing(project, user).filter(label__isnull=True)
    waiting = (
        Slot.objects.takeable(now)
        .filter(project=project, holder=user, number__isnull=True)
        .exclude(lease_token__in=besides)
        .exclude(item__in=left.order_by().values("item"))
    )
    return _lease_again(waiting.order_by("pk").first(), until, now)


def _lease_again(slot: Slot | None, until: datetime, now: datetime) -> Slot | None:
    if slot is None:
        return None
    slot.lease_token, slot.lease_until = uuid.uuid4(), until
    mine = Slot.objects.takeable(now).filter(pk=slot.pk)
    lease = {"lease_token": slot.lease_token, "lease_until": until}
    return slot if mine.update(**lease) else None


def take_known(project: Project, user: User, purpose: Purpose, until: datetime) -> Slot | None:
    """A lease on an item of known answer that ``user`` has not seen; None where none is left.

    Nobody else is kept from it: any number of people can be checked by one item at a time.
    """
    last = last_known.first(project.pk)
    if last is None:
        return None
    # From a random place on.
    found = next_known.first(project.pk, user.pk, _draws.randrange(last[0]))
    found = found or next_known.first(project.pk, user.pk, 0)
    if found is None:
        return None
    lease = Slot.new_lease(until)
    slot = Slot(item_id=found[0], project=project, purpose=purpose, holder=user, **lease)
    # None where another page of theirs has it.
    return slot if insert_row(slot, if_free=True).pk else None


class QueueBusy(Conflict):
    """So many people claim at once that no place could be had; try again."""

    code = "queue_busy"
    retryable = True


def claim_next_item(
    *,
    project: Project,
    user: User,
    besides: Collection[UUID] = (),
    anew: bool = False,
    first: int | None = None,
) -> Slot | None:
    """Hand out the next item to ``user``: the slot, held by them for :data:`LEASE_SECONDS`.

    Items whose answer is known are mixed in (see :func:`take_known`).

    An item they hold already comes first, with the same token and a renewed lease, so that asking
    twice strands nothing. ``besides`` names tokens to leave out: what a page has on screen when it
    asks for one more. ``anew`` changes the token of a held item: a page that is being left may
    still give back the old one. ``first`` is the item that is wanted of those they hold.

    None when nothing is left for them just now (see ``queue_status``).

    Raises:
        ReviewerPaused: a manager has paused them, or they did not qualify.
        QueueBusy: every place was taken by somebody else in the same moment.
    """
    standing = check_may_work(project, user)
    with _in_turn():
        now = timezone.now()
        until = now + timedelta(seconds=LEASE_SECONDS)
        held = held_slots(now, project.pk, user.pk)
        for slot in sorted(held, key=lambda slot: slot.item_id != first):
            if slot.lease_token in besides:
                continue
            mine = Slot.objects.filter(pk=slot.pk, lease_token=slot.lease_token, label=None)
            slot.lease_until, slot.lease_token = until, uuid.uuid4() if anew else slot.lease_token
            if mine.update(lease_until=until, lease_token=slot.lease_token):
                return slot
        if len(held) >= MOST_HELD:
            return None
        purpose = known_purpose(project, user, standing)
        checks = purpose or project.check_share
        if checks and (known := take_again(project, user, until, besides=besides)):
            return known
        if purpose and (known := take_known(project, user, purpose, until)):
            return known
        if purpose == Purpose.QUALIFY:
            return None  # no real work before
        return _take_first(project, user, until) or _take_postponed(project, user, until)


@contextmanager
def _in_turn() -> Iterator[None]:
    """Claims of this process one after the other: at once they would all see the same head of the
    queue, one would get it and the rest look again. No item is handed out twice without it, so
    nobody waits long for it."""
    came = _claiming.acquire(timeout=LONGEST_WAIT)
    try:
        yield
    finally:
        if came:
            _claiming.release()


def _take_first(project: Project, user: User, until: datetime) -> Slot | None:
    for _ in range(ROUNDS):
        now = timezone.now()
        places = next_places(project, user, now)
        if not places:
            return None
        for place in places:
            if taken := take(place, project=project, user=user, until=until, now=now):
                return taken
    raise QueueBusy("Very many people asked for an item at once. Ask again in a moment.")


def _take_postponed(project: Project, user: User, until: datetime) -> Slot | None:
    """What they put off comes back once nothing else is left for them."""
    put_off = Decision.objects.standing(project, user).filter(action=Decision.Action.POSTPONE)
    if not put_off.order_by().update(undone_at=timezone.now()):
        return None
    return take_again(project, user, until) or _take_first(project, user, until)


def claim_begun(*, project: Project, user: User, item_id: int) -> Slot | None:
    """A lease on an item that ``user`` has begun to answer; None where it is not to be had now.

    Raises:
        ReviewerPaused: a manager has paused them, or they did not qualify.
    """
    standing = check_may_work(project, user)
    begun = Draft.objects.filter(project=project, user=user, item=item_id)
    if must_qualify(project, user, standing) or not begun.exists():
        return None
    return claim_item(project=project, user=user, item_id=item_id)


def claim_item(*, project: Project, user: User, item_id: int) -> Slot | None:
    """A lease on this very item for ``user``, or None where no place is free."""
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    # One of known answer is theirs still, whatever became of it meanwhile.
    theirs = Slot.objects.takeable(now).filter(project=project, holder=user, item=item_id)
    if known := _lease_again(theirs.filter(number__isnull=True).first(), until, now):
        return known
    offered = offered_to(project, user).filter(item=item_id)
    row = open_places(offered, user.pk, now, given=True).first()
    return take(Place(*row), project=project, user=user, until=until, now=now) if row else None


def take(
    place: Place,
    *,
    project: Project,
    user: User,
    until: datetime,
    now: datetime,
    purpose: Purpose = Purpose.WORK,
) -> Slot | None:
    """Take the place, unless somebody else did since it was looked at."""
    lease = {"holder": user, "purpose": purpose, **Slot.new_lease(until)}
    slot = Slot(
        pk=place.slot_id, item_id=place.item_id, number=place.number, project=project, **lease
    )
    if place.slot_id is not None:
        return slot if Slot.objects.takeable(now).filter(pk=place.slot_id).update(**lease) else None
    return slot if insert_row(slot, if_free=True).pk else None


def note_shown(slot: Slot, suggestion: Label | None) -> None:
    """Keep what the holder is handed with their lease: an answer that does not say beside which
    suggestion it was given was given beside this one."""
    if suggestion and not suggestion.abstained and slot.shown_id != suggestion.pk:
        held = Slot.objects.filter(pk=slot.pk, lease_token=slot.lease_token)
        held.update(shown=suggestion)


def renew_leases(*, project: Project, user: User, tokens: Iterable[UUID]) -> list[UUID]:
    """Prolong what ``user`` holds; returns the tokens that are (again) theirs.

    A lapsed lease that nobody took meanwhile is theirs again.
    """
    mine = Slot.objects.held_by(user, tokens).filter(project=project)
    mine.update(lease_until=timezone.now() + timedelta(seconds=LEASE_SECONDS))
    kept = mine.values_list("lease_token", flat=True)
    return [token for token in kept if token is not None]


def release_leases(*, project: Project, user: User, tokens: Iterable[UUID]) -> int:
    """Give back what ``user`` holds under these tokens; returns how many there were.

    An item of known answer, which is nobody else's, stays theirs for when they come back.
    """
    return leave_slots(Slot.objects.held_by(user, tokens).filter(project=project))


def leave_slots(slots: QuerySet[Slot]) -> int:
    """Let others have these slots of one person, and keep for that person what is nobody else's;
    returns how many were left."""
    waiting = slots.filter(label__isnull=True)
    freed = waiting.filter(number__isnull=False).update(holder=None, **NOT_HELD)
    return freed + waiting.filter(number__isnull=True).update(**NOT_HELD)


def release_all(*, project: Project, user: User) -> int:
    """Let go of whatever ``user`` holds in ``project``, lapsed or not; returns how much it was."""
    return free_slots(Slot.objects.filter(project=project, holder=user))


def free_slots(slots: QuerySet[Slot]) -> int:
    """Let go of slots, whoever holds them; labelled ones stay as they are. Returns how many.

    A place on an item of known answer is nobody else's: it goes.
    """
    waiting = slots.filter(label__isnull=True)
    known, _ = waiting.filter(number__isnull=True).delete()
    return known + waiting.update(holder=None, **NOT_HELD)


def was_asked(user: User, item_id: int) -> bool:
    """Whether the queue has handed the item to ``user``, however long ago."""
    return _asked(user, item_id).exists()


def _asked(user: User, item_id: int) -> QuerySet[Slot]:
    return Slot.objects.filter(item=item_id, holder=user, label__isnull=True)


def fill_slot(user: User, label: Label, own: Label | None, lease_token: UUID | None) -> bool:
    """Mark the slot the label fills; False where the lease had lapsed or gone to somebody else.

    Any slot of theirs on the item will do: another tab may hold it under a newer token.
    """
    if own is not None and Slot.objects.filter(label=own).update(label=label):
        free_slots(_asked(user, label.item_id))  # one label of theirs fills one place
        return True
    now = timezone.now()
    if lease_token and _fill_held(user.pk, label.item_id, lease_token, now, label.pk):
        return True  # as nearly always
    mine = _asked(user, label.item_id)
    slot = mine.filter(lease_until__gt=now).first() or mine.first()
    if slot is None or not mine.filter(pk=slot.pk).update(label=label, **NOT_HELD):
        return False  # gone to somebody else, perhaps a moment ago
    return slot.lease_until is not None and slot.lease_until > now


def vacate_slot(user: User, rejection: Label, own: Label | None) -> None:
    """Let others have the place of ``user``, who only rejected the suggestion; a place on an item
    of known answer, which is nobody else's, is done with that."""
    if own is not None:
        Slot.objects.filter(label=own).update(label=None, holder=user)
    mine = _asked(user, rejection.item_id)
    mine.filter(number__isnull=True).update(label=rejection, **NOT_HELD)
    mine.update(holder=None, **NOT_HELD)


@prepared_update
def _fill_held(user: int, item: int, token: UUID, now: datetime, label: int) -> Update:
    held = Slot.objects.filter(holder=user, item=item, label__isnull=True, lease_until__gt=now)
    return held.filter(lease_token=token), {"label": label, **NOT_HELD}


@transaction.atomic
def revoke_leases(
    *, project: Project, slot_ids: Collection[int], by: User, reason: str = ""
) -> int:
    """Free these slots of the project, whoever holds them; returns how many were held.

    An answer that a holder sends later is stored as one that came late.
    """
    why = checked_words("reason", reason)
    held = list(live_leases(project).filter(pk__in=slot_ids).values_list("holder", "pk"))
    for holder in {holder for holder, _ in held}:
        theirs = [pk for owner, pk in held if owner == holder]
        freed = free_slots(live_leases(project).filter(pk__in=theirs).order_by())
        Intervention.objects.create(
            project=project,
            actor=by,
            action=Intervention.Action.REVOKE,
            subject_id=holder,
            reason=why,
            items=freed,
        )
    return len(held)
