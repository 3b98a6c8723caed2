"""Queries about experiments: their arms, and the rows for a comparison with gold."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, Prefetch, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTransform

from apps.accounts.models import User
from apps.debates.models import Debate, Experiment, Run, RunRole, Turn
from apps.debates.selectors.runs import status_counts
from apps.labels.models import Gold
from apps.projects.models import Project, SchemaChange
from labelhub.core.errors import NotFound

#: Debates with a result; failed debates can be tried again.
ENDED = (Debate.Status.DONE, Debate.Status.UNPARSED)


@dataclass(frozen=True, slots=True)
class Arm:
    """One run of an experiment with its roles and the number of its debates by status."""

    run: Run
    roles: Sequence[RunRole]
    counts: Counter[str]

    @property
    def total(self) -> int:
        """All its debates."""
        return sum(self.counts.values())

    @property
    def finished(self) -> int:
        """Debates that have ended, including failed ones."""
        return self.total - self.counts[Debate.Status.WAITING]

    @property
    def going(self) -> bool:
        """Whether a worker should drive it."""
        return self.run.going


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """An experiment in a list."""

    experiment: Experiment
    arms: int
    going: int
    total: int
    finished: int
    cost_nanousd: int | None


def experiments_of(project: Project) -> QuerySet[Experiment]:
    """The project's experiments, newest first."""
    return Experiment.objects.filter(project=project).select_related("created_by")


def experiment_rows(experiments: Iterable[Experiment]) -> list[ExperimentRow]:
    """A page of experiments with their progress and cost, in two queries."""
    page = list(experiments)
    runs = list(Run.objects.filter(experiment__in=page).order_by("pk"))
    counts = status_counts([run.pk for run in runs])
    return [
        _row(experiment, [run for run in runs if run.experiment_id == experiment.pk], counts)
        for experiment in page
    ]


def get_experiment(project: Project, experiment_id: int) -> Experiment:
    """An experiment of ``project``.

    Raises:
        NotFound: no such experiment there.
    """
    found = experiments_of(project).filter(pk=experiment_id).first()
    if found is None:
        raise NotFound(
            "There is no experiment %(experiment_id)s in the project '%(slug)s'.",
            experiment_id=str(experiment_id),
            slug=project.slug,
        )
    found.project = project
    return found


def visible_experiment(user: User | AnonymousUser, experiment_id: int) -> Experiment:
    """An experiment of any project that ``user`` may see, with its project.

    Raises:
        NotFound: no such experiment for this person.
    """
    known = Experiment.objects.filter(project__in=Project.objects.visible_to(user))
    found = known.filter(pk=experiment_id).select_related("project", "created_by").first()
    if found is None:
        raise NotFound(
            "There is no experiment %(experiment_id)s.", experiment_id=str(experiment_id)
        )
    return found


def arms_of(experiment: Experiment) -> list[Arm]:
    """The experiment's runs in their order in the request, in three queries."""
    roles = RunRole.objects.select_related("model__provider", "prompt")
    runs = list(
        Run.objects.filter(experiment=experiment)
        .select_related("schema", "project")
        .prefetch_related(Prefetch("roles", roles))
        .order_by("pk")
    )
    counts = status_counts([run.pk for run in runs])
    return [Arm(run, list(run.roles.all()), counts[run.pk]) for run in runs]


def verified_items(project: Project, versions: Collection[int]) -> QuerySet[Gold]:
    """Gold by decisions that were made under these versions of the labels, by their ids."""
    return Gold.objects.filter(item__project=project).made_under(versions)


def ended_debates(run_ids: Iterable[int], *signals: str) -> QuerySet[Debate, tuple[Any, ...]]:
    """Rows (run, item, debate, value, then each of ``signals``) of the debates that ended.

    Only the named signals are read, because all signals together are long.
    """
    columns = {f"signal_{name}": KeyTransform(name, "signals") for name in signals}
    rows = Debate.objects.filter(run__in=list(run_ids), status__in=ENDED).annotate(**columns)
    return rows.order_by("pk").values_list("run", "item", "pk", "value", *columns)


def turn_sums(run_ids: Iterable[int]) -> QuerySet[Turn, tuple[Any, ...]]:
    """Rows (run, item, calls, nano-USD, seconds, calls without price) over the debates that ended.

    Seconds are the sum over all calls, also over parallel ones.
    """
    turns = Turn.objects.filter(debate__run__in=list(run_ids), debate__status__in=ENDED)
    return (
        turns.order_by()
        .values_list("debate__run", "debate__item")
        .annotate(
            calls=Count("pk"),
            cost=Sum("cost_nanousd"),
            waited=Sum("seconds"),
            unpriced=Count("pk", filter=Q(cost_nanousd__isnull=True)),
        )
    )


def comparison_state(experiment: Experiment) -> tuple[Any, ...]:
    """A value that changes with everything that the comparison shows, in two cheap queries."""
    debates = Debate.objects.filter(run__experiment=experiment).exclude(
        status=Debate.Status.WAITING
    )
    ended = debates.aggregate(count=Count("pk"), last=Max("finished_at"))
    gold = Gold.objects.filter(item__project=experiment.project_id)
    changes = SchemaChange.objects.filter(project=experiment.project_id, to_schema__isnull=False)
    newest = Max(Subquery(changes.order_by("-pk").values("pk")[:1]))
    return (*ended.values(), *gold.aggregate(last=Max("pk"), changed=newest).values())


def _row(
    experiment: Experiment, runs: Sequence[Run], counts: Mapping[int, Counter[str]]
) -> ExperimentRow:
    total = sum(sum(counts[run.pk].values()) for run in runs)
    waiting = sum(counts[run.pk][Debate.Status.WAITING] for run in runs)
    unpriced = any(run.unpriced_turns for run in runs)
    return ExperimentRow(
        experiment=experiment,
        arms=len(runs),
        going=sum(run.going for run in runs),
        total=total,
        finished=total - waiting,
        cost_nanousd=None if unpriced else sum(run.cost_nanousd for run in runs),
    )
