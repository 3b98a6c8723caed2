"""Looking at runs and debates."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Prefetch, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.querysets import DebateQuerySet
from apps.projects.models import Project
from labelhub.core.errors import NotFound

#: How many of the last finished debates an estimate rests on, and the least it needs.
RECENT = 100
LEAST = 5
#: A worker reports every few seconds; one that has been silent for longer is not there.
SILENCE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is. Counts are debates; ``cost_usd`` is None when a price is unknown."""

    status: str
    total: int
    done: int
    unparsed: int
    failed: int
    waiting: int
    turns: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    calls_per_second: float | None
    seconds_left: float | None
    no_estimate: str = ""
    limited_by: str = ""

    @property
    def finished(self) -> int:
        """Debates that will not be touched again unless somebody resumes the failed ones."""
        return self.total - self.waiting


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


def debates_of(run: Run) -> QuerySet[Debate]:
    """The run's debates in the order of their items, with item and label."""
    return Debate.objects.filter(run=run).select_related("item", "label").order_by("pk")


def debate_with_turns(project: Project, debate_id: int) -> Debate:
    """One debate of ``project`` with everything its page shows, in two queries.

    Raises:
        NotFound: no such debate there.
    """
    return _with_turns(Debate.objects.filter(run__project=project), debate_id)


def visible_debate(user: User | AnonymousUser, debate_id: int) -> Debate:
    """One debate of any project that ``user`` may know of, with its turns.

    Raises:
        NotFound: no such debate for this person.
    """
    return _with_turns(Debate.objects.visible_to(user), debate_id)


def _with_turns(debates: DebateQuerySet, debate_id: int) -> Debate:
    turns = Turn.objects.select_related("model__provider", "prompt").order_by("pk")
    debate = (
        debates.filter(pk=debate_id)
        .select_related("run__schema", "item", "label__annotator")
        .prefetch_related(Prefetch("turns", queryset=turns))
        .first()
    )
    if debate is None:
        raise NotFound(f"There is no debate {debate_id} that you may see.")
    return debate


def roles_of(run: Run) -> list[RunRole]:
    """Who plays in the run, in the order in which they speak."""
    return list(run.roles.select_related("model__provider", "prompt"))


def neighbours(debate: Debate) -> tuple[int | None, int | None]:
    """The debates before and after this one in its run."""
    same = Debate.objects.filter(run=debate.run_id).values_list("pk", flat=True)
    before = same.filter(pk__lt=debate.pk).order_by("-pk").first()
    return before, same.filter(pk__gt=debate.pk).order_by("pk").first()


def progress(run: Run) -> RunProgress:
    """Where the run stands now, with an estimate that rests on its last finished debates."""
    counts = status_counts([run.pk])[run.pk]
    waiting = counts[Debate.Status.WAITING]
    per_second, why = _rate(run, timezone.now())
    finished = sum(counts.values()) - waiting
    return RunProgress(
        status=run.status,
        total=sum(counts.values()),
        done=counts[Debate.Status.DONE],
        unparsed=counts[Debate.Status.UNPARSED],
        failed=counts[Debate.Status.FAILED],
        waiting=waiting,
        turns=run.turns_count,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        cost_usd=None if run.unpriced_turns else run.cost_nanousd / 1e9,
        calls_per_second=per_second * run.turns_count / finished
        if per_second and finished
        else None,
        seconds_left=waiting / per_second if per_second else None,
        no_estimate=why,
        limited_by=limited_by(run),
    )


def _rate(run: Run, now: datetime) -> tuple[float | None, str]:
    """Debates per second of late, or None and why there is no telling."""
    since = run.resumed_at or run.started_at
    if not run.going:
        return None, f"The run is {run.get_status_display().lower()}."
    if since is None:
        return None, "Waiting for a worker."
    finished = Debate.objects.filter(run=run, finished_at__gt=since).order_by("-finished_at")
    recent = list(finished.values_list("finished_at", flat=True)[:RECENT])
    if len(recent) < LEAST:
        return None, "Too early to tell."
    # Up to now, not up to the last one: a run that has stalled must look ever slower.
    oldest = recent[-1] if len(recent) == RECENT and recent[-1] else since
    return len(recent) / max((now - oldest).total_seconds(), 0.001), ""


def limited_by(run: Run) -> str:
    """What holds a going run back, in words, as its worker last reported; may be empty."""
    if not run.going or run.started_at is None:
        return ""
    at = run.pulse.get("at")
    if at is None or timezone.now() - datetime.fromisoformat(at) > SILENCE:
        return "No worker is at it just now; one takes over within seconds if any is running."
    return str(run.pulse.get("limited_by", ""))
