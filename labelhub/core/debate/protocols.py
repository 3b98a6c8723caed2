"""All protocols, in the order in which they are offered."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from labelhub.core.debate import (
    bench,
    cascade,
    cot,
    courtroom,
    discussion,
    ecj,
    predict,
    self_consistency,
    self_refine,
    single,
    vote,
)
from labelhub.core.debate.info import (
    CallCount,
    Group,
    Opinions,
    Part,
    ProtocolInfo,
    Settings,
    exactly,
)
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.debate.seats import role_of, seats
from labelhub.core.debate.settings import Setting
from labelhub.core.debate.voting import NOT_VOTABLE
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType

Parts: TypeAlias = Callable[[Settings], tuple[Part, ...]]


class UnknownProtocol(InvalidInput):
    """No protocol has that name; the message lists those there are."""

    code = "unknown_protocol"


def _each(protocol: str, *roles: str) -> Parts:
    """Parts of roles with a prompt each."""
    parts = tuple(Part(role, f"{protocol}/{role}") for role in roles)
    return lambda _: parts


def _alone(settings: Settings) -> tuple[Part, ...]:
    quoting = settings[single.QUOTES.name] == single.AFTER_LABEL
    return (Part(single.ROLE, f"single/{'quoting_' if quoting else ''}annotator"),)


def _seated(protocol: str) -> Parts:
    """Parts of annotators at one table, who share a prompt."""
    prompt = f"{protocol}/annotator"
    return lambda settings: tuple(Part(role_of(letter), prompt) for letter in seats(settings))


def _always(calls: int, depth: int) -> Callable[[Settings], CallCount]:
    return lambda _: exactly(calls, depth)


def _of_discussion(settings: Settings) -> CallCount:
    annotators, rounds = settings["annotators"], settings["rounds"]
    return CallCount(annotators, annotators * (1 + rounds), 1, 1 + rounds)


def _at_court(settings: Settings) -> tuple[Part, ...]:
    parts = (
        Part(courtroom.CLERK, "courtroom/clerk"),
        Part(courtroom.PROSECUTOR, "courtroom/advocate"),
        Part(courtroom.DEFENCE, "courtroom/advocate"),
    )
    reporter = (Part(courtroom.REPORTER, "courtroom/reporter"),) if settings["precedents"] else ()
    return (*parts, *reporter, Part(bench.JUDGE, "courtroom/judge"))


def _court_steps(settings: Settings) -> tuple[tuple[str, str], ...]:
    heard = (courtroom.CLERK, courtroom.PROSECUTOR, courtroom.DEFENCE)
    judges = tuple((f"judge/{at}", bench.JUDGE) for at in range(1, settings["judges"] + 1))
    return (*((role, role) for role in heard), *judges)


def _of_courtroom(settings: Settings) -> CallCount:
    judges = settings["judges"]
    return exactly(3 + judges, 3 if settings["deliberation"] == "parallel" else 2 + judges)


_PLAIN = (
    ProtocolInfo(
        name="single",
        title="Single annotator",
        description="One model labels each text in one call: the baseline for every debate.",
        group=Group.ONE,
        start=single.single,
        parts=_alone,
        calls=_always(1, 1),
        settings=(single.QUOTES,),
    ),
    ProtocolInfo(
        name="cot",
        title="Chain of thought",
        description="One model reasons step by step, then labels, in one call.",
        group=Group.ONE,
        start=cot.cot,
        parts=_each("cot", "annotator"),
        calls=_always(1, 1),
    ),
    ProtocolInfo(
        name="self_consistency",
        title="Self-consistency",
        description="One model answers several times; the most frequent answer wins, and how far "
        "it leads tells how ambiguous the text is.",
        group=Group.ONE,
        start=self_consistency.self_consistency,
        parts=_each("self_consistency", "annotator"),
        calls=lambda settings: exactly(settings["samples"], 1),
        answers=lambda task: task.votable,
        not_for=NOT_VOTABLE,
        settings=self_consistency.SETTINGS,
        steps=lambda settings: tuple(
            (f"sample/{number}", self_consistency.ROLE)
            for number in range(1, settings["samples"] + 1)
        ),
        opinions=Opinions(first="First sample", last="vote", voters="samples"),
    ),
    ProtocolInfo(
        name="self_refine",
        title="Self-refine",
        description="One model drafts, reviews its own draft and improves it.",
        group=Group.ONE,
        start=self_refine.self_refine,
        parts=_each("self_refine", *self_refine.ROLES),
        calls=_always(3, 3),
        opinions=Opinions(first="Draft", last="refined"),
        debated=True,
    ),
    ProtocolInfo(
        name="vote",
        title="Vote",
        description="Several models answer independently and the majority wins: what a debate of "
        "the same cost has to beat.",
        group=Group.VOTING,
        start=vote.vote,
        parts=_seated("vote"),
        calls=lambda settings: exactly(settings["annotators"], 1),
        answers=lambda task: task.votable,
        not_for=NOT_VOTABLE,
        settings=vote.SETTINGS,
        opinions=Opinions(first="First annotator", last="vote", voters="annotators"),
    ),
    ProtocolInfo(
        name="ecj",
        title="Extractor, critic, judge",
        description="One model proposes with quotations, one attacks, one decides.",
        group=Group.DEBATE,
        start=ecj.ecj,
        parts=_each("ecj", *ecj.ROLES),
        calls=_always(3, 3),
        opinions=Opinions(first="Extractor", last="judge", signals=("flips",)),
        debated=True,
    ),
    ProtocolInfo(
        name="discussion",
        title="Discussion",
        description="Several models label, read each other's reasons and label again until they "
        "agree; then the majority counts.",
        group=Group.DEBATE,
        start=discussion.discussion,
        parts=_seated("discussion"),
        calls=_of_discussion,
        answers=lambda task: task.votable,
        not_for=NOT_VOTABLE,
        settings=discussion.SETTINGS,
        steps=lambda settings: tuple(
            (f"r0/{letter}", role_of(letter)) for letter in seats(settings)
        ),
        opinions=Opinions(
            first="Majority before",
            last="after the discussion",
            voters="annotators",
            rounds="rounds",
            round="Round",
            signals=("first_d_rate",),
        ),
        debated=True,
    ),
    ProtocolInfo(
        name="courtroom",
        title="Courtroom",
        description="The two best answers are argued for by advocates; judges decide, with "
        "precedents where there are any.",
        group=Group.DEBATE,
        start=courtroom.courtroom,
        parts=_at_court,
        calls=_of_courtroom,
        answers=lambda task: task.one_of_several,
        not_for=courtroom.NOT_FOR,
        settings=courtroom.SETTINGS,
        steps=_court_steps,
        opinions=Opinions(
            first="Hearing",
            last="verdict",
            voters="judges",
            rounds="verdicts",
            round="Judge",
            round_from=1,
        ),
        debated=True,
    ),
)
_BY_NAME = {info.name: info for info in _PLAIN}

FIRST_STAGES = ("self_consistency", "single", "cot", "vote")
THEN_STAGES = ("ecj", "courtroom", "discussion", "self_refine", "self_consistency", "vote")


def _start_cascade(item: DebateItem, spec: DebateSpec) -> Debate:
    first, then = _stages(spec.settings)
    return (yield from cascade.cascade(item, spec, first.start, then.start))


def _stages(settings: Settings) -> tuple[ProtocolInfo, ProtocolInfo]:
    return _BY_NAME[settings[cascade.FIRST]], _BY_NAME[settings[cascade.THEN]]


def _in_stages(settings: Settings) -> tuple[Part, ...]:
    return tuple(
        Part(cascade.staged(stage, part.role), part.prompt)
        for stage, info in zip((cascade.FIRST, cascade.THEN), _stages(settings), strict=True)
        for part in info.parts(cascade.settings_of(stage, settings))
    )


def _of_stages(settings: Settings) -> CallCount:
    first, then = (
        info.calls(cascade.settings_of(stage, settings))
        for stage, info in zip((cascade.FIRST, cascade.THEN), _stages(settings), strict=True)
    )
    return first.then(then)


def _settings_of_stages(chosen: Settings) -> tuple[Setting, ...]:
    return tuple(
        replace(setting, name=f"{stage}.{setting.name}")
        for stage, info in zip((cascade.FIRST, cascade.THEN), _stages(chosen), strict=True)
        for setting in info.settings
    )


PROTOCOLS: dict[str, ProtocolInfo] = {
    **_BY_NAME,
    "cascade": ProtocolInfo(
        name="cascade",
        title="Cascade",
        description="A cheap protocol labels everything; a costly one is asked only where the "
        "first is in doubt.",
        group=Group.STAGES,
        start=_start_cascade,
        parts=_in_stages,
        calls=_of_stages,
        settings=(
            Setting(
                name=cascade.FIRST,
                title="For every item",
                default=FIRST_STAGES[0],
                choices=FIRST_STAGES,
                main=True,
            ),
            Setting(
                name=cascade.THEN,
                title="Where that is in doubt",
                default=THEN_STAGES[0],
                choices=THEN_STAGES,
                main=True,
            ),
            cascade.THETA,
            cascade.MARGIN,
            cascade.FLAGGED,
        ),
        more_settings=_settings_of_stages,
        steps=lambda _: (),
        opinions=Opinions(
            first="First protocol", last="in the end", voters="voters of its last stage"
        ),
        debated=True,
    ),
    predict.NAME: ProtocolInfo(
        name=predict.NAME,
        title="Predict the author",
        description="One model predicts an author's answer from the author's other answers, shown "
        "with the labels of one source: arms compare whose labels tell most about the author.",
        group=Group.ONE,
        start=predict.predict,
        parts=_each(predict.NAME, predict.ROLE),
        calls=_always(1, 1),
        answers=lambda task: task.one_of_several,
        not_for=predict.NOT_FOR,
        settings=(predict.LABELS_BY, predict.EXAMPLES),
        trials_only=True,
    ),
}


#: Those that make labels.
LABELLING = {name: info for name, info in PROTOCOLS.items() if not info.trials_only}


def protocol(name: str) -> ProtocolInfo:
    """The protocol of that name.

    Raises:
        UnknownProtocol: there is none.
    """
    found = PROTOCOLS.get(name)
    if found is None:
        known = ", ".join(PROTOCOLS)
        raise UnknownProtocol(f"protocol: '{name}' is not known; there are {known}.")
    return found


def can_answer(info: ProtocolInfo, settings: Settings, task: LabelType) -> bool:
    """Whether a protocol, with all its stages, answers questions of that kind."""
    stages = _stages(settings) if info.name == "cascade" else (info,)
    return all(stage.answers(task) for stage in stages)


def check_task(info: ProtocolInfo, settings: Settings, task: LabelType) -> None:
    """Refuse a protocol for a question that it, or a stage of it, cannot answer.

    Raises:
        InvalidInput: naming the protocol and what it can answer.
    """
    stages = _stages(settings) if info.name == "cascade" else (info,)
    for stage in stages:
        if not stage.answers(task):
            raise InvalidInput(
                f"protocol: '{stage.name}' cannot answer questions of the task '{task}' "
                f"(it can {', '.join(map(str, stage.tasks))}): {stage.not_for}"
            )
