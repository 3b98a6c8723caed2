"""What is known of a user: everything as JSON, and its erasure. Authors have their own
(``apps.authors.services.privacy``)."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, address_of, erase_person, record
from apps.common.bulk import empty_write_ahead_log
from apps.common.models import AuditEntry
from apps.exchange.models import SavedExport
from apps.labels.models import Annotator, Label
from apps.projects.models import Invitation, Membership, Notification, Project
from apps.projects.selectors import is_last_manager
from apps.projects.services import remove_member
from apps.reviews.models import Comment
from labelhub.core.errors import Conflict
from labelhub.core.phrases import Phrase

_AT_ONCE = 1000
PSEUDONYM = "former-annotator-"
STALE = Phrase(
    "An annotator's personal data was erased after this file was begun, so the file was deleted "
    "as well. Save the export again."
)


def user_data(user: User) -> dict[str, Any]:
    """Everything that is stored about ``user``, for them; of secrets only that they exist."""
    return {
        "account": {
            "username": user.username,
            "email": user.email or None,
            "first_name": user.first_name or None,
            "last_name": user.last_name or None,
            "language": user.language or None,
            "directory_name": user.scim_name or None,
            "directory_id": user.scim_external_id or None,
            "operator": user.is_superuser,
            "active": user.is_active,
            "notified_by_email": user.notify_by_email,
            "joined": user.date_joined,
            "last_sign_in": user.last_login,
        },
        "memberships": list(
            user.memberships.order_by("pk").values("project__slug", "role", "kind", "created_at")
        ),
        "api_keys": list(
            user.api_keys.order_by("pk").values(
                "name", "prefix", "scope", "project__slug", "created_at", "expires_at",
                "last_used_at", "rotated_at", "revoked_at",
            )
        ),
        "sessions": [{"until": session.expire_date} for session in sessions_of(user)],
        "devices": list(
            UserSession.objects.filter(user=user)
            .order_by("pk")
            .values("created_at", "last_seen_at", "ip", "user_agent")
        ),
        "second_steps": list(
            Authenticator.objects.filter(user=user)
            .order_by("pk")
            .values("type", "created_at", "last_used_at")
        ),
        "identities": list(
            SocialAccount.objects.filter(user=user)
            .order_by("pk")
            .values("provider", "uid", "date_joined", "last_login")
        ),
        "groups": list(user.group_members.order_by("pk").values("group__name", "source")),
        "invitations": list(
            Invitation.objects.filter(_invited(user) | Q(created_by=user))
            .order_by("pk")
            .values("project__slug", "email", "role", "kind", "created_at", "expires_at")
        ),
        "notifications": list(
            Notification.objects.filter(user=user)
            .order_by("pk")
            .values("project__slug", "kind", "outcome", "message", "created_at", "read_at")
        ),
        "comments": list(
            Comment.objects.filter(author=user)
            .order_by("pk")
            .values("project__slug", "item__external_id", "text", "created_at")
        ),
        "mentions": list(
            user.mentions.order_by("pk").values(
                "comment__project__slug", "comment__text", "comment__created_at", "seen_at"
            )
        ),
        "drafts": list(
            user.drafts.order_by("pk").values("item__project__slug", "item__external_id")
        ),
        "labels": list(
            Label.objects.filter(annotator__user=user)
            .order_by("pk")
            .values(
                "annotator__project__slug", "item__external_id", "value", "abstained", "withdrawn",
                "action", "role", "confidence", "rationale", "seconds", "created_at",
            )
            .iterator(chunk_size=_AT_ONCE)
        ),
        "audit_log": [_audited(entry) for entry in _entries_about(user)],
    }  # fmt: skip


def sessions_of(user: User) -> Iterator[Session]:
    """The sessions in which ``user`` is signed in; reads all sessions, as they name nobody."""
    current = Session.objects.filter(expire_date__gt=timezone.now())
    for session in current.iterator(chunk_size=_AT_ONCE):
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            yield session


def _entries_about(user: User) -> Iterator[AuditEntry]:
    mine = Q(actor__user_id=user.pk) | Q(subject_person__user_id=user.pk)
    entries = AuditEntry.objects.filter(mine).select_related("actor", "subject_person")
    return entries.order_by("pk").iterator(chunk_size=_AT_ONCE)


def _audited(entry: AuditEntry) -> dict[str, Any]:
    return {
        "at": entry.at,
        "action": entry.action,
        "by": str(entry.actor or entry.via),
        "address": address_of(entry) or None,
        "project": entry.project or None,
        "subject": str(entry.subject_person or entry.subject_name),
        "changes": entry.changes,
    }


def erase_user(user: User) -> str:
    """Empty the account of ``user`` and name it by a pseudonym, which is returned.

    Labels stay, as the ledger is append-only and gold rests on it, under the pseudonym. Gone are
    name, address, password, sessions, keys, second steps, memberships, invitations, notifications
    and drafts, who they are at the company's provider and in its directory and groups,
    mentions in comments, and the name and network addresses in the audit log. Saved exports, which
    may name the person, are deleted. All in one transaction.

    Raises:
        Conflict: they are the last operator, the last manager of a project, or erased already.
    """
    with transaction.atomic():
        # The account comes before the projects of its memberships, as when groups change. Whoever
        # adds a member holds the project and then refers to the account, which this lock allows.
        user = _lock_account(user)
        for member in _memberships(user):
            remove_member(project=member.project, user=user, actor=None)
        pseudonym = _free_name(user)
        record(Action.USER_ERASED, user)
        _rename_annotators(user, pseudonym)
        _replace_mentions(user, pseudonym)
        Invitation.objects.filter(_invited(user)).delete()
        for session in sessions_of(user):
            session.delete()
        kind = ContentType.objects.get_for_model(User)
        entries = LogEntry.objects.filter(content_type=kind, object_id=str(user.pk))
        entries.update(object_repr=pseudonym)
        _delete_what_is_theirs(user)
        _empty_account(user, pseudonym)
        erase_person(user.pk, pseudonym)
        transaction.on_commit(empty_write_ahead_log, robust=True)
    return pseudonym


def _lock_account(user: User) -> User:
    """The account as it is now.

    Raises:
        Conflict: they are the last operator, or erased already.
    """
    # Two operators who erase each other at once: the second waits here, and is the last.
    people = User.objects.select_for_update(no_key=True).order_by("pk")
    found = {row.pk: row for row in people.filter(Q(is_superuser=True) | Q(pk=user.pk))}
    user = found[user.pk]
    if user.username.startswith(PSEUDONYM) and not user.is_active:
        raise Conflict("This person was erased already.")
    if {row.pk for row in found.values() if row.is_superuser and row.is_active} == {user.pk}:
        raise Conflict("The last operator cannot be erased: make somebody else an operator first.")
    return user


def _memberships(user: User) -> list[Membership]:
    """Their memberships, by project as everybody locks them.

    Raises:
        Conflict: a project would lose its last manager.
    """
    found = list(user.memberships.select_related("project").order_by("project"))
    for member in found:
        if is_last_manager(member):
            raise Conflict(
                "%(user)s is the last manager of %(project)s: give somebody else that role, or "
                "delete the project first.",
                user=user,
                project=member.project,
            )
    return found


def _free_name(user: User) -> str:
    names = (f"{PSEUDONYM}{user.pk}{f'-{n}' if n > 1 else ''}" for n in count(1))
    taken = Q(username__startswith=PSEUDONYM)
    used = set(User.objects.filter(taken).values_list("username", flat=True))
    used |= set(Annotator.objects.filter(name__startswith=PSEUDONYM).values_list("name", flat=True))
    return next(name for name in names if name not in used)


def _rename_annotators(user: User, pseudonym: str) -> None:
    annotators = Annotator.objects.filter(user=user)
    projects = Project.objects.filter(annotators__in=annotators)
    SavedExport.objects.filter(project__in=projects, status=SavedExport.Status.DONE).update(
        status=SavedExport.Status.STALE, message=STALE, stored_name="", size=0, sha256=""
    )
    annotators.update(name=pseudonym)


def _replace_mentions(user: User, pseudonym: str) -> None:
    called = re.compile(rf"(?<![\w.@+-])@{re.escape(user.username)}(?![.@+-]*\w)")
    mentioning = Comment.objects.filter(text__contains=f"@{user.username}")
    for comment in mentioning.only("text").iterator(chunk_size=_AT_ONCE):
        text = called.sub(f"@{pseudonym}", comment.text)
        Comment.objects.filter(pk=comment.pk).update(text=text)


def _delete_what_is_theirs(user: User) -> None:
    """Rows that would go with the account: keys, notifications, drafts, second factors, ..."""
    for relation in User._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is models.CASCADE:
            model: Any = relation.related_model
            QuerySet(model).filter(**{relation.field.name: user}).delete()


def _empty_account(user: User, pseudonym: str) -> None:
    user.username, user.email, user.language = pseudonym, "", ""
    user.first_name = user.last_name = user.scim_name = user.scim_external_id = ""
    user.operator_by_group = user.creator_by_group = False
    user.is_active = user.is_staff = user.is_superuser = user.notify_by_email = False
    user.last_login = None
    user.set_unusable_password()
    user.save()


def _invited(user: User) -> Q:
    """Invitations to the address of ``user``."""
    return Q(email__iexact=user.email) & ~Q(email="")
