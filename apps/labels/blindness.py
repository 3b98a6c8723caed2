"""What reviewers must not learn of an item before they have answered it.

An item whose only reason is the audit was accepted without a person; what a person says of it tells
how often that is wrong, provided that nothing led them to the same answer. The same holds where a
share of the items is shown without suggestions, to measure what suggestions do, and of items whose
known answer people are checked by: what the review screen withholds no other page may tell.
"""

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from labelhub.core.debate.routing import AUDIT

ONLY_AUDITED = [AUDIT]

#: Where people have found what there is to find: nobody is asked for the sake of the answer.
SETTLED = (ItemState.Stage.DECIDED, ItemState.Stage.UNCLEAR)
#: What of an item that is withheld stands as new: these would tell that something was said of it.
STAND_AS_NEW = (ItemState.Stage.SUGGESTED, *SETTLED)


def withholds(project: Project) -> bool:
    """Whether the project's plan keeps suggestions or known answers from its reviewers."""
    return bool(project.blind_share or project.check_share or project.qualify_items)


def hides_anything(project: Project) -> bool:
    """Whether reviewers are not to know of some item where it stands; to ask that of each one takes
    seconds in a project of a million."""
    audited = ItemState.objects.filter(project=project, reasons=ONLY_AUDITED)
    return withholds(project) or audited.exists()


def is_audit(state: ItemState) -> bool:
    """Whether people are asked about the item for the audit's sake alone."""
    return bool(state.reasons == ONLY_AUDITED)


def hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items of whose machines' labels this reviewer must not learn yet; those who do not
    review, and managers, who read exports and reports as well, see them, but for what they are just
    about to answer themselves.

    Args:
        user_id: who looks.
        item: the rows' reference to the item.
    """
    return _hidden(user_id, item, _BLIND | _CHECKED_BY) | handed_blind(user_id, item=item)


def answer_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items whose known answer this reviewer may yet be checked by; as above."""
    return _hidden(user_id, item, _CHECKED_BY)


def debate_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this reviewer is to answer without a suggestion; as above."""
    return _hidden(user_id, item, _BLIND) | handed_blind(user_id, item=item)


def handed_blind(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that were handed to this person, whatever their role, to answer without a
    suggestion, until their lease of it runs out (``Slot.is_over``); what is before them because
    people disagree they may know all of."""
    still_theirs = Q(item__slots__purpose="work", item__slots__lease_until__gt=timezone.now())
    handed = ItemState.objects.filter(
        _BLIND,
        still_theirs | Q(item__slots__purpose__in=("check", "qualify")),
        item__slots__holder=user_id,
        item__slots__label__isnull=True,
    )
    return Q(**{f"{item}__in": handed.values("item")}) & unanswered_by(user_id, item=item)


def opinions_hidden_from(user_id: int, *, item: str = "pk") -> Q:
    """Rows about items that this reviewer may yet be asked about, as above: what other people say
    of them would lead to the same answer. Of what waits for an expert's decision experts know."""
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
    """Rows about items of which this person says nothing so far."""
    labels = Label.objects.current().filter(item=OuterRef(item), annotator__user=user_id)
    return ~Q(Exists(labels))
