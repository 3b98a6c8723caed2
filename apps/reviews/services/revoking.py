"""A manager takes leases away: the items are free at once, and what their holders send is kept."""

from collections.abc import Collection

from django.db import transaction

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.models import Intervention
from apps.reviews.selectors.holding import live_leases
from apps.reviews.services.answers import checked_words
from apps.reviews.services.leases import free_slots


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
        theirs = [pk for each, pk in held if each == holder]
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
