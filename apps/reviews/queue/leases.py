"""Leases: short, exclusive, renewable, on SQLite and PostgreSQL alike.

Taking a slot is one statement: an UPDATE that matches only while nobody holds the slot, or an
INSERT that the unique (item, number) admits once. ``skip_locked`` would not do, as SQLite ignores
it. Gold questions are mixed in to check people.
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
from apps.common.audit import Action, record
from apps.common.prepared import Update, prepared_update
from apps.common.rows import insert_row
from apps.labels.models import Label
from apps.projects.models import Project
from apps.reviews.comments.services import validate_words
from apps.reviews.models import Decision, Draft, Intervention, Purpose, ReviewerStatus, Slot
from apps.reviews.queue.selectors import (
    Place,
    held_slots,
    last_gold_question,
    live_leases,
    must_qualify,
    next_gold_question,
    next_places,
    offered_to,
    open_places,
    reviewer_status_of,
)
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError
from labelhub.core.phrases import Phrase, join_sentences

LEASE_SECONDS = 600
#: Slots of one page: the item on screen and the next one. Only undo gives back more.
MOST_HELD = 2
#: Attempts per claim. An attempt fails if others take all its places; so many failures in a row do
#: not happen by chance.
ROUNDS = 25
NOT_HELD = {"lease_token": None, "lease_until": None}
#: Seconds that a claim waits for other claims of the same process.
LONGEST_WAIT = 1.0
_claiming = threading.Lock()
#: For this long after a pause an answer may come from a screen that was open before.
ON_SCREEN = timedelta(hours=1)
#: Nobody can foresee whether a gold question comes, and which one.
_draws = random.SystemRandom()


class ReviewerPaused(LabelhubError):
    """A manager has paused the reviewer, or they did not qualify."""

    code = "reviewer_paused"
    http_status = 403


class NotAsked(InvalidInput):
    """A reviewer who may not work answers an item that they were never given."""

    code = "not_asked"


def check_may_work(project: Project, user: User) -> ReviewerStatus | None:
    """The status of ``user``, if they may work.

    Raises:
        ReviewerPaused: they may not; the message holds the reason.
    """
    reviewer_status = reviewer_status_of(project, user)
    if reviewer_status is not None and reviewer_status.status == ReviewerStatus.Status.PAUSED:
        given = reviewer_status.reason
        raise ReviewerPaused(
            join_sentences(
                Phrase("Your work in '%(name)s' is paused.", name=project.name),
                Phrase("The reason given: %(reason)s", reason=given) if given else "",
                Phrase("Your labels are kept. Ask a manager of the project to let you work again."),
            )
        )
    return reviewer_status


def check_asked(project: Project, user: User, label: Label) -> None:
    """Pass if ``user`` may work, was paused within the hour, or was given the item.

    Raises:
        NotAsked: none of these holds.
    """
    reviewer_status = reviewer_status_of(project, user)
    paused = reviewer_status is not None and reviewer_status.status == ReviewerStatus.Status.PAUSED
    if not (paused or must_qualify(project, user, reviewer_status)):
        return
    if reviewer_status and paused and reviewer_status.changed_at > timezone.now() - ON_SCREEN:
        return
    if Slot.objects.filter(label=label).exists():
        return
    why = (
        Phrase("your work here is paused") if paused else Phrase("you answer gold questions first")
    )
    raise NotAsked("You were not given this item: %(why)s. Nothing was stored.", why=why)


def gold_question_purpose(
    project: Project, user: User, reviewer_status: ReviewerStatus | None
) -> Purpose | None:
    """Why a gold question would be handed out now; None if none is due."""
    if must_qualify(project, user, reviewer_status):
        return Purpose.QUALIFY
    due = project.check_share and _draws.random() < project.check_share
    return Purpose.CHECK if due else None


def retake_gold_question(
    project: Project, user: User, until: datetime, *, besides: Collection[UUID] = ()
) -> Slot | None:
    """A new lease on the gold question that ``user`` was given and has not answered, skipped or
    postponed: another item in its place would give it away."""
    now = timezone.now()
    left = Decision.objects.standing(project, user).filter(label__isnull=True)
    waiting = (
        Slot.objects.takeable(now)
        .filter(project=project, holder=user, number__isnull=True)
        .exclude(lease_token__in=besides)
        .exclude(item__in=left.order_by().values("item"))
    )
    return _renew_slot(waiting.order_by("pk").first(), until, now)


def _renew_slot(slot: Slot | None, until: datetime, now: datetime) -> Slot | None:
    if slot is None:
        return None
    slot.lease_token, slot.lease_until = uuid.uuid4(), until
    mine = Slot.objects.takeable(now).filter(pk=slot.pk)
    lease = {"lease_token": slot.lease_token, "lease_until": until}
    return slot if mine.update(**lease) else None


def lease_gold_question(
    project: Project, user: User, purpose: Purpose, until: datetime
) -> Slot | None:
    """A lease on a gold question that is new to ``user``; None if none is left.

    Any number of people can hold the same gold question.
    """
    last = last_gold_question.first(project.pk)
    if last is None:
        return None
    # From a random item on.
    found = next_gold_question.first(project.pk, user.pk, _draws.randrange(last[0]))
    found = found or next_gold_question.first(project.pk, user.pk, 0)
    if found is None:
        return None
    lease = Slot.new_lease(until)
    slot = Slot(item_id=found[0], project=project, purpose=purpose, holder=user, **lease)
    # None if another page of the same user has it.
    return slot if insert_row(slot, if_free=True).pk else None


class QueueBusy(Conflict):
    """Too many people claim at once; try again."""

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

    Gold questions are mixed in (see :func:`lease_gold_question`).

    An item that they hold comes first, with the same token and a renewed lease, so that asking
    twice strands nothing. ``besides``: tokens to leave out, those that a page has on screen when it
    asks for one more. ``anew`` changes the token of a held item, because a page that is being left
    may still give back the old one. ``first``: the held item to prefer.

    None if nothing is left for them now (see ``queue_status``).

    Raises:
        ReviewerPaused: a manager has paused them, or they did not qualify.
        QueueBusy: others took every place in the same moment.
    """
    reviewer_status = check_may_work(project, user)
    with _one_claim_at_a_time():
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
        purpose = gold_question_purpose(project, user, reviewer_status)
        checks = purpose or project.check_share
        if checks and (known := retake_gold_question(project, user, until, besides=besides)):
            return known
        if purpose and (known := lease_gold_question(project, user, purpose, until)):
            return known
        if purpose == Purpose.QUALIFY:
            return None  # no real work before
        return _take_first(project, user, until) or _take_postponed(project, user, until)


@contextmanager
def _one_claim_at_a_time() -> Iterator[None]:
    """Let the claims of this process run one after the other: at once they would all see the same
    head of the queue, and all but one would look again. Leases are exclusive without it, so a claim
    waits for :data:`LONGEST_WAIT` at most."""
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
            if taken := take_slot(place, project=project, user=user, until=until, now=now):
                return taken
    raise QueueBusy("Too many people asked for an item at the same time. Try again in a moment.")


def _take_postponed(project: Project, user: User, until: datetime) -> Slot | None:
    """Postponed items come back once nothing else is left."""
    put_off = Decision.objects.standing(project, user).filter(action=Decision.Action.POSTPONE)
    if not put_off.order_by().update(undone_at=timezone.now()):
        return None
    return retake_gold_question(project, user, until) or _take_first(project, user, until)


def claim_drafted_item(*, project: Project, user: User, item_id: int) -> Slot | None:
    """A lease on an item that ``user`` has a draft for; None if it is not available now.

    Raises:
        ReviewerPaused: a manager has paused them, or they did not qualify.
    """
    reviewer_status = check_may_work(project, user)
    begun = Draft.objects.filter(project=project, user=user, item=item_id)
    if must_qualify(project, user, reviewer_status) or not begun.exists():
        return None
    return claim_item(project=project, user=user, item_id=item_id)


def claim_item(*, project: Project, user: User, item_id: int) -> Slot | None:
    """A lease on this item for ``user``; None if no place is free."""
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    # A gold question stays theirs, even if it is no longer one.
    theirs = Slot.objects.takeable(now).filter(project=project, holder=user, item=item_id)
    if known := _renew_slot(theirs.filter(number__isnull=True).first(), until, now):
        return known
    offered = offered_to(project, user).filter(item=item_id)
    row = open_places(offered, user.pk, now, given=True).first()
    return take_slot(Place(*row), project=project, user=user, until=until, now=now) if row else None


def take_slot(
    place: Place,
    *,
    project: Project,
    user: User,
    until: datetime,
    now: datetime,
    purpose: Purpose = Purpose.WORK,
) -> Slot | None:
    """A lease on the place; None if somebody else has taken it."""
    lease = {"holder": user, "purpose": purpose, **Slot.new_lease(until)}
    slot = Slot(
        pk=place.slot_id, item_id=place.item_id, number=place.number, project=project, **lease
    )
    if place.slot_id is not None:
        return slot if Slot.objects.takeable(now).filter(pk=place.slot_id).update(**lease) else None
    return slot if insert_row(slot, if_free=True).pk else None


def note_shown(slot: Slot, suggestion: Label | None) -> None:
    """Store the suggestion that the holder sees: it counts for an answer that names none."""
    if suggestion and not suggestion.abstained and slot.shown_id != suggestion.pk:
        held = Slot.objects.filter(pk=slot.pk, lease_token=slot.lease_token)
        held.update(shown=suggestion)


def renew_leases(*, project: Project, user: User, tokens: Iterable[UUID]) -> list[UUID]:
    """Renew leases of ``user``; returns the tokens that are theirs.

    A lapsed lease that nobody has taken is theirs again.
    """
    mine = Slot.objects.held_by(user, tokens).filter(project=project)
    mine.update(lease_until=timezone.now() + timedelta(seconds=LEASE_SECONDS))
    kept = mine.values_list("lease_token", flat=True)
    return [token for token in kept if token is not None]


def release_leases(*, project: Project, user: User, tokens: Iterable[UUID]) -> int:
    """Give back the slots that ``user`` holds under these tokens; returns how many.

    A gold question stays theirs for when they come back.
    """
    return give_back_slots(Slot.objects.held_by(user, tokens).filter(project=project))


def give_back_slots(slots: QuerySet[Slot]) -> int:
    """End the leases of one person's slots; gold questions keep their holder. Returns how many."""
    waiting = slots.filter(label__isnull=True)
    freed = waiting.filter(number__isnull=False).update(holder=None, **NOT_HELD)
    return freed + waiting.filter(number__isnull=True).update(**NOT_HELD)


def release_all(*, project: Project, user: User) -> int:
    """Free all slots of ``user`` in ``project``, lapsed or not; returns how many."""
    return free_slots(Slot.objects.filter(project=project, holder=user))


def free_slots(slots: QuerySet[Slot]) -> int:
    """Free slots of any holder that have no label; returns how many.

    The slot of a gold question serves one person only and is deleted.
    """
    waiting = slots.filter(label__isnull=True)
    known, _ = waiting.filter(number__isnull=True).delete()
    return known + waiting.update(holder=None, **NOT_HELD)


def was_handed_out(user: User, item_id: int) -> bool:
    """Whether the queue has ever handed the item to ``user``."""
    return _open_slots_of(user, item_id).exists()


def _open_slots_of(user: User, item_id: int) -> QuerySet[Slot]:
    return Slot.objects.filter(item=item_id, holder=user, label__isnull=True)


def fill_slot(user: User, label: Label, own: Label | None, lease_token: UUID | None) -> bool:
    """Fill a slot with the label; False if the lease had lapsed or went to somebody else.

    Any slot of the user on the item will do: another tab may hold it under a newer token.
    """
    if own is not None and Slot.objects.filter(label=own).update(label=label):
        free_slots(_open_slots_of(user, label.item_id))  # one label of theirs fills one place
        return True
    now = timezone.now()
    if lease_token and _fill_held(user.pk, label.item_id, lease_token, now, label.pk):
        return True  # as nearly always
    mine = _open_slots_of(user, label.item_id)
    slot = mine.filter(lease_until__gt=now).first() or mine.first()
    if slot is None or not mine.filter(pk=slot.pk).update(label=label, **NOT_HELD):
        return False  # somebody else has taken it
    return slot.lease_until is not None and slot.lease_until > now


def vacate_slot(user: User, rejection: Label, own: Label | None) -> None:
    """Free the slot of ``user``, who only rejected the suggestion; the slot of a gold question is
    filled with the rejection."""
    if own is not None:
        Slot.objects.filter(label=own).update(label=None, holder=user)
    mine = _open_slots_of(user, rejection.item_id)
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
    """Free these slots of the project for any holder; returns how many were held.

    An answer that a holder sends afterwards is stored as late.
    """
    why = validate_words("reason", reason)
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
        record(
            Action.LEASES_ENDED,
            User.objects.filter(pk=holder).first(),
            project=project,
            changes={"items": (freed, 0)},
        )
    return len(held)
