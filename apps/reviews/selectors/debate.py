"""The debate behind a suggestion, small enough to read beside the text."""

from django.db.models import Prefetch, Q

from apps.debates.models import Debate, Turn
from apps.labels.models import ItemState
from apps.projects.models import Project


def debate_behind(project: Project, item_id: int) -> Debate | None:
    """The debate that led to the item's suggestion, or the latest that ended without one.

    With its run, turns and their models, in three queries. None when the item was never debated.
    """
    suggested = ItemState.objects.filter(project=project, item=item_id).values("suggestion")[:1]
    turns = Turn.objects.select_related("model__provider").order_by("pk")
    ended = ~Q(status=Debate.Status.WAITING)
    debates = (
        Debate.objects.filter(ended, run__project=project, item=item_id)
        .select_related("run", "label")
        .prefetch_related(Prefetch("turns", queryset=turns))
    )
    return debates.filter(label__in=suggested).first() or debates.order_by("-pk").first()
