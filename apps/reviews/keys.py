"""What can be done by a key on the working screen, and the keys of the house.

1 to 9 choose, whoever works: they are on the choices themselves. The others can be changed by
each person; none needs a modifier, and none works while somebody types.
"""

from typing import NamedTuple


class Action(NamedTuple):
    """Something a key does. ``keys``: names as browsers give them, parted by blanks."""

    name: str
    words: str
    keys: str


ACTIONS = (
    Action("go", "Accept the suggestion, or save your answer", "Enter a"),
    Action("none", "None of these", "n"),
    Action("reject", "Reject the suggestion", "x"),
    Action("abstain", "Cannot tell", "0"),
    Action("skip", "Skip: leave it to others", "s"),
    Action("postpone", "Put off: it comes back at the end", "p"),
    Action("undo", "Undo, step by step", "u Backspace"),
    Action("debate", "Show the debate", "d"),
    Action("comment", "Comment", "c"),
    Action("guideline", "Guideline", "g"),
    Action("mark", "Mark the selected text as evidence", "m"),
)
DEFAULTS = {action.name: action.keys for action in ACTIONS}
#: Taken by choices, the list of keys, search and moving about.
RESERVED = frozenset({*"123456789", "?", "/", "Tab", "Escape", " "})
