"""Undo a reviewer's decisions, the last one first; return items to the queue."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import PEOPLE, ItemState, Label
from apps.labels.services import NewLabel, promote_items, record_label, withdraw_label
from apps.projects.models import Project
from apps.reviews.comments.services import validate_words
from apps.reviews.models import Comment, Decision, Mention, Purpose, Slot
from apps.reviews.queue.drafts import restore_draft
from apps.reviews.queue.leases import LEASE_SECONDS, check_may_work, claim_item, free_slots
from apps.reviews.queue.submission import lock_state
from labelhub.core.errors import Conflict, InvalidInput

#: Rejections undone by one click; each locks its item and writes a row.
TAKEN_UP_AT_ONCE = 100


class NothingToUndo(Conflict):
    """The decision is not in force any more."""

    code = "nothing_to_undo"


class SettledMeanwhile(NothingToUndo):
    """Undo would lose the answer: the item waits for nobody any more."""

    code = "settled_meanwhile"


@dataclass(frozen=True, slots=True)
class Undone:
    """An undone decision. ``slot`` is None if others have the item or settled it, or if the
    expert's earlier answer is active again (``restored``)."""

    decision: Decision
    slot: Slot | None
    restored: bool = False


@transaction.atomic
def undo_last(*, project: Project, user: User) -> Undone | None:
    """Undo the last decision of ``user`` that is in force; the item is theirs again.

    The label is withdrawn in the ledger; gold and state follow. If it settled the item, the
    expert's earlier answer is active again. Superseded and withdrawn labels cannot be undone. None
    if nothing is left to undo.

    Raises:
        ReviewerPaused: a manager has paused them.
    """
    check_may_work(project, user)
    while found := _undoable_decisions(project, user).first():
        if undone := _undo_locked(project, user, found):
            return undone
    return None


@transaction.atomic
def undo_decision(*, project: Project, user: User, decision_id: int) -> Undone:
    """Undo that decision of ``user``, of any age; otherwise as :func:`undo_last`.

    Raises:
        NothingToUndo: it is not theirs, or not in force.
        SettledMeanwhile: the item would wait for nobody, so they could not answer it again.
        ReviewerPaused: as :func:`undo_last`.
    """
    check_may_work(project, user)
    found = _undoable_decisions(project, user).filter(pk=decision_id).first()
    undone = _undo_locked(project, user, found) if found else None
    if undone is None:
        raise NothingToUndo("This answer was already undone, or sent back to you.")
    # A gold question waits for its holder.
    known = undone.decision.purpose in (Purpose.CHECK, Purpose.QUALIFY)
    waits = known or ItemState.objects.filter(item=undone.decision.item_id, queued=True).exists()
    if undone.decision.label and not waits:
        raise SettledMeanwhile(
            "This item was decided meanwhile and would not come back to you, so your answer "
            "stays as it is. If you have changed your mind, comment on the item."
        )
    return undone


def _undo_locked(project: Project, user: User, found: Decision) -> Undone | None:
    decision = _mark_undone(project, user, found.item_id, found.pk)
    if decision is None:
        return None
    label = decision.label
    if label is not None and label.settles:
        if undo_settling_label(decision, label, user):
            return Undone(decision, None, restored=True)
    elif label is not None:
        withdraw_label(label=label, provenance={"undone_by": user.pk})
    if label is not None:
        restore_draft(project=project, user=user, label=label)
    return Undone(decision, _retake_slot(project, user, decision))


def _mark_undone(project: Project, user: User, item_id: int, pk: int) -> Decision | None:
    """The decision, undone from now on; None if it was undone or superseded meanwhile."""
    lock_state(project, item_id)
    decision = _undoable_decisions(project, user).filter(pk=pk).first()
    if decision is not None:
        decision.undone_at = timezone.now()
        decision.save(update_fields=["undone_at"])
    return decision


def _undoable_decisions(project: Project, user: User) -> QuerySet[Decision]:
    """Decisions of ``user`` that can be undone, the latest first."""
    decisions = Decision.objects.standing(project, user).undoable()
    return decisions.select_related("label__supersedes", "label__schema", "label__item")


def reoffer_skipped(*, project: Project, user: User) -> int:
    """Undo the skips and mere rejections of ``user``, so that they get these items again; returns
    how many decisions were undone."""
    decisions = Decision.objects.standing(project, user)
    undone = decisions.skips().order_by().update(undone_at=timezone.now())
    rejected = decisions.only_rejecting().filter(item__state__queued=True)
    for pk, item_id in list(rejected.values_list("pk", "item_id")[:TAKEN_UP_AT_ONCE]):
        undone += _take_back_rejection(project, user, pk, item_id)
    return undone


@transaction.atomic
def _take_back_rejection(project: Project, user: User, pk: int, item_id: int) -> int:
    decision = _mark_undone(project, user, item_id, pk)
    if decision is None or decision.label is None:
        return 0  # undone or answered in another tab
    Slot.objects.filter(label=decision.label).update(label=None)
    withdraw_label(label=decision.label, provenance={"undone_by": user.pk})
    return 1


def _retake_slot(project: Project, user: User, decision: Decision) -> Slot | None:
    """The slot that the label had filled, leased to ``user`` again; else a free place, if any."""
    filled = Slot.objects.filter(label=decision.label) if decision.label else Slot.objects.none()
    slot = filled.first()
    if slot is None:
        return claim_item(project=project, user=user, item_id=decision.item_id)
    slot.label, slot.holder, slot.lease_token = None, user, uuid.uuid4()
    slot.lease_until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
    slot.leased_at = None  # they have read it before
    slot.purpose = Purpose.WORK if slot.number else slot.purpose
    slot.save(
        update_fields=["label", "holder", "lease_token", "lease_until", "leased_at", "purpose"]
    )
    return slot


def return_to_queue(*, project: Project, item_ids: Iterable[int], by: User, reason: str) -> int:
    """Put items of the project back into the queue; returns how many.

    Labels that people gave here are withdrawn with the reason; skips and postponements are undone;
    leases end. Imported labels and gold stay. An item that the review plan would not queue is
    promoted. Each item is a transaction of its own; doing it again ends in the same place.

    Raises:
        InvalidInput: no reason is given.
    """
    why = validate_words("reason", reason)
    if not why:
        raise InvalidInput.at("reason", "give a reason: the reviewers of these items read it.")
    ids = ItemState.objects.filter(project=project, item__in=list(item_ids)).order_by("item")
    returned = [
        _return_item(project, item_id, by, why) for item_id in ids.values_list("item", flat=True)
    ]
    return len(returned)


@transaction.atomic
def _return_item(project: Project, item_id: int, by: User, why: str) -> int:
    ItemState.objects.select_for_update().get(item=item_id)
    withdraw_all(item_id, provenance={"returned_by": by.pk, "reason": why})
    left = Decision.objects.leaving().filter(item=item_id)
    left.order_by().update(undone_at=timezone.now())
    if not ItemState.objects.get(item=item_id).queued:
        promote_items(project, [item_id], promoted=True)
    return item_id


def withdraw_all(item_id: int, *, provenance: dict[str, Any]) -> Sequence[Label]:
    """Withdraw the labels that people gave an item here, and empty its slots; returns the labels.

    Call it with the item's state locked.
    """
    current = Label.objects.standing().filter(item=item_id, annotator__kind__in=PEOPLE)
    labels = list(current.exclude(action=Label.Action.IMPORTED).order_by("pk"))
    for label in labels:
        withdraw_label(label=label, provenance=provenance)
    slots = Slot.objects.filter(item=item_id)
    slots.filter(label__in=labels, number__isnull=True).delete()
    slots.filter(label__in=labels).update(label=None, holder=None)
    free_slots(slots)
    return labels


#: What a label says, apart from its place in the ledger.
SAID = (
    "item_id", "annotator", "schema", "value", "abstained", "rejected", "action", "role",
    "confidence", "rationale", "evidence", "seconds", "shown_id", "proposed_from_id",
)  # fmt: skip


def repeated_label(label: Label, **changes: Any) -> NewLabel:
    """A new label that says what ``label`` said, but for the ``changes``."""
    return NewLabel(
        **{name: getattr(label, name) for name in SAID if name not in changes}, **changes
    )


def undo_settling_label(decision: Decision, label: Label, user: User) -> bool:
    """Undo the ``label`` by which ``user`` settled an item, which is locked; returns whether their
    earlier answer is active again."""
    explanations = Comment.objects.filter(
        item=decision.item_id,
        author=user,
        explains=True,
        created_at__gte=decision.created_at,
        resolved_at__isnull=True,
    )
    Mention.objects.filter(comment__in=explanations.order_by(), seen_at__isnull=True).delete()
    explanations.update(resolved_at=timezone.now(), resolved_by=user)
    # A row that a change of labels wrote supersedes the very decision that it carries over.
    before = None if label.change_id else label.supersedes
    if before is None or before.withdrawn or before.rejected:
        withdraw_label(label=label, provenance={"undone_by": user.pk})
        slots = Slot.objects.filter(label=label)
        slots.update(label=None)
        free_slots(Slot.objects.filter(item=label.item_id, holder=user))
        return False
    provenance = {**before.provenance, "undone_by": user.pk}
    again = record_label(
        repeated_label(
            before, annotator=label.annotator, supersedes_id=label.pk, provenance=provenance
        )
    )
    Slot.objects.filter(label=label).update(label=again)
    Decision.objects.filter(label=before).update(label=again)
    return True
