"""Derive item states from the ledger: stage, decision, required labels, priority, audience."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import crc32

from django.db import transaction
from django.db.models import QuerySet

from apps.common.bulk import insert_copies, insert_rows, upsert_rows
from apps.common.prepared import prepared, read_rows
from apps.common.rows import insert_row, new_row, update_row
from apps.labels.models import MACHINES, Assignment, Gold, ItemState, Label
from apps.labels.services.gold import append_decisions, is_unclear, next_gold
from apps.labels.services.item_ledger import ItemLedger, read_ledgers
from apps.labels.services.new_rows import DebateResult
from apps.projects.models import Item, Project
from labelhub.core.debate.outcome import UNKNOWN_UNCERTAINTY
from labelhub.core.debate.routing import AUDIT
from labelhub.core.schema import value_key

STATE_FIELDS = [
    "stage", "queued", "priority", "labels_by_people", "required_labels", "suggestion", "gold",
    "reasons", "signals", "audience", "reserved_slots", "is_gold_question", "disputed",
    "updated_at",
]  # fmt: skip
#: Decisions that no further label changes: such items can be gold questions.
KNOWN = (Gold.Basis.IMPORTED, Gold.Basis.ADJUDICATION)
CHUNK = 1000


def open_items(items: Sequence[Item], project: Project) -> None:
    """Put new items into the queue, in the transaction that creates them."""
    read_plan(project)
    if project.queue_order == Project.QueueOrder.RANDOM:
        insert_rows([_new_state(project, item.pk) for item in items])
    elif items:
        insert_copies(_new_state(project, items[0].pk), "item_id", [item.pk for item in items])


def _new_state(project: Project, item_id: int) -> ItemState:
    state = ItemState(
        item_id=item_id,
        project_id=project.pk,
        queued=project.review_scope == Project.ReviewScope.ALL,
        required_labels=project.overlap,
    )
    state.priority = priority_of(project.queue_order, state)
    return state


def create_states(project: Project, ledgers: Mapping[int, ItemLedger]) -> None:
    """States of new items that were imported with their ledger; nothing is decided anew."""
    read_plan(project)
    states = []
    for item_id, ledger in ledgers.items():
        state = new_row(ItemState, {"item_id": item_id, "project_id": project.pk})
        _derive(project, state, ledger)
        states.append(state)
    insert_rows(states)


def replan(project: Project) -> None:
    """Update every item after a change of the project's review plan."""
    for ids in batches_of_items(ItemState.objects.filter(project=project)):
        with transaction.atomic():
            refresh_states(project, ids)


def batches_of_items(states: QuerySet[ItemState], size: int = CHUNK) -> Iterator[list[int]]:
    """The items of ``states`` in the order of their ids, ``size`` at a time."""
    ordered, after = states.order_by("item_id"), 0
    while ids := list(ordered.filter(item_id__gt=after).values_list("item_id", flat=True)[:size]):
        yield ids
        after = ids[-1]


def lock_states(item_ids: Iterable[int]) -> dict[int, ItemState]:
    """State rows by item, locked in the order of their ids for the rest of the transaction."""
    rows = ItemState.objects.select_for_update().filter(item__in=list(item_ids)).order_by("item_id")
    return {row.item_id: row for row in read_rows(rows)}


def refresh_states(
    project: Project,
    item_ids: Iterable[int],
    results: Mapping[int, tuple[DebateResult, Label | None]] | None = None,
) -> None:
    """Update gold and state of these items; call inside a transaction, after appending."""
    ids = sorted(set(item_ids))
    refresh_locked(project, lock_states(ids), read_ledgers(ids), results)


def refresh_locked(
    project: Project,
    locked: Mapping[int, ItemState],
    ledgers: Mapping[int, ItemLedger],
    results: Mapping[int, tuple[DebateResult, Label | None]] | None = None,
) -> None:
    """The same for the items of ``ledgers``, which were read after their states were locked."""
    read_plan(project)
    states = {
        item_id: locked.get(item_id) or ItemState(item_id=item_id, project=project)
        for item_id in ledgers
    }
    append_decisions(project.overlap, states, ledgers)
    for item_id, state in states.items():
        if results and item_id in results:
            result, state.suggestion = results[item_id]
            state.reasons, state.signals = list(result.reasons), dict(result.signals)
            if result.uncertainty is not None:
                state.signals["uncertainty"] = result.uncertainty
    _write_states(project, states, ledgers)


def settle_states(
    project: Project, states: Mapping[int, ItemState], ledgers: Mapping[int, ItemLedger]
) -> None:
    """Update the states of locked items whose ledger has been read and whose gold is decided."""
    read_plan(project)
    _write_states(project, states, ledgers)


def _write_states(
    project: Project, states: Mapping[int, ItemState], ledgers: Mapping[int, ItemLedger]
) -> None:
    for item_id, state in states.items():
        _derive(project, state, ledgers[item_id])
    upsert_rows(list(states.values()), STATE_FIELDS)
    sync_assignments([(state, ledgers[item_id]) for item_id, state in states.items()])


def refresh_state(project: Project, state: ItemState, ledger: ItemLedger) -> None:
    """The same for one item. The caller has locked its row, and has read its ledger and the plan
    since."""
    if gold := next_gold(project.overlap, ledger, state.required_here):
        gold.item_id = state.item_id
        ledger.gold = insert_row(gold)
    _derive(project, state, ledger)
    update_row(state, *STATE_FIELDS)
    sync_assignments([(state, ledger)])


def read_plan(project: Project) -> None:
    """Read the current review plan into ``project``, after the states are locked. Runs and imports
    hold their project for minutes; nothing would update states by an outdated plan again."""
    if now := _plan_of.first(project.pk):
        project.overlap, project.review_scope, project.queue_order, project.dispute_above = now


@prepared
def _plan_of(project: int) -> QuerySet[Project, tuple[int, str, str, float | None]]:
    plan = ("overlap", "review_scope", "queue_order", "dispute_above")
    return Project.objects.filter(pk=project).order_by().values_list(*plan)


def _derive(project: Project, state: ItemState, ledger: ItemLedger) -> None:
    by_people = ledger.by_people
    people = len(by_people)
    gold = ledger.gold if ledger.gold and not ledger.gold.withdrawn else None
    if state.suggestion_id is None and ledger.by_machines and not state.reasons:
        state.suggestion = ledger.by_machines
    state.gold = gold
    state.labels_by_people = people
    unclear = is_unclear(ledger)
    # Imported labels alone decide nothing, and a sample may want two labels of each item.
    here = sum(label.action != Label.Action.IMPORTED for label in by_people)
    missing = 0 if unclear else max(0, state.required_here - here)
    if gold:
        state.stage = ItemState.Stage.DECIDED
    elif not missing and people >= project.overlap:
        state.stage = ItemState.Stage.UNCLEAR if unclear else ItemState.Stage.CONFLICT
    elif people:
        state.stage = ItemState.Stage.IN_REVIEW
    else:
        state.stage = ItemState.Stage.SUGGESTED if state.suggestion_id else ItemState.Stage.NEW
    state.disputed = not unclear and is_disputed(project.dispute_above, state, ledger, gold)
    begun = people > 0 or bool(ledger.rejections)
    in_scope = project.review_scope == Project.ReviewScope.ALL or bool(state.reasons) or begun
    blind = not gold and (state.reasons == [AUDIT] or state.required_here > 1)
    state.required_labels = max(project.overlap, people + missing if blind and missing else 0)
    # A conflict or dispute needs another label.
    if state.stage == ItemState.Stage.CONFLICT or state.disputed:
        state.required_labels = people + 1
    # A manager may want an item labelled that the plan would not queue.
    state.queued = people < state.required_labels and (
        in_scope or state.promoted or bool(state.assignees)
    )
    state.reserved_slots = len(pending_assignees(state, ledger))
    state.audience = audience_of(state, ledger)
    state.is_gold_question = gold is not None and gold.basis in KNOWN
    state.priority = priority_of(project.queue_order, state)


#: Promoted items come first in any order.
PROMOTED = 1000.0
#: Bands of the order by doubt; within a band the more uncertain item comes first.
CONFLICT, DOUBTFUL, UNLABELLED, CONFIDENT = 200.0, 100.0, 50.0, 10.0
#: Width of a band; the next one begins beyond it.
WIDTH = 10.0
#: Items that have gold already come after all bands.
WITH_GOLD = -200.0


def priority_of(order: str, state: ItemState) -> float:
    """The item's priority: the higher comes first, then the older item.

    Conflicts and disputes come first in any order: an expert settles them. Other items with gold
    come last. The random order is a hash of the item, the same for everybody and at any time.
    """
    contested = state.stage == ItemState.Stage.CONFLICT or state.disputed
    if contested:
        place = CONFLICT
    elif order == Project.QueueOrder.RANDOM:
        place = CONFIDENT + WIDTH * crc32(str(state.item_id).encode()) / 2**32
    elif order == Project.QueueOrder.OLDEST:
        place = CONFIDENT
    else:
        place = _priority_by_doubt(state)
    first = PROMOTED if state.promoted else 0
    return place + first + (WITH_GOLD if state.gold_id and not contested else 0)


def _priority_by_doubt(state: ItemState) -> float:
    # From 0 to 1; 0 without a suggestion.
    doubts = (state.signals.get("uncertainty"), state.model_uncertainty)
    unknown = 0.0 if state.suggestion_id is None else UNKNOWN_UNCERTAINTY
    doubt = WIDTH * max((float(doubt) for doubt in doubts if doubt is not None), default=unknown)
    if state.reasons == [AUDIT]:
        # Like an item that was never debated, or the place would give the audit away.
        return UNLABELLED + WIDTH * (state.model_uncertainty or 0.0)
    if state.reasons:
        return DOUBTFUL + doubt
    if state.suggestion_id is None:
        return UNLABELLED + doubt
    return CONFIDENT + doubt


#: Decisions that a sure machine can dispute.
DISPUTABLE = (Gold.Basis.REVIEW, Gold.Basis.AGREEMENT)


def is_disputed(
    above: float | None, state: ItemState, ledger: ItemLedger, gold: Gold | None
) -> bool:
    """Whether a machine contradicts the reviewers' decision with at least ``above`` confidence."""
    if above is None or gold is None or gold.value is None or gold.basis not in DISPUTABLE:
        return False
    decided = value_key(gold.value)
    return any(
        label.value is not None
        and value_key(label.value) != decided
        and _confidence_of(label, state) >= above
        for label in ledger.labels
        if label.annotator.kind in MACHINES
    )


def _confidence_of(label: Label, state: ItemState) -> float:
    """The label's stated confidence, else one less the uncertainty of its debate."""
    if label.confidence is not None:
        return label.confidence
    if label.pk == state.suggestion_id and "uncertainty" in state.signals:
        return 1.0 - float(state.signals["uncertainty"])
    return 0.0


def audience_of(state: ItemState, ledger: ItemLedger) -> str:
    """Who may be offered the item: experts for conflicts and disputes, only the assignees if all
    remaining slots are reserved for them."""
    if state.stage == ItemState.Stage.CONFLICT or state.disputed:
        return ItemState.Audience.EXPERT
    free = state.required_labels - state.labels_by_people
    if state.reserved_slots and state.reserved_slots >= free:
        return ItemState.Audience.NAMED
    if ledger.rejections and state.assigned_kind == ItemState.Audience.CROWD:
        return ""  # perhaps the crowd does not know the answer: experts may take it as well
    return state.assigned_kind


def pending_assignees(state: ItemState, ledger: ItemLedger) -> list[int]:
    """Assignees of a queued item who have neither labelled it nor rejected the suggestion."""
    if not state.assignees:
        return []
    answered = {label.annotator.user_id for label in (*ledger.by_people, *ledger.rejections)}
    return [user for user in state.assignees if state.queued and user not in answered]


def sync_assignments(items: Iterable[tuple[ItemState, ItemLedger]]) -> None:
    """Open and close assignments as the ledger says."""
    for state, ledger in items:
        if not state.assignees:
            continue
        asked = pending_assignees(state, ledger)
        rows = Assignment.objects.filter(item=state.item_id)
        rows.filter(user__in=asked, open=False).update(open=True)
        rows.filter(open=True).exclude(user__in=asked).update(open=False)
