"""A manager sends items back: what people said of them is withdrawn, and they wait again."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import PEOPLE, ItemState, Label
from apps.labels.services import promote_items, withdraw_label
from apps.projects.models import Project
from apps.reviews.models import Decision, Intervention, Slot
from apps.reviews.services.answers import checked_words
from apps.reviews.services.leases import free_slots
from labelhub.core.errors import InvalidInput


def return_to_queue(
    *, project: Project, item_ids: Iterable[int], by: User, reason: str, log: bool = True
) -> int:
    """Put items back into the queue; returns how many of the project's there were.

    What people here said of them is withdrawn in the ledger, with the reason; who skipped or
    postponed them is asked again, and who holds one just now loses it. Imported labels and gold
    stand. An item that the review plan would not bring to people comes first instead. Each item is
    a transaction of its own; doing it again ends in the same place.

    Raises:
        InvalidInput: no reason is given.
    """
    why = checked_words("reason", reason)
    if not why:
        raise InvalidInput.at("reason", "say why the items go back: their reviewers will read it.")
    ids = ItemState.objects.filter(project=project, item__in=list(item_ids)).order_by("item")
    returned = [
        _return_one(project, item_id, by, why) for item_id in ids.values_list("item", flat=True)
    ]
    if returned and log:
        Intervention.objects.create(
            project=project,
            actor=by,
            action=Intervention.Action.RETURN,
            reason=why,
            items=len(returned),
            data={"items": returned[:100]},
        )
    return len(returned)


@transaction.atomic
def _return_one(project: Project, item_id: int, by: User, why: str) -> int:
    ItemState.objects.select_for_update().get(item=item_id)
    withdraw_all(item_id, provenance={"returned_by": by.username, "reason": why})
    left = Decision.objects.filter(item=item_id, label__isnull=True, undone_at__isnull=True)
    left.order_by().update(undone_at=timezone.now())
    if not ItemState.objects.get(item=item_id).queued:
        promote_items(project, [item_id], promoted=True)
    return item_id


def withdraw_all(item_id: int, *, provenance: dict[str, str]) -> Sequence[Label]:
    """Withdraw what people here say of an item and empty its slots; returns what was withdrawn.

    Call it with the item's state locked.
    """
    said = Label.objects.standing().filter(item=item_id, annotator__kind__in=PEOPLE)
    labels = list(said.exclude(action=Label.Action.IMPORTED).order_by("pk"))
    for label in labels:
        withdraw_label(label=label, provenance=provenance)
    slots = Slot.objects.filter(item=item_id)
    slots.filter(label__in=labels, number__isnull=True).delete()
    slots.filter(label__in=labels).update(label=None, holder=None)
    free_slots(slots)
    return labels
