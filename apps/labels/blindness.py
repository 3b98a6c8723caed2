"""What reviewers must not learn of an item before they have answered it.

An item whose only reason is the audit was accepted without a person; what a person says of it tells
how often that is wrong, provided that nothing led them to the same answer. The same holds where a
share of the items is shown without suggestions, to measure what suggestions do, and of items whose
known answer people are checked by: what the review screen withholds no other page may tell.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.roles import Role
from apps.labels.models import ItemState, Label
from labelhub.core.debate.routing import AUDIT

ONLY_AUDITED = [AUDIT]


def is_audit(state: ItemState) -> bool:
    """Whether people are asked about the item for the audit's sake alone."""
    return bool(state.reasons == ONLY_AUDITED)


def hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items of whose machines' labels this reviewer must not learn yet; those who do not
    review, and managers, who read exports and reports as well, see them.

    Args:
        user_id: who looks.
        item: the rows' reference to the item.
    """
    blind = Q(reasons=ONLY_AUDITED) | Q(project__blind_share__gt=0) | _CHECKED_BY
    return Q(Exists(_before(user_id, item).filter(blind))) & unanswered(user_id, item=item)


def answer_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items whose known answer this reviewer may yet be checked by; as above."""
    before = _before(user_id, item).filter(_CHECKED_BY)
    return Q(Exists(before)) & unanswered(user_id, item=item)


_CHECKED_BY = Q(known=True) & (Q(project__check_share__gt=0) | Q(project__qualify_items__gt=0))


def _before(user_id: int, item: str) -> QuerySet[ItemState]:
    """The state of the row's item, where its project has this person as a reviewer."""
    return ItemState.objects.filter(
        item=OuterRef(item),
        project__memberships__user=user_id,
        project__memberships__role=Role.REVIEWER,
    )


def unanswered(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items of which this person says nothing so far."""
    said = Label.objects.current().filter(item=OuterRef(item), annotator__user=user_id)
    return ~Q(Exists(said))
