"""Look up users and their API keys."""

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from labelhub.core.errors import NotFound

#: How long the page of keys shows one that no longer works.
ENDED_SHOWN = timedelta(days=30)


def find_user(name: str) -> User | None:
    """The user with that user name or e-mail address; the case of an address does not matter.

    The owner of an address comes before a user who has it as user name.
    """
    name = name.strip()
    found = User.objects.filter(email__iexact=name).first() if "@" in name else None
    return found or User.objects.filter(username=name).first()


def find_active_user(user_id: int) -> User | None:
    """The user as stored now; None if deleted, inactive, or before the change of a first
    password."""
    return User.objects.filter(pk=user_id, is_active=True, must_change_password=False).first()


def keys_of(user: User) -> list[ApiKey]:
    """The keys of ``user`` that work, or did in the last :data:`ENDED_SHOWN`; newest first."""
    since = timezone.now() - ENDED_SHOWN
    recent = (
        Q(expires_at=None) | Q(expires_at__gt=since),
        Q(revoked_at=None) | Q(revoked_at__gt=since),
    )
    return list(user.api_keys.filter(*recent).select_related("project", "made_by"))


def get_key(keys: "QuerySet[ApiKey]", key_id: int) -> ApiKey:
    """The key with that id, if it is one of ``keys``.

    Raises:
        NotFound: there is none.
    """
    key = keys.filter(pk=key_id).first()
    if key is None:
        raise NotFound("You have no such key.")
    return key


def get_user(username: str) -> User:
    """The user with exactly that user name.

    Raises:
        NotFound: there is none.
    """
    user = User.objects.filter(username=username).first()
    if user is None:
        raise NotFound("There is no user '%(username)s'.", username=username)
    return user
