"""Anchoring: of some items a reviewer sees no suggestion, so that one can tell what it does."""

from hashlib import blake2b

from apps.labels.blindness import is_audit
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.reviews.models import Decision


def arm_of(project: Project, user_id: int, state: ItemState) -> Decision.Arm | None:
    """Whether ``user_id`` is to see the item's suggestion; None where there is nothing to draw.

    The draw is a hash of person and item: the same whenever it is asked, and of one item some see
    the suggestion and others do not. What is before an expert because people disagree is not drawn.
    """
    drawn = project.blind_share and state.suggestion_id is not None and not is_audit(state)
    if not drawn or state.stage == ItemState.Stage.CONFLICT or state.disputed:
        return None
    return (
        Decision.Arm.WITHHELD
        if _draw(user_id, state.item_id) < project.blind_share
        else (Decision.Arm.SHOWN)
    )


def is_blind_for(user_id: int, project: Project, state: ItemState) -> bool:
    """Whether ``user_id`` is to answer without learning what was suggested."""
    return is_audit(state) or arm_of(project, user_id, state) == Decision.Arm.WITHHELD


def _draw(user_id: int, item_id: int) -> float:
    """A number from 0 to 1, spread evenly over people and items."""
    digest = blake2b(f"arm {user_id} {item_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
