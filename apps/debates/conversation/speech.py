"""One turn on the page: its answer compared with the verdict, and notes on how it was read."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.common.values import value_words
from apps.debates.models import Turn
from apps.debates.naming import role_words
from labelhub.core.debate import PROTOCOLS, cascade
from labelhub.core.debate.cascade import FIRST, THEN
from labelhub.core.debate.signals import LAST_STRICT_RUNG
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.parsing import AFTER_REASK
from labelhub.core.llm.types import Status


class Kind(StrEnum):
    """The kind of a row, in the order of the rows."""

    ROLES = "roles"
    HEARING = "hearing"
    ARGUMENTS = "arguments"
    PRECEDENTS = "precedents"
    BALLOTS = "ballots"
    ROUND = "round"
    JUDGES = "judges"


RANKS = {kind: rank for rank, kind in enumerate(Kind)}

#: Rows of roles with one turn that do not share a row with all others.
_OF_ROLES = {
    "clerk": Kind.HEARING,
    "prosecutor": Kind.ARGUMENTS,
    "defence": Kind.ARGUMENTS,
    "reporter": Kind.PRECEDENTS,
}
_NUMBERED = {
    "sample": (Kind.BALLOTS, gettext_noop("Sample %(number)s")),
    "precedent": (Kind.PRECEDENTS, gettext_noop("Precedent %(number)s")),
    "judge": (Kind.JUDGES, gettext_noop("Judge %(number)s")),
}
_TITLES = {
    "prosecutor": gettext_noop("Prosecution"),
    "defence": gettext_noop("Defence"),
    "drafter": gettext_noop("Draft"),
    "reviewer": gettext_noop("Review of the draft"),
    "refiner": gettext_noop("Refined"),
}
_ROUND = re.compile(r"r(\d{1,3})/([A-Z])")
_ORDER = re.compile(r"(sample|precedent|judge)/(\d{1,4})")
_SEAT = re.compile(r"annotator_([a-z])")


@dataclass(frozen=True, slots=True)
class Place:
    """``number`` distinguishes rows of one kind (rounds); ``order`` sorts within a row."""

    kind: Kind
    name: str
    number: int = 0
    order: int = 0


def stage_of(step: str, role: str) -> tuple[str, str, str]:
    """The stage of a cascade (else ""), and step and role by their names in its protocol."""
    stage, _, rest = step.partition("/")
    if stage in (FIRST, THEN) and role.startswith(f"{stage}_"):
        return stage, rest, role.removeprefix(f"{stage}_")
    return "", step, role


def place_of(step: str, role: str) -> Place:
    """The place of a turn within its stage."""
    if found := _ROUND.fullmatch(step):
        name = role_words(f"annotator_{found[2]}")
        return Place(Kind.ROUND, name, int(found[1]), ord(found[2]))
    if found := _ORDER.fullmatch(step):
        kind, words = _NUMBERED[found[1]]
        return Place(kind, gettext(words) % {"number": found[2]}, order=int(found[2]))
    if found := _SEAT.fullmatch(role):
        return Place(Kind.BALLOTS, role_words(role), order=ord(found[1]))
    name = gettext(_TITLES[role]) if role in _TITLES else role_words(role)
    return Place(_OF_ROLES.get(role, Kind.ROLES), name)


def stage_settings(
    protocol: str, settings: Mapping[str, Any], stage: str
) -> tuple[str, dict[str, Any]]:
    """The protocol of a stage, and its settings as far as they are known."""
    if stage:
        protocol, settings = str(settings.get(stage, "")), cascade.stage_settings(stage, settings)
    info = PROTOCOLS.get(protocol)
    try:
        return protocol, info.read_settings(settings) if info else dict(settings)
    except InvalidInput:  # settings of another version of LabelHub
        return protocol, dict(settings)


def expected_places(protocol: str, settings: Mapping[str, Any]) -> list[Place]:
    """The places of the steps that every debate has, in order; empty if unknown."""
    info = PROTOCOLS.get(protocol)
    if info is None:
        return []
    try:
        return [place_of(step, role) for step, role in info.sure_steps(settings)]
    except (KeyError, TypeError):  # settings of another version
        return []


#: Longer texts are collapsed to their beginning.
LONG = 700

#: Role → the role whose answer it revises.
_REVISES = {"refiner": "drafter"}
_STATUS = {
    Status.UNPARSED: gettext_noop("no answer could be read"),
    Status.REFUSED: gettext_noop("declined to answer"),
    Status.TRUNCATED: gettext_noop("cut off before it decided"),
    Status.TOO_LONG: gettext_noop("the text is too long for this model"),
    Status.FAILED: gettext_noop("the call failed"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One label of a turn; ``state``: "same" as in the verdict, "dropped" from it, or "missing"
    here."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Speech:
    """One turn on the page.

    Attributes:
        notes: how the answer ended and what was done about it, in words.
        was: the earlier answer of a role that changed its mind, else "".
        claim: the answer that an advocate argues for.
        side: more about the argument, such as its length.
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
        """Why the turn has no usable answer; "" if it has one."""
        status = self.turn.status
        if status == Status.OK:
            return ""
        return gettext(_STATUS[Status(status)]) if status in set(Status) else status

    @property
    def answers(self) -> bool:
        """Whether it is an answer, not an argument."""
        return self.turn.value is not None

    @property
    def long(self) -> bool:
        """Whether it is collapsed to its beginning."""
        return len(self.turn.words) > LONG


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in a row: the turn that counts and earlier tries of the same step, or why there is
    no turn (``silence``)."""

    name: str
    speech: Speech | None = None
    earlier: tuple[Speech, ...] = ()
    silence: str = ""


@dataclass(frozen=True, slots=True)
class SpeechContext:
    """The context of a turn: the verdict, earlier answers by role, and the sides of advocates."""

    verdict: Any
    before: dict[str, Any] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)


def cell_of(place: Place, role: str, tries: Sequence[Turn], around: SpeechContext) -> Cell:
    """The cell with all tries of a step, of which the last one counts."""
    *earlier, turn = tries
    # Each judge and each sample is a new opinion, not a changed one.
    second_opinion = place.kind is Kind.ROUND or role in _REVISES
    said_before = around.before.get(_REVISES.get(role, role)) if second_opinion else None
    changed = None not in (said_before, turn.value) and said_before != turn.value
    if turn.value is not None:
        around.before[role] = turn.value
    speech = Speech(
        turn=turn,
        parts=_parts(turn.value, around.verdict),
        quotes=tuple(
            (str(name), str(phrase))
            for name, phrases in turn.evidence.items()
            for phrase in phrases
        ),
        notes=tuple(_notes(turn, earlier)),
        was=value_words(said_before) if changed else "",
        claim=around.claims.get(role, ""),
        side=around.sides.get(role, ""),
    )
    shown = tuple(Speech(attempt, (), (), tuple(_notes(attempt, ()))) for attempt in earlier)
    return Cell(place.name, speech, shown)


def _notes(turn: Turn, earlier: Sequence[Turn]) -> list[str]:
    notes = []
    if turn.status == Status.FAILED:
        notes += [turn.note, _attempts(turn)]
    elif turn.off_menu:
        words = gettext("The answer “%(answer)s” is not offered and does not count.")
        notes.append(words % {"answer": turn.off_menu})
    elif turn.note:
        notes.append(turn.note)
    if turn.status == Status.OK and turn.finish_reason == "length":
        notes.append(gettext("The answer reached its token limit after it had decided."))
    if turn.status == Status.OK and turn.rung == AFTER_REASK:
        notes.append(
            gettext("The model was asked again, because its first answer could not be read.")
        )
    elif turn.status == Status.OK and turn.rung > LAST_STRICT_RUNG:
        notes.append(
            gettext(
                "The answer does not have the requested form; its last sentence states the label."
            )
        )
    if turn.status != Status.OK and earlier:
        notes.append(gettext("Tried %(number)s times.") % {"number": len(earlier) + 1})
    return [note for note in notes if note]


def _attempts(turn: Turn) -> str:
    statuses = [
        attempt.get("http_status", 0) for attempt in turn.attempts if isinstance(attempt, Mapping)
    ]
    if not statuses:
        return gettext("Nothing was sent.")
    outcomes = ", ".join(f"HTTP {code}" if code else gettext("no answer") for code in statuses)
    return gettext("Attempts: %(outcomes)s.") % {"outcomes": outcomes}


def _parts(value: Any, verdict: Any) -> tuple[Part, ...]:
    """The labels of a value, compared with those of the verdict."""
    names, final = _names(value), _names(verdict)
    if value is None:
        return ()
    known = verdict is not None
    shown = [Part(name, "same" if name in final or not known else "dropped") for name in names]
    if known and isinstance(value, list):
        shown += [Part(name, "missing") for name in final if name not in names]
    return tuple(shown)


def _names(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(name) for name in value] if isinstance(value, list) else [value_words(value)]


_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Record:
    """A complete turn; ``params``: name, requested value and effective value, in words."""

    turn: Turn
    params: tuple[tuple[str, str, str], ...]


def records_of(turns: Iterable[Turn]) -> tuple[Record, ...]:
    """The records of completely loaded turns."""
    return tuple(Record(turn, tuple(_params(turn))) for turn in turns)


def _params(turn: Turn) -> Iterable[tuple[str, str, str]]:
    asked, effective = turn.params_asked, turn.params_effective
    for name in dict.fromkeys([*asked, *effective]):
        yield (
            name,
            _param_words(asked.get(name, _ABSENT)),
            _param_words(effective.get(name, _ABSENT)),
        )


def _param_words(value: Any) -> str:
    if value is _ABSENT:
        return "—"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
