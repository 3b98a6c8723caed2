"""Who holds what just now, for managers: a lease is never a mystery."""

from django.db.models import QuerySet
from django.utils import timezone

from apps.projects.models import Project
from apps.reviews.models import Slot


def live_leases(project: Project) -> QuerySet[Slot]:
    """Slots that somebody holds, those that lapse first at the top, with holder and item."""
    live = Slot.objects.live(timezone.now()).filter(project=project)
    return live.select_related("holder", "item").order_by("lease_until", "pk")
