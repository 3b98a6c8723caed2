"""Reading the ledger."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, TextField
from django.db.models.functions import Cast

from apps.labels.blindness import ONLY_AUDITED, SETTLED
from apps.labels.models import Gold, ItemState, Kind, Label
from apps.projects.changes import Translator
from apps.projects.models import Item, LabelSchema, Project
from labelhub.core.errors import NotFound

#: From gold back to what nobody has labelled: each item is at exactly one of these.
STAGES = (
    ItemState.Stage.DECIDED,
    ItemState.Stage.UNCLEAR,
    ItemState.Stage.CONFLICT,
    ItemState.Stage.IN_REVIEW,
    ItemState.Stage.SUGGESTED,
    ItemState.Stage.NEW,
)
#: The width of a bar of all stages.
BAR = 1000
#: Between two parts of it.
GAP = 3
#: Rows of a query that are held at once.
CHUNK = 20_000


def no_item(project: Project, item_id: int) -> NotFound:
    """The error where the project has no such item."""
    return NotFound(
        "There is no item %(item_id)s in the project '%(slug)s'.",
        item_id=str(item_id),
        slug=project.slug,
    )


def at_stage(stage: str, path: str = "", withheld: Q | None = None) -> Q:
    """Items at one of :data:`STAGES`, or ``waiting`` for people: those that are ``doubtful``, the
    ``rest``, and conflicts and disputes, which an expert decides.

    Items with gold may take further labels, which compare people with it; they do not wait.
    ``path`` leads to the item's state, such as ``state__``. ``withheld``: items that wait to the
    reader, whether they do or not.
    """

    def state(**fields: Any) -> Q:
        return Q(**{f"{path}{name}": value for name, value in fields.items()})

    if stage not in ("waiting", "doubtful", "rest"):
        return state(stage=stage)
    open_items = state(queued=True) & ~state(stage__in=SETTLED)
    if stage == "waiting":
        waiting = open_items | state(queued=True, disputed=True)
        return waiting if withheld is None else waiting | withheld
    to_review = open_items if withheld is None else open_items | withheld
    certain = state(reasons=[]) | state(reasons=ONLY_AUDITED)
    conflict = state(stage=ItemState.Stage.CONFLICT)
    return to_review & ~conflict & (certain if stage == "rest" else ~certain)


@dataclass(frozen=True, slots=True)
class StageBar:
    """A stage as a part of the bar: its items, and its place from 0 to :data:`BAR`."""

    stage: ItemState.Stage
    items: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Progress:
    """The items of a project, from imported to gold; all counts are items.

    ``stages`` add up to ``items``. ``waiting`` for people are the ``doubtful``, ``conflicts``,
    ``disputes`` and the rest. ``imported``: their gold came with them. ``labelled``: by a debate, a
    person or their author. ``comparable``: with gold, and open for labels to compare with it.
    """

    items: int = 0
    stages: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    waiting: int = 0
    doubtful: int = 0
    conflicts: int = 0
    disputes: int = 0
    labelled: int = 0
    imported: int = 0
    comparable: int = 0

    @property
    def gold(self) -> int:
        """Items with gold."""
        return self.stages[ItemState.Stage.DECIDED]

    @property
    def decided_here(self) -> int:
        """Items whose gold was decided here."""
        return self.gold - self.imported

    @property
    def for_experts(self) -> int:
        """Waiting items that an expert decides."""
        return self.conflicts + self.disputes

    @property
    def to_review(self) -> int:
        """Waiting items that any reviewer may take."""
        return self.waiting - self.for_experts

    @property
    def bar(self) -> list[StageBar]:
        """The stages with items, gold first."""
        found = [(stage, self.stages[stage]) for stage in STAGES if self.stages[stage]]
        scale = (BAR - GAP * (len(found) - 1)) / max(1, self.items)
        parts, start = [], 0.0
        for stage, n in found:
            parts.append(StageBar(stage, n, start, n * scale))
            start += n * scale + GAP
        return parts


def progress_of(project_ids: Iterable[int]) -> defaultdict[int, Progress]:
    """The progress of each of these projects; one query."""
    decided, conflict = ItemState.Stage.DECIDED, ItemState.Stage.CONFLICT
    waiting, queued = at_stage("waiting"), Q(queued=True)
    rows = (
        ItemState.objects.filter(project__in=project_ids)
        .order_by()
        .values("project_id")
        .annotate(
            items=Count("pk"),
            waiting=Count("pk", filter=waiting),
            doubtful=Count("pk", filter=at_stage("doubtful")),
            conflicts=Count("pk", filter=waiting & at_stage(conflict)),
            disputes=Count("pk", filter=waiting & Q(disputed=True)),
            labelled=Count("pk", filter=LABELLED),
            imported=Count("pk", filter=at_stage(decided) & Q(gold__basis=Gold.Basis.IMPORTED)),
            comparable=Count("pk", filter=queued & Q(stage__in=SETTLED, disputed=False)),
            **{f"at_{stage}": Count("pk", filter=at_stage(stage)) for stage in STAGES},
        )
    )
    found = defaultdict(Progress)
    for row in rows:
        project_id = row.pop("project_id")
        stages: dict[str, int] = {stage: row.pop(f"at_{stage}") for stage in STAGES}
        found[project_id] = Progress(stages=stages, **row)
    return found


#: Items that a debate, a person or their author has labelled.
LABELLED = (
    Q(labels_by_people__gt=0) | Q(suggestion__isnull=False) | Q(gold__basis=Gold.Basis.AUTHOR)
)


def current_gold(project: Project) -> QuerySet[Gold]:
    """The current decision of every item."""
    return Gold.objects.current().filter(item__project=project)


def rejected_suggestions(project: Project) -> QuerySet[Label, int | None]:
    """Ids of suggestions that somebody rejected without a label and has not answered since."""
    rejections = Label.objects.standing().filter(annotator__project=project, rejected=True)
    return rejections.order_by().values_list("shown", flat=True)


#: Decisions by people.
VERIFIED = (
    Gold.Basis.REVIEW,
    Gold.Basis.AGREEMENT,
    Gold.Basis.ADJUDICATION,
    Gold.Basis.AUTHOR,
    Gold.Basis.IMPORTED,
)


def verified_as_of(project_id: int, moment: datetime) -> QuerySet[Gold]:
    """People's decisions on the project's items as of ``moment``, the latest first.

    The newest decision of each item at that time, unless it was withdrawn or imported as made by an
    LLM or a model. The ledger only grows, so the result never changes.
    """
    then = Gold.objects.filter(created_at__lte=moment)
    newer = then.filter(item=OuterRef("item"), pk__gt=OuterRef("pk"))
    decided = then.filter(
        ~Exists(newer),
        # Imported decisions keep their dates.
        item__created_at__lte=moment,
        item__project=project_id,
        basis__in=VERIFIED,
        withdrawn=False,
    )
    return decided.exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL)).order_by(
        "-created_at", "-pk"
    )


def labels_of_run(project_id: int, run_uid: UUID) -> QuerySet[Label]:
    """The labels that a run proposed in its project, superseded or not, without copies in other
    projects. Of a label that a schema change carried over, the newest row."""
    carried = Q(superseded_by__change__isnull=False)
    return (
        Label.objects.filter(run_uid=run_uid, annotator__project=project_id, withdrawn=False)
        .exclude(carried)
        .order_by("pk")
    )


#: Item, annotator, and answer, as JSON in the database's own spelling; None for an abstention.
StoredAnswer = tuple[int, int, str | None]


def translated_answers(
    schema: LabelSchema, labels: QuerySet[Label], by: str = "annotator_id"
) -> Iterator[StoredAnswer]:
    """The answers of ``labels`` under the names of ``schema``, the current one, in the order of the
    query; without those that have no current label. ``by``: the column that stands for the
    annotator. A cast spares parsing what no change touched.
    """
    rows = labels.annotate(raw=Cast("value", TextField()))
    columns = ("item_id", by, "raw", "schema__version")
    translator = Translator.of(schema.project_id) if schema.version > 1 else None
    for item, annotator, raw, version in rows.values_list(*columns).iterator(CHUNK):
        if raw is None or translator is None or not translator.touches(version):
            yield item, annotator, raw
        elif (now := translator.value(version, json.loads(raw))) is not None:
            yield item, annotator, json.dumps(now)


def item_with_ledger(project: Project, item_id: int) -> Item | None:
    """One item with all its labels and decisions, oldest first, in five queries."""
    related = ("annotator", "schema", "superseded_by", "shown__annotator")
    labels: QuerySet[Label] = Label.objects.select_related(*related).order_by("pk")
    golds: QuerySet[Gold] = Gold.objects.select_related("decided_by", "schema", "superseded_by")
    golds = golds.order_by("pk")
    items = Item.objects.filter(project=project, pk=item_id)
    items = items.select_related("state__suggestion__annotator", "state__gold")
    return (
        items.prefetch_related(Prefetch("labels", labels))
        .prefetch_related(Prefetch("golds", golds))
        .first()
    )
