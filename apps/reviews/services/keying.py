"""Changing the keys of one person."""

from collections.abc import Mapping

from apps.accounts.models import User
from apps.reviews.keys import ACTIONS, DEFAULTS, RESERVED
from apps.reviews.models import KeyMap
from labelhub.core.errors import InvalidInput

_NAMED = frozenset({"Enter", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"})


def change_keys(*, user: User, keys: Mapping[str, str]) -> None:
    """Give actions other keys; what is the house's own, or left out, is not stored.

    Raises:
        InvalidInput: something that is no single key, a key of the house, or one given twice.
    """
    own = {name: " ".join(given.split()) for name, given in keys.items() if name in DEFAULTS}
    own = {name: given for name, given in own.items() if given and given != DEFAULTS[name]}
    taken: dict[str, str] = {}
    for action in ACTIONS:
        for key in own.get(action.name, action.keys).split():
            _check(action.name, key)
            if key in taken:
                raise InvalidInput.at(
                    action.name, f"“{key}” is the key for “{taken[key]}” already; choose another."
                )
            taken[key] = action.words
    if own:
        KeyMap.objects.update_or_create(user=user, defaults={"keys": own})
    else:
        KeyMap.objects.filter(user=user).delete()


def _check(name: str, key: str) -> None:
    if key in RESERVED:
        raise InvalidInput.at(name, f"“{key}” has a use on every page; choose another.")
    if key not in _NAMED and (len(key) != 1 or not key.isprintable() or key != key.lower()):
        raise InvalidInput.at(name, f"“{key}” is no single key, such as k, ö or Enter.")
