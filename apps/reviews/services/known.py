"""Items whose answer is known, handed out among the others: what people are checked by."""

import random
import uuid
from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Label
from apps.projects.models import Project
from apps.reviews.models import Decision, Purpose, Slot, Standing
from apps.reviews.selectors.known import first_known, last_known, must_qualify
from apps.reviews.selectors.standing import standing_of
from labelhub.core.errors import InvalidInput, LabelhubError

#: So long after somebody was paused what they send may have been on their screen.
ON_SCREEN = timedelta(hours=1)
#: Which of the known items comes, and whether one comes, is to be foreseen by nobody.
_draws = random.SystemRandom()


class ReviewerPaused(LabelhubError):
    """A manager has paused this person's work, or they did not qualify for it."""

    code = "reviewer_paused"
    http_status = 403


class NotAsked(InvalidInput):
    """Somebody who is given no items answers one."""

    code = "not_asked"


def check_standing(project: Project, user: User) -> Standing | None:
    """Where ``user`` stands, if they may work.

    Raises:
        ReviewerPaused: they may not, with the reason that was given.
    """
    standing = standing_of(project, user)
    if standing is not None and standing.status == Standing.Status.PAUSED:
        reason = f" The reason given: {standing.reason}" if standing.reason else ""
        raise ReviewerPaused(
            f"Your work in '{project.name}' is paused.{reason} "
            "What you have labelled is kept; ask a manager of the project to let you go on."
        )
    return standing


def check_asked(project: Project, user: User, label: Label) -> None:
    """Pass an answer to an item that the queue gave to ``user``, or that comes from somebody whom
    it would give items; of who was paused within the hour, too, who may have had it on screen.

    Raises:
        NotAsked: neither.
    """
    standing = standing_of(project, user)
    paused = standing is not None and standing.status == Standing.Status.PAUSED
    if not (paused or must_qualify(project, user, standing)):
        return
    if standing and paused and standing.changed_at > timezone.now() - ON_SCREEN:
        return
    if Slot.objects.filter(label=label).exists():
        return
    why = "your work here is paused" if paused else "items of known answer come first"
    raise NotAsked(f"This item was not given to you: {why}. Nothing was stored.")


def known_purpose(project: Project, user: User, standing: Standing | None) -> Purpose | None:
    """What an item of known answer would be handed out for now; None: none is due."""
    if must_qualify(project, user, standing):
        return Purpose.QUALIFY
    due = project.check_share and _draws.random() < project.check_share
    return Purpose.CHECK if due else None


def take_again(
    project: Project, user: User, until: datetime, *, besides: Collection[UUID] = ()
) -> Slot | None:
    """The item of known answer that ``user`` had and has not answered, skipped or put off: whoever
    came back to another one would know why."""
    now = timezone.now()
    left = Decision.objects.standing(project, user).filter(label__isnull=True)
    waiting = (
        Slot.objects.takeable(now)
        .filter(project=project, holder=user, number__isnull=True)
        .exclude(lease_token__in=besides)
        .exclude(item__in=left.order_by().values("item"))
    )
    return _taken(waiting.order_by("pk").first(), until, now)


def take_item_again(project: Project, user: User, item_id: int, until: datetime) -> Slot | None:
    """The same for one item, whatever became of it meanwhile."""
    now = timezone.now()
    theirs = Slot.objects.takeable(now).filter(project=project, holder=user, item=item_id)
    return _taken(theirs.filter(number__isnull=True).first(), until, now)


def _taken(slot: Slot | None, until: datetime, now: datetime) -> Slot | None:
    if slot is None:
        return None
    slot.lease_token, slot.lease_until = uuid.uuid4(), until
    mine = Slot.objects.takeable(now).filter(pk=slot.pk)
    lease = {"lease_token": slot.lease_token, "lease_until": until}
    return slot if mine.update(**lease) else None


def take_known(project: Project, user: User, purpose: Purpose, until: datetime) -> Slot | None:
    """A lease on an item of known answer that ``user`` has not seen; None where none is left.

    Nobody else is kept from it: any number of people can be checked by one item at a time.
    """
    item_id = _draw(project, user)
    if item_id is None:
        return None
    slot = Slot(
        item_id=item_id,
        project=project,
        purpose=purpose,
        holder=user,
        **Slot.new_lease(until),
    )
    try:
        with transaction.atomic():
            slot.save(force_insert=True)
    except IntegrityError:
        return None  # another page of theirs has it
    return slot


def _draw(project: Project, user: User) -> int | None:
    """One of the known items that are new to ``user``, from a random place on."""
    last = last_known(project)
    if last is None:
        return None
    found = first_known(project, user, after=_draws.randrange(last))
    return found or first_known(project, user, after=0)
