"""Hides from reviewers what would influence their answer to an item.

Audits measure how often accepted suggestions are wrong, the withheld arm measures what suggestions
do, and gold questions check people. All need answers that nothing has influenced, so no other page
may show what the review screen withholds.
"""

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from labelhub.core.debate.routing import AUDIT

ONLY_AUDITED = [AUDIT]

#: Stages at which no further answer is needed.
SETTLED = (ItemState.Stage.DECIDED, ItemState.Stage.UNCLEAR)
#: Stages that are shown as new while an item is withheld: they would give labels away.
STAND_AS_NEW = (ItemState.Stage.SUGGESTED, *SETTLED)


def withholds(project: Project) -> bool:
    """Whether the project's plan hides suggestions or gold from its reviewers."""
    return bool(project.blind_share or project.check_share or project.qualify_items)


def hides_anything(project: Project) -> bool:
    """Whether the stage of any item is hidden from reviewers; cheaper than asking item by item."""
    audited = ItemState.objects.filter(project=project, reasons=ONLY_AUDITED)
    return withholds(project) or audited.exists()


def is_audit(state: ItemState) -> bool:
    """Whether the item is queued for an audit alone."""
    return bool(state.reasons == ONLY_AUDITED)


def hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items whose labels by machines this reviewer must not see yet. Others, such as
    managers, who read exports anyway, see them, except items that they hold to answer blind.

    Args:
        user_id: the reviewer.
        item: the rows' reference to the item.
    """
    return _hidden(user_id, item, _BLIND | _CHECKED_BY) | handed_blind(user_id, item=item)


def answer_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about gold questions that this reviewer may still get; as above."""
    return _hidden(user_id, item, _CHECKED_BY)


def debate_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this reviewer answers without a suggestion; as above."""
    return _hidden(user_id, item, _BLIND) | handed_blind(user_id, item=item)


def handed_blind(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this person, in any role, holds to answer without a suggestion, until
    the lease ends (``Slot.is_over``); adjudicators may see everything."""
    still_theirs = Q(item__slots__purpose="work", item__slots__lease_until__gt=timezone.now())
    handed = ItemState.objects.filter(
        _BLIND,
        still_theirs | Q(item__slots__purpose__in=("check", "qualify")),
        item__slots__holder=user_id,
        item__slots__label__isnull=True,
    )
    return Q(**{f"{item}__in": handed.values("item")}) & unanswered_by(user_id, item=item)


def opinions_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this reviewer may still get, as above: the labels of others would
    influence the answer. Experts see items that wait for their decision."""
    return _hidden(user_id, item, _CHECKED_BY | _ASKED_ABOUT)


_BLIND = Q(reasons=ONLY_AUDITED) | Q(project__blind_share__gt=0)
_CHECKED_BY = Q(is_gold_question=True) & (
    Q(project__check_share__gt=0) | Q(project__qualify_items__gt=0)
)
_TO_DECIDE = Q(stage=ItemState.Stage.CONFLICT) | Q(disputed=True)
_ASKED_ABOUT = Q(queued=True) & (~_TO_DECIDE | Q(project__memberships__kind=ReviewerKind.CROWD))


def _hidden(user_id: int, item: str, condition: Q) -> Q:
    state = ItemState.objects.filter(
        condition,
        item=OuterRef(item),
        project__memberships__user=user_id,
        project__memberships__role=Role.REVIEWER,
    )
    return Q(Exists(state)) & unanswered_by(user_id, item=item)


def unanswered_by(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this person has no current label of."""
    labels = Label.objects.current().filter(item=OuterRef(item), annotator__user=user_id)
    return ~Q(Exists(labels))
