"""The state of all projects and of one, in a few grouped queries."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.evaluation import SuggestionsRight, suggestions_right
from apps.authors.models import Site
from apps.debates.models import Debate, Run
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.labels.models import Annotator, Gold, ItemState, Kind, Label
from apps.labels.selectors import backlog
from apps.projects.models import ImportBatch, Item, Membership, Project
from apps.reviews.adjudication.docket import may_adjudicate, waiting_states
from apps.reviews.comments.selectors import unread_by_project
from apps.reviews.models import Mention

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


@dataclass(frozen=True, slots=True)
class MenuFacts:
    """What the menu of a project depends on. ``unread``: comments that mention the user."""

    has_sites: bool
    has_conflicts: bool
    unread: int

    @property
    def present(self) -> set[str]:
        """The conditional rooms that have something in them, by their keys."""
        rooms = {"sites": self.has_sites, "adjudication": self.has_conflicts}
        return {key for key, holds in rooms.items() if holds}


def menu_facts(project: Project, user: User | AnonymousUser) -> MenuFacts:
    """The facts for ``user``; conflicts are for experts. One query."""
    conflicts = (
        waiting_states(project) if may_adjudicate(user, project) else ItemState.objects.none()
    )
    unread = Mention.objects.filter(user=user.pk, seen_at=None, comment__project=OuterRef("pk"))
    counted = unread.order_by().values("user").annotate(number=Count("pk")).values("number")
    row = (
        Project.objects.filter(pk=project.pk)
        .order_by()
        .values_list(
            Exists(Site.objects.filter(project=OuterRef("pk"))),
            Exists(conflicts),
            Coalesce(Subquery(counted), 0),
        )
    )
    return MenuFacts(*row.get())


def is_hidden(item: Item, user: User) -> bool:
    """Whether ``user`` must still answer the item. Its page is then the same for all items, or it
    would reveal audits and gold questions."""
    withheld = hidden_from(user.pk) | opinions_hidden_from(user.pk)
    return Item.objects.filter(withheld, pk=item.pk).exists()


def debates_of_item(item: Item, user: User) -> QuerySet[Debate]:
    """The debates this item went through that ``user`` may know of, newest first."""
    debates = Debate.objects.filter(item=item).open_to(user)
    return debates.select_related("run", "label__annotator").order_by("-pk")


LABELLED = REVIEWED | Q(suggestion__isnull=False) | Q(gold__basis=Gold.Basis.AUTHOR)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do next, and where."""

    text: str
    url: str
    action: str


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """An annotator of the project with the number of their current labels."""

    annotator: Annotator
    labels: int


@dataclass(frozen=True, slots=True)
class Overview:
    """How far a project is; counts are items.

    ``labelled`` by a debate, a person or its author; ``reviewed`` by a person; ``decided``: with
    gold; ``unclear``: an expert found that they cannot be told.
    """

    project: Project
    items: int
    labelled: int
    reviewed: int
    decided: int
    unclear: int
    waiting: int
    doubtful: int
    conflicts: int
    disputes: int
    importing: Sequence[ImportBatch]
    runs: Sequence[Run]
    cost_nanousd: int
    unpriced: bool
    right: SuggestionsRight

    @property
    def plain(self) -> int:
        """Items that wait for people although nothing is doubtful about them."""
        return self.waiting - self.doubtful - self.conflicts

    @property
    def unsure(self) -> int:
        """Items that wait because somebody was unsure or disagreed."""
        return self.doubtful + self.conflicts


def overview(project: Project) -> Overview:
    """The state of the project; six queries."""
    counted = ItemState.objects.filter(project=project).aggregate(
        items=Count("pk"),
        labelled=Count("pk", filter=LABELLED),
        reviewed=Count("pk", filter=REVIEWED),
        decided=Count("pk", filter=Q(stage=ItemState.Stage.DECIDED)),
        unclear=Count("pk", filter=Q(stage=ItemState.Stage.UNCLEAR)),
    )
    runs = Run.objects.filter(project=project)
    spent = runs.aggregate(cost=Sum("cost_nanousd"), unpriced=Sum("unpriced_turns"))
    return Overview(
        project=project,
        **counted,
        **backlog(project),
        importing=list(ImportBatch.objects.filter(project=project).unfinished()[:3]),
        runs=list(runs.filter(trial=False)[:5]),
        cost_nanousd=spent["cost"] or 0,
        unpriced=bool(spent["unpriced"]),
        right=suggestions_right(project),
    )


def annotator_rows(project: Project) -> list[AnnotatorRow]:
    """The annotators with labels, by kind, then by name; two queries."""
    labels = Label.objects.current().filter(annotator__project=project).order_by()
    counts = dict(labels.values_list("annotator").annotate(n=Count("pk")))
    found = Annotator.objects.filter(pk__in=counts)
    order = Kind.values
    rows = [AnnotatorRow(annotator, counts[annotator.pk]) for annotator in found]
    return sorted(rows, key=lambda row: (order.index(row.annotator.kind), row.annotator.name))


def next_step(view: Overview, role: str, *, expert: bool) -> NextStep | None:
    """The one thing that brings the project forward now, for somebody in this role; what reviewers,
    or they and a machine, disagree on waits for those who are an ``expert``."""
    slug = view.project.slug
    if view.items == 0:
        return None  # the page is one empty state that says it
    if role == Role.MANAGER:
        found = _next_run_step(view, slug)
        if found is not None:
            return found
    if role in (Role.MANAGER, Role.REVIEWER) and (
        found := _next_review_step(view, slug, expert=expert)
    ):
        return found
    if view.decided:
        text = "No item waits for a person. The gold is ready for export."
        if view.waiting:  # for others: this person does not review, or is no expert
            wait = _items(view.waiting, "still wait")
            text = f"{wait} for a person. You can export the gold so far."
        return NextStep(text, reverse("export_page", args=[slug]), "Export gold")
    return None


def _next_run_step(view: Overview, slug: str) -> NextStep | None:
    paused = next((run for run in view.runs if run.status == Run.Status.PAUSED), None)
    if paused is not None:
        text = f"Run {paused.pk} is paused. {paused.message}".strip()
        return NextStep(text, reverse("run_detail", args=[slug, paused.pk]), "Look at the run")
    if view.labelled == 0 and not view.runs:
        text = (
            "Let a pre-annotation run label the items first. People then check the uncertain ones."
        )
        return NextStep(text, reverse("run_create", args=[slug]), "Start a run")
    return None


def _next_review_step(view: Overview, slug: str, *, expert: bool) -> NextStep | None:
    to_settle = view.conflicts + view.disputes
    if view.waiting > to_settle:
        doubt = f", {view.unsure:,} of them uncertain or in conflict" if view.unsure else ""
        text = f"{_items(view.waiting, 'wait')} for a person{doubt}."
        return NextStep(text, reverse("review", args=[slug]), "Review")
    if to_settle and expert:
        text = "All waiting items need an expert's decision."
        return NextStep(text, reverse("adjudication", args=[slug]), "Adjudicate")
    return None


def _items(count: int, what: str) -> str:
    return f"1 item {what}s" if count == 1 else f"{count:,} items {what}"
