"""The keys of one person."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.reviews.keys import DEFAULTS
from apps.reviews.models import KeyMap


def keys_of(user: User) -> dict[str, str]:
    """Action → its keys, parted by blanks: the person's own, else the house's. One query."""
    own = _own.first(user.pk)
    return DEFAULTS | (own.keys if own else {})


@prepared
def _own(user: int) -> QuerySet[KeyMap]:
    return KeyMap.objects.filter(user=user)
