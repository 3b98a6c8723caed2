"""Predictions against gold: their sources and their accuracy."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    BooleanField,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
)
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext

from apps.accounts.models import User
from apps.common.charts import TEXT_MATCHER
from apps.common.figures import count_words
from apps.debates.models import Debate, Run
from apps.debates.naming import annotator_words, protocol_title
from apps.labels.blindness import answer_hidden_from
from apps.labels.models import MACHINES, PEOPLE, Annotator, Gold, ItemState, Kind, Label
from apps.labels.selectors import current_gold, labels_of_run, rejected_suggestions
from apps.projects.changes import Translator
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.evaluation import (
    Evaluation,
    LabelledPair,
    evaluate,
    is_right,
)
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import Schema

MOST_RUNS = 50
#: Bases of gold that rests on labels of people here.
DECIDED_HERE = (Gold.Basis.REVIEW, Gold.Basis.AGREEMENT, Gold.Basis.ADJUDICATION)


@dataclass(frozen=True, slots=True)
class PredictionSource:
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
        """Whether gold may have been decided by these labels."""
        return self.kind in PEOPLE

    def labels(self) -> QuerySet[Label]:
        """Its labels, oldest first; of several labels of an item the last counts."""
        if self.run is not None:
            return labels_of_run(self.run.project_id, self.run.uid).filter(replicate=self.replicate)
        return Label.objects.independent().filter(annotator=self.annotator).order_by("pk")


def find_source(
    project: Project, *, run_id: int | None, annotator_id: int | None, replicate: int = 1
) -> PredictionSource | None:
    """The source asked for; by default the newest run with labels, else an imported machine.

    Raises:
        NotFound: the run, its replicate or the annotator is not in this project.
    """
    if annotator_id is not None:
        annotator = Annotator.objects.filter(project=project, pk=annotator_id).first()
        if annotator is None:
            raise NotFound(
                "annotator: this project has no annotator %(annotator_id)s.",
                annotator_id=str(annotator_id),
            )
        return _annotator_source(annotator)
    runs = evaluated_runs(project)
    run = (runs if run_id is None else Run.objects.filter(project=project, pk=run_id)).first()
    if run is None and run_id is not None:
        raise NotFound("run: this project has no run %(run_id)s.", run_id=str(run_id))
    if run is None:
        labelled = Exists(Label.objects.independent().filter(annotator=OuterRef("pk")))
        machines = Annotator.objects.filter(labelled, project=project, kind__in=MACHINES)
        machine = machines.order_by("pk").first()
        return _annotator_source(machine) if machine else None
    if not 1 <= replicate <= run.replicates:
        raise NotFound(
            "replicate: run %(pk)s has replicates 1 to %(replicates)s, not %(replicate)s.",
            pk=str(run.pk),
            replicates=run.replicates,
            replicate=str(replicate),
        )
    first = labels_of_run(project.pk, run.uid).select_related("annotator").first()
    if first is None:
        return PredictionSource(
            run_words(run), Kind.LLM, offline=False, run=run, replicate=replicate
        )
    by = first.annotator
    return PredictionSource(by.name, by.kind, by.offline, run=run, replicate=replicate)


def evaluated_runs(project: Project) -> QuerySet[Run]:
    """Runs that proposed at least one label, newest first."""
    proposed = Label.objects.filter(run_uid=OuterRef("uid"), annotator__project=project)
    return Run.objects.filter(Exists(proposed), project=project)


def source_choices(project: Project) -> Mapping[str, Sequence[tuple[str, str]]]:
    """The sources to choose from, in groups: their names and the parameters that mean them; two
    queries. Authors are too many to choose from."""
    own = Label.objects.independent().filter(annotator=OuterRef("pk"), run_uid__isnull=True)
    people = Annotator.objects.filter(Exists(own), project=project).exclude(kind=Kind.AUTHOR)
    people = people.order_by("kind", "name")
    groups = {
        gettext("Runs"): [
            (_replicate_words(run, replicate), urlencode(_run_query(run, replicate)))
            for run in evaluated_runs(project)[:MOST_RUNS]
            for replicate in range(1, run.replicates + 1)
        ],
        gettext("Annotators"): [
            (
                f"{annotator_words(annotator.name)} ({annotator.get_kind_display()})",
                urlencode({"annotator": annotator.pk}),
            )
            for annotator in people[:MOST_RUNS]
        ],
    }
    return {words: choices for words, choices in groups.items() if choices}


def run_words(run: Run) -> str:
    return gettext("%(protocol)s, run %(number)s, %(day)s") % {
        "protocol": protocol_title(run.protocol),
        "number": run.pk,
        "day": date_format(localtime(run.created_at), "DATE_FORMAT"),
    }


def _replicate_words(run: Run, replicate: int) -> str:
    if run.replicates == 1:
        return run_words(run)
    words = gettext("%(run)s, replicate %(replicate)s of %(replicates)s")
    return words % {"run": run_words(run), "replicate": replicate, "replicates": run.replicates}


def _run_query(run: Run, replicate: int) -> Mapping[str, int]:
    return {"run": run.pk} | ({"replicate": replicate} if replicate > 1 else {})


def _annotator_source(annotator: Annotator) -> PredictionSource:
    name, kind, offline = annotator.name, annotator.kind, annotator.offline
    return PredictionSource(name, kind, offline, annotator=annotator)


#: Cells of a label's two-by-two matrix, "predicted-gold".
CELLS = {
    "yes-yes": (True, True),
    "yes-no": (True, False),
    "no-yes": (False, True),
    "no-no": (False, False),
}
OUTCOMES = ("right", "wrong", "unanswered")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A source's labels beside gold. ``unanswered``: items with gold that it did not label;
    ``rejected``: how many of its labels somebody rejected without a label, on items without gold.
    """

    project: Project
    schema: Schema
    translator: Translator
    source: PredictionSource | None
    pairs: Sequence[LabelledPair]
    gold: Mapping[int, Any]
    gold_by_basis: Mapping[str, int]
    own_gold: int
    unanswered: Sequence[int]
    rejected: int

    @property
    def rejected_words(self) -> str:
        words = ngettext(
            "%(number)s suggestion was rejected without a label; it is not in this figure.",
            "%(number)s suggestions were rejected without a label; they are not in this figure.",
            self.rejected,
        )
        return words % {"number": count_words(self.rejected)} if self.rejected else ""

    @property
    def gold_total(self) -> int:
        return len(self.gold)


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """An evaluation with the counts needed to interpret it."""

    compared: Comparison
    evaluation: Evaluation

    def to_json(self) -> dict[str, Any]:
        compared, source = self.compared, self.compared.source
        offline = source is not None and source.offline
        return {
            "project": compared.project.slug,
            "task": str(compared.schema.task),
            "run": source.run.pk if source and source.run else None,
            "replicate": source.replicate if source and source.run else None,
            "annotator": source.name if source else None,
            "kind": source.kind if source else None,
            "offline": source.offline if source else None,
            "note": f"predicted by: {TEXT_MATCHER}" if offline else "",
            "gold": compared.gold_total,
            "gold_by_basis": dict(compared.gold_by_basis),
            "items": self.evaluation.n,
            "unanswered": len(compared.unanswered),
            "rejected": compared.rejected,
            **self.evaluation.to_json(),
        }


def evaluation_report(
    project: Project,
    *,
    run_id: int | None = None,
    annotator_id: int | None = None,
    replicate: int = 1,
) -> EvaluationReport:
    """Evaluate a run (the newest with labels by default) or an annotator against gold.

    Raises:
        NotFound: the run or annotator is not in this project.
    """
    compared = compare_with_gold(
        project, find_source(project, run_id=run_id, annotator_id=annotator_id, replicate=replicate)
    )
    return EvaluationReport(compared, evaluate(compared.schema, compared.pairs))


def compare_with_gold(project: Project, source: PredictionSource | None) -> Comparison:
    """Every item that has gold and a prediction; values only, however long the texts are."""
    rows = list(current_gold(project).values_list("item_id", "value", "basis", "decided_by"))
    gold: dict[int, Any] = {item_id: value for item_id, value, _, _ in rows}
    schema = current_schema(project)
    translator = Translator.of(project.pk) if schema.version > 1 else Translator([])
    labels = _predictions(source, project, translator) if source else {}
    debated: set[int] = set()
    if source and source.run:
        # Debates that ended, with a label or without.
        ended = Debate.objects.filter(run=source.run, replicate=source.replicate)
        ended = ended.exclude(status=Debate.Status.WAITING)
        debated = set(ended.values_list("item_id", flat=True))
    predicted = {item: value for item, (value, _) in labels.items() if value is not None}
    annotator = source.annotator if source else None
    return Comparison(
        project=project,
        schema=schema.parsed,
        translator=translator,
        source=source,
        pairs=[
            LabelledPair(item_id, predicted[item_id], value)
            for item_id, value in gold.items()
            if item_id in predicted
        ],
        gold=gold,
        gold_by_basis=dict(Counter(basis for _, _, basis, _ in rows)),
        own_gold=sum(annotator is not None and by == annotator.pk for *_, by in rows),
        unanswered=sorted((debated | labels.keys()) & gold.keys() - predicted.keys()),
        rejected=sum(wrong and item not in gold for item, (_, wrong) in labels.items()),
    )


def _predictions(
    source: PredictionSource, project: Project, translator: Translator
) -> dict[int, tuple[Any, bool]]:
    """Item → the source's label under its current name, and whether somebody rejected that without
    a label."""
    rejected = rejected_suggestions(project)
    # Also under a former name.
    known = Q(pk__in=rejected) | Q(supersedes__in=rejected)
    wrong = ExpressionWrapper(known, BooleanField())
    labels = source.labels().annotate(wrong=wrong)
    rows = labels.values_list("item_id", "value", "schema__version", "wrong")
    return {
        item: (translator.value(version, value), bool(wrong))
        for item, value, version, wrong in rows
    }


def items_in_cell(compared: Comparison, *, label: str, cell: str) -> list[int]:
    """Items behind one cell of a label's two-by-two matrix; ``cell`` is predicted-gold.

    Raises:
        InvalidInput: no such label or cell.
    """
    if cell not in CELLS:
        raise InvalidInput(
            "cell: must be one of %(cells)s (predicted-gold).", cells=", ".join(CELLS)
        )
    schema = compared.schema
    known = schema.label(label)
    if known is None:
        raise InvalidInput("label: the schema has no '%(label)s'.", label=label[:80])
    names = schema.names_in
    return [
        pair.item_id
        for pair in compared.pairs
        if (known.name in names(pair.predicted), known.name in names(pair.gold)) == CELLS[cell]
    ]


def items_in_matrix(compared: Comparison, *, predicted: str, gold: str) -> list[int]:
    """Items of a single or ordinal project with this predicted and this gold label."""
    name_of = compared.schema.name_of
    return [
        pair.item_id
        for pair in compared.pairs
        if (name_of(pair.predicted), name_of(pair.gold)) == (predicted, gold)
    ]


def items_by_outcome(compared: Comparison, outcome: str) -> list[int]:
    """Items whose whole prediction is right or wrong, or that have no usable answer.

    Raises:
        InvalidInput: no such outcome.
    """
    if outcome not in OUTCOMES:
        raise InvalidInput("outcome: must be one of %(outcomes)s.", outcomes=", ".join(OUTCOMES))
    if outcome == "unanswered":
        return list(compared.unanswered)
    schema, wanted = compared.schema, outcome == "right"
    return [
        pair.item_id
        for pair in compared.pairs
        if is_right(schema, pair.predicted, pair.gold) is wanted
    ]


def labels_by_item(compared: Comparison, item_ids: Sequence[int]) -> dict[int, Label]:
    """Item → the source's label of it, whose value and evidence have today's names."""
    if compared.source is None:
        return {}
    labels = compared.source.labels().filter(item__in=item_ids).select_related("schema")
    for label in labels:
        label.value = compared.translator.value(label.schema.version, label.value)
        label.evidence = compared.translator.evidence(label.schema.version, label.evidence)
    return {label.item_id: label for label in labels}


def debates_by_item(source: PredictionSource | None, item_ids: Sequence[int]) -> dict[int, int]:
    """Item id → id of its debate in the source's run."""
    if source is None or source.run is None:
        return {}
    held = Debate.objects.filter(run=source.run, replicate=source.replicate, item__in=item_ids)
    return dict(held.values_list("item_id", "pk"))


def is_gold_uncertain_first(project: Project) -> bool:
    """Whether people decide the items first that the debate doubts, and some are still to be
    decided: then the gold is no random sample, and machines look worse by it than they are.
    Little of that among imported gold does not matter."""
    doubted_first = project.queue_order == Project.QueueOrder.UNCERTAINTY
    if not doubted_first and project.review_scope == Project.ReviewScope.ALL:
        return False
    states = ItemState.objects.filter(project=project, suggestion__isnull=False)
    decided = states.filter(gold__basis__in=DECIDED_HERE).count()
    known = states.filter(gold__isnull=False).count()
    return decided > known / 10 and states.filter(gold__isnull=True).exists()


def gold_rows(project: Project, user: User | AnonymousUser) -> QuerySet[Gold]:
    """Gold in stable order, without the gold questions of ``user``."""
    rows = current_gold(project).exclude(answer_hidden_from(user.pk or 0, item="item_id"))
    return rows.select_related("item", "decided_by").order_by("item_id")
