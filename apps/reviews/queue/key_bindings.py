"""Keys of the review screen: the defaults, and each person's own.

1 to 9 always choose a label, and further labels have the letters that no action has. Each person
can change the keys of actions; none needs a modifier, and none works in a text field.
"""

from collections.abc import Mapping
from typing import NamedTuple

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.reviews.models import KeyMap
from labelhub.core.errors import InvalidInput


class KeyAction(NamedTuple):
    """An action with its default ``keys``: names as browsers give them, separated by blanks."""

    name: str
    words: StrOrPromise
    keys: str


ACTIONS = (
    KeyAction("go", _("Accept the suggestion, or save your answer"), "Enter a"),
    KeyAction("none", _("None of these"), "n"),
    KeyAction("reject", _("Reject the suggestion"), "x"),
    KeyAction("abstain", _("Unsure"), "0"),
    KeyAction("skip", _("Skip: leave it to others"), "s"),
    KeyAction("postpone", _("Later: it comes back at the end"), "p"),
    KeyAction("undo", _("Undo, step by step"), "u Backspace"),
    KeyAction("debate", _("Show the debate"), "d"),
    KeyAction("comment", _("Comment"), "c"),
    KeyAction("guideline", _("Guideline"), "g"),
    KeyAction("mark", _("Mark the selected text as evidence"), "m"),
    KeyAction("filter", _("Filter the labels"), "f"),
)
DEFAULTS = {action.name: action.keys for action in ACTIONS}
#: Used by choices, the list of keys, search and navigation.
RESERVED = frozenset({*"123456789", "?", "/", "Tab", "Escape", " "})


def keys_of(user: User) -> dict[str, str]:
    """Action → its keys, separated by blanks: the person's own, else the defaults that they do not
    use for something else. One query."""
    stored = _own_keys.first(user.pk)
    own: dict[str, str] = stored.keys if stored else {}
    taken = {key for keys in own.values() for key in keys.split()}
    kept = {
        name: " ".join(key for key in keys.split() if key not in taken)
        for name, keys in DEFAULTS.items()
    }
    return kept | own


@prepared
def _own_keys(user: int) -> QuerySet[KeyMap]:
    return KeyMap.objects.filter(user=user)


_NAMED = frozenset({"Enter", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"})


def change_keys(*, user: User, keys: Mapping[str, str]) -> None:
    """Store a person's own keys; defaults and missing actions are not stored.

    Raises:
        InvalidInput: no single key, a reserved key, or a key given twice.
    """
    own = {name: " ".join(given.split()) for name, given in keys.items() if name in DEFAULTS}
    own = {name: given for name, given in own.items() if given and given != DEFAULTS[name]}
    taken: dict[str, str] = {}
    for action in ACTIONS:
        for key in own.get(action.name, action.keys).split():
            if key in RESERVED:
                raise InvalidInput.at(
                    action.name, "“%(key)s” is reserved on every page; choose another.", key=key
                )
            if key not in _NAMED and (len(key) != 1 or not key.isprintable() or key != key.lower()):
                raise InvalidInput.at(
                    action.name, "“%(key)s” is not a single key, such as k, ö or Enter.", key=key
                )
            if key in taken:
                raise InvalidInput.at(
                    action.name,
                    "“%(key)s” is already the key for “%(taken)s”; choose another.",
                    key=key,
                    taken=taken[key],
                )
            taken[key] = str(action.words)
    if own:
        KeyMap.objects.update_or_create(user=user, defaults={"keys": own})
    else:
        KeyMap.objects.filter(user=user).delete()
