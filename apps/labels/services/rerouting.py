"""Other reasons for items that debates have routed already: a rule has changed, not the ledger."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from django.db import transaction

from apps.labels.models import ItemState
from apps.labels.services.migrating import RELABEL
from apps.labels.services.states import lock_states, refresh_states
from apps.projects.models import Project

#: item → its state, locked; what comes back are the reasons of those items that have any say.
Decide = Callable[[Mapping[int, ItemState]], Mapping[int, Sequence[str]]]


@transaction.atomic
def reroute_items(project: Project, item_ids: Iterable[int], decide: Decide) -> int:
    """Give items the reasons that ``decide`` finds, and bring queue and priority into line.

    The states are locked before ``decide`` is asked, in the order in which every writer of the
    ledger locks them: what it reads of these items stays true until it is written. What people
    have said stands, and what they have begun stays theirs. Returns how many items changed.
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
