"""Undo instead of "are you sure": the last decision is taken back, then the one before it."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import withdraw_label
from apps.projects.models import Project
from apps.reviews.models import Decision, Slot
from apps.reviews.services.leases import LEASE_SECONDS, claim_item
from apps.reviews.services.submitting import lock_state


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back. ``slot`` is None when somebody else has the item by now."""

    decision: Decision
    slot: Slot | None


@transaction.atomic
def undo_last(*, project: Project, user: User, lease_seconds: int = LEASE_SECONDS) -> Undone | None:
    """Take back the last decision of ``user`` that still stands; the item is theirs again.

    The label is withdrawn in the ledger, so gold and state follow. None when nothing is left to
    undo.
    """
    while decision := Decision.objects.standing(project, user).select_related("label").first():
        lock_state(project, decision.item_id)
        if decision.label is None:
            _mark_undone(decision)
            slot = claim_item(
                project=project, user=user, item_id=decision.item_id, lease_seconds=lease_seconds
            )
            return Undone(decision, slot)
        _mark_undone(decision)
        if not Label.objects.current().filter(pk=decision.label.pk).exists():
            continue  # superseded since: there is nothing left of it to take back
        withdraw_label(label=decision.label, provenance={"undone_by": user.username})
        return Undone(decision, _slot_again(project, user, decision, lease_seconds))
    return None


def take_up_skipped(*, project: Project, user: User) -> int:
    """Offer ``user`` again what they skipped; returns how many skips were undone."""
    skips = Decision.objects.standing(project, user).skips()
    return skips.order_by().update(undone_at=timezone.now())


def _mark_undone(decision: Decision) -> None:
    decision.undone_at = timezone.now()
    decision.save(update_fields=["undone_at"])


def _slot_again(
    project: Project, user: User, decision: Decision, lease_seconds: int
) -> Slot | None:
    """The slot the label had filled, held by ``user`` anew; one without slot looks for a place."""
    slot = Slot.objects.filter(label=decision.label).first()
    if slot is None:
        return claim_item(
            project=project, user=user, item_id=decision.item_id, lease_seconds=lease_seconds
        )
    slot.label, slot.holder, slot.lease_token = None, user, uuid.uuid4()
    slot.lease_until = timezone.now() + timedelta(seconds=lease_seconds)
    slot.save(update_fields=["label", "holder", "lease_token", "lease_until"])
    return slot
