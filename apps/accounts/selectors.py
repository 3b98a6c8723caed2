"""Looking up people and their keys."""

from apps.accounts.models import ApiKey, User
from labelhub.core.errors import NotFound


def find_user(name: str) -> User | None:
    """The person of that user name or e-mail address; case does not matter for the latter.

    An address means whose it is, not somebody who took it for a user name.
    """
    name = name.strip()
    found = User.objects.filter(email__iexact=name).first() if "@" in name else None
    return found or User.objects.filter(username=name).first()


def find_active(user_id: int) -> User | None:
    """The person as they are now, unless they were deleted or switched off."""
    return User.objects.filter(pk=user_id, is_active=True).first()


def keys_of(user: User) -> list[ApiKey]:
    """The keys of ``user`` that still open the door, newest first."""
    return list(user.api_keys.active())


def get_key(user: User, key_id: int) -> ApiKey:
    """One of ``user``'s own keys.

    Raises:
        NotFound: there is none of that number, or it is somebody else's.
    """
    key = user.api_keys.filter(pk=key_id).first()
    if key is None:
        raise NotFound("You have no such key.")
    return key


def get_user(username: str) -> User:
    """The person of exactly that user name.

    Raises:
        NotFound: there is none.
    """
    user = User.objects.filter(username=username).first()
    if user is None:
        raise NotFound(f"There is no user '{username}'.")
    return user
