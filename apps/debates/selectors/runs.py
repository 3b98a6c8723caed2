"""Looking at runs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Prefetch, QuerySet

from apps.accounts.models import User
from apps.debates.models import Debate, Run, RunRole
from apps.projects.models import Project
from labelhub.core.errors import NotFound


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run and its counts, for lists."""

    run: Run
    total: int
    finished: int
    labelled: int


def may_watch(user: User | AnonymousUser, run_id: int) -> bool:
    """Whether the run exists and ``user`` may know of it."""
    return Run.objects.visible_to(user).filter(pk=run_id).exists()


def get_run(project: Project, run_id: int) -> Run:
    """A run of ``project``.

    Raises:
        NotFound: no such run there.
    """
    run = (
        Run.objects.filter(project=project, pk=run_id).select_related("schema", "guideline").first()
    )
    if run is None:
        raise NotFound(f"There is no run {run_id} in the project '{project.slug}'.")
    return run


def visible_run(user: User | AnonymousUser, run_id: int) -> Run:
    """A run of any project that ``user`` may know of, with its project.

    Raises:
        NotFound: no such run for this person.
    """
    run = (
        Run.objects.visible_to(user)
        .filter(pk=run_id)
        .select_related("project", "schema", "guideline")
        .first()
    )
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    return run


def runs_of(project: Project) -> QuerySet[Run]:
    """The project's runs, newest first, with what a list shows of them."""
    roles = RunRole.objects.select_related("model__provider", "prompt")
    return (
        Run.objects.filter(project=project)
        .select_related("created_by", "schema", "guideline")
        .prefetch_related(Prefetch("roles", queryset=roles))
    )


def run_rows(runs: Iterable[Run]) -> list[RunRow]:
    """Counts for a page of runs, in one query over an index."""
    page = list(runs)
    counts = status_counts([run.pk for run in page])
    return [
        RunRow(
            run=run,
            total=sum(counts[run.pk].values()),
            finished=sum(counts[run.pk].values()) - counts[run.pk][Debate.Status.WAITING],
            labelled=counts[run.pk][Debate.Status.DONE],
        )
        for run in page
    ]


def status_counts(run_ids: Iterable[int]) -> Mapping[int, Counter[str]]:
    """run id → debates by status."""
    counts: dict[int, Counter[str]] = {run_id: Counter() for run_id in run_ids}
    rows = (
        Debate.objects.filter(run__in=counts)
        .order_by()
        .values_list("run", "status")
        .annotate(n=Count("pk"))
    )
    for run_id, status, count in rows:
        counts[run_id][status] = count
    return counts


def roles_of(run: Run) -> list[RunRole]:
    """Who plays in the run, in the order in which they speak."""
    return list(run.roles.select_related("model__provider", "prompt"))
