"""Reading the ledger."""

from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Gold, ItemState, Kind, Label
from apps.projects.models import Item, Project


def backlog(project: Project) -> dict[str, int]:
    """Counts of items that wait for people: all, doubtful ones, conflicts, and disputes with a
    machine."""
    waiting = ItemState.objects.filter(project=project, queued=True)
    conflict = Q(stage=ItemState.Stage.CONFLICT)
    return waiting.aggregate(
        waiting=Count("pk"),
        doubtful=Count("pk", filter=~Q(reasons=[]) & ~Q(reasons=ONLY_AUDITED) & ~conflict),
        conflicts=Count("pk", filter=conflict),
        disputes=Count("pk", filter=Q(disputed=True) & ~conflict),
    )


def current_gold(project: Project) -> QuerySet[Gold]:
    """The current decision of every item."""
    return Gold.objects.current().filter(item__project=project)


def rejected_suggestions(project: Project) -> QuerySet[Label, int | None]:
    """Ids of suggestions that somebody rejected without a label and has not answered since."""
    rejections = Label.objects.standing().filter(annotator__project=project, rejected=True)
    return rejections.order_by().values_list("shown", flat=True)


#: Decisions by people.
VERIFIED = (
    Gold.Basis.REVIEW,
    Gold.Basis.AGREEMENT,
    Gold.Basis.ADJUDICATION,
    Gold.Basis.AUTHOR,
    Gold.Basis.IMPORTED,
)


def verified_as_of(project_id: int, moment: datetime) -> QuerySet[Gold]:
    """People's decisions on the project's items as of ``moment``, the latest first.

    The newest decision of each item at that time, unless it was withdrawn or imported as made by an
    LLM or a model. The ledger only grows, so the result never changes.
    """
    then = Gold.objects.filter(created_at__lte=moment)
    newer = then.filter(item=OuterRef("item"), pk__gt=OuterRef("pk"))
    decided = then.filter(
        ~Exists(newer),
        # Imported decisions keep their dates.
        item__created_at__lte=moment,
        item__project=project_id,
        basis__in=VERIFIED,
        withdrawn=False,
    )
    return decided.exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL)).order_by(
        "-created_at", "-pk"
    )


def labels_of_run(project_id: int, run_uid: UUID) -> QuerySet[Label]:
    """The labels that a run proposed in its project, superseded or not, without copies in other
    projects. Of a label that a schema change carried over, the newest row."""
    carried = Q(superseded_by__change__isnull=False)
    return (
        Label.objects.filter(run_uid=run_uid, annotator__project=project_id, withdrawn=False)
        .exclude(carried)
        .order_by("pk")
    )


def item_with_ledger(project: Project, item_id: int) -> Item | None:
    """One item with all its labels and decisions, oldest first, in five queries."""
    related = ("annotator", "superseded_by", "shown__annotator")
    labels: QuerySet[Label] = Label.objects.select_related(*related).order_by("pk")
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
