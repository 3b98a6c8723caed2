"""Cascade: a cheap protocol for every item, a costly one only for items in doubt.

Source: paper 002, table 4: a trial gains on ambiguous items (D_rate at most θ) and loses on the
others, so only ambiguous items get one. An item is in doubt if the first protocol gave no label,
was less sure than θ, raised a flag, or if its certainty is unknown, such as for a single answer
without log-probabilities.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labelhub.core.debate import (
    cot,
    courtroom,
    discussion,
    ecj,
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
    Setting,
    Settings,
)
from labelhub.core.debate.outcome import CallMaker, Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.llm.types import Call
from labelhub.core.texts import gettext_noop

FIRST, THEN = "first", "then"

THETA = Setting(
    name="theta",
    main=True,
    title=gettext_noop("Doubt up to a lead of (θ)"),
    help=gettext_noop(
        "The second protocol runs if the most frequent answer leads by at most this share of the "
        "votes (D_rate); with five votes, 0.5 means at most three for one answer."
    ),
    default=0.5,
    low=0.0,
    high=1.0,
)
MARGIN = Setting(
    name="margin",
    title=gettext_noop("Doubt below a probability margin of"),
    help=gettext_noop(
        "For protocols of one answer: the second protocol runs if the probability of the label "
        "exceeds that of the next by less, or if the endpoint returns no probabilities. 0: never."
    ),
    default=0.5,
    low=0.0,
    high=1.0,
)
FLAGGED = Setting(
    name="flagged",
    title=gettext_noop("Flagged items"),
    help=gettext_noop(
        "Whether the second protocol also runs for items with a flag, such as roles that "
        "disagree or answers in the wrong form."
    ),
    default="ask again",
    choices=("ask again", "accept"),
)

_OF_FIRST = {info.name: info for info in (self_consistency.INFO, single.INFO, cot.INFO, vote.INFO)}
_OF_THEN = {
    info.name: info
    for info in (
        ecj.INFO,
        courtroom.INFO,
        discussion.INFO,
        self_refine.INFO,
        self_consistency.INFO,
        vote.INFO,
    )
}


@dataclass(frozen=True, slots=True)
class StageCalls:
    """The call maker of one stage: the names of its roles and steps begin with the stage."""

    call: CallMaker
    stage: str

    def __call__(self, role: str, *, step: str = "", **rest: Any) -> Call:
        """As :class:`~labelhub.core.debate.outcome.CallMaker`."""
        name = f"{self.stage}/{step or role}"
        return self.call(stage_role(self.stage, role), step=name, **rest)


def stage_role(stage: str, role: str) -> str:
    """The name of a role within a stage: ``then_judge``."""
    return f"{stage}_{role}"


def cascade(item: DebateItem, spec: DebateSpec) -> Debate:
    """Run the first protocol, and if it leaves doubt the other, whose outcome counts."""
    first, then = _stages(spec.settings).values()
    quick = yield from first.start(item, stage_spec(spec, FIRST))
    doubts = doubts_of(quick, spec.settings)
    if quick.failed or not doubts:
        return replace(quick, signals={**quick.signals, "stage": FIRST, "doubts": []})
    thorough: Outcome = yield from then.start(item, stage_spec(spec, THEN))
    return replace(
        thorough,
        signals={
            **thorough.signals,
            "stage": THEN,
            "doubts": list(doubts),
            "first": quick.value,
            "first_stage": dict(quick.signals),
        },
    )


def stage_spec(spec: DebateSpec, stage: str) -> DebateSpec:
    """The spec for the protocol of a stage, with its own names and settings."""
    return DebateSpec(
        spec.schema, StageCalls(spec.call, stage), stage_settings(stage, spec.settings)
    )


def stage_settings(stage: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one stage by the names in its protocol."""
    own = f"{stage}."
    return {
        name.removeprefix(own): value for name, value in settings.items() if name.startswith(own)
    }


def doubts_of(outcome: Outcome, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Codes of the reasons to doubt ``outcome``; empty if it is accepted."""
    doubts = ["no label"] if outcome.value is None else []
    d_rate, margin = outcome.signals.get("d_rate"), outcome.signals.get("margin")
    if d_rate is not None and d_rate <= settings[THETA.name]:
        doubts.append("d_rate")
    if margin is not None and margin < settings[MARGIN.name]:
        doubts.append("margin")
    if outcome.uncertainty is None and settings[MARGIN.name] > 0:
        doubts.append("margin_unknown")
    if settings[FLAGGED.name] == "ask again":
        doubts += [flag for flag in outcome.flags if flag not in doubts]
    return tuple(doubts)


def _stages(settings: Settings) -> dict[str, ProtocolInfo]:
    return {FIRST: _OF_FIRST[settings[FIRST]], THEN: _OF_THEN[settings[THEN]]}


def _parts(settings: Settings) -> tuple[Part, ...]:
    return tuple(
        Part(stage_role(stage, part.role), part.prompt)
        for stage, info in _stages(settings).items()
        for part in info.parts(stage_settings(stage, settings))
    )


def _count_calls(settings: Settings) -> CallCount:
    first, then = (
        info.calls(stage_settings(stage, settings)) for stage, info in _stages(settings).items()
    )
    return first.then(then)


def _settings_of_stages(chosen: Settings) -> tuple[Setting, ...]:
    return tuple(
        replace(setting, name=f"{stage}.{setting.name}")
        for stage, info in _stages(chosen).items()
        for setting in info.settings
    )


INFO = ProtocolInfo(
    name="cascade",
    title=gettext_noop("Cascade"),
    description=gettext_noop(
        "A cheap protocol labels every item; a costly one runs only for items that are "
        "in doubt after it."
    ),
    group=Group.STAGES,
    start=cascade,
    parts=_parts,
    calls=_count_calls,
    settings=(
        Setting(
            name=FIRST,
            title=gettext_noop("For every item"),
            default=self_consistency.INFO.name,
            choices=tuple(_OF_FIRST),
            main=True,
        ),
        Setting(
            name=THEN,
            title=gettext_noop("For items in doubt"),
            default=ecj.INFO.name,
            choices=tuple(_OF_THEN),
            main=True,
        ),
        THETA,
        MARGIN,
        FLAGGED,
    ),
    more_settings=_settings_of_stages,
    steps=lambda _: (),
    opinions=Opinions(
        first=gettext_noop("First protocol"),
        last=gettext_noop("in the end"),
        voters=gettext_noop("voters of its last stage"),
    ),
    debated=True,
    stages=_stages,
)
