"""The debate behind a suggestion, small enough to read beside the text."""

from django.db.models import Prefetch, Q

from apps.accounts.models import User
from apps.debates.models import Debate, Turn
from apps.labels.blindness import is_audit, unanswered
from apps.labels.models import ItemState
from apps.projects.models import Project


def must_wait(user: User, project: Project, item_id: int) -> bool:
    """Whether ``user`` may not see the item's debate yet: it is audited, and they say nothing of
    it so far. One query."""
    states = ItemState.objects.filter(project=project, item=item_id)
    state = states.filter(unanswered(user.pk, item="item_id")).first()
    return state is not None and is_audit(state)


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
