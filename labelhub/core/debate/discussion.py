"""Discussion: annotators label alone, then in rounds with everybody's words before them.

Source: paper 001, section 4 (algorithm 1, figures 17 and 18): initial annotations; consensus means
that all labels are equal; else all annotate again with the history of the discussion, at most R
times; then the majority decides. Where the paper is silent: a tie gives no label, an answer that
cannot be read abstains and stands in the way of consensus, annotators read their own words too and
know each other as A, B, C.
"""

from collections.abc import Mapping
from typing import Any

from labelhub.core.debate.ballots import Tally, tally
from labelhub.core.debate.evidence import merged_evidence, rationale, words
from labelhub.core.debate.info import CallCount, Group, Opinions, ProtocolInfo, Setting, Settings
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome, Untrusted
from labelhub.core.debate.panel import (
    ANNOTATORS,
    NOT_VOTABLE,
    how_it_ended,
    role_of,
    seated,
    seats,
    supporters,
)
from labelhub.core.debate.signals import debate_signals, flags, vote_signals
from labelhub.core.llm.types import Reply, Status

SETTINGS = (
    ANNOTATORS,
    Setting(
        name="rounds",
        main=True,
        title="Rounds of discussion",
        help="At most so many after the first annotations; it ends as soon as all agree.",
        default=2,
        low=1,
        high=5,
    ),
    Setting(
        name="words_heard",
        title="Length of what is heard",
        help="Characters of each annotator's words that the others read; the last ones count.",
        default=2000,
        low=200,
        high=20_000,
    ),
)
#: With fewer voices than this left there is no discussion.
FEWEST_VOICES = 2

Round = Mapping[str, Reply]


def discussion(item: DebateItem, spec: DebateSpec) -> Debate:
    """Annotate, discuss until all agree or the rounds are used up, then count."""
    letters = seats(spec.settings)
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
        if _count(rounds[-1], spec).unanimous or _broken_off(rounds[-1]):
            break
    return _outcome(item, spec, rounds)


def _history(rounds: list[Round], longest: int) -> list[dict[str, Any]]:
    """What was said, by round and annotator; silence and refusals are left out."""
    return [
        {
            "number": number,
            "said": [
                {"name": letter, "text": Untrusted(_last_words(words(reply), longest))}
                for letter, reply in replies.items()
                if words(reply)
            ],
        }
        for number, replies in enumerate(rounds, start=1)
    ]


def _last_words(text: str, longest: int) -> str:
    """The end of ``text``, where its label stands."""
    return text if len(text) <= longest else "…" + text[1 - longest :]


def _count(replies: Round, spec: DebateSpec) -> Tally:
    return tally([reply.value for reply in replies.values()], spec.schema)


def _broken_off(replies: Round) -> bool:
    """Whether so many calls failed that nobody is left to discuss with."""
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
    failed = _broken_off(rounds[-1])
    value = None if failed else ended.value
    signals = debate_signals(
        item, replies, first=begun.value, decided=None, labels=spec.schema.names
    ) | vote_signals(ended)
    signals |= {
        "rounds": [{letter: reply.value for letter, reply in round_.items()} for round_ in rounds],
        "rounds_needed": len(rounds) - 1,
        "first_d_rate": begun.d_rate,
    }
    return Outcome(
        value=value,
        evidence=merged_evidence(value, spec.schema, agreeing),
        rationale=rationale(*agreeing, *last),
        signals=signals,
        flags=flags(item, replies.values(), _how_it_went(begun, ended), labels=spec.schema.names),
        # Later consensus is worth less than the first: who hears the others tends to follow them.
        uncertainty=round(1.0 - (begun.d_rate + ended.d_rate) / 2, 4),
        failed=failed,
    )


def _how_it_went(begun: Tally, ended: Tally) -> tuple[str, ...]:
    first = () if begun.unanimous else ("first_round_differs",)
    last = () if ended.unanimous else ("dissent",)
    return (*first, *last, *how_it_ended(ended))


def _count_calls(settings: Settings) -> CallCount:
    annotators, rounds = settings["annotators"], settings["rounds"]
    return CallCount(annotators, annotators * (1 + rounds), 1, 1 + rounds)


INFO = ProtocolInfo(
    name="discussion",
    title="Discussion",
    description="Several models label, read each other's reasons and label again until they "
    "agree; then the majority counts.",
    group=Group.DEBATE,
    start=discussion,
    parts=seated("discussion"),
    calls=_count_calls,
    answers=lambda task: task.votable,
    not_for=NOT_VOTABLE,
    settings=SETTINGS,
    steps=lambda settings: tuple((f"r0/{letter}", role_of(letter)) for letter in seats(settings)),
    opinions=Opinions(
        first="Majority before",
        last="after the discussion",
        voters="annotators",
        rounds="rounds",
        round="Round",
        signals=("first_d_rate",),
    ),
    debated=True,
)
