"""Instead of deciding an item, an expert asks those who labelled it to look again."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import assign_items, withdraw_label
from apps.projects.models import Project
from apps.reviews.models import Comment, Slot
from apps.reviews.selectors.adjudication import check_expert
from apps.reviews.selectors.opinions import opinions_on
from apps.reviews.services.adjudicating import DecidedMeanwhile, people_behind, tell_back
from apps.reviews.services.commenting import checked_text
from apps.reviews.services.leases import free_slots
from apps.reviews.services.skipping import ask_again
from apps.reviews.services.submitting import lock_state
from labelhub.core.errors import Conflict, InvalidInput


@dataclass(frozen=True, slots=True)
class SentBack:
    """Who is asked again, and what they are told."""

    people: Sequence[User]
    comment: Comment


@transaction.atomic
def send_back(*, project: Project, user: User, item_id: int, reason: str) -> SentBack:
    """Withdraw what people said of an item in conflict and give it to the same people again.

    What ``user`` said stands, and so does what was imported or said by people who do not review
    here any more: nobody could be asked. The comment shows on top when they get the item.

    Raises:
        Forbidden: ``user`` is no expert here.
        InvalidInput: no reason is given.
        NotFound: the project has no such item.
        DecidedMeanwhile: it waits for nobody.
        Conflict: nobody of those who labelled it could be asked again.
    """
    check_expert(user, project)
    why = checked_text("reason", reason)
    if not why:
        raise InvalidInput.at("reason", "say what they should look at again.")
    lock_state(project, item_id)
    case = opinions_on(project, user, item_id)
    if not case.waits:
        raise DecidedMeanwhile("This item does not wait for a decision any more.")
    theirs = [
        one.label for one in case.people if one.label.annotator.user_id not in (None, user.pk)
    ]
    people = people_behind(project, theirs)
    if not people:
        raise Conflict(
            "Nobody who labelled this item reviews here any more: decide it, or skip it."
        )
    asked = {person.pk for person in people}
    _withdraw([each for each in theirs if each.annotator.user_id in asked], user, why)
    free_slots(Slot.objects.filter(item=item_id))
    assign_items(project, [item_id], people)
    ask_again(project=project, item_ids=[item_id], users=people)
    comment = tell_back(project=project, user=user, item_id=item_id, text=why, to=people)
    return SentBack(people, comment)


def _withdraw(labels: Sequence[Label], user: User, why: str) -> None:
    for label in labels:
        withdraw_label(label=label, provenance={"sent_back_by": user.username, "reason": why})
    Slot.objects.filter(label__in=labels).update(label=None, holder=None)
