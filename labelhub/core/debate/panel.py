"""A panel of annotators, each with a model of its own: A, B, C …

Debates and prompts only use their letters, because the name of a model would be an argument.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labelhub.core.debate.ballots import Tally, tally
from labelhub.core.debate.evidence import merge_evidence, rationale
from labelhub.core.debate.info import Part, Setting, Settings
from labelhub.core.debate.outcome import DebateItem, DebateSpec, Outcome
from labelhub.core.debate.signals import debate_signals, flags, vote_signals
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema
from labelhub.core.texts import gettext_noop

#: Why free-text answers cannot be voted on.
NOT_VOTABLE = gettext_noop(
    "answers in free text are hardly ever identical, so votes cannot be counted. Use single "
    "annotator, chain of thought, self-refine or extractor, critic, judge (ECJ)."
)


def vote_outcome(item: DebateItem, spec: DebateSpec, replies: Mapping[str, Reply]) -> Outcome:
    """The outcome of a vote: the most frequent answer, with a flag if it has no majority.

    Fails, to be tried again, if so many calls failed that there is no quorum.
    """
    voters = list(replies.values())
    count = tally([reply.value for reply in voters], spec.schema)
    failed = lacks_quorum(voters)
    value = None if failed else count.value
    agreeing = supporters(count, voters, spec.schema)
    return Outcome(
        value=value,
        evidence=merge_evidence(value, spec.schema, agreeing),
        rationale=rationale(*agreeing, *voters),
        signals=debate_signals(
            item, replies, first=voters[0].value, decided=None, labels=spec.schema.names
        )
        | vote_signals(count),
        flags=flags(item, voters, vote_flags(count), labels=spec.schema.names),
        uncertainty=round(1.0 - count.d_rate, 4),
        failed=failed,
    )


def vote_flags(count: Tally) -> tuple[str, ...]:
    """Flags of a vote: a tie, or a winner without a majority of all annotators.

    If all abstain there is no tie; the status of each answer has flags of its own.
    """
    if count.value is None:
        return ("tie",) if any(value is not None for value, _ in count.votes) else ()
    return () if count.majority else ("no_majority",)


def supporters(count: Tally, replies: Sequence[Reply], schema: Schema) -> list[Reply]:
    """The replies with the winning answer, or of sets with at least one winning label.

    Labels are elected one by one, so perhaps nobody named exactly the winning set.
    """
    won = schema.names_in(count.value)
    return [
        reply
        for reply in replies
        if reply.ok and (reply.value == count.value or won & schema.names_in(reply.value))
    ]


def lacks_quorum(replies: Sequence[Reply]) -> bool:
    """Whether so many calls failed that not more than half of all answered."""
    failed = sum(reply.status is Status.FAILED for reply in replies)
    return bool(failed) and (len(replies) - failed) * 2 <= len(replies)


LETTERS = "ABCDEFGHI"

ANNOTATORS = Setting(
    name="annotators",
    title=gettext_noop("Annotators"),
    help=gettext_noop("The number of annotators; each may have its own model."),
    default=3,
    low=2,
    high=len(LETTERS),
    main=True,
)


def annotator_letters(settings: Mapping[str, Any]) -> str:
    """The letters of the annotators under these settings."""
    return LETTERS[: settings[ANNOTATORS.name]]


def role_of(letter: str) -> str:
    """The role of the annotator called ``letter``: ``annotator_b`` for B."""
    return f"annotator_{letter.lower()}"


def annotator_parts(protocol: str) -> Callable[[Settings], tuple[Part, ...]]:
    """The parts of a panel of annotators with one prompt."""
    prompt = f"{protocol}/annotator"
    return lambda settings: tuple(
        Part(role_of(letter), prompt) for letter in annotator_letters(settings)
    )
