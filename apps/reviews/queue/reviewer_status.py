"""Who may work: pausing, letting go on, qualifying. Each is logged with its reason."""

import math
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.services import unassign_person
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.models import Decision, Intervention, Purpose, ReviewerStatus
from apps.reviews.queue.leases import release_all
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.schema import unstorable

LONGEST_REASON = 2000


@transaction.atomic
def pause(*, project: Project, user: User, by: User, reason: str) -> ReviewerStatus:
    """Keep ``user`` from being given items; what they hold, or were given by name, goes back at
    once.

    The reason is told to them when they ask for the next item. What they send of items that they
    had on screen is stored, as is everything that comes late.

    Raises:
        InvalidInput: no reason.
        NotFound: they neither may label here nor ever did.
        Conflict: they are paused already, perhaps by another manager a moment ago.
    """
    reason = checked_reason(reason)
    _check_works_here(project, user)
    # Before the standing is written: an answer that qualifies locks item, place, standing in turn.
    given = give_back(project=project, user=user)
    standing = _moved(project, user, ReviewerStatus.Status.PAUSED, reason)
    if standing is None:
        now = ReviewerStatus.objects.get(project=project, user=user)
        raise Conflict(f"{user.display_name} is paused already: {now.reason}")
    _log(project, by, Intervention.Action.PAUSE, user, reason=reason, data={"given_back": given})
    return standing


@transaction.atomic
def give_back(*, project: Project, user: User) -> int:
    """Let others have what ``user`` holds and what they were given by name, which nobody else would
    ever get; returns how many items they were given."""
    given = unassign_person(project, user)
    release_all(project=project, user=user)
    return given


@transaction.atomic
def resume(*, project: Project, user: User, by: User, reason: str) -> ReviewerStatus:
    """Let ``user`` work again, or without qualifying any further.

    Raises:
        InvalidInput: no reason.
        NotFound: they neither may label here nor ever did.
        Conflict: nothing keeps them from working.
    """
    reason = checked_reason(reason)
    _check_works_here(project, user)
    unsaid = not ReviewerStatus.objects.filter(project=project, user=user).exists()
    if unsaid and not project.qualify_items:
        raise Conflict(f"Nothing keeps {user.display_name} from working.")
    standing = _moved(project, user, ReviewerStatus.Status.ACTIVE, "")
    if standing is None:
        raise Conflict(f"{user.display_name} is at work already.")
    _log(project, by, Intervention.Action.RESUME, user, reason=reason)
    return standing


@transaction.atomic
def qualify(project: Project, user: User) -> ReviewerStatus | None:
    """Decide on ``user`` once they have answered enough items whose answers are known.

    Called after each answer to such an item. The first answer to each item counts, also when it
    was taken back or revised, and "cannot be told" is not right; what was skipped, or whose
    suggestion they only rejected, does not count.
    With ``project.qualify_items`` of them they are let to work or paused, with the figures as the
    reason. Returns their standing, if they have one. Idempotent: who stands as decided is left
    alone.
    """
    wanted = project.qualify_items
    first = _first_answers(project, user)[:wanted]
    standing = ReviewerStatus.objects.filter(project=project, user=user).first()
    if standing is not None and standing.status != ReviewerStatus.Status.QUALIFYING:
        return standing
    if not wanted or len(first) < wanted:
        return standing
    right, needed = sum(first), needed_right(project)
    passed = right >= needed
    words = f"{right} of {wanted} right, {needed} {'was' if needed == 1 else 'were'} needed"
    status = ReviewerStatus.Status.ACTIVE if passed else ReviewerStatus.Status.PAUSED
    decided = _moved(project, user, status, words, only_from=ReviewerStatus.Status.QUALIFYING)
    if decided is None:
        return ReviewerStatus.objects.get(project=project, user=user)
    action = Intervention.Action.QUALIFIED if passed else Intervention.Action.NOT_QUALIFIED
    counts = {"right": right, "answers": wanted, "needed": needed}
    _log(project, None, action, user, reason=words, items=wanted, data=counts)
    if not passed:
        release_all(project=project, user=user)
        # Later: the item that was answered is locked, and items are locked in one order.
        transaction.on_commit(partial(unassign_person, project, user), robust=True)
    return decided


def needed_right(project: Project) -> int:
    """How many answers must be right to qualify."""
    # 0.28 times 25 is a little more than 7 in binary numbers.
    return math.ceil(project.qualify_items * project.qualify_accuracy - 1e-9)


def checked_reason(reason: str) -> str:
    """The reason as it is stored.

    Raises:
        InvalidInput: none, too long, or with signs that cannot be stored.
    """
    reason = reason.strip()
    if not reason:
        raise InvalidInput.at("reason", "say why; it is kept in the log.")
    if len(reason) > LONGEST_REASON:
        raise InvalidInput.at("reason", f"at most {LONGEST_REASON} signs.")
    if bad := unstorable(reason):
        raise InvalidInput.at("reason", f"must not contain {bad}.")
    return reason


def _check_works_here(project: Project, user: User) -> None:
    known = role_in(user, project) or Decision.objects.filter(project=project, reviewer=user)
    if not known:
        raise NotFound("There is no such person in this project.")


def _moved(
    project: Project, user: User, status: str, reason: str, *, only_from: str = ""
) -> ReviewerStatus | None:
    """The standing with its new status; None where it has that one, or is not what it comes from.

    Of two who change it at once one does it: the row is made once, and changed conditionally.
    """
    fields = {"status": status, "reason": reason, "changed_at": timezone.now()}
    standing, made = ReviewerStatus.objects.get_or_create(
        project=project, user=user, defaults=fields
    )
    if made:
        return standing
    rows = ReviewerStatus.objects.filter(pk=standing.pk).exclude(status=status)
    if only_from:
        rows = rows.filter(status=only_from)
    if not rows.update(**fields):
        return None
    standing.refresh_from_db()
    return standing


def _first_answers(project: Project, user: User) -> list[bool]:
    """Whether the first answer to each qualification item was right, oldest first."""
    answers = Decision.objects.filter(
        project=project, reviewer=user, purpose=Purpose.QUALIFY, label__rejected=False
    )
    first: dict[int, bool] = {}
    for item_id, correct in answers.order_by("pk").values_list("item_id", "correct"):
        first.setdefault(item_id, bool(correct))
    return list(first.values())


def _log(project: Project, by: User | None, action: str, user: User, **details: Any) -> None:
    Intervention.objects.create(project=project, actor=by, action=action, subject=user, **details)


def free_what_they_held(*, project: Project, user: User, **_: Any) -> None:
    """Others get at once what somebody held, or was given by name, who may no longer label here."""
    given = give_back(project=project, user=user)
    if given:
        Intervention.objects.create(
            project=project,
            action=Intervention.Action.UNASSIGN,
            subject=user,
            items=given,
            reason="They may no longer label here.",
        )
