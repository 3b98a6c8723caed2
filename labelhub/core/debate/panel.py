"""Annotators that sit at one table, each with a model of its own: A, B, C …

Debates and prompts know them by their letters alone: which model sits where would be an argument.
What they say independently of each other is counted.
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

#: Why a vote cannot be about answers that are written.
NOT_VOTABLE = (
    "answers in free text are hardly ever the same letter for letter, so there is nothing to "
    "count. Use single, cot, self_refine or ecj there."
)


def vote_outcome(item: DebateItem, spec: DebateSpec, replies: Mapping[str, Reply]) -> Outcome:
    """The outcome of a vote: what most say, flagged where that is not more than half of all.

    Fails, to be tried again, where calls failed so that no quorum was heard.
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
    """Flags of a vote: a tie, or a winner without a majority of all who were asked.

    Where nobody says anything there is no tie; how the answers ended is flagged for itself.
    """
    if count.value is None:
        return ("tie",) if any(value is not None for value, _ in count.votes) else ()
    return () if count.majority else ("no_majority",)


def supporters(count: Tally, replies: Sequence[Reply], schema: Schema) -> list[Reply]:
    """The replies that say what won, or of several labels at least one that won.

    Labels are elected one by one: perhaps nobody named just those that won.
    """
    won = schema.names_in(count.value)
    return [
        reply
        for reply in replies
        if reply.ok and (reply.value == count.value or won & schema.names_in(reply.value))
    ]


def lacks_quorum(replies: Sequence[Reply]) -> bool:
    """Whether calls failed so that less than a quorum (more than half of all) was heard."""
    failed = sum(reply.status is Status.FAILED for reply in replies)
    return bool(failed) and (len(replies) - failed) * 2 <= len(replies)


LETTERS = "ABCDEFGHI"

ANNOTATORS = Setting(
    name="annotators",
    title="Annotators",
    help="How many take part; each may have a model of its own.",
    default=3,
    low=2,
    high=len(LETTERS),
    main=True,
)


def annotator_letters(settings: Mapping[str, Any]) -> str:
    """The letters of the annotators that take part."""
    return LETTERS[: settings[ANNOTATORS.name]]


def role_of(letter: str) -> str:
    """The role of the annotator called ``letter``: ``annotator_b`` for B."""
    return f"annotator_{letter.lower()}"


def annotator_parts(protocol: str) -> Callable[[Settings], tuple[Part, ...]]:
    """Parts of annotators at one table, who share a prompt."""
    prompt = f"{protocol}/annotator"
    return lambda settings: tuple(
        Part(role_of(letter), prompt) for letter in annotator_letters(settings)
    )
