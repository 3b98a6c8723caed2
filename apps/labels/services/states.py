"""Where items stand: the one place that derives an item's state from the ledger."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_alike, insert_rows
from apps.common.prepared import prepared
from apps.common.rows import update_row
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services.audience import audience_of, is_disputed, keep_assignments, still_asked
from apps.labels.services.deciding import decide, found_unclear
from apps.labels.services.drafts import DebateResult
from apps.labels.services.facts import Facts, read_facts
from apps.labels.services.ordering import priority_of
from apps.projects.models import Item, Project
from labelhub.core.debate.routing import AUDIT

STATE_FIELDS = [
    "stage", "queued", "priority", "labels_by_people", "wanted", "suggestion", "gold", "reasons",
    "signals", "audience", "kept", "known", "disputed", "updated_at",
]  # fmt: skip
#: Decisions that people can be checked by: nobody's label changes them.
KNOWN = (Gold.Basis.IMPORTED, Gold.Basis.ADJUDICATION)
CHUNK = 1000


def open_items(items: Sequence[Item], project: Project) -> None:
    """Put freshly imported items into the queue; in the transaction that created them."""
    read_plan(project)
    if project.queue_order == Project.QueueOrder.RANDOM:
        insert_rows([_opened(project, item.pk) for item in items])
    elif items:
        insert_alike(_opened(project, items[0].pk), "item_id", [item.pk for item in items])


def _opened(project: Project, item_id: int) -> ItemState:
    state = ItemState(
        item_id=item_id,
        project_id=project.pk,
        queued=project.review_scope == Project.ReviewScope.ALL,
        wanted=project.overlap,
    )
    state.priority = priority_of(project.queue_order, state, None)
    return state


def create_states(project: Project, facts: Mapping[int, Facts]) -> None:
    """States of freshly imported items whose ledger came with them; nothing is decided anew."""
    read_plan(project)
    states = []
    for item_id, fact in facts.items():
        state = ItemState(item_id=item_id, project_id=project.pk)
        _derive(project, state, fact)
        states.append(state)
    insert_rows(states)


def replan(project: Project) -> None:
    """Bring every item into line after the project's review plan changed."""
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
    read_plan(project)
    facts = read_facts(ids)
    decide(project.overlap, ids, facts)
    for item_id in ids:
        state = states.setdefault(item_id, ItemState(item_id=item_id, project=project))
        if results and item_id in results:
            _take_debate(state, *results[item_id])
    _write_states(project, states, facts)


def settle_states(
    project: Project, states: Mapping[int, ItemState], facts: Mapping[int, Facts]
) -> None:
    """The same for items that are locked, whose ledger is read and whose gold is decided."""
    read_plan(project)
    _write_states(project, states, facts)


def _write_states(
    project: Project, states: Mapping[int, ItemState], facts: Mapping[int, Facts]
) -> None:
    for item_id, state in states.items():
        _derive(project, state, facts[item_id])
    ItemState.objects.bulk_create(
        list(states.values()),
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=STATE_FIELDS,
    )
    keep_assignments([(state, facts[item_id]) for item_id, state in states.items()])


def refresh_state(project: Project, state: ItemState, fact: Facts) -> None:
    """The same for one item whose row the caller has locked and whose ledger it has read."""
    read_plan(project)
    decide(project.overlap, [state.item_id], {state.item_id: fact})
    _derive(project, state, fact)
    update_row(state, *STATE_FIELDS)
    keep_assignments([(state, fact)])


def read_plan(project: Project) -> None:
    """The plan as it is now, with the states locked: runs and imports hold their project for
    minutes, and what is written by an old plan nobody would bring into line again."""
    if now := _plan_of.first(project.pk):
        project.overlap, project.review_scope, project.queue_order, project.dispute_above = now


@prepared
def _plan_of(project: int) -> QuerySet[Project, tuple[int, str, str, float | None]]:
    plan = ("overlap", "review_scope", "queue_order", "dispute_above")
    return Project.objects.filter(pk=project).order_by().values_list(*plan)


def _take_debate(state: ItemState, result: DebateResult, label: Label | None) -> None:
    state.suggestion = label
    state.reasons = list(result.reasons)
    known = {} if result.uncertainty is None else {"uncertainty": result.uncertainty}
    state.signals = {**result.signals, **known}


def _derive(project: Project, state: ItemState, fact: Facts) -> None:
    people = len(fact.by_people)
    gold = fact.gold if fact.gold and not fact.gold.withdrawn else None
    if state.suggestion_id is None and fact.by_machines and not state.reasons:
        state.suggestion = fact.by_machines
    state.gold = gold
    state.labels_by_people = people
    state.stage = _stage(project, state, fact, gold)
    unclear = found_unclear(fact)
    state.disputed = not unclear and is_disputed(project.dispute_above, state, fact, gold)
    begun = people > 0 or bool(fact.rejections)
    in_scope = project.review_scope == Project.ReviewScope.ALL or bool(state.reasons) or begun
    state.wanted = _wanted(project, state, fact)
    state.queued = people < state.wanted and (in_scope or _asked_for(state))
    state.kept = len(still_asked(state, fact))
    state.audience = audience_of(state, fact)
    state.known = gold is not None and gold.basis in KNOWN
    state.priority = priority_of(project.queue_order, state, gold)


def _asked_for(state: ItemState) -> bool:
    """Whether a manager wants it labelled, though the plan would not bring it to people."""
    return state.promoted or bool(state.assignees)


def _stage(project: Project, state: ItemState, fact: Facts, gold: Gold | None) -> ItemState.Stage:
    if gold:
        return ItemState.Stage.DECIDED
    if fact.by_people:
        if not _spoken(fact) or len(fact.by_people) < project.overlap:
            return ItemState.Stage.IN_REVIEW
        return ItemState.Stage.UNCLEAR if found_unclear(fact) else ItemState.Stage.CONFLICT
    return ItemState.Stage.SUGGESTED if state.suggestion_id else ItemState.Stage.NEW


def _wanted(project: Project, state: ItemState, fact: Facts) -> int:
    """How many people are to speak: one more than did where they disagree or a machine that is sure
    contradicts them, and where an audit has nothing but labels that were imported, which decide
    nothing by themselves."""
    one_more = len(fact.by_people) + 1
    if state.stage == ItemState.Stage.CONFLICT or state.disputed:
        return one_more
    audited = state.reasons == [AUDIT] and state.stage != ItemState.Stage.DECIDED
    return max(project.overlap, one_more) if audited and not _spoken(fact) else project.overlap


def _spoken(fact: Facts) -> bool:
    """Whether anybody who labels here has."""
    return any(label.action != Label.Action.IMPORTED for label in fact.by_people)
