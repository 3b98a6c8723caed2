"""Pause, resume and qualify reviewers; each change is logged with its reason."""

import math
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.labels.services import unassign_person
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.comments.services import validate_text
from apps.reviews.models import Decision, Intervention, Purpose, ReviewerStatus
from apps.reviews.queue.leases import release_all
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.phrases import Phrase

LONGEST_REASON = 2000


@transaction.atomic
def pause(*, project: Project, user: User, by: User, reason: str) -> ReviewerStatus:
    """Give ``user`` no more items; the items they hold or were assigned go back at once.

    They read the reason when they ask for the next item. Answers to items that they had on screen
    are stored, as all late answers are.

    Raises:
        InvalidInput: no reason.
        NotFound: they may not label here and never did.
        Conflict: they are paused already, perhaps by another manager.
    """
    reason = validate_reason(reason)
    _check_works_here(project, user)
    # Before the status is written: an answer that qualifies locks item, slot and status in turn.
    given = give_back_work(project=project, user=user)
    reviewer_status = _change_status(project, user, ReviewerStatus.Status.PAUSED, reason)
    if reviewer_status is None:
        now = ReviewerStatus.objects.get(project=project, user=user)
        raise Conflict(
            "%(display_name)s is already paused: %(reason)s",
            display_name=user.display_name,
            reason=now.reason,
        )
    _log(project, by, Intervention.Action.PAUSE, user, reason=reason, data={"given_back": given})
    return reviewer_status


@transaction.atomic
def give_back_work(*, project: Project, user: User) -> int:
    """Free the items that ``user`` holds or was assigned; returns how many were assigned."""
    given = unassign_person(project, user)
    release_all(project=project, user=user)
    return given


@transaction.atomic
def resume(*, project: Project, user: User, by: User, reason: str) -> ReviewerStatus:
    """Let ``user`` work again, or without qualifying any further.

    Raises:
        InvalidInput: no reason.
        NotFound: they may not label here and never did.
        Conflict: they may work already.
    """
    reason = validate_reason(reason)
    _check_works_here(project, user)
    unsaid = not ReviewerStatus.objects.filter(project=project, user=user).exists()
    if unsaid and not project.qualify_items:
        raise Conflict("%(display_name)s is not paused.", display_name=user.display_name)
    reviewer_status = _change_status(project, user, ReviewerStatus.Status.ACTIVE, "")
    if reviewer_status is None:
        raise Conflict("%(display_name)s may already work.", display_name=user.display_name)
    _log(project, by, Intervention.Action.RESUME, user, reason=reason)
    return reviewer_status


@transaction.atomic
def qualify(project: Project, user: User) -> ReviewerStatus | None:
    """Decide whether ``user`` qualifies, once they have answered ``project.qualify_items`` items.

    Call it after each answer to a qualification item. The first answer to each item counts, also
    when it was undone or revised; an abstention is wrong; skips and mere rejections do not count.
    The user becomes active or paused, with the figures as the reason. Returns their status, if they
    have one. Idempotent: a status other than qualifying stays.
    """
    wanted = project.qualify_items
    first = _first_answers(project, user)[:wanted]
    reviewer_status = ReviewerStatus.objects.filter(project=project, user=user).first()
    if reviewer_status is not None and reviewer_status.status != ReviewerStatus.Status.QUALIFYING:
        return reviewer_status
    if not wanted or len(first) < wanted:
        return reviewer_status
    right, needed = sum(first), needed_right(project)
    passed = right >= needed
    words = Phrase(
        "%(right)s of %(wanted)s right, %(count)s was needed",
        "%(right)s of %(wanted)s right, %(count)s were needed",
        right=right,
        wanted=wanted,
        count=needed,
    )
    status = ReviewerStatus.Status.ACTIVE if passed else ReviewerStatus.Status.PAUSED
    decided = _change_status(
        project, user, status, words, only_from=ReviewerStatus.Status.QUALIFYING
    )
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
    # 0.28 times 25 is a little more than 7 in binary numbers.
    return math.ceil(project.qualify_items * project.qualify_accuracy - 1e-9)


def validate_reason(reason: str) -> str:
    """The reason as it is stored.

    Raises:
        InvalidInput: it is empty, too long, or has characters that cannot be stored.
    """
    if not reason.strip():
        raise InvalidInput.at("reason", "give a reason for the log.")
    return validate_text("reason", reason, LONGEST_REASON)


def _check_works_here(project: Project, user: User) -> None:
    known = role_in(user, project) or Decision.objects.filter(project=project, reviewer=user)
    if not known:
        raise NotFound("This person is not in the project.")


def _change_status(
    project: Project, user: User, status: str, reason: str, *, only_from: str = ""
) -> ReviewerStatus | None:
    """The row with its new status; None if it has that status, or another one than ``only_from``.

    Of two concurrent changes one succeeds: the row is created once and updated conditionally.
    """
    fields = {"status": status, "reason": reason, "changed_at": timezone.now()}
    reviewer_status, made = ReviewerStatus.objects.get_or_create(
        project=project, user=user, defaults=fields
    )
    if made:
        return reviewer_status
    rows = ReviewerStatus.objects.filter(pk=reviewer_status.pk).exclude(status=status)
    if only_from:
        rows = rows.filter(status=only_from)
    if not rows.update(**fields):
        return None
    reviewer_status.refresh_from_db()
    return reviewer_status


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
    paused = action == Intervention.Action.PAUSE
    recorded = Action.REVIEWER_PAUSED if paused else Action.REVIEWER_RESUMED
    record(recorded, user, project=project)


def free_work(*, project: Project, user: User, **_: Any) -> None:
    """Free the items of a user who may no longer label in the project."""
    given = give_back_work(project=project, user=user)
    if given:
        Intervention.objects.create(
            project=project,
            action=Intervention.Action.UNASSIGN,
            subject=user,
            items=given,
            reason=Phrase("They may no longer label here."),
        )
