"""The queue's order as a model that learns from gold sees it."""

from collections.abc import Iterator, Mapping, Sequence

from django.db import transaction

from apps.labels.models import Gold, ItemState
from apps.labels.services.ordering import priority_of
from apps.labels.services.states import CHUNK, lock_states, read_plan
from apps.projects.models import Project


def rank_items(project: Project, doubts: Mapping[int, float | None]) -> int:
    """Note how unsure the model is of each item, 0 to 1 (None: it says nothing), and bring the
    items' places in the queue into line; how many changed.

    Chunk by chunk, each in a transaction of its own unless there is one around: every chunk's
    states are locked in the order in which all writers of the ledger lock them, and written as the
    review plan is then.
    """
    ids = sorted(doubts)
    return sum(_rank(project, ids[at : at + CHUNK], doubts) for at in range(0, len(ids), CHUNK))


def unrank_items(project: Project) -> int:
    """Order the queue as if no model had learnt anything; how many items changed."""
    return sum(rank_items(project, dict.fromkeys(ids)) for ids in _ranked(project))


def _ranked(project: Project) -> Iterator[list[int]]:
    """Items that a model has ranked, a chunk at a time."""
    rows = ItemState.objects.filter(project=project, learned__isnull=False).order_by("item_id")
    after = 0
    while ids := list(rows.filter(item_id__gt=after).values_list("item_id", flat=True)[:CHUNK]):
        yield ids
        after = ids[-1]


@transaction.atomic
def _rank(project: Project, ids: Sequence[int], doubts: Mapping[int, float | None]) -> int:
    states = lock_states(ids)
    read_plan(project)
    moved = [state for state in states.values() if state.learned != doubts[state.item_id]]
    golds = Gold.objects.in_bulk([state.gold_id for state in moved if state.gold_id])
    for state in moved:
        state.learned = doubts[state.item_id]
        gold = golds.get(state.gold_id) if state.gold_id else None
        state.priority = priority_of(project.queue_order, state, gold)
    ItemState.objects.bulk_create(
        moved,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["learned", "priority", "updated_at"],
    )
    return len(moved)
