"""The state of all projects and of one, in a few grouped queries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import compress
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.agreement.report.services import read_glance
from apps.authors.models import Site
from apps.debates.models import Debate, Run
from apps.labels.blindness import hidden_from, opinions_hidden_from
from apps.labels.models import Gold, ItemState
from apps.labels.selectors import Progress, at_stage, progress_of
from apps.projects.models import ImportBatch, Item, Membership, Project
from apps.reviews.adjudication.docket import may_adjudicate, waiting_states
from apps.reviews.comments.selectors import unread_by_project
from apps.reviews.models import Decision, Mention


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project on the home page: how far it is, and where the person is needed.

    ``member`` is None for operators, who manage every project. ``running``, ``importing``: runs and
    imports in progress. ``unread``: comments for this person.
    """

    project: Project
    member: Membership | None
    progress: Progress
    running: int
    importing: int
    unread: int

    @property
    def role(self) -> str:
        return str(Role(self.member.role).label) if self.member else gettext("Operator")

    @property
    def reviews(self) -> bool:
        return self.member is None or self.member.role != Role.VIEWER

    @property
    def decides(self) -> bool:
        return self.reviews and (self.member is None or self.member.kind == ReviewerKind.EXPERT)


def project_rows(user: User) -> list[ProjectRow]:
    """The projects that ``user`` belongs to; in six queries."""
    projects = list(Project.objects.visible_to(user))
    ids = [project.pk for project in projects]
    progress = progress_of(ids)
    runs = Run.objects.going().filter(project__in=ids)
    imports = ImportBatch.objects.unfinished().filter(project__in=ids)
    running, importing = (
        Counter(rows.order_by().values_list("project_id", flat=True)) for rows in (runs, imports)
    )
    members = Membership.objects.filter(user=user, project__in=ids)
    by_project = {member.project_id: member for member in members}
    unread = unread_by_project(user)
    return [
        ProjectRow(
            project=project,
            member=by_project.get(project.pk),
            progress=progress[project.pk],
            running=running[project.pk],
            importing=importing[project.pk],
            unread=unread.get(project.pk, 0),
        )
        for project in projects
    ]


def only_queue(user: User) -> Project | None:
    """The project of somebody who is a reviewer in one project, and nothing else anywhere."""
    found = [] if user.is_superuser else list(user.memberships.select_related("project")[:2])
    alone = len(found) == 1 and found[0].role == Role.REVIEWER
    return found[0].project if alone else None


@dataclass(frozen=True, slots=True)
class MenuFacts:
    """What the menu of a project depends on: the keys of the conditional rooms that have something
    in them, and the number of unread comments that mention the user."""

    present: set[str]
    unread: int


def menu_facts(project: Project, user: User | AnonymousUser) -> MenuFacts:
    """The facts for ``user``; conflicts are for experts. One query."""
    conflicts = (
        waiting_states(project) if may_adjudicate(user, project) else ItemState.objects.none()
    )
    unread = Mention.objects.filter(user=user.pk, seen_at=None, comment__project=OuterRef("pk"))
    counted = unread.order_by().values("user").annotate(number=Count("pk")).values("number")
    row = Project.objects.filter(pk=project.pk).order_by()
    *holds, unread = row.values_list(
        Exists(Site.objects.filter(project=OuterRef("pk"))),
        Exists(conflicts),
        Coalesce(Subquery(counted), 0),
    ).get()
    return MenuFacts(set(compress(("sites", "adjudication"), holds)), unread)


def is_hidden(item: Item, user: User) -> bool:
    """Whether ``user`` must still answer the item. Its page is then the same for all items, or it
    would reveal audits and gold questions."""
    withheld = hidden_from(user.pk) | opinions_hidden_from(user.pk)
    return Item.objects.filter(withheld, pk=item.pk).exists()


def debates_of_item(item: Item, user: User) -> QuerySet[Debate]:
    """The debates this item went through that ``user`` may know of, newest first."""
    debates = Debate.objects.filter(item=item).open_to(user)
    return debates.select_related("run", "label__annotator").order_by("-pk")


@dataclass(frozen=True, slots=True)
class PersonLabels:
    name: str
    items: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened in a project since ``since``; ``labels`` by people, most first, and ``gold``
    that was decided here, are items. ``unread``: comments for this person."""

    since: datetime
    labels: Sequence[PersonLabels]
    gold: int
    runs: Sequence[Run]
    imports: Sequence[ImportBatch]
    unread: int

    @property
    def labelled(self) -> int:
        return sum(person.items for person in self.labels)

    @property
    def nothing(self) -> bool:
        return not (self.labels or self.gold or self.runs or self.imports or self.unread)


@dataclass(frozen=True, slots=True)
class Overview:
    """How far a project is, how good and how much. ``cost_nanousd`` is the cost of all runs;
    ``unpriced``: some of their calls have no price."""

    project: Project
    progress: Progress
    importing: Sequence[ImportBatch]
    runs: Sequence[Run]
    cost_nanousd: int
    unpriced: bool
    agreement: dict[str, Any] | None
    changes: Changes

    @property
    def cost_per_item(self) -> float | None:
        """The cost of models per item decided here; None without such an item."""
        decided = self.progress.decided_here
        return self.cost_nanousd / decided if decided else None


def overview(project: Project, user: User) -> Overview:
    """The state of the project, as ``user`` sees it; eight queries."""
    yesterday = timezone.localdate() - timedelta(days=1)
    since = timezone.make_aware(datetime.combine(yesterday, time.min))
    runs = Run.objects.filter(project=project)
    spent = runs.aggregate(cost=Sum("cost_nanousd"), unpriced=Sum("unpriced_turns"))
    last_runs = list(runs.filter(trial=False)[:5])
    imports = ImportBatch.objects.filter(
        Q(status__in=("queued", "running")) | Q(created_at__gte=since, status="done"),
        project=project,
    )[:5]
    decided = ItemState.objects.filter(
        at_stage(ItemState.Stage.DECIDED), project=project, gold__created_at__gte=since
    )
    changes = Changes(
        since=since,
        labels=_labels_since(project, since),
        gold=decided.exclude(gold__basis=Gold.Basis.IMPORTED).count(),
        runs=[
            run for run in last_runs if run.going or (run.finished_at or run.created_at) >= since
        ],
        imports=[batch for batch in imports if batch.status == "done"],
        unread=unread_by_project(user).get(project.pk, 0),
    )
    return Overview(
        project=project,
        progress=progress_of([project.pk])[project.pk],
        importing=[batch for batch in imports if batch.status != "done"],
        runs=last_runs,
        cost_nanousd=spent["cost"] or 0,
        unpriced=bool(spent["unpriced"]),
        agreement=read_glance(project),
        changes=changes,
    )


def _labels_since(project: Project, since: datetime) -> list[PersonLabels]:
    decisions = Decision.objects.filter(
        project=project, created_at__gte=since, undone_at__isnull=True, label__rejected=False
    )
    people = decisions.order_by().values_list("reviewer__username")
    counts = people.annotate(n=Count("item", distinct=True)).order_by("-n", "reviewer__username")
    return [PersonLabels(name or gettext("somebody"), n) for name, n in counts]


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do next. ``kind`` names the sentence and the button; ``count``: its items."""

    kind: str
    count: int = 0
    run: Run | None = None


def next_step(view: Overview, role: str, *, expert: bool) -> NextStep | None:
    """The one thing that brings the project forward now, for somebody in this role; what reviewers,
    or they and a machine, disagree on waits for those who are an ``expert``."""
    progress = view.progress
    if progress.items == 0:
        return None  # the page is one empty state that says it
    manages, reviews = role == Role.MANAGER, role in (Role.MANAGER, Role.REVIEWER)
    paused = next((run for run in view.runs if run.status == Run.Status.PAUSED), None)
    stuck = 0 if progress.waiting else progress.stages[ItemState.Stage.IN_REVIEW]
    steps = (
        (manages and paused is not None, NextStep("paused_run", run=paused)),
        (manages and not progress.labelled and not view.runs, NextStep("start_run")),
        (reviews and progress.to_review, NextStep("review", progress.to_review)),
        (reviews and expert and progress.for_experts, NextStep("adjudicate", progress.for_experts)),
        (manages and stuck, NextStep("no_gold", stuck)),
        (reviews and not manages and progress.comparable, NextStep("compare", progress.comparable)),
        (role != Role.REVIEWER and progress.gold, NextStep("export", progress.waiting)),
    )
    return next((step for holds, step in steps if holds), None)
