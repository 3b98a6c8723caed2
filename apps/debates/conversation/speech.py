"""One turn as it is shown: what it says against the verdict, how it was read, what was done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.debates.conversation.places import Kind, Place
from apps.debates.models import Turn
from labelhub.core.debate.signals import LAST_STRICT_RUNG
from labelhub.core.llm.parsing import AFTER_REASK
from labelhub.core.llm.types import Status
from labelhub.core.schema import value_words

#: From how many characters on only the beginning is shown at first.
LONG = 700

#: Who takes up whose words as their own.
_REVISES = {"refiner": "drafter"}
_STATUS = {
    Status.UNPARSED: "no answer could be read",
    Status.REFUSED: "declined to answer",
    Status.TRUNCATED: "cut off before it decided",
    Status.TOO_LONG: "the text is too long for this model",
    Status.FAILED: "the call failed",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One name of a verdict; ``state`` is same, dropped (not in the end) or missing (left out)."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Speech:
    """One turn as shown.

    ``was`` is what the same speaker said before where they changed their mind, else "".
    ``notes`` say, in words, how the answer ended and what was done about it. ``claim`` is what an
    advocate or reporter speaks for; ``side`` in more words, such as lengths.
    """

    turn: Turn
    parts: tuple[Part, ...]
    quotes: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    was: str = ""
    claim: str = ""
    side: str = ""

    @property
    def trouble(self) -> str:
        """How it ended where it brought nothing; "" where it did."""
        return _trouble(self.turn.status)

    @property
    def answers(self) -> bool:
        """Whether it gives an answer, not an argument."""
        return self.turn.value is not None

    @property
    def long(self) -> bool:
        """Whether only its beginning is shown at first."""
        return len(self.turn.words) > LONG


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in a row: the turn that counts, earlier tries of the same step, or why none."""

    name: str
    speech: Speech | None = None
    earlier: tuple[Speech, ...] = ()
    silence: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What a turn is read against: the verdict, who said what before, and who speaks for what."""

    verdict: Any
    before: dict[str, Any] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)


def cell_of(place: Place, role: str, tries: Sequence[Turn], around: Around) -> Cell:
    """The cell of all tries of one step, of which the last one counts."""
    *earlier, turn = tries
    said_before = (
        around.before.get(_REVISES.get(role, role)) if _speaks_again(place, role) else None
    )
    changed = None not in (said_before, turn.value) and said_before != turn.value
    if turn.value is not None:
        around.before[role] = turn.value
    speech = Speech(
        turn=turn,
        parts=_parts(turn.value, around.verdict),
        quotes=_quotes(turn),
        notes=tuple(_notes(turn, earlier)),
        was=value_words(said_before) if changed else "",
        claim=around.claims.get(role, ""),
        side=around.sides.get(role, ""),
    )
    shown = tuple(Speech(each, (), (), tuple(_notes(each, ()))) for each in earlier)
    return Cell(place.name, speech, shown)


def _speaks_again(place: Place, role: str) -> bool:
    """Whether this is somebody's second opinion: judges and samples are others each time."""
    return place.kind is Kind.ROUND or role in _REVISES


def _trouble(status: str) -> str:
    if status == Status.OK:
        return ""
    return _STATUS[Status(status)] if status in set(Status) else status


def _notes(turn: Turn, earlier: Sequence[Turn]) -> list[str]:
    notes = []
    if turn.status == Status.FAILED:
        notes += [turn.note, _attempts(turn)]
    elif turn.off_menu:
        notes.append(f"It answered “{turn.off_menu}”, which is not offered: that counts as none.")
    elif turn.note:
        notes.append(turn.note)
    if turn.status == Status.OK and turn.finish_reason == "length":
        notes.append("Cut off at the cap on its length, after it had decided.")
    if turn.status == Status.OK and turn.rung == AFTER_REASK:
        notes.append("Asked again: the first answer could not be read, this one could.")
    elif turn.status == Status.OK and turn.rung > LAST_STRICT_RUNG:
        notes.append("It did not keep to the form asked for; its last sentence decides plainly.")
    if turn.status != Status.OK and earlier:
        notes.append(f"Tried {len(earlier) + 1} times.")
    return [note for note in notes if note]


def _attempts(turn: Turn) -> str:
    statuses = [each.get("http_status", 0) for each in turn.attempts if isinstance(each, Mapping)]
    if not statuses:
        return "Nothing was sent."
    said = ", ".join(f"HTTP {status}" if status else "no answer" for status in statuses)
    return f"Attempts: {said}."


def _quotes(turn: Turn) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(each)) for name, said in turn.evidence.items() for each in said)


def _parts(value: Any, verdict: Any) -> tuple[Part, ...]:
    """The names of a value against those of the verdict it led to."""
    said, final = _names(value), _names(verdict)
    if value is None:
        return ()
    known = verdict is not None
    shown = [Part(name, "same" if name in final or not known else "dropped") for name in said]
    if known and isinstance(value, list):
        shown += [Part(name, "missing") for name in final if name not in said]
    return tuple(shown)


def _names(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(name) for name in value] if isinstance(value, list) else [value_words(value)]
