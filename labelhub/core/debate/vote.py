"""Vote: several models answer independently; the most frequent answer wins.

Source: paper 002, section 4.1 (parallel N-LLM), and the initial round of paper 001, section 4. With
as many calls as a debate, it is the baseline of equal cost for that debate.
"""

from dataclasses import replace

from labelhub.core.debate.info import Group, Opinions, ProtocolInfo, exact_count
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.debate.panel import (
    ANNOTATORS,
    NOT_VOTABLE,
    annotator_letters,
    annotator_parts,
    role_of,
    vote_outcome,
)
from labelhub.core.texts import gettext_noop

SETTINGS = (replace(ANNOTATORS, titled=True),)


def vote(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask all annotators at once and count their answers."""
    roles = [role_of(letter) for letter in annotator_letters(spec.settings)]
    replies = yield [spec.call(role, sample=sample) for sample, role in enumerate(roles, start=1)]
    return vote_outcome(item, spec, dict(zip(roles, replies, strict=True)))


INFO = ProtocolInfo(
    name="vote",
    title=gettext_noop("Vote"),
    description=gettext_noop(
        "Several models answer independently, and the majority wins: the baseline for "
        "debates of the same cost."
    ),
    group=Group.VOTING,
    start=vote,
    parts=annotator_parts("vote"),
    calls=lambda settings: exact_count(settings["annotators"], 1),
    answers=lambda task: task.votable,
    not_for=NOT_VOTABLE,
    settings=SETTINGS,
    opinions=Opinions(
        first=gettext_noop("First annotator"),
        last=gettext_noop("vote"),
        voters=gettext_noop("annotators"),
    ),
)
