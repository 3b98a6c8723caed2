"""Invitations: links by which people join a project, with their account or a new one."""

import secrets
from datetime import timedelta
from typing import NamedTuple

from allauth.core.internal.ratelimit import consume
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext_noop as _

from apps.accounts.models import User
from apps.accounts.selectors import find_user
from apps.accounts.services import create_user
from apps.common.audit import Action, record
from apps.common.sealing import digest
from apps.common.validation import check_model
from apps.projects.models import Invitation, Membership, Project
from apps.projects.notifications import write_mail
from apps.projects.services import set_member
from labelhub.core.errors import Conflict, Forbidden, InvalidInput, NotFound, TooMany, Unavailable

#: How long an invitation that has ended stays in the list.
KEPT = timedelta(days=30)
MOST_OPEN = 100
MOST_DAYS = 90
MOST_USES = 500

#: What a person with a link that does not work reads; translated where it is shown.
REASONS = {
    Invitation.State.USED: _("This link was for a limited number of people, and all have joined."),
    Invitation.State.EXPIRED: _("This link has expired."),
    Invitation.State.REVOKED: _("This link was withdrawn."),
    Invitation.State.VOID: _("The person who sent this link no longer manages the project."),
}


class Unusable(Conflict):
    code = "invitation_ended"


class NewInvitation(NamedTuple):
    """An invitation and the path of its link, which is known only now."""

    invitation: Invitation
    path: str


def create_invitation(
    *,
    project: Project,
    actor: User,
    role: str,
    kind: str,
    uses: int = 1,
    days: int = 7,
    email: str = "",
) -> NewInvitation:
    """A link for ``uses`` people that works for ``days``; one for an ``email`` is for one person.

    Raises:
        InvalidInput: an unknown role or kind, or an unusable address.
        Conflict: too many invitations are open.
    """
    token, now = secrets.token_urlsafe(32), timezone.now()
    invitation = Invitation(
        project=project,
        digest=digest(token),
        email=email.strip().lower(),
        role=role,
        kind=kind,
        uses_allowed=uses,
        expires_at=now + timedelta(days=days),
        created_by=actor,
    )
    check_model(invitation)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        project.invitations.filter(expires_at__lt=now - KEPT).delete()
        waiting = project.invitations.filter(revoked_at=None, expires_at__gt=now)
        if waiting.filter(uses__lt=F("uses_allowed")).count() >= MOST_OPEN:
            raise Conflict(
                "%(most_open)s invitations of this project are open; revoke some first.",
                most_open=MOST_OPEN,
            )
        invitation.save()
        record(
            Action.INVITATION_CREATED,
            invitation,
            changes={"role": (None, role), "kind": (None, kind), "uses": (None, uses)},
        )
    return NewInvitation(invitation, reverse("join", args=[token]))


def invite_by_mail(
    *, request: HttpRequest, project: Project, actor: User, email: str, role: str, kind: str,
    days: int = 7,
) -> Invitation:  # fmt: skip
    """Send a link to ``email``. Nobody else sees it, so the person who opens it owns the address.
    Whether the address has an account makes no difference but for the language.

    Raises:
        InvalidInput: an unusable address, or this server sends no e-mail.
        TooMany: the sender has invited too many people in the last hour.
        Unavailable: the mail server does not take it; there is no invitation then.
    """
    if not settings.LABELHUB_SENDS_MAIL:
        raise InvalidInput.at("email", "This server sends no e-mail: hand over a link instead.")
    limit_rate(request, "mail", actor)
    made = create_invitation(
        project=project, actor=actor, role=role, kind=kind, days=days, email=email
    )
    context = {
        "project": project,
        "actor": actor,
        "invitation": made.invitation,
        "link": request.build_absolute_uri(made.path),
    }
    invited = find_user(made.invitation.email)
    with translation.override((invited and invited.language) or translation.get_language()):
        message = write_mail("projects/mail/invitation.txt", context, to=made.invitation.email)
    try:
        message.send()
    except OSError as error:  # of the network or the mail server
        with transaction.atomic():
            record(Action.INVITATION_REVOKED, made.invitation)
            made.invitation.delete()
        raise Unavailable(
            "The mail server does not take the e-mail. Hand over a link instead."
        ) from error
    return made.invitation


def limit_rate(request: HttpRequest, action: str, user: User | None = None) -> None:
    """Count a request.

    Raises:
        TooMany: the limit of ``INVITATION_RATE_LIMITS`` is reached.
    """
    limits = settings.INVITATION_RATE_LIMITS
    if not consume(
        request, app="labelhub", action=action, config=limits, user=user, limit_get=True
    ):
        raise TooMany("Too many requests; wait a little and try again.")


def invitations_of(project: Project) -> QuerySet[Invitation]:
    """The project's invitations with their states, newest first; those that ended long ago are
    left out."""
    rows = project.invitations.with_creator()
    return rows.filter(expires_at__gt=timezone.now() - KEPT)


def get_invitation(project: Project, invitation_id: int) -> Invitation:
    """One of the project's.

    Raises:
        NotFound: there is none.
    """
    found = project.invitations.with_creator().filter(pk=invitation_id).first()
    if found is None:
        raise NotFound("The project has no such invitation.")
    return found


def find_invitation(token: str) -> Invitation:
    """The invitation of a link, whether it can be used or not.

    Raises:
        NotFound: the link is wrong.
    """
    rows = Invitation.objects.with_creator().select_related("project")
    found = rows.filter(digest=digest(token)).first()
    if found is None:
        raise NotFound(_("This link is not complete, or its invitation was deleted."))
    return found


def revoke_invitation(*, invitation: Invitation) -> None:
    """Nobody can join by it any more; those who have joined stay."""
    open_one = Invitation.objects.filter(pk=invitation.pk, revoked_at=None)
    with transaction.atomic():
        if open_one.update(revoked_at=timezone.now()):
            record(Action.INVITATION_REVOKED, invitation)


@transaction.atomic
def join(*, invitation: Invitation, user: User) -> Membership:
    """Make ``user`` a member; a member stays what they are, and no use is counted.

    Raises:
        Unusable: it has ended, perhaps a moment ago.
    """
    # As every change of members: until we commit, nobody takes the last use or a role away.
    Project.objects.select_for_update().get(pk=invitation.project_id)
    current = Invitation.objects.with_creator().filter(pk=invitation.pk).first()
    if current is None or current.state is not Invitation.State.OPEN:
        raise Unusable(REASONS[current.state if current else Invitation.State.REVOKED])
    project = invitation.project
    member = project.memberships.filter(user=user).first()
    if member is not None:
        return member
    Invitation.objects.filter(pk=current.pk).update(uses=F("uses") + 1)
    return set_member(project=project, user=user, role=current.role, kind=current.kind, actor=user)


@transaction.atomic
def join_as_new(*, invitation: Invitation, username: str, password: str) -> User:
    """Create an account and make it a member, or neither.

    Only an invitation by e-mail proves an address, so other new accounts have none.

    Raises:
        InvalidInput: the name is taken or malformed, or the password too weak.
        Forbidden: the invitation's creator may not create accounts.
        Unusable: as :func:`join`.
    """
    if not invitation.created_by.makes_accounts:
        raise Forbidden("This invitation is for people who have an account here.")
    user = create_user(username=username, email=invitation.email, password=password).user
    join(invitation=invitation, user=user)
    return user
