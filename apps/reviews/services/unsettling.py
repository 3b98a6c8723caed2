"""Taking a decision back: the item waits for an expert again, as if nothing had been said."""

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import NewLabel, record_label, withdraw_label
from apps.projects.models import Project
from apps.reviews.models import Comment, Decision, Mention, Slot
from apps.reviews.services.known import check_standing
from apps.reviews.services.leases import free_slots
from apps.reviews.services.submitting import lock_state

LEFT = (Decision.Action.SKIP, Decision.Action.POSTPONE)


def last_settled(project: Project, user: User) -> Decision | None:
    """What ``user`` did last in the project, where that is a decision of what others disagreed on
    or an item left to others, and still stands. Two queries at most."""
    decision = Decision.objects.standing(project, user).select_related("label", "item").first()
    if decision is None or decision.action in LEFT:
        return decision
    label = decision.label
    if label is None or not label.settles:
        return None
    return decision if Label.objects.current().filter(pk=label.pk).exists() else None


@transaction.atomic
def undo_adjudication(*, project: Project, user: User) -> Decision | None:
    """Take back what :func:`last_settled` finds; returns what it was.

    What the expert had said of the item before they decided it is said again. Those who were told
    about the decision and have not read it will not; the others see that it is settled.

    Raises:
        ReviewerPaused: a manager has paused them.
    """
    check_standing(project, user)
    found = last_settled(project, user)
    if found is None:
        return None
    lock_state(project, found.item_id)
    decision = last_settled(project, user)
    if decision is None or decision.pk != found.pk:
        return None  # undone in another tab, or superseded
    decision.undone_at = timezone.now()
    decision.save(update_fields=["undone_at"])
    if decision.label is not None:
        take_back(decision, decision.label, user)
    return decision


def take_back(decision: Decision, label: Label, user: User) -> bool:
    """Take back the ``label`` that settled an item, which is locked, as :func:`undo_adjudication`
    does; whether what ``user`` had said before stands again."""
    _untell(decision, user)
    # A row that a change of labels wrote supersedes the very decision that it carries over.
    before = None if label.change_id else label.supersedes
    if before is None or before.withdrawn or before.rejected:
        withdraw_label(label=label, provenance={"undone_by": user.username})
        slots = Slot.objects.filter(label=label)
        slots.update(label=None)
        free_slots(Slot.objects.filter(item=label.item_id, holder=user))
        return False
    again = record_label(_as_before(before, label, user))
    Slot.objects.filter(label=label).update(label=again)
    Decision.objects.filter(label=before).update(label=again)
    return True


def _as_before(before: Label, label: Label, user: User) -> NewLabel:
    return NewLabel(
        item_id=label.item_id,
        annotator=label.annotator,
        schema=before.schema,
        value=before.value,
        abstained=before.abstained,
        action=before.action,
        role=before.role,
        confidence=before.confidence,
        rationale=before.rationale,
        evidence=before.evidence,
        seconds=before.seconds,
        shown_id=before.shown_id,
        proposed_from_id=before.proposed_from_id,
        supersedes_id=label.pk,
        provenance={**before.provenance, "undone_by": user.username},
    )


def _untell(decision: Decision, user: User) -> None:
    told = Comment.objects.filter(
        item=decision.item_id,
        author=user,
        explains=True,
        created_at__gte=decision.created_at,
        resolved_at__isnull=True,
    )
    Mention.objects.filter(comment__in=told.order_by(), seen_at__isnull=True).delete()
    told.update(resolved_at=timezone.now(), resolved_by=user)
