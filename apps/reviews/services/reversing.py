"""Undo instead of "are you sure": the last decision is taken back, then the one before it."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import ItemState
from apps.labels.services import withdraw_label
from apps.projects.models import Project
from apps.reviews.models import Decision, Purpose, Slot
from apps.reviews.services.drafting import draft_again
from apps.reviews.services.known import check_standing
from apps.reviews.services.leases import LEASE_SECONDS, claim_item
from apps.reviews.services.submitting import lock_state
from apps.reviews.services.unsettling import take_back
from labelhub.core.errors import Conflict

#: Rejections that one click takes back: each locks its item and writes a row.
TAKEN_UP_AT_ONCE = 100


class NothingToUndo(Conflict):
    """What is to be taken back stands no longer."""

    code = "nothing_to_undo"


class SettledMeanwhile(NothingToUndo):
    """Taking an answer back would lose it: the item waits for nobody any more."""

    code = "settled_meanwhile"


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. ``slot`` is None when others have the item or settled it, or when it was
    an expert's last word and what they had said before stands again (``restored``)."""

    decision: Decision
    slot: Slot | None
    restored: bool = False


@transaction.atomic
def undo_last(*, project: Project, user: User, lease_seconds: int = LEASE_SECONDS) -> Undone | None:
    """Take back the last decision of ``user`` that still stands; the item is theirs again.

    The label is withdrawn in the ledger, so gold and state follow; where it settled what others
    disagree on, what the expert had said before stands again. What was superseded or taken back
    since has nothing left to undo. None when nothing else is.

    Raises:
        ReviewerPaused: a manager has paused them; the item would be theirs again.
    """
    check_standing(project, user)
    while found := _undoable(project, user).first():
        if undone := _undo_locked(project, user, found, lease_seconds):
            return undone
    return None


@transaction.atomic
def undo_decision(
    *, project: Project, user: User, decision_id: int, lease_seconds: int = LEASE_SECONDS
) -> Undone:
    """Take back that decision of ``user``, however long ago; otherwise as :func:`undo_last`.

    Raises:
        NothingToUndo: it is not theirs, or stands no longer.
        SettledMeanwhile: the item would wait for nobody, so they could not answer it anew.
        ReviewerPaused: as :func:`undo_last`.
    """
    check_standing(project, user)
    found = _undoable(project, user).filter(pk=decision_id).first()
    undone = _undo_locked(project, user, found, lease_seconds) if found else None
    if undone is None:
        raise NothingToUndo("This answer stands no longer: it was taken back, or sent back to you.")
    if found and found.label and not _waits(found):
        raise SettledMeanwhile(
            "This item was settled meanwhile and would not come back to you, so your answer stands "
            "as you gave it. Comment on the item if you see it otherwise now."
        )
    return undone


def _waits(decision: Decision) -> bool:
    """Whether the item is to be had again; one of known answer waits for whoever had it."""
    if decision.purpose in (Purpose.CHECK, Purpose.QUALIFY):
        return True
    return ItemState.objects.filter(item=decision.item_id, queued=True).exists()


def _undo_locked(
    project: Project, user: User, found: Decision, lease_seconds: int
) -> Undone | None:
    """None when somebody else was quicker."""
    lock_state(project, found.item_id)
    decision = _undoable(project, user).filter(pk=found.pk).first()
    if decision is None:
        return None
    decision.undone_at = timezone.now()
    decision.save(update_fields=["undone_at"])
    return _undo(project, user, decision, lease_seconds)


def _undoable(project: Project, user: User) -> QuerySet[Decision]:
    """What stands of what ``user`` decided, the latest first."""
    decisions = Decision.objects.standing(project, user).undoable()
    return decisions.select_related("label__supersedes", "label__schema", "label__item")


def _undo(project: Project, user: User, decision: Decision, lease_seconds: int) -> Undone:
    label = decision.label
    if label is not None and label.settles:
        if take_back(decision, label, user):
            return Undone(decision, None, restored=True)
    elif label is not None:
        withdraw_label(label=label, provenance={"undone_by": user.username})
    if label is not None:
        draft_again(project=project, user=user, label=label)
    return Undone(decision, _slot_again(project, user, decision, lease_seconds))


def take_up_skipped(*, project: Project, user: User) -> int:
    """Offer ``user`` again what they left to others, by a skip or by rejecting the suggestion
    without a label; returns how many decisions were undone."""
    decisions = Decision.objects.standing(project, user)
    undone = decisions.skips().order_by().update(undone_at=timezone.now())
    rejected = decisions.only_rejecting().filter(item__state__queued=True)
    for pk, item_id in list(rejected.values_list("pk", "item_id")[:TAKEN_UP_AT_ONCE]):
        undone += _take_back_rejection(project, user, pk, item_id)
    return undone


@transaction.atomic
def _take_back_rejection(project: Project, user: User, pk: int, item_id: int) -> int:
    lock_state(project, item_id)
    decision = _undoable(project, user).filter(pk=pk).first()
    if decision is None or decision.label is None:
        return 0  # undone or answered in another tab
    decision.undone_at = timezone.now()
    decision.save(update_fields=["undone_at"])
    Slot.objects.filter(label=decision.label).update(label=None)
    withdraw_label(label=decision.label, provenance={"undone_by": user.username})
    return 1


def _slot_again(
    project: Project, user: User, decision: Decision, lease_seconds: int
) -> Slot | None:
    """The slot the label had filled, held by ``user`` anew; one without slot looks for a place."""
    filled = Slot.objects.filter(label=decision.label) if decision.label else Slot.objects.none()
    slot = filled.first()
    if slot is None:
        return claim_item(
            project=project, user=user, item_id=decision.item_id, lease_seconds=lease_seconds
        )
    slot.label, slot.holder, slot.lease_token = None, user, uuid.uuid4()
    slot.lease_until = timezone.now() + timedelta(seconds=lease_seconds)
    slot.leased_at = None  # they have read it before
    slot.purpose = Purpose.WORK if slot.number else slot.purpose
    slot.save(
        update_fields=["label", "holder", "lease_token", "lease_until", "leased_at", "purpose"]
    )
    return slot
