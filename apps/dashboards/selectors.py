"""What is going on, over all apps: a few grouped queries, however many projects there are."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate, Run
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.labels.models import ItemState
from apps.projects.models import Item, Membership, Project
from apps.reviews.comments.selectors import unread_by_project

FOUND = 20
#: Items that at least one person has labelled.
REVIEWED = Q(labels_by_people__gt=0)


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
    unread: int

    @property
    def empty(self) -> bool:
        """Whether nothing was imported yet."""
        return self.items == 0


def project_rows(user: User | AnonymousUser) -> list[ProjectRow]:
    """The projects that ``user`` belongs to, with where they are needed; in five queries."""
    projects = list(Project.objects.visible_to(user))
    ids = [project.pk for project in projects]
    states = _grouped_states(ids)
    going = Counter(
        Run.objects.going().filter(project__in=ids).order_by().values_list("project_id", flat=True)
    )
    roles: dict[int, str] = {}
    unread: dict[int, int] = {}
    if user.is_authenticated:
        unread = unread_by_project(user)
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
            unread=unread.get(project.pk, 0),
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


def is_hidden(item: Item, user: User) -> bool:
    """Whether ``user`` is yet to answer the item. Its page looks the same then whatever was said of
    it, or it would tell which are audited and which have a known answer."""
    withheld = hidden_from(user.pk) | opinions_hidden_from(user.pk)
    return Item.objects.filter(withheld, pk=item.pk).exists()


def debates_of_item(item: Item, user: User) -> QuerySet[Debate]:
    """The debates this item went through that ``user`` may know of, newest first."""
    debates = Debate.objects.filter(item=item).open_to(user)
    return debates.select_related("run", "label__annotator").order_by("-pk")
