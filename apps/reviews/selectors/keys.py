"""The keys of one person."""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.reviews.keys import DEFAULTS
from apps.reviews.models import KeyMap


def keys_of(user: User) -> dict[str, str]:
    """Action → its keys, parted by blanks: the person's own, else those of the house that are not
    theirs for something else (an action may be younger than their choice). One query."""
    stored = _own.first(user.pk)
    own: dict[str, str] = stored.keys if stored else {}
    taken = {key for keys in own.values() for key in keys.split()}
    kept = {
        name: " ".join(key for key in keys.split() if key not in taken)
        for name, keys in DEFAULTS.items()
    }
    return kept | own


@prepared
def _own(user: int) -> QuerySet[KeyMap]:
    return KeyMap.objects.filter(user=user)
