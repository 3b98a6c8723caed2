"""Which labels of a person can go back into the queue."""

from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from apps.accounts.models import User
from apps.labels.models import PEOPLE, Gold, ItemState, Label
from apps.projects.models import Project
from apps.reviews.models import Decision, Purpose, Requeue

#: Decisions that outrank reviewers: their items want nobody's label again.
SETTLED = (Gold.Basis.ADJUDICATION, Gold.Basis.AUTHOR, Gold.Basis.IMPORTED)


def requeueable(
    project: Project, user: User, *, since: datetime | None = None, only_wrong: bool = False
) -> QuerySet[Label]:
    """The labels of ``user`` that stand and whose items others could be asked about again.

    Not those of items that an expert, the author or a file has decided meanwhile, or of which an
    expert found that they cannot be told: those stay as they are. Not answers to items of known
    answer: those tell of the person, and the item would come back to them. Not what came by import:
    that was labelled elsewhere.

    Args:
        project: where.
        user: whose labels, as crowd worker or as expert.
        since: only labels given then or later.
        only_wrong: only labels that differ from what was decided or, where nothing is, from what
            somebody else says.
    """
    known = Decision.objects.filter(label=OuterRef("pk")).exclude(purpose=Purpose.WORK)
    by_others = Q(item__state__gold__basis__in=SETTLED) & ~Q(
        item__state__gold__decided_by__user=user
    )
    unclear = Q(item__state__stage=ItemState.Stage.UNCLEAR) & ~Q(role=Label.Role.UNCLEAR)
    labels = (
        Label.objects.current()
        .filter(annotator__project=project, annotator__user=user, annotator__kind__in=PEOPLE)
        .exclude(action=Label.Action.IMPORTED)
        .exclude(by_others)
        .exclude(unclear)
        .filter(~Exists(known))
    )
    if since is not None:
        labels = labels.filter(created_at__gte=since)
    return _contradicted(labels, user) if only_wrong else labels


def _contradicted(labels: QuerySet[Label], user: User) -> QuerySet[Label]:
    said = Cast("value", TextField())
    others = (
        Label.objects.current()
        .by_people()
        .filter(item=OuterRef("item"), value__isnull=False)
        .exclude(annotator__user=user)
        .annotate(said=said)
        .exclude(said=OuterRef("said"))
    )
    labels = labels.filter(abstained=False).annotate(
        said=said, decided=Cast("item__state__gold__value", TextField())
    )
    undecided = Q(item__state__gold__isnull=True) & Q(Exists(others))
    return labels.filter((Q(decided__isnull=False) & ~Q(decided=F("said"))) | undecided)


def requeue_of(project: Project, user: User) -> Requeue | None:
    """The latest time that labels of ``user`` were put back, at work or ended."""
    return Requeue.objects.filter(project=project, user=user).select_related("actor").first()
