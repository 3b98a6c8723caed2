"""The whole debate: stages, of rows, of cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.debates.conversation import counting, trial
from apps.debates.conversation.counting import VoteBar
from apps.debates.conversation.places import (
    RANKS,
    Kind,
    Place,
    expected,
    place_of,
    stage_of,
    stage_settings,
)
from apps.debates.conversation.speech import Around, Cell, cell_of
from apps.debates.conversation.standing import doubt_words, verdict_of
from apps.debates.models import Debate, Turn
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.cascade import FIRST, THEN

#: More than so many side by side are shown by what they answer alone.
MANY = 5


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown side by side: ``number`` is that of a round, ``bars`` count the ballots."""

    kind: Kind
    number: int
    title: str
    note: str
    cells: tuple[Cell, ...]
    bars: tuple[VoteBar, ...] = ()

    @property
    def many(self) -> bool:
        """Whether the words of each are folded away, so that what was said can be overlooked."""
        return len(self.cells) > MANY


@dataclass(frozen=True, slots=True)
class Stage:
    """One protocol's part of the debate; ``why`` it was asked, ``end`` how it ended, in words."""

    title: str
    rows: tuple[Row, ...]
    why: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The debate; ``evidence`` has every phrase anybody quoted."""

    stages: tuple[Stage, ...]
    evidence: dict[str, list[str]]


@dataclass(slots=True)
class _Steps:
    """The turns of one stage by place, each step's tries in their order."""

    roles: dict[Place, str] = field(default_factory=dict)
    tries: dict[Place, list[Turn]] = field(default_factory=dict)

    def add(self, step: str, role: str, turn: Turn) -> None:
        place = place_of(step, role)
        self.roles.setdefault(place, role)
        self.tries.setdefault(place, []).append(turn)


def conversation(debate: Debate) -> Conversation:
    """Lay out a debate whose turns, with their models and prompts, are loaded."""
    turns = list(debate.turns.all())
    stages: dict[str, _Steps] = {}
    for turn in turns:
        stage, step, role = stage_of(turn.step, turn.role)
        stages.setdefault(stage, _Steps()).add(step, role, turn)
    ordered = sorted(stages, key=("", FIRST, THEN).index)
    shown = tuple(_stage(debate, name, stages[name]) for name in ordered)
    return Conversation(shown, _evidence(debate, turns))


def _stage(debate: Debate, name: str, steps: _Steps) -> Stage:
    protocol, settings = stage_settings(debate.run.protocol, debate.run.protocol_settings, name)
    signals = _signals(debate, name)
    case = trial.case_of(signals, debate.run.schema.parsed)
    around = Around(verdict_of(debate), claims=case.claims, sides=case.sides)
    silence = "Not heard yet." if debate.status == Debate.Status.WAITING else "Was not asked."
    rows = []
    wanted = expected(protocol, settings)
    for kind, number in _rows(steps):
        places = _in_row(kind, number, steps, wanted)
        cells = tuple(
            cell_of(place, steps.roles[place], steps.tries[place], around)
            if place in steps.tries
            else Cell(place.name, silence=silence)
            for place in places
        )
        title, note = _heading(kind, number, case, settings)
        bars = counting.bars(_values(cells)) if kind == Kind.BALLOTS else ()
        rows.append(Row(kind, number, title, note, cells, bars))
    return Stage(
        title=_title(name, protocol),
        rows=tuple(rows),
        why=doubt_words(debate, settings_of_run=debate.run.protocol_settings)
        if name == THEN
        else (),
        end=_end(name, rows, debate, settings),
    )


def _rows(steps: _Steps) -> list[tuple[Kind, int]]:
    found = {(place.kind, place.number) for place in steps.tries}
    return sorted(found, key=lambda row: (RANKS[row[0]], row[1]))


def _in_row(kind: Kind, number: int, steps: _Steps, wanted: Sequence[Place]) -> list[Place]:
    """Who spoke in the row and who was expected to."""
    spoke = [place for place in steps.tries if (place.kind, place.number) == (kind, number)]
    others = [place for place in wanted if (place.kind, place.number) == (kind, number)]
    order = {place.name: at for at, place in enumerate(others)}
    both = dict.fromkeys([*others, *spoke])
    return sorted(both, key=lambda place: (place.order, order.get(place.name, len(order))))


def _signals(debate: Debate, stage: str) -> dict[str, Any]:
    """The signals of a stage: those of a cascade's first one are kept apart once it went on."""
    told: dict[str, Any] = debate.signals
    if stage == FIRST and "first_stage" in told:
        told = told["first_stage"]
    return told


def _title(stage: str, protocol: str) -> str:
    if not stage:
        return ""
    title = PROTOCOLS[protocol].title if protocol in PROTOCOLS else protocol
    return f"{'First' if stage == FIRST else 'Then'}: {title[:1].lower()}{title[1:]}"


def _heading(
    kind: Kind, number: int, case: trial.Case, settings: dict[str, Any]
) -> tuple[str, str]:
    if kind == Kind.ROUND:
        return (
            (f"Round {number}", "with everybody's words before them")
            if number
            else (
                "Round 0",
                "alone",
            )
        )
    if kind == Kind.JUDGES:
        return "Judges", trial.bench_words(settings)
    return {
        Kind.HEARING: ("The hearing", case.candidates),
        Kind.ARGUMENTS: ("The arguments", case.heard_first),
        Kind.PRECEDENTS: ("Precedents", "verified items that are alike, each with a reason"),
        Kind.BALLOTS: ("The ballots", "each without knowing of the others"),
    }.get(kind, ("", ""))


def _values(cells: Iterable[Cell]) -> list[Any]:
    return [cell.speech.turn.value for cell in cells if cell.speech]


def _end(name: str, rows: Sequence[Row], debate: Debate, settings: dict[str, Any]) -> str:
    """How a discussion, a bench or a cascade's first stage ended, in a sentence."""
    if name == FIRST and debate.signals.get("stage") == FIRST:
        return "Nothing was in doubt: no more was asked."
    if not rows or rows[-1].kind not in (Kind.ROUND, Kind.JUDGES):
        return ""
    values = _values(rows[-1].cells)
    if rows[-1].kind == Kind.ROUND:
        return counting.agreement(values, rounds=rows[-1].number)
    if debate.status == Debate.Status.WAITING:
        return ""
    return trial.end_words(values, settings)


def _evidence(debate: Debate, turns: Iterable[Turn]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    sources = [turn.evidence for turn in turns] + ([debate.label.evidence] if debate.label else [])
    for evidence in sources:
        for name, phrases in evidence.items():
            known = gathered.setdefault(name, [])
            known.extend(phrase for phrase in phrases if phrase not in known)
    return gathered
