"""Making people and their API keys."""

import hashlib
import secrets
from typing import NamedTuple

from django.contrib.auth.models import Permission
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from apps.common.validation import check_model
from labelhub.core.errors import InvalidInput

KEY_MARK = "lh_"
_ADD_USER = ("add_user", "accounts", "user")
PREFIX_LENGTH = len(KEY_MARK) + 6


class NewUser(NamedTuple):
    """A person and the password that is shown this once."""

    user: User
    password: str


class NewKey(NamedTuple):
    """A key's row and the key itself, which is shown this once and not kept."""

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
    """Make an account; without ``password`` a random one of 96 bits is chosen.

    ``makes_accounts``: they may make accounts for the projects they manage.

    Raises:
        InvalidInput: the name or address is taken or malformed, or the password too weak.
    """
    chosen = password or secrets.token_urlsafe(12)
    user = User(
        username=User.normalize_username(username.strip()),
        email=email.strip().lower(),
        is_staff=superuser,
        is_superuser=superuser,
    )
    if password is not None:
        _check_password(password, user)
    user.set_password(chosen)
    if "@" in user.username and user.username.lower() != user.email:
        raise InvalidInput.at("username", "Only the person's own e-mail address may be one.")
    # The constraint compares letter by letter and its message names no field.
    if user.email and User.objects.filter(email__iexact=user.email).exists():
        raise InvalidInput.at(
            "email", f"There is already an account with the address {user.email}."
        )
    check_model(user)
    user.save()
    if makes_accounts:
        user.user_permissions.add(Permission.objects.get_by_natural_key(*_ADD_USER))
    return NewUser(user, chosen)


def create_api_key(*, user: User, name: str, scope: str = ApiKey.Scope.WRITE) -> NewKey:
    """Make a key for ``user``: ``lh_`` and 43 URL-safe characters (256 random bits).

    Raises:
        InvalidInput: the name is empty or too long, or the scope unknown.
    """
    plain = KEY_MARK + secrets.token_urlsafe(32)
    key = ApiKey(
        user=user,
        name=name.strip(),
        scope=scope,
        prefix=plain[:PREFIX_LENGTH],
        digest=key_digest(plain),
    )
    check_model(key)
    key.save()
    return NewKey(key, plain)


def revoke_api_key(*, key: ApiKey) -> ApiKey:
    """Close the door to ``key``; a second time changes nothing."""
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
    return key


def key_digest(plain: str) -> str:
    """What is kept of a key. Unsalted on purpose: 256 random bits cannot be guessed from it."""
    return hashlib.sha256(plain.encode()).hexdigest()


def _check_password(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        faults = [{"field": "password", "message": message} for message in error.messages]
        words = "password: " + " ".join(error.messages)
        raise InvalidInput(words, data={"errors": faults}) from None
