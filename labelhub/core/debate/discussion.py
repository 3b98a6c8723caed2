"""Discussion: annotators label alone, then in rounds after they have read all answers.

Source: paper 001, section 4 (algorithm 1, figures 17 and 18): initial annotations; consensus means
that all labels are equal; else all annotate again with the history of the discussion, at most R
times; then the majority decides. Choices of this project where the paper is silent: a tie gives no
label, an unreadable answer is an abstention and prevents consensus, annotators also read their own
words, and they know each other as A, B, C.
"""

from collections.abc import Mapping
from typing import Any

from labelhub.core.debate.ballots import Tally, tally
from labelhub.core.debate.evidence import contribution, merge_evidence, rationale
from labelhub.core.debate.info import CallCount, Group, Opinions, ProtocolInfo, Setting, Settings
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome, Untrusted
from labelhub.core.debate.panel import (
    ANNOTATORS,
    NOT_VOTABLE,
    annotator_letters,
    annotator_parts,
    role_of,
    supporters,
    vote_flags,
)
from labelhub.core.debate.signals import debate_signals, flags, vote_signals
from labelhub.core.llm.types import Reply, Status
from labelhub.core.texts import gettext_noop

SETTINGS = (
    ANNOTATORS,
    Setting(
        name="rounds",
        main=True,
        title=gettext_noop("Rounds of discussion"),
        help=gettext_noop(
            "The maximum after the first annotations; the discussion ends once all agree."
        ),
        default=2,
        low=1,
        high=5,
    ),
    Setting(
        name="words_heard",
        title=gettext_noop("Length of a contribution"),
        help=gettext_noop("In characters. The other annotators read only the end of longer texts."),
        default=2000,
        low=200,
        high=20_000,
    ),
)
#: With fewer annotators that answer there is no discussion.
FEWEST_VOICES = 2

Round = Mapping[str, Reply]


def discussion(item: DebateItem, spec: DebateSpec) -> Debate:
    """Annotate, discuss until all agree or no round is left, then count."""
    letters = annotator_letters(spec.settings)
    rounds: list[Round] = []
    for number in range(spec.settings["rounds"] + 1):
        history = _history(rounds, spec.settings["words_heard"])
        replies = yield [
            spec.call(
                role_of(letter),
                step=f"r{number}/{letter}",
                inputs={"name": letter, "history": history},
                sample=sample,
            )
            for sample, letter in enumerate(letters, start=1)
        ]
        rounds.append(dict(zip(letters, replies, strict=True)))
        if _count(rounds[-1], spec).unanimous or _is_broken_off(rounds[-1]):
            break
    return _outcome(item, spec, rounds)


def _history(rounds: list[Round], longest: int) -> list[dict[str, Any]]:
    """The contributions by round and annotator; silence and refusals are left out."""
    return [
        {
            "number": number,
            "said": [
                # The label stands at the end.
                {
                    "name": letter,
                    "text": Untrusted(text if len(text) <= longest else "…" + text[1 - longest :]),
                }
                for letter, reply in replies.items()
                if (text := contribution(reply))
            ],
        }
        for number, replies in enumerate(rounds, start=1)
    ]


def _count(replies: Round, spec: DebateSpec) -> Tally:
    return tally([reply.value for reply in replies.values()], spec.schema)


def _is_broken_off(replies: Round) -> bool:
    """Whether so many calls failed that no discussion is possible."""
    answered = sum(reply.status is not Status.FAILED for reply in replies.values())
    return answered < FEWEST_VOICES


def _outcome(item: DebateItem, spec: DebateSpec, rounds: list[Round]) -> Outcome:
    begun, ended = _count(rounds[0], spec), _count(rounds[-1], spec)
    replies = {
        f"r{number}/{letter}": reply
        for number, round_ in enumerate(rounds)
        for letter, reply in round_.items()
    }
    last = list(rounds[-1].values())
    agreeing = supporters(ended, last, spec.schema)
    failed = _is_broken_off(rounds[-1])
    value = None if failed else ended.value
    signals = debate_signals(
        item, replies, first=begun.value, decided=None, labels=spec.schema.names
    ) | vote_signals(ended)
    signals |= {
        "rounds": [{letter: reply.value for letter, reply in round_.items()} for round_ in rounds],
        "rounds_needed": len(rounds) - 1,
        "first_d_rate": begun.d_rate,
    }
    more_flags = (
        *(() if begun.unanimous else ("first_round_differs",)),
        *(() if ended.unanimous else ("dissent",)),
        *vote_flags(ended),
    )
    return Outcome(
        value=value,
        evidence=merge_evidence(value, spec.schema, agreeing),
        rationale=rationale(*agreeing, *last),
        signals=signals,
        flags=flags(item, replies.values(), more_flags, labels=spec.schema.names),
        # Later consensus is worth less than the first: annotators tend to follow the others.
        uncertainty=round(1.0 - (begun.d_rate + ended.d_rate) / 2, 4),
        failed=failed,
    )


def _count_calls(settings: Settings) -> CallCount:
    annotators, rounds = settings["annotators"], settings["rounds"]
    return CallCount(annotators, annotators * (1 + rounds), 1, 1 + rounds)


INFO = ProtocolInfo(
    name="discussion",
    title=gettext_noop("Discussion"),
    description=gettext_noop(
        "Several models label, read each other's reasons and label again until they "
        "agree or no round is left; the majority decides."
    ),
    group=Group.DEBATE,
    start=discussion,
    parts=annotator_parts("discussion"),
    calls=_count_calls,
    answers=lambda task: task.votable,
    not_for=NOT_VOTABLE,
    settings=SETTINGS,
    steps=lambda settings: tuple(
        (f"r0/{letter}", role_of(letter)) for letter in annotator_letters(settings)
    ),
    opinions=Opinions(
        first=gettext_noop("Majority before"),
        last=gettext_noop("after the discussion"),
        voters=gettext_noop("annotators"),
        rounds="rounds",
        round=gettext_noop("Round"),
        signals=("first_d_rate",),
    ),
    debated=True,
)
