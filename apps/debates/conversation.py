"""A debate laid out to be read: one column per role, one row per round, and what they differ in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.debates.models import Debate, Turn
from labelhub.core.schema import value_words


@dataclass(frozen=True, slots=True)
class Part:
    """One name of a verdict; ``state`` is same, dropped (not in the end) or missing (left out)."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class Speech:
    """One turn as shown."""

    turn: Turn
    parts: tuple[Part, ...]
    quotes: tuple[tuple[str, str], ...]
    differs: bool
    changed: str = ""


@dataclass(slots=True)
class Cell:
    """What a role said in a round: the turn that counts, and earlier tries of the same step."""

    role: str
    speech: Speech | None = None
    earlier: list[Turn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The whole debate; ``evidence`` has every phrase anybody quoted."""

    roles: tuple[str, ...]
    rounds: tuple[tuple[Cell, ...], ...]
    evidence: dict[str, list[str]]


def conversation(debate: Debate) -> Conversation:
    """Lay out a debate whose turns, models and prompts are loaded."""
    turns = list(debate.turns.all())
    roles = tuple(dict.fromkeys(turn.role for turn in turns))
    verdict = debate.label.value if debate.label else None
    rounds: list[tuple[Cell, ...]] = []
    steps = {role: list(dict.fromkeys(t.step for t in turns if t.role == role)) for role in roles}
    before: dict[str, Any] = {}
    for at in range(max((len(named) for named in steps.values()), default=0)):
        cells = []
        for role in roles:
            step = steps[role][at] if at < len(steps[role]) else None
            tries = [turn for turn in turns if turn.role == role and turn.step == step]
            cells.append(_cell(role, tries, verdict, before))
        rounds.append(tuple(cells))
    return Conversation(roles, tuple(rounds), _evidence(debate, turns))


def _cell(role: str, tries: list[Turn], verdict: Any, before: dict[str, Any]) -> Cell:
    if not tries:
        return Cell(role)
    turn = tries[-1]
    changed = ""
    if role in before and before[role] != turn.value:
        changed = value_words(before[role])
    before[role] = turn.value
    parts = _parts(turn.value, verdict)
    quotes = tuple((name, phrase) for name, said in turn.evidence.items() for phrase in said)
    differs = verdict is not None and turn.value != verdict
    return Cell(role, Speech(turn, parts, quotes, differs, changed), tries[:-1])


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


def _evidence(debate: Debate, turns: Iterable[Turn]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    sources = [turn.evidence for turn in turns] + ([debate.label.evidence] if debate.label else [])
    for evidence in sources:
        for name, phrases in evidence.items():
            known = gathered.setdefault(name, [])
            known.extend(phrase for phrase in phrases if phrase not in known)
    return gathered
