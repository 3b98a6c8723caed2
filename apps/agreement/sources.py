"""Whose predictions are measured: a run's, or an annotator's current labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet

from apps.debates.models import Run
from apps.labels.models import PEOPLE, Annotator, Kind, Label
from apps.labels.selectors import labels_of_run
from apps.projects.models import Project
from labelhub.core.errors import NotFound

MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class Source:
    """One replicate of a run, or an annotator; exactly one of the two is set."""

    name: str
    kind: str
    offline: bool
    run: Run | None = None
    annotator: Annotator | None = None
    replicate: int = 1

    @property
    def query(self) -> Mapping[str, int]:
        """The parameters of an address that mean this source."""
        if self.annotator is not None:
            return {"annotator": self.annotator.pk}
        return _run_query(self.run, self.replicate) if self.run else {}

    @property
    def is_person(self) -> bool:
        """Whether gold may rest on these very labels."""
        return self.kind in PEOPLE

    def labels(self) -> QuerySet[Label]:
        """What it says, oldest first; a later label of an item is the one that counts."""
        if self.run is not None:
            return labels_of_run(self.run.project_id, self.run.uid).filter(replicate=self.replicate)
        return Label.objects.current().filter(annotator=self.annotator).order_by("pk")


@dataclass(frozen=True, slots=True)
class Choice:
    """A source that the page offers."""

    text: str
    query: Mapping[str, int]

    @property
    def address(self) -> str:
        """The query as it stands in an address."""
        return urlencode(self.query)


def find_source(
    project: Project, *, run_id: int | None, annotator_id: int | None, replicate: int = 1
) -> Source | None:
    """The source asked for; by default the newest run with labels, else an imported machine.

    Raises:
        NotFound: the run, its replicate or the annotator is not in this project.
    """
    if annotator_id is not None:
        return _annotator(project, annotator_id)
    run = evaluated_runs(project).first() if run_id is None else _run(project, run_id)
    if run is None:
        return _imported_machine(project)
    if not 1 <= replicate <= run.replicates:
        raise NotFound(f"replicate: run {run.pk} has {run.replicates}, not a number {replicate}.")
    first = labels_of_run(project.pk, run.uid).select_related("annotator").first()
    if first is None:
        return Source(str(run), Kind.LLM, offline=False, run=run, replicate=replicate)
    by = first.annotator
    return Source(by.name, by.kind, by.offline, run=run, replicate=replicate)


def evaluated_runs(project: Project) -> QuerySet[Run]:
    """Runs that proposed at least one label, newest first."""
    proposed = Label.objects.filter(run_uid=OuterRef("uid"), annotator__project=project)
    return Run.objects.filter(Exists(proposed), project=project)


def source_choices(project: Project) -> Mapping[str, Sequence[Choice]]:
    """What can be evaluated, in groups; two queries."""
    own = Label.objects.current().filter(annotator=OuterRef("pk"), run_uid__isnull=True)
    people = Annotator.objects.filter(Exists(own), project=project).order_by("kind", "name")
    groups = {
        "Runs": [
            Choice(_run_words(run, replicate), _run_query(run, replicate))
            for run in evaluated_runs(project)[:MOST_RUNS]
            for replicate in range(1, run.replicates + 1)
        ],
        "Annotators": [
            Choice(f"{each.name} ({each.get_kind_display()})", {"annotator": each.pk})
            for each in people[:MOST_RUNS]
        ],
    }
    return {words: choices for words, choices in groups.items() if choices}


def _run_query(run: Run, replicate: int) -> Mapping[str, int]:
    return {"run": run.pk} | ({"replicate": replicate} if replicate > 1 else {})


def _run_words(run: Run, replicate: int) -> str:
    part = f", replicate {replicate} of {run.replicates}" if run.replicates > 1 else ""
    return f"{run.protocol}, run {run.pk}, {run.created_at:%Y-%m-%d %H:%M}{part}"


def _annotator(project: Project, annotator_id: int) -> Source:
    found = Annotator.objects.filter(project=project, pk=annotator_id).first()
    if found is None:
        raise NotFound(f"annotator: this project has no annotator {annotator_id}.")
    return Source(found.name, found.kind, found.offline, annotator=found)


def _run(project: Project, run_id: int) -> Run:
    found = Run.objects.filter(project=project, pk=run_id).first()
    if found is None:
        raise NotFound(f"run: this project has no run {run_id}.")
    return found


def _imported_machine(project: Project) -> Source | None:
    labelled = Exists(Label.objects.current().filter(annotator=OuterRef("pk")))
    machines = Annotator.objects.filter(labelled, project=project, kind__in=[Kind.LLM, Kind.MODEL])
    found = machines.order_by("pk").first()
    return Source(found.name, found.kind, found.offline, annotator=found) if found else None
