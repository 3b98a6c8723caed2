"""Where items stand: the one place that derives an item's state from the ledger."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_alike, insert_rows
from apps.common.prepared import prepared
from apps.common.rows import update_row
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services.deciding import decide
from apps.labels.services.drafts import DebateResult
from apps.labels.services.facts import Facts, read_facts
from apps.projects.models import Item, Project
from labelhub.core.debate.routing import AUDIT

#: Who comes first in the queue; within a band, the more uncertain item.
CONFLICT, DOUBTFUL, UNLABELLED, CONFIDENT = 200.0, 100.0, 50.0, 10.0
#: Items that came with gold are needed least.
WITH_IMPORTED_GOLD = -5.0

STATE_FIELDS = [
    "stage", "queued", "priority", "labels_by_people", "wanted",
    "suggestion", "gold", "reasons", "signals", "updated_at",
]  # fmt: skip
CHUNK = 1000


def open_items(items: Sequence[Item], project: Project) -> None:
    """Put freshly imported items into the queue; in the transaction that created them."""
    _read_plan(project)
    state = ItemState(
        project_id=project.pk,
        queued=project.review_scope == Project.ReviewScope.ALL,
        priority=UNLABELLED,
        wanted=project.overlap,
    )
    insert_alike(state, "item_id", [item.pk for item in items])


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
    decide(project.overlap, ids, facts)
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
    decide(project.overlap, [state.item_id], {state.item_id: fact})
    _derive(project, state, fact)
    update_row(state, *STATE_FIELDS)


def _read_plan(project: Project) -> None:
    """The plan as it is now, with the states locked: runs and imports hold their project for
    minutes, and what is written by an old plan nobody would bring into line again."""
    if now := _plan_of.first(project.pk):
        project.overlap, project.review_scope = now


@prepared
def _plan_of(project: int) -> QuerySet[Project, tuple[int, str]]:
    return Project.objects.filter(pk=project).order_by().values_list("overlap", "review_scope")


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
    state.wanted = _wanted(project, state, fact)
    state.queued = people < state.wanted and in_scope
    state.priority = _priority(state, gold)


def _stage(project: Project, state: ItemState, fact: Facts, gold: Gold | None) -> ItemState.Stage:
    if gold:
        return ItemState.Stage.DECIDED
    if fact.by_people:
        undecided = _spoken(fact) and len(fact.by_people) >= project.overlap
        return ItemState.Stage.CONFLICT if undecided else ItemState.Stage.IN_REVIEW
    return ItemState.Stage.SUGGESTED if state.suggestion_id else ItemState.Stage.NEW


def _wanted(project: Project, state: ItemState, fact: Facts) -> int:
    """How many people are to speak: one more than did where they disagree, and where an audit has
    nothing but labels that were imported, which decide nothing by themselves."""
    one_more = len(fact.by_people) + 1
    if state.stage == ItemState.Stage.CONFLICT:
        return one_more
    audited = state.reasons == [AUDIT] and state.stage != ItemState.Stage.DECIDED
    return max(project.overlap, one_more) if audited and not _spoken(fact) else project.overlap


def _spoken(fact: Facts) -> bool:
    """Whether anybody who labels here has."""
    return any(label.action != Label.Action.IMPORTED for label in fact.by_people)


def _priority(state: ItemState, gold: Gold | None) -> float:
    uncertainty = float(state.signals.get("uncertainty", 0.0))
    if state.stage == ItemState.Stage.CONFLICT:
        band = CONFLICT
    elif state.reasons == [AUDIT]:
        band = UNLABELLED  # no sooner than what was never debated, or it could be told
    elif state.reasons:
        band = DOUBTFUL + 10 * uncertainty
    elif state.suggestion_id is None:
        band = UNLABELLED
    else:
        band = CONFIDENT + 10 * uncertainty
    imported = gold is not None and gold.basis == Gold.Basis.IMPORTED
    return band + (WITH_IMPORTED_GOLD if imported else 0)
