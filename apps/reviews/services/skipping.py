"""What somebody does not label now: left to others, or put off for themselves."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.services import unassign_items
from apps.projects.models import Project
from apps.reviews.models import Decision, Slot
from apps.reviews.services.answers import checked_words
from apps.reviews.services.commenting import remark
from apps.reviews.services.leases import leave_slots
from apps.reviews.services.submitting import lock_state


@transaction.atomic
def skip_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Leave an item to others: it is not offered to ``user`` again until they undo. Idempotent.

    Who was given it by name gives it back with that.

    Raises:
        NotFound: the project has no such item.
    """
    state = lock_state(project, item_id)
    if user.pk in state.assignees:
        unassign_items(project, [item_id], [user])
    _let_go(user, item_id, lease_token)
    skipped = _leave(project, user, item_id, Decision.Action.SKIP, reason)
    remark(project=project, user=user, item_id=item_id, text=skipped.comment)
    return skipped


@transaction.atomic
def postpone_item(
    *, project: Project, user: User, item_id: int, lease_token: UUID | None = None, reason: str = ""
) -> Decision:
    """Put an item off: it comes back to ``user`` once nothing else is left for them. Idempotent.

    Others may get it meanwhile, unless ``user`` was given it by name.

    Raises:
        NotFound: the project has no such item.
    """
    lock_state(project, item_id)
    _let_go(user, item_id, lease_token)
    return _leave(project, user, item_id, Decision.Action.POSTPONE, reason)


def ask_again(*, project: Project, item_ids: Iterable[int], users: Iterable[User]) -> None:
    """Forget that these people left these items to others or put them off: they are given them by
    name now, and nobody else would get them."""
    left = Decision.objects.filter(
        project=project,
        item__in=list(item_ids),
        reviewer__in=list(users),
        label__isnull=True,
        undone_at__isnull=True,
    )
    left.order_by().update(undone_at=timezone.now())


def _let_go(user: User, item_id: int, lease_token: UUID | None) -> None:
    mine = Slot.objects.filter(item=item_id, holder=user)
    leave_slots(mine.filter(lease_token=lease_token) if lease_token else mine)


def _leave(
    project: Project, user: User, item_id: int, action: Decision.Action, reason: str
) -> Decision:
    earlier = Decision.objects.standing(project, user).filter(item=item_id, action=action).first()
    return earlier or Decision.objects.create(
        project=project,
        item_id=item_id,
        reviewer=user,
        action=action,
        comment=checked_words("reason", reason),
    )
