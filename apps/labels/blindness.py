"""Audits are blind: who is to label an audited item does not learn what the debate said of it.

An item whose only reason is the audit was accepted without a person; what a person says of it tells
how often that is wrong, provided that nothing led them to the same answer.
"""

from django.db.models import Exists, OuterRef, Q

from apps.accounts.roles import Role
from apps.labels.models import ItemState, Label
from labelhub.core.debate.routing import AUDIT

ONLY_AUDITED = [AUDIT]


def is_audit(state: ItemState) -> bool:
    """Whether people are asked about the item for the audit's sake alone."""
    return bool(state.reasons == ONLY_AUDITED)


def hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about audited items that this reviewer has yet to answer; those who do not review, and
    managers, who read exports and reports as well, see them.

    Args:
        user_id: who looks.
        item: the rows' reference to the item.
    """
    audited = ItemState.objects.filter(
        item=OuterRef(item),
        reasons=ONLY_AUDITED,
        project__memberships__user=user_id,
        project__memberships__role=Role.REVIEWER,
    )
    return Q(Exists(audited)) & unanswered(user_id, item=item)


def unanswered(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items of which this person says nothing so far."""
    said = Label.objects.current().filter(item=OuterRef(item), annotator__user=user_id)
    return ~Q(Exists(said))
