"""What was said before the text: as much of it as helps to label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Messages shown at once (paper 004); the earlier ones are a click away.
RECENT = 5
#: Characters of what a model replied; people's own messages are shown whole.
REPLY = 300
_MODELS = frozenset({"assistant", "bot", "model", "system"})


@dataclass(frozen=True, slots=True)
class Said:
    """One message. ``rest`` is what was cut from a model's long reply."""

    role: str
    text: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages before a text, oldest first, those that are folded away apart."""

    earlier: tuple[Said, ...]
    recent: tuple[Said, ...]


def conversation(context: Sequence[Mapping[str, Any]]) -> Conversation:
    """The five most recent messages, and those before them; see ``Item.context``."""
    turns = tuple(_said(turn) for turn in context)
    return Conversation(turns[:-RECENT], turns[-RECENT:])


def _said(turn: Mapping[str, Any]) -> Said:
    role, text = str(turn.get("role", "")), str(turn.get("text", ""))
    if role not in _MODELS or len(text) <= REPLY:
        return Said(role, text)
    at = text.rfind(" ", REPLY - 40, REPLY) + 1 or REPLY  # not in the middle of a word
    return Said(role, text[:at], text[at:])
