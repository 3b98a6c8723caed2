"""Reading the ledger."""

from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Gold, ItemState, Kind, Label
from apps.projects.models import Item, Project


def backlog(project: Project) -> dict[str, int]:
    """What waits for people: in all, because of doubt, because reviewers disagree, and because a
    machine disputes what they decided."""
    waiting = ItemState.objects.filter(project=project, queued=True)
    conflict = Q(stage=ItemState.Stage.CONFLICT)
    return waiting.aggregate(
        waiting=Count("pk"),
        doubtful=Count("pk", filter=~Q(reasons=[]) & ~Q(reasons=ONLY_AUDITED) & ~conflict),
        conflicts=Count("pk", filter=conflict),
        disputes=Count("pk", filter=Q(disputed=True) & ~conflict),
    )


def current_gold(project: Project) -> QuerySet[Gold]:
    """Every item's decision as it stands now."""
    return Gold.objects.current().filter(item__project=project)


def rejected_suggestions(project: Project) -> QuerySet[Label, int | None]:
    """Ids of the suggestions that somebody rejected without a label, and has not answered since."""
    rejections = Label.objects.standing().filter(annotator__project=project, rejected=True)
    return rejections.order_by().values_list("shown", flat=True)


#: The ways in which people decide.
VERIFIED = (
    Gold.Basis.REVIEW,
    Gold.Basis.AGREEMENT,
    Gold.Basis.ADJUDICATION,
    Gold.Basis.AUTHOR,
    Gold.Basis.IMPORTED,
)


def verified_as_of(project_id: int, moment: datetime) -> QuerySet[Gold]:
    """What people had decided of the project's items at ``moment``, the latest decision first.

    Of each item the newest decision of then, unless it withdraws; none that an import says an LLM
    or a model made. The ledger only grows, so the answer stays the same whatever is decided later.
    """
    then = Gold.objects.filter(created_at__lte=moment)
    newer = then.filter(item=OuterRef("item"), pk__gt=OuterRef("pk"))
    decided = then.filter(
        ~Exists(newer),
        # An import brings decisions with the dates of elsewhere.
        item__created_at__lte=moment,
        item__project=project_id,
        basis__in=VERIFIED,
        withdrawn=False,
    )
    return decided.exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL)).order_by(
        "-created_at", "-pk"
    )


def labels_of_run(project_id: int, run_uid: UUID) -> QuerySet[Label]:
    """The labels a run proposed in its project, superseded or not; copies of them may have gone
    into other projects by export and import. Of what a change of labels has carried over, the row
    that says it now."""
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
