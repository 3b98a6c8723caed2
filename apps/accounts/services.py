"""Create and change users and API keys."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import Permission
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from apps.accounts.sessions import end_sessions
from apps.common.audit import Action, differences, record
from apps.common.sealing import digest
from apps.common.validation import check_model
from labelhub.core.errors import Conflict, Forbidden, InvalidInput

KEY_MARK = "lh_"
ADD_USER = ("add_user", "accounts", "user")
#: Keys that work of one person: each has a limit of requests of its own.
MOST_KEYS = 200
#: The longest life of a key with an end, and the longest grace of a rotated one, in days.
MOST_DAYS, MOST_GRACE_DAYS = 3650, 30
PREFIX_LENGTH = len(KEY_MARK) + 6


class NewUser(NamedTuple):
    """A user and their password, to be shown once."""

    user: User
    password: str


class NewKey(NamedTuple):
    """A key's row and the key itself, to be shown once."""

    key: ApiKey
    plain: str


def create_user(
    *,
    username: str,
    email: str = "",
    password: str | None = None,
    superuser: bool = False,
    makes_accounts: bool = False,
) -> NewUser:
    """Create an account; the default password has 96 random bits and must be changed at the first
    sign-in.

    ``makes_accounts``: allow them to create accounts for the projects they manage.

    Raises:
        InvalidInput: name or address is taken or malformed, or the password is too weak.
    """
    chosen = password or secrets.token_urlsafe(12)
    user = User(
        username=User.normalize_username(username.strip()),
        email=email.strip().lower(),
        is_staff=superuser,
        is_superuser=superuser,
        must_change_password=password is None,
    )
    if password is not None:
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise InvalidInput.at("password", " ".join(error.messages)) from None
    user.set_password(chosen)
    if "@" in user.username and user.username.lower() != user.email:
        raise InvalidInput.at("username", "An e-mail address as user name must be the user's own.")
    _require_free_address(user.email, user)
    check_model(user)
    with transaction.atomic():
        user.save()
        if makes_accounts:
            user.user_permissions.add(Permission.objects.get_by_natural_key(*ADD_USER))
        rights = {"superuser": superuser, "makes_accounts": makes_accounts}
        record(
            Action.USER_CREATED, user, changes={right: (None, has) for right, has in rights.items()}
        )
    return NewUser(user, chosen)


def _require_free_address(email: str, user: User) -> None:
    """The database constraint is case-sensitive and names no field."""
    if email and User.objects.exclude(pk=user.pk).filter(email__iexact=email).exists():
        raise InvalidInput.at(
            "email", "An account with the address %(email)s exists already.", email=email
        )


def create_api_key(
    *,
    user: User,
    name: str,
    scope: str = ApiKey.Scope.WRITE,
    expires_at: datetime | None = None,
    project_id: int | None = None,
    by: ApiKey | None = None,
) -> NewKey:
    """Create a key for ``user``: ``lh_`` and 43 URL-safe characters (256 random bits).

    Args:
        expires_at: when it stops working; None: never.
        project_id: the only project that it opens, in which ``user`` has a role; None: all.
        by: the key with which a program asks; the new key can do no more, and ends with it.

    Raises:
        InvalidInput: the name is empty or too long, the scope unknown or not for this key, or the
            end in the past.
        Forbidden: ``by`` does not cover the new key.
        Conflict: ``user`` has too many keys.
    """
    plain = KEY_MARK + secrets.token_urlsafe(32)
    key = ApiKey(
        user=user,
        name=name.strip(),
        scope=scope,
        expires_at=expires_at,
        project_id=project_id,
        made_by=by,
        prefix=plain[:PREFIX_LENGTH],
        digest=digest(plain),
    )
    check_model(key)
    if key.is_expired:
        raise InvalidInput.at("expires_at", "This is in the past.")
    if scope == ApiKey.Scope.ADMIN and (project_id is not None or not user.is_superuser):
        raise InvalidInput.at(
            "scope", "Only keys of operators, and for all projects, operate the server."
        )
    if user.api_keys.active().count() >= MOST_KEYS:
        raise Conflict("There are %(most)s keys already: revoke some first.", most=MOST_KEYS)
    with transaction.atomic():
        _require_cover(by, key)
        key.save()
        record(
            Action.KEY_CREATED,
            key,
            name=f"{key.prefix}…",
            changes=differences(
                {}, {"owner": user.pk, "scope": key.scope, "expires_at": key.expires_at}
            ),
        )
    return NewKey(key, plain)


@transaction.atomic
def rotate_api_key(*, key: ApiKey, grace: timedelta, by: ApiKey | None = None) -> NewKey:
    """A new key in place of ``key``, with its name, scope and project, which lives as long as that
    one was to live. The old key works for another ``grace``, or until its earlier end; what
    programs created with it then ends with the new one.

    Raises:
        Conflict: ``key`` was revoked, has expired, or was replaced before: whoever stole the old
            key gets no new one by it.
        Forbidden: ``by`` is neither ``key`` nor has made it nor operates the server: one that was
            stolen must not get others that outlast it.
    """
    if by is not None and by.pk != key.pk:
        if by.pk != key.made_by_id and not by.allows(ApiKey.Scope.ADMIN):
            raise Forbidden("A key can replace only itself and keys that were created with it.")
        _require_cover(by, key)
    # A key is locked before those that it made, as when it is revoked.
    if key.made_by_id is not None:
        _locked_keys().filter(pk=key.made_by_id).first()
    key = _locked_keys().get(pk=key.pk)
    if key.revoked_at is not None or key.is_expired:
        raise Conflict("This key no longer works: create a new one.")
    if key.rotated_at is not None:
        raise Conflict("This key was replaced already: create a new one.")
    now = timezone.now()
    made_by_end = key.made_by.expires_at if key.made_by else None
    lasts_until = now + (key.expires_at - key.created_at) if key.expires_at else None
    made = create_api_key(
        user=key.user,
        name=key.name,
        scope=key.scope,
        expires_at=min(filter(None, [lasts_until, made_by_end]), default=None),
        project_id=key.project_id,
        by=key.made_by,
    )
    ends, until = key.expires_at, now + grace
    key.expires_at = min(ends, until) if ends else until
    key.rotated_at = now
    key.save(update_fields=["expires_at", "rotated_at"])
    key.made_keys.update(made_by=made.key)
    record(
        Action.KEY_CHANGED,
        key,
        name=f"{key.prefix}…",
        changes={
            "owner": (key.user_id, key.user_id),
            "expires_at": (ends, key.expires_at),
            "rotated_to": (None, f"{made.key.prefix}…"),
        },
    )
    return made


def _locked_keys() -> QuerySet[ApiKey]:
    return ApiKey.objects.select_for_update(no_key=True)


def _require_cover(by: ApiKey | None, key: ApiKey) -> None:
    """Refuse unless ``by`` still works, which it then does to the end of the transaction: what it
    makes is there for whoever revokes it."""
    if by is None:
        return
    by = _locked_keys().get(pk=by.pk)
    if by.revoked_at is not None or by.is_expired:
        raise Forbidden("The key with which you ask no longer works.")
    if not by.covers(key):
        raise Forbidden(
            "A key can make and change only keys that allow no more and live no longer than itself."
        )


@transaction.atomic
def revoke_api_key(*, key: ApiKey, by: ApiKey | None = None) -> ApiKey:
    """Revoke ``key``, and the keys that programs created with it; a second call changes nothing.

    Raises:
        Forbidden: ``by`` is neither ``key`` nor covers it.
    """
    if by is not None and by.pk != key.pk:
        _require_cover(by, key)
    key = _locked_keys().get(pk=key.pk)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        owner = (key.user_id, key.user_id)
        record(Action.KEY_REVOKED, key, name=f"{key.prefix}…", changes={"owner": owner})
        # Also expired ones: what those have made may work.
        for made in key.made_keys.filter(revoked_at=None):
            revoke_api_key(key=made)
    return key


@transaction.atomic
def shut_out(user: User) -> None:
    """Revoke all API keys of ``user``, and end all sessions."""
    for key in user.api_keys.filter(revoked_at=None):
        revoke_api_key(key=key)
    if user.last_login is not None:
        end_sessions(user)


@transaction.atomic
def change_user(*, user: User, actor: User, **changes: Any) -> User:
    """Change an account: ``email``, ``first_name``, ``last_name``, ``is_active``,
    ``is_superuser``. An account that is deactivated has no session any more.

    Raises:
        InvalidInput: the address is malformed or taken, or operators would lock themselves out.
    """
    user = User.objects.select_for_update().get(pk=user.pk)
    loses = [name for name in ("is_active", "is_superuser") if changes.get(name) is False]
    if loses and user.pk == actor.pk:
        raise InvalidInput.at(loses[0], "You cannot take this from yourself: ask another operator.")
    if "email" in changes:
        changes["email"] = changes["email"].strip().lower()
        _require_free_address(changes["email"], user)
    if "is_superuser" in changes:
        changes["is_staff"] = changes["is_superuser"]
    changed = differences({name: getattr(user, name) for name in changes}, changes)
    for name, value in changes.items():
        setattr(user, name, value)
    check_model(user, exclude=["password"])
    user.save(update_fields=list(changes))
    if changed:
        record(Action.USER_CHANGED, user, actor=actor, changes=shown_changes(changed))
    if changed.get("is_active") == (True, False):
        end_sessions(user)
    return user


def shown_changes(changes: Mapping[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    """``changes`` of an account for the audit log: of personal fields only that they changed."""
    return {
        name: (None, None) if isinstance(new, str) else (old, new)
        for name, (old, new) in changes.items()
    }
