"""The layout of a debate: stages of rows of cells."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.common.figures import count_words
from apps.common.values import value_words
from apps.debates.conversation.speech import (
    RANKS,
    Cell,
    Kind,
    Place,
    SpeechContext,
    cell_of,
    expected_places,
    place_of,
    stage_of,
    stage_settings,
)
from apps.debates.conversation.summary import doubt_words, verdict_of
from apps.debates.models import Debate, Turn
from apps.debates.naming import protocol_title
from labelhub.core.debate.cascade import FIRST, THEN
from labelhub.core.schema import Schema, value_key


@dataclass(frozen=True, slots=True)
class VoteBar:
    """The votes for one answer (``words``), out of ``of`` voters."""

    words: str
    votes: int
    of: int


def vote_bars(values: Sequence[Any]) -> tuple[VoteBar, ...]:
    """Votes by answer, the most frequent first; for sets of labels, votes by label."""
    counts: Counter[str | None] = Counter()
    for value in values:
        if isinstance(value, list) and value:
            counts.update(str(name) for name in value)
        else:
            counts[None if value is None else value_words(value)] += 1
    ordered = sorted(counts.items(), key=lambda counted: (counted[0] is None, -counted[1]))
    return tuple(
        VoteBar(gettext("no answer") if words is None else words, votes, len(values))
        for words, votes in ordered
    )


def agreement(values: Sequence[Any], rounds: int | None) -> str:
    """“2 of 3 agreed after round 1: good.”; ``rounds`` is None without a discussion."""
    counts = Counter(value_key(value) for value in values if value is not None)
    if not counts:
        return gettext("None of the answers could be read.")
    (key, most), *others = counts.most_common()
    if others and others[0][1] == most:
        if rounds is None:
            return gettext("The votes are tied.")
        if not rounds:
            return gettext("The votes are tied before any discussion.")
        return gettext("The votes are tied after round %(number)s.") % {"number": rounds}
    if len(values) == 1:
        return ""
    answer = next(value for value in values if value is not None and value_key(value) == key)
    if rounds is None:
        words = gettext("%(most)s of %(all)s agreed: %(answer)s.")
    elif rounds:
        words = gettext("%(most)s of %(all)s agreed after round %(number)s: %(answer)s.")
    else:
        words = gettext("%(most)s of %(all)s agreed before any discussion: %(answer)s.")
    return words % {
        "most": most,
        "all": len(values),
        "number": rounds,
        "answer": value_words(answer),
    }


_SECOND_BY = {
    "ranking": gettext_noop("the hearing ranked the second one second"),
    "only other": gettext_noop("no other answer is offered"),
    "probabilities": gettext_noop("the second one is the next most probable at the hearing"),
    "lot": gettext_noop("the second one was drawn at random, because the hearing named none"),
}
_HEARD_FIRST = {
    "prosecution": gettext_noop("the judges read the prosecution first"),
    "defence": gettext_noop("the judges read the defence first"),
}
_ADVOCATES = ("prosecutor", "defence")


@dataclass(frozen=True, slots=True)
class TrialWords:
    """Texts about a trial; empty for other protocols."""

    candidates: str = ""
    heard_first: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)


def trial_words(signals: Mapping[str, Any], schema: Schema) -> TrialWords:
    """The texts about a trial from its signals."""
    two = signals.get("candidates")
    if not isinstance(two, list) or len(two) != len(_ADVOCATES):
        return TrialWords()
    first, second = (_answer_words(value, schema) for value in two)
    candidates = gettext("%(first)s against %(second)s") % {"first": first, "second": second}
    if how := _SECOND_BY.get(str(signals.get("second_by"))):
        candidates += f" ({gettext(how)})"
    return TrialWords(
        candidates=candidates,
        heard_first=gettext(_HEARD_FIRST.get(str(signals.get("heard_first")), "")),
        claims=dict(zip(_ADVOCATES, (first, second), strict=True)),
        sides=_length_words(signals),
    )


def bench_words(settings: Mapping[str, Any]) -> str:
    """How the judges reach a verdict."""
    if settings.get("deliberation") == "parallel":
        return gettext("independent verdicts; the majority decides")
    return gettext("in turn: each reads the verdicts before, and the last one decides")


def end_words(values: Sequence[Any], settings: Mapping[str, Any]) -> str:
    """How the judges decided."""
    agreed = agreement(values, rounds=None)
    unanimous = len({None if value is None else value_key(value) for value in values}) == 1
    if unanimous or settings.get("deliberation") == "parallel":
        return agreed
    last = gettext("The last judge decides: %(answer)s.") % {"answer": value_words(values[-1])}
    return f"{last} {agreed}"


def _answer_words(value: Any, schema: Schema) -> str:
    try:
        return schema.name_of(value)
    except StopIteration:  # this version of the scale does not have the point
        return value_words(value)


def _length_words(signals: Mapping[str, Any]) -> dict[str, str]:
    written, read = signals.get("lengths"), signals.get("lengths_read")
    if not isinstance(written, list) or not isinstance(read, list):
        return {}
    found = {}
    for role, length, heard in zip(_ADVOCATES, written, read, strict=False):
        words = gettext("%(count)s characters")
        if heard < length:
            words = gettext("%(count)s characters, %(read)s of them read")
        found[role] = words % {"count": count_words(length), "read": count_words(heard)}
    return found


#: The most cells in a row whose full texts are shown.
MANY = 5


@dataclass(frozen=True, slots=True)
class Row:
    """Cells that are shown side by side; ``number``: of the round; ``bars``: the votes."""

    kind: Kind
    number: int
    title: str
    note: str
    cells: tuple[Cell, ...]
    bars: tuple[VoteBar, ...] = ()

    @property
    def many(self) -> bool:
        """Whether the texts are collapsed, so that the answers can be seen at a glance."""
        return len(self.cells) > MANY


@dataclass(frozen=True, slots=True)
class Stage:
    """One protocol's part of the debate, with the reasons why it ran and a sentence on its end."""

    title: str
    rows: tuple[Row, ...]
    why: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The debate; ``evidence`` has every quoted phrase by label."""

    stages: tuple[Stage, ...]
    evidence: dict[str, list[str]]


@dataclass(slots=True)
class _Steps:
    """The turns of one stage by place; the tries of a step in order."""

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
    signals: Mapping[str, Any] = debate.signals
    if name == FIRST:  # a cascade stores them separately if it runs its second protocol
        signals = signals.get("first_stage", signals)
    case = trial_words(signals, debate.run.schema.parsed)
    around = SpeechContext(verdict_of(debate), claims=case.claims, sides=case.sides)
    silence = (
        gettext("Not called yet.")
        if debate.status == Debate.Status.WAITING
        else gettext("Not called.")
    )
    rows = []
    wanted = expected_places(protocol, settings)
    found = {(place.kind, place.number) for place in steps.tries}
    for kind, number in sorted(found, key=lambda row: (RANKS[row[0]], row[1])):
        places = _places_in_row(kind, number, steps, wanted)
        cells = tuple(
            cell_of(place, steps.roles[place], steps.tries[place], around)
            if place in steps.tries
            else Cell(place.name, silence=silence)
            for place in places
        )
        title, note = _heading(kind, number, case, settings)
        bars = vote_bars(_values(cells)) if kind == Kind.BALLOTS else ()
        rows.append(Row(kind, number, title, note, cells, bars))
    return Stage(
        title=_title(name, protocol),
        rows=tuple(rows),
        why=doubt_words(debate, settings_of_run=debate.run.protocol_settings)
        if name == THEN
        else (),
        end=_end(name, rows, debate, settings),
    )


def _places_in_row(kind: Kind, number: int, steps: _Steps, wanted: Sequence[Place]) -> list[Place]:
    """The places of the row with a turn, and those that are expected to have one."""
    spoke = [place for place in steps.tries if (place.kind, place.number) == (kind, number)]
    others = [place for place in wanted if (place.kind, place.number) == (kind, number)]
    order = {place.name: position for position, place in enumerate(others)}
    both = dict.fromkeys([*others, *spoke])
    return sorted(both, key=lambda place: (place.order, order.get(place.name, len(order))))


def _title(stage: str, protocol: str) -> str:
    if not stage:
        return ""
    words = gettext("First: %(protocol)s") if stage == FIRST else gettext("Then: %(protocol)s")
    return words % {"protocol": protocol_title(protocol)}


def _heading(
    kind: Kind, number: int, case: TrialWords, settings: dict[str, Any]
) -> tuple[str, str]:
    if kind == Kind.ROUND:
        title = gettext("Round %(number)s") % {"number": number}
        if number:
            return title, gettext("after reading the other annotators")
        return title, gettext("independent answers")
    if kind == Kind.JUDGES:
        return gettext("Judges"), bench_words(settings)
    return {
        Kind.HEARING: (gettext("The hearing"), case.candidates),
        Kind.ARGUMENTS: (gettext("The arguments"), case.heard_first),
        Kind.PRECEDENTS: (
            gettext("Precedents"),
            gettext("similar verified items, each with a reason"),
        ),
        Kind.BALLOTS: (gettext("The ballots"), gettext("independent answers")),
    }.get(kind, ("", ""))


def _values(cells: Iterable[Cell]) -> list[Any]:
    return [cell.speech.turn.value for cell in cells if cell.speech]


def _end(name: str, rows: Sequence[Row], debate: Debate, settings: dict[str, Any]) -> str:
    """How a discussion, the judges or a cascade's first stage ended, in a sentence."""
    if name == FIRST and debate.signals.get("stage") == FIRST:
        return gettext("The answer is not in doubt: the second protocol was not needed.")
    if not rows or rows[-1].kind not in (Kind.ROUND, Kind.JUDGES):
        return ""
    values = _values(rows[-1].cells)
    if rows[-1].kind == Kind.ROUND:
        return agreement(values, rounds=rows[-1].number)
    if debate.status == Debate.Status.WAITING:
        return ""
    return end_words(values, settings)


def _evidence(debate: Debate, turns: Iterable[Turn]) -> dict[str, list[str]]:
    gathered: dict[str, list[str]] = {}
    sources = [turn.evidence for turn in turns] + ([debate.label.evidence] if debate.label else [])
    for evidence in sources:
        for name, phrases in evidence.items():
            known = gathered.setdefault(name, [])
            known.extend(phrase for phrase in phrases if phrase not in known)
    return gathered
