"""Self-consistency: one model answers the same question several times; the most frequent wins.

Source: paper 001, section 3.1: five reasoning paths at temperature 0.7, majority vote. The lead of
the first answer is D_rate (paper 002, section 4.2), the measure of ambiguity.
"""

from labelhub.core.debate.info import (
    Group,
    Opinions,
    ProtocolInfo,
    Setting,
    exact_count,
    role_parts,
)
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.debate.panel import NOT_VOTABLE, vote_outcome
from labelhub.core.texts import gettext_noop

ROLE = "annotator"

SETTINGS = (
    Setting(
        name="samples",
        main=True,
        titled=True,
        title=gettext_noop("Samples"),
        help=gettext_noop("The number of answers for each item."),
        default=5,
        low=2,
        high=25,
    ),
    Setting(
        name="temperature",
        title=gettext_noop("Temperature"),
        help=gettext_noop("At 0 all samples would be the same."),
        default=0.7,
        low=0.0,
        high=2.0,
    ),
)


def self_consistency(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask for all samples at once and count them."""
    params = {"temperature": spec.settings["temperature"]}
    steps = [f"sample/{number}" for number in range(1, spec.settings["samples"] + 1)]
    replies = yield [
        spec.call(ROLE, step=step, params=params, sample=sample)
        for sample, step in enumerate(steps, start=1)
    ]
    return vote_outcome(item, spec, dict(zip(steps, replies, strict=True)))


INFO = ProtocolInfo(
    name="self_consistency",
    title=gettext_noop("Self-consistency"),
    description=gettext_noop(
        "One model answers several times, and the most frequent answer wins. A small "
        "lead shows that the text is ambiguous."
    ),
    group=Group.ONE,
    start=self_consistency,
    parts=role_parts("self_consistency", "annotator"),
    calls=lambda settings: exact_count(settings["samples"], 1),
    answers=lambda task: task.votable,
    not_for=NOT_VOTABLE,
    settings=SETTINGS,
    steps=lambda settings: tuple(
        (f"sample/{number}", ROLE) for number in range(1, settings["samples"] + 1)
    ),
    opinions=Opinions(
        first=gettext_noop("First sample"),
        last=gettext_noop("vote"),
        voters=gettext_noop("samples"),
    ),
)
