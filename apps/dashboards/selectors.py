"""What is going on, over all apps: a few grouped queries, however many projects there are."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate, Run
from apps.labels.blindness import ONLY_AUDITED, hidden_from
from apps.labels.models import ItemState
from apps.projects.models import Item, Membership, Project

FOUND = 20
#: Items that at least one person has labelled.
REVIEWED = Q(labels_by_people__gt=0)
#: Orders of the item list, each with the item's id to make it definite.
SORTS = {
    "id": ("external_id", "pk"),
    "-id": ("-external_id", "-pk"),
    "stage": ("state__stage", "pk"),
    "-stage": ("-state__stage", "-pk"),
    "priority": ("state__priority", "pk"),
    "-priority": ("-state__priority", "pk"),
}


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project on the home page."""

    project: Project
    role: str
    items: int
    reviewed: int
    decided: int
    waiting: int
    conflicts: int
    going: int

    @property
    def empty(self) -> bool:
        """Whether nothing was imported yet."""
        return self.items == 0


def project_rows(user: User | AnonymousUser) -> list[ProjectRow]:
    """The projects that ``user`` belongs to, with where they are needed; in four queries."""
    projects = list(Project.objects.visible_to(user))
    ids = [project.pk for project in projects]
    states = _grouped_states(ids)
    going = Counter(
        Run.objects.going().filter(project__in=ids).order_by().values_list("project_id", flat=True)
    )
    roles: dict[int, str] = {}
    if user.is_authenticated:
        roles = dict(
            Membership.objects.filter(user=user, project__in=ids).values_list("project_id", "role")
        )
    return [
        ProjectRow(
            project=project,
            role=str(Role(roles[project.pk]).label) if project.pk in roles else "Operator",
            items=states[project.pk]["items"],
            reviewed=states[project.pk]["reviewed"],
            decided=states[project.pk]["decided"],
            waiting=states[project.pk]["waiting"],
            conflicts=states[project.pk]["conflicts"],
            going=going[project.pk],
        )
        for project in projects
    ]


def _grouped_states(project_ids: Sequence[int]) -> Mapping[int, Mapping[str, int]]:
    rows = (
        ItemState.objects.filter(project__in=project_ids)
        .order_by()
        .values("project_id")
        .annotate(
            items=Count("pk"),
            reviewed=Count("pk", filter=REVIEWED),
            decided=Count("pk", filter=Q(stage=ItemState.Stage.DECIDED)),
            waiting=Count("pk", filter=Q(queued=True)),
            conflicts=Count("pk", filter=Q(stage=ItemState.Stage.CONFLICT)),
        )
    )
    grouped: dict[int, Mapping[str, int]] = defaultdict(Counter)
    grouped.update({row["project_id"]: row for row in rows})
    return grouped


def find_items(user: User | AnonymousUser, query: str) -> QuerySet[Item]:
    """Items of the user's projects whose id or text holds ``query``."""
    hit = Q(external_id__icontains=query) | Q(text__icontains=query)
    return (
        Item.objects.visible_to(user).filter(hit).select_related("project").order_by("pk")[:FOUND]
    )


def item_rows(
    project: Project, user: User, *, query: str = "", stage: str = "", sort: str = ""
) -> QuerySet[Item]:
    """The project's items with their state, for a list; what waits comes in the queue's order.
    ``hidden`` are those that ``user`` is yet to audit blind."""
    items = (
        Item.objects.filter(project=project)
        .annotate(hidden=hidden_from(user.pk))
        .select_related("state__suggestion", "state__gold")
        .order_by("pk")
    )
    if query:
        items = items.filter(Q(external_id__icontains=query) | Q(text__icontains=query))
    if stage in ItemState.Stage.values:
        items = items.filter(_shown_at(stage))
    elif stage in ("waiting", "doubtful", "rest"):
        items = items.filter(state__queued=True)
        sort = sort or "-priority"
    if stage in ("doubtful", "rest"):
        items = items.exclude(state__stage=ItemState.Stage.CONFLICT)
    if stage == "doubtful":
        items = items.exclude(state__reasons=[]).exclude(state__reasons=ONLY_AUDITED)
    elif stage == "rest":
        items = items.filter(Q(state__reasons=[]) | Q(state__reasons=ONLY_AUDITED))
    return items.order_by(*SORTS.get(sort, ("pk",)))


def _shown_at(stage: str) -> Q:
    """Items that are shown at that stage: one that is yet to be audited blind stands as new."""
    shown = Q(state__stage=stage)
    if stage == ItemState.Stage.SUGGESTED:
        return shown & Q(hidden=False)
    if stage == ItemState.Stage.NEW:
        return shown | Q(state__stage=ItemState.Stage.SUGGESTED, hidden=True)
    return shown


def is_hidden(item: Item, user: User) -> bool:
    """Whether ``user`` is yet to audit the item blind."""
    return Item.objects.filter(hidden_from(user.pk), pk=item.pk).exists()


def debates_of_item(item: Item, user: User) -> QuerySet[Debate]:
    """The debates this item went through that ``user`` may know of, newest first."""
    debates = Debate.objects.filter(item=item).open_to(user)
    return debates.select_related("run", "label__annotator").order_by("-pk")
