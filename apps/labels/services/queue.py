"""Changes of the queue by managers, trained models and routing rules; the ledger stays.

Each thousand items is a transaction of its own; doing it again ends in the same place.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from django.db import transaction

from apps.accounts.models import User
from apps.labels.models import Assignment, ItemState
from apps.labels.services.schema_migration import RELABEL
from apps.labels.services.states import (
    CHUNK,
    batches_of_items,
    lock_states,
    priority_of,
    read_plan,
    refresh_states,
)
from apps.projects.models import Project
from labelhub.core.errors import InvalidInput

KINDS = ("", ItemState.Audience.CROWD, ItemState.Audience.EXPERT)

#: Changes a locked state and says whether it did.
Change = Callable[[ItemState], bool]


def assign_items(project: Project, item_ids: Iterable[int], users: Sequence[User]) -> int:
    """Assign items to people, besides their present assignees; returns how many items changed.

    They come first for these people, and a slot of each is reserved until they have labelled or
    skipped it. The caller checks that the people may label.
    """
    added = [user.pk for user in users]

    def add(state: ItemState) -> bool:
        known = len(state.assignees)
        state.assignees = [*state.assignees, *(pk for pk in added if pk not in state.assignees)]
        return len(state.assignees) > known

    return sum(_change(project, ids, "assignees", add) for ids in _chunks(item_ids))


def unassign_items(
    project: Project, item_ids: Iterable[int], users: Sequence[User] | None = None
) -> int:
    """End assignments of items to people (None: to all); returns how many items changed."""
    gone = None if users is None else {user.pk for user in users}

    def drop(state: ItemState) -> bool:
        before = state.assignees
        state.assignees = [] if gone is None else [pk for pk in before if pk not in gone]
        return bool(state.assignees != before)

    return sum(_change(project, ids, "assignees", drop) for ids in _chunks(item_ids))


def unassign_person(project: Project, user: User) -> int:
    """End all assignments of ``user``, also of labelled items; returns how many items changed.
    Others may get the reserved slots at once."""
    given = Assignment.objects.filter(project=project, user=user).order_by("item")
    return unassign_items(project, list(given.values_list("item", flat=True)), [user])


def keep_for_kind(project: Project, item_ids: Iterable[int], kind: str) -> int:
    """Keep items for ``crowd`` or ``expert`` (empty: for everybody; another kind is refused);
    returns how many changed."""
    if kind not in KINDS:
        raise InvalidInput.at("kind", "'%(kind)s' is not crowd, expert or empty.", kind=kind)
    return _set(project, item_ids, "assigned_kind", kind)


def promote_items(project: Project, item_ids: Iterable[int], *, promoted: bool) -> int:
    """Put items first in the queue, or back among the others; returns how many changed."""
    return _set(project, item_ids, "promoted", promoted)


def require_labels_here(project: Project, item_ids: Iterable[int], number: int) -> int:
    """Let people decide items only with so many labels given here; returns how many changed."""
    return _set(project, item_ids, "required_here", number)


def _set(project: Project, item_ids: Iterable[int], field: str, value: object) -> int:
    def change(state: ItemState) -> bool:
        changed: bool = getattr(state, field) != value
        setattr(state, field, value)
        return changed

    return sum(_change(project, ids, field, change) for ids in _chunks(item_ids))


@transaction.atomic
def _change(project: Project, ids: Sequence[int], field: str, change: Change) -> int:
    states = [state for state in lock_states(ids).values() if state.project_id == project.pk]
    changed = [state for state in states if change(state)]
    if not changed:
        return 0
    ItemState.objects.bulk_update(changed, [field])
    if field == "assignees":
        # One row per assignee.
        wanted = {(state.item_id, user) for state in changed for user in state.assignees}
        rows = Assignment.objects.filter(item__in=[state.item_id for state in changed])
        there = {(row.item_id, row.user_id): row.pk for row in rows}
        gone = [pk for pair, pk in there.items() if pair not in wanted]
        rows.filter(pk__in=gone).delete()
        Assignment.objects.bulk_create(
            Assignment(item_id=item, user_id=user, project=project)
            for item, user in sorted(wanted - there.keys())
        )
    refresh_states(project, [state.item_id for state in changed])
    return len(changed)


def _chunks(item_ids: Iterable[int]) -> Iterator[list[int]]:
    ids = iter(item_ids)
    while chunk := list(islice(ids, CHUNK)):
        yield chunk


def rank_items(project: Project, doubts: Mapping[int, float | None]) -> int:
    """Store the model's uncertainty of each item, 0 to 1 (None: unknown), and update the order of
    the queue; returns how many items changed.

    Each chunk is a transaction of its own unless there is one around. Its states are locked in the
    order of all writers, and follow the review plan of that moment.
    """
    return sum(_rank(project, chunk, doubts) for chunk in _chunks(sorted(doubts)))


def unrank_items(project: Project) -> int:
    """Remove the model's uncertainty from the queue; returns how many items changed."""
    ranked = ItemState.objects.filter(project=project, model_uncertainty__isnull=False)
    return sum(rank_items(project, dict.fromkeys(ids)) for ids in batches_of_items(ranked))


@transaction.atomic
def _rank(project: Project, ids: Sequence[int], doubts: Mapping[int, float | None]) -> int:
    states = lock_states(ids)
    read_plan(project)
    moved = [state for state in states.values() if state.model_uncertainty != doubts[state.item_id]]
    for state in moved:
        state.model_uncertainty = doubts[state.item_id]
        state.priority = priority_of(project.queue_order, state)
    ItemState.objects.bulk_create(
        moved,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["model_uncertainty", "priority", "updated_at"],
    )
    return len(moved)


#: Locked states by item → the reasons of items that get new ones.
Decide = Callable[[Mapping[int, ItemState]], Mapping[int, Sequence[str]]]


@transaction.atomic
def reroute_items(project: Project, item_ids: Iterable[int], decide: Decide) -> int:
    """Give items the reasons that ``decide`` returns, and update queue and priority.

    The states are locked first, in the order of all writers, so that what ``decide`` reads of these
    items holds until the end. Labels and leases of people stay. Returns how many items changed.
    """
    states = lock_states(item_ids)
    changed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for item_id, found in decide(states).items():
        kept = item_id in states and RELABEL in states[item_id].reasons
        reasons = found or ([RELABEL] if kept else found)
        if item_id in states and states[item_id].reasons != list(reasons):
            changed[tuple(reasons)].append(item_id)
    for reasons, ids in changed.items():
        ItemState.objects.filter(item__in=ids).update(reasons=list(reasons))
    moved = [item_id for ids in changed.values() for item_id in ids]
    if moved:
        refresh_states(project, moved)
    return len(moved)
