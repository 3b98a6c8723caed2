"""Reading the ledger."""

from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet

from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import Item, Project


def backlog(project: Project) -> dict[str, int]:
    """What waits for people: in all, because of doubt, because reviewers disagree."""
    waiting = ItemState.objects.filter(project=project, queued=True)
    conflict = Q(stage=ItemState.Stage.CONFLICT)
    return waiting.aggregate(
        waiting=Count("pk"),
        doubtful=Count("pk", filter=~Q(reasons=[]) & ~conflict),
        conflicts=Count("pk", filter=conflict),
    )


def current_gold(project: Project) -> QuerySet[Gold]:
    """Every item's decision as it stands now."""
    return Gold.objects.current().filter(item__project=project)


def labels_of_run(project_id: int, run_uid: UUID) -> QuerySet[Label]:
    """The labels a run proposed in its project, superseded or not; copies of them may have gone
    into other projects by export and import."""
    return Label.objects.filter(
        run_uid=run_uid, annotator__project=project_id, withdrawn=False
    ).order_by("pk")


def item_with_ledger(project: Project, item_id: int) -> Item | None:
    """One item with all its labels and decisions, oldest first, in five queries."""
    said = ("annotator", "superseded_by", "proposed_from__annotator")
    labels: QuerySet[Label] = Label.objects.select_related(*said).order_by("pk")
    golds: QuerySet[Gold] = Gold.objects.select_related("decided_by", "superseded_by").order_by(
        "pk"
    )
    items = Item.objects.filter(project=project, pk=item_id)
    items = items.select_related("state__suggestion__annotator", "state__gold")
    return (
        items.prefetch_related(Prefetch("labels", labels))
        .prefetch_related(Prefetch("golds", golds))
        .first()
    )
