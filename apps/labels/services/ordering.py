"""Which of the waiting items comes first."""

from zlib import crc32

from apps.labels.models import Gold, ItemState
from apps.projects.models import Project
from labelhub.core.debate.outcome import UNKNOWN_UNCERTAINTY
from labelhub.core.debate.routing import AUDIT

#: What a manager put first comes before all else, whatever the order.
PROMOTED = 1000.0
#: Who comes first when the doubtful do; within a band, the more uncertain item.
CONFLICT, DOUBTFUL, UNLABELLED, CONFIDENT = 200.0, 100.0, 50.0, 10.0
#: Bands are this wide: the next begins where nothing of the one below can reach.
WIDTH = 10.0
#: Items that came with gold are needed least.
WITH_IMPORTED_GOLD = -5.0


def priority_of(order: str, state: ItemState, gold: Gold | None) -> float:
    """The item's place in the queue: the higher comes first, then the older item.

    What people disagree on comes first in any order: it waits for an expert, who decides it for
    good. A random order is one draw per item, the same for everybody and whenever it is asked.
    """
    if state.stage == ItemState.Stage.CONFLICT or state.disputed:
        place = CONFLICT
    elif order == Project.QueueOrder.RANDOM:
        place = CONFIDENT + WIDTH * crc32(str(state.item_id).encode()) / 2**32
    elif order == Project.QueueOrder.OLDEST:
        place = CONFIDENT
    else:
        place = _by_doubt(state)
    imported = gold is not None and gold.basis == Gold.Basis.IMPORTED
    first = PROMOTED if state.promoted else 0
    return place + first + (WITH_IMPORTED_GOLD if imported else 0)


def _by_doubt(state: ItemState) -> float:
    doubt = WIDTH * _doubt_of(state)
    if state.reasons == [AUDIT]:
        # No sooner than what was never debated, or it could be told.
        return UNLABELLED + WIDTH * (state.learned or 0.0)
    if state.reasons:
        return DOUBTFUL + doubt
    if state.suggestion_id is None:
        return UNLABELLED + doubt
    return CONFIDENT + doubt


def _doubt_of(state: ItemState) -> float:
    """What is known of the doubt about a suggestion, 0 to 1; one of which nothing is known is not
    sure. Without a suggestion there is nothing to doubt."""
    told = (state.signals.get("uncertainty"), state.learned)
    unknown = 0.0 if state.suggestion_id is None else UNKNOWN_UNCERTAINTY
    return max((float(each) for each in told if each is not None), default=unknown)
