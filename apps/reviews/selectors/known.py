"""Items whose answer is known: who is to be checked by them, and which are new to somebody."""

from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.prepared import prepared
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.models import Decision, Slot, Standing


def must_qualify(project: Project, user: User, standing: Standing | None) -> bool:
    """Whether real work waits until ``user`` has answered items of known answer."""
    if not project.qualify_items or role_in(user, project) != Role.REVIEWER:
        return False
    return standing is None or standing.status == Standing.Status.QUALIFYING


def known_to_try(project: Project, user: User) -> QuerySet[ItemState]:
    """Items of known answer that ``user`` has never been shown."""
    return _unseen(project.pk, user.pk)


def first_known(project: Project, user: User, *, after: int) -> int | None:
    """The first of those beyond the item ``after``."""
    row = _next_known.first(project.pk, user.pk, after)
    return row[0] if row else None


def last_known(project: Project) -> int | None:
    """The newest item of known answer."""
    row = _last_known.first(project.pk)
    return row[0] if row else None


def _unseen(project: int, user: int) -> QuerySet[ItemState]:
    said = Label.objects.filter(item=OuterRef("item"), annotator__user=user)
    left = Decision.objects.filter(item=OuterRef("item"), reviewer=user)
    held = Slot.objects.filter(item=OuterRef("item"), holder=user)
    known = ItemState.objects.filter(project=project, known=True)
    return known.filter(~Exists(said), ~Exists(left), ~Exists(held))


@prepared
def _next_known(project: int, user: int, after: int) -> QuerySet[ItemState, tuple[int]]:
    unseen = _unseen(project, user).filter(item__gt=after)
    return unseen.order_by("item").values_list("item")[:1]


@prepared
def _last_known(project: int) -> QuerySet[ItemState, tuple[int]]:
    known = ItemState.objects.filter(project=project, known=True)
    return known.order_by("-item").values_list("item")[:1]
