"""Create users and API keys."""

import secrets
from typing import NamedTuple

from django.contrib.auth.models import Permission
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from apps.common.audit import Action, record
from apps.common.sealing import digest
from apps.common.validation import check_model
from labelhub.core.errors import InvalidInput

KEY_MARK = "lh_"
_ADD_USER = ("add_user", "accounts", "user")
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
    # The database constraint is case-sensitive and names no field.
    if user.email and User.objects.filter(email__iexact=user.email).exists():
        raise InvalidInput.at(
            "email", "An account with the address %(email)s exists already.", email=user.email
        )
    check_model(user)
    with transaction.atomic():
        user.save()
        if makes_accounts:
            user.user_permissions.add(Permission.objects.get_by_natural_key(*_ADD_USER))
        rights = {"superuser": superuser, "makes_accounts": makes_accounts}
        record(
            Action.USER_CREATED, user, changes={right: (None, has) for right, has in rights.items()}
        )
    return NewUser(user, chosen)


def create_api_key(*, user: User, name: str, scope: str = ApiKey.Scope.WRITE) -> NewKey:
    """Create a key for ``user``: ``lh_`` and 43 URL-safe characters (256 random bits).

    Raises:
        InvalidInput: the name is empty or too long, or the scope is unknown.
    """
    plain = KEY_MARK + secrets.token_urlsafe(32)
    key = ApiKey(
        user=user,
        name=name.strip(),
        scope=scope,
        prefix=plain[:PREFIX_LENGTH],
        digest=digest(plain),
    )
    check_model(key)
    with transaction.atomic():
        key.save()
        record(
            Action.KEY_CREATED,
            key,
            name=f"{key.prefix}…",
            changes={"owner": (None, user.pk), "scope": (None, key.scope)},
        )
    return NewKey(key, plain)


def revoke_api_key(*, key: ApiKey) -> ApiKey:
    """Revoke ``key``; a second call changes nothing."""
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        with transaction.atomic():
            key.save(update_fields=["revoked_at"])
            record(
                Action.KEY_REVOKED,
                key,
                name=f"{key.prefix}…",
                changes={"owner": (key.user_id, key.user_id)},
            )
    return key
