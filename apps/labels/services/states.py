"""Where items stand: the one place that derives an item's state and its gold from the ledger."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_rows
from apps.common.prepared import prepared
from apps.labels.models import PEOPLE, Gold, ItemState, Kind, Label
from apps.labels.services.drafts import UNASKED, DebateResult
from apps.projects.models import Item, Project
from labelhub.core.schema import value_key

#: Who comes first in the queue; within a band, the more uncertain item.
CONFLICT, DOUBTFUL, UNLABELLED, CONFIDENT = 200.0, 100.0, 50.0, 10.0
#: Items that came with gold are needed least.
WITH_IMPORTED_GOLD = -5.0
MACHINES = (Kind.LLM, Kind.MODEL)

STATE_FIELDS = [
    "stage", "queued", "priority", "labels_by_people", "wanted",
    "suggestion", "gold", "reasons", "signals", "updated_at",
]  # fmt: skip
CHUNK = 1000


@dataclass(slots=True)
class Facts:
    """What the ledger says of one item: its current labels, oldest first, and its newest decision
    (a withdrawn one too: the next must supersede it, there is one chain per item)."""

    labels: list[Label] = field(default_factory=list)
    gold: Gold | None = None

    @property
    def by_people(self) -> list[Label]:
        """What crowd and experts say; who changed from one to the other counts once, as of late."""
        said = [label for label in self.labels if label.annotator.kind in PEOPLE]
        newest = {label.annotator.user_id or -label.annotator_id: label for label in said}
        return [label for label in said if label in newest.values()]

    @property
    def by_machines(self) -> Label | None:
        """The newest of what models say."""
        said = [label for label in self.labels if label.annotator.kind in MACHINES]
        return next((label for label in reversed(said) if not label.abstained), None)


def open_items(items: Sequence[Item], project: Project) -> None:
    """Put freshly imported items into the queue; in the transaction that created them."""
    _read_plan(project)
    priority, queued = UNLABELLED, project.review_scope == Project.ReviewScope.ALL
    insert_rows(
        [
            ItemState(
                item_id=item.pk,
                project_id=project.pk,
                queued=queued,
                priority=priority,
                wanted=project.overlap,
            )
            for item in items
        ]
    )


def create_states(project: Project, facts: Mapping[int, Facts]) -> None:
    """States of freshly imported items whose ledger came with them; nothing is decided anew."""
    _read_plan(project)
    states = []
    for item_id, fact in facts.items():
        state = ItemState(item_id=item_id, project_id=project.pk)
        _derive(project, state, fact)
        states.append(state)
    insert_rows(states)


def replan(project: Project) -> None:
    """Bring every item into line after the project's overlap or review scope changed."""
    after = 0
    while ids := list(
        ItemState.objects.filter(project=project, item_id__gt=after)
        .order_by("item_id")
        .values_list("item_id", flat=True)[:CHUNK]
    ):
        with transaction.atomic():
            refresh_states(project, ids)
        after = ids[-1]


def lock_states(item_ids: Iterable[int]) -> dict[int, ItemState]:
    """State rows, locked in one order for the rest of the transaction."""
    rows = ItemState.objects.select_for_update().filter(item__in=list(item_ids)).order_by("item_id")
    return {row.item_id: row for row in rows}


def refresh_states(
    project: Project,
    item_ids: Iterable[int],
    results: Mapping[int, tuple[DebateResult, Label | None]] | None = None,
) -> None:
    """Derive gold and state of these items anew; call inside a transaction, after appending."""
    ids = sorted(set(item_ids))
    states = lock_states(ids)
    _read_plan(project)
    facts = read_facts(ids)
    _decide(project, ids, facts)
    for item_id in ids:
        state = states.setdefault(item_id, ItemState(item_id=item_id, project=project))
        if results and item_id in results:
            _take_debate(state, *results[item_id])
        _derive(project, state, facts[item_id])
    ItemState.objects.bulk_create(
        [states[item_id] for item_id in ids],
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=STATE_FIELDS,
    )


def refresh_state(project: Project, state: ItemState, fact: Facts) -> None:
    """The same for one item whose row the caller has locked and whose ledger it has read."""
    _read_plan(project)
    _decide(project, [state.item_id], {state.item_id: fact})
    _derive(project, state, fact)
    state.save(update_fields=STATE_FIELDS)


def _read_plan(project: Project) -> None:
    """The plan as it is now, with the states locked: runs and imports hold their project for
    minutes, and what is written by an old plan nobody would bring into line again."""
    if now := _plan_of.first(project.pk):
        project.overlap, project.review_scope = now


@prepared
def _plan_of(project: int) -> QuerySet[Project, tuple[int, str]]:
    return Project.objects.filter(pk=project).order_by().values_list("overlap", "review_scope")


def read_facts(ids: Sequence[int]) -> dict[int, Facts]:
    """What the ledger says of each item; items of which it says nothing have empty facts."""
    histories: dict[int, list[Label]] = defaultdict(list)
    for label in Label.objects.filter(item__in=ids).select_related("annotator").order_by("pk"):
        histories[label.item_id].append(label)
    golds: dict[int, list[Gold]] = defaultdict(list)
    for gold in Gold.objects.filter(item__in=ids).order_by():
        golds[gold.item_id].append(gold)
    return {item_id: _facts(histories[item_id], golds[item_id]) for item_id in ids}


def read_history(item_id: int) -> list[Label]:
    """Every label the ledger has of one item, oldest first."""
    return _labels_of(item_id)


def facts_of(item_id: int, history: Sequence[Label]) -> Facts:
    """As :func:`read_facts`, for one item whose whole ``history`` has been read."""
    return _facts(history, _golds_of(item_id))


def standing(history: Collection[Label]) -> list[Label]:
    """Those of an item's labels that are neither withdrawn nor superseded, in the order given.

    ``history`` may be that of one annotator: nobody supersedes what another says.
    """
    superseded = {label.supersedes_id for label in history}
    return [label for label in history if not label.withdrawn and label.pk not in superseded]


def _facts(history: Sequence[Label], golds: Sequence[Gold]) -> Facts:
    replaced = {gold.supersedes_id for gold in golds}
    newest = next((gold for gold in golds if gold.pk not in replaced), None)
    return Facts(standing(history), newest)


@prepared
def _labels_of(item: int) -> QuerySet[Label]:
    return Label.objects.filter(item=item).select_related("annotator").order_by("pk")


@prepared
def _golds_of(item: int) -> QuerySet[Gold]:
    return Gold.objects.filter(item=item).order_by()


def _decide(project: Project, ids: Sequence[int], facts: Mapping[int, Facts]) -> None:
    """Append the gold rows that the people's labels now call for."""
    fresh = []
    for item_id in ids:
        fact = facts[item_id]
        decision = _decision(project.overlap, fact)
        if decision is not None:
            decision.item_id = item_id
            fact.gold = decision
            fresh.append(decision)
    Gold.objects.bulk_create(fresh)


def _decision(overlap: int, fact: Facts) -> Gold | None:
    """The gold row to append, or None when the current one stands."""
    now = fact.gold
    if now and not now.withdrawn and now.basis == Gold.Basis.IMPORTED:
        return None
    wanted = _wanted_gold(overlap, fact.by_people)
    if wanted is None:
        if now is None or now.withdrawn or not _rests_on_our_labels(now):
            return None
        return Gold(
            schema_id=now.schema_id, withdrawn=True, basis=Gold.Basis.WITHDRAWN, supersedes=now
        )
    if now and not now.withdrawn and (now.value, now.evidence) == (wanted.value, wanted.evidence):
        return None
    wanted.supersedes = now
    return wanted


def _rests_on_our_labels(gold: Gold) -> bool:
    """False for decisions that were imported without the labels behind them: those stand."""
    ours = Label.objects.filter(item=gold.item_id).values_list("uid", flat=True)
    return not {str(uid) for uid in ours}.isdisjoint(gold.evidence)


def _wanted_gold(overlap: int, labels: Sequence[Label]) -> Gold | None:
    """What the people's labels decide: a strict majority of all who spoke, else the last expert
    beyond the overlap. Labels that were only imported decide nothing by themselves, nor do those
    that a crowd worker gave unasked: anybody could undo the others' decisions otherwise."""
    labels = [label for label in labels if _counts(label)]
    if len(labels) < overlap or all(label.action == Label.Action.IMPORTED for label in labels):
        return None
    experts = [label for label in labels[overlap:] if label.annotator.kind == Kind.EXPERT]
    deciding = [label for label in experts if label.value is not None][-1:]
    agreeing = _majority(labels)
    if deciding and not _majority([label for label in labels if label not in deciding]):
        return _gold_from(deciding, Gold.Basis.ADJUDICATION)
    if agreeing:
        return _gold_from(agreeing, Gold.Basis.REVIEW if len(labels) == 1 else Gold.Basis.AGREEMENT)
    return None


def _counts(label: Label) -> bool:
    return label.annotator.kind == Kind.EXPERT or not label.provenance.get(UNASKED)


def _majority(labels: Sequence[Label]) -> list[Label]:
    """The labels that more than half of all these annotators gave; empty when there is none."""
    votes = Counter(value_key(label.value) for label in labels if label.value is not None)
    top, count = votes.most_common(1)[0] if votes else ("", 0)
    if count * 2 <= len(labels):
        return []
    return [label for label in labels if label.value is not None and value_key(label.value) == top]


def _gold_from(labels: Sequence[Label], basis: str) -> Gold:
    last = labels[-1]
    by = last.annotator if basis != Gold.Basis.AGREEMENT else None
    evidence = [str(label.uid) for label in labels]
    return Gold(
        schema_id=last.schema_id, value=last.value, basis=basis, decided_by=by, evidence=evidence
    )


def _take_debate(state: ItemState, result: DebateResult, label: Label | None) -> None:
    state.suggestion = label
    state.reasons = list(result.reasons)
    state.signals = {**result.signals, "uncertainty": result.uncertainty}


def _derive(project: Project, state: ItemState, fact: Facts) -> None:
    people = len(fact.by_people)
    gold = fact.gold if fact.gold and not fact.gold.withdrawn else None
    if state.suggestion_id is None and fact.by_machines and not state.reasons:
        state.suggestion = fact.by_machines
    state.gold = gold
    state.labels_by_people = people
    state.stage = _stage(project, state, fact, gold)
    in_scope = project.review_scope == Project.ReviewScope.ALL or bool(state.reasons) or people > 0
    state.wanted = people + 1 if state.stage == ItemState.Stage.CONFLICT else project.overlap
    state.queued = people < state.wanted and in_scope
    state.priority = _priority(state, gold)


def _stage(project: Project, state: ItemState, fact: Facts, gold: Gold | None) -> ItemState.Stage:
    if gold:
        return ItemState.Stage.DECIDED
    if fact.by_people:
        spoken = any(label.action != Label.Action.IMPORTED for label in fact.by_people)
        undecided = spoken and len(fact.by_people) >= project.overlap
        return ItemState.Stage.CONFLICT if undecided else ItemState.Stage.IN_REVIEW
    return ItemState.Stage.SUGGESTED if state.suggestion_id else ItemState.Stage.NEW


def _priority(state: ItemState, gold: Gold | None) -> float:
    uncertainty = float(state.signals.get("uncertainty", 0.0))
    if state.stage == ItemState.Stage.CONFLICT:
        band = CONFLICT
    elif state.reasons:
        band = DOUBTFUL + 10 * uncertainty
    elif state.suggestion_id is None:
        band = UNLABELLED
    else:
        band = CONFIDENT + 10 * uncertainty
    imported = gold is not None and gold.basis == Gold.Basis.IMPORTED
    return band + (WITH_IMPORTED_GOLD if imported else 0)
