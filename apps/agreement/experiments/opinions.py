"""Opinions within the debates of an arm: their changes for better or worse, from first to last and
by round, and how far voters agree, in all, on ambiguous and on normal items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from django.utils.translation import gettext_noop
from numpy.typing import NDArray

from apps.agreement.experiments.answers import Answers, ArmAnswers
from labelhub.core.agreement.arms import (
    NOTHING,
    OpinionChanges,
    VoterAgreement,
    count_changes,
    voter_agreement,
)
from labelhub.core.agreement.figures import Resample
from labelhub.core.agreement.ratings import Ints
from labelhub.core.debate import protocol
from labelhub.core.debate.ballots import tally as tally_ballots
from labelhub.core.debate.info import Opinions
from labelhub.core.schema import Value

MOST = 0.5
FEWEST_SAMPLES = 5
NO_MEASURE = gettext_noop(
    "no set-up measures ambiguity: add self-consistency with 5 samples or more"
)
ALL_ITEMS = gettext_noop("all items")
BEFORE = gettext_noop("before the discussion")
AMBIGUOUS, NORMAL = gettext_noop("ambiguous items"), gettext_noop("normal items")


@dataclass(frozen=True, slots=True)
class Step:
    """From one opinion to the next: by their names, or the round between them by its number."""

    first: str
    changes: OpinionChanges
    last: str = ""
    number: int = 0

    @property
    def whole(self) -> bool:
        """Whether it is from the first opinion to the last of a debate."""
        return bool(self.last)

    @property
    def words(self) -> str:
        """Both opinions, in English: ``Extractor → judge``, ``Round 1 → 2``."""
        if self.whole:
            return f"{self.first} → {self.last}"
        return f"{self.first} {self.number} → {self.number + 1}"

    def to_json(self) -> dict[str, Any]:
        return {"step": self.words, "whole": self.whole} | self.changes.to_json()


def steps_of(sample: Resample, answers: Answers, answered: ArmAnswers) -> list[Step]:
    """The steps of an arm; none where there is but one opinion."""
    opinions = protocol(answered.arm.run.protocol).opinions
    if opinions is None or not len(answered.rows):
        return []
    gold = answers.gold[answered.rows]
    first = answers.codes.all_of(answered.signals["first"])
    whole = count_changes(sample, answered.rows, first == gold, answered.predicted == gold)
    return [
        Step(opinions.first, whole, last=opinions.last),
        *_by_round(sample, answers, answered, opinions),
    ]


def _by_round(
    sample: Resample, answers: Answers, answered: ArmAnswers, opinions: Opinions
) -> Iterator[Step]:
    if not opinions.rounds:
        return
    by_debate = _opinions_by_round(answers, answered, answered.signals[opinions.rounds])
    lengths = np.array([len(values) for values in by_debate])
    coded = [answers.codes.all_of(values) for values in by_debate]
    rounds = [np.array(codes) for codes in zip_longest(*coded, fillvalue=NOTHING)]
    gold = answers.gold[answered.rows]
    for index in range(len(rounds) - 1):
        kept = lengths > index + 1
        right = [codes[kept] == gold[kept] for codes in rounds[index : index + 2]]
        changes = count_changes(sample, answered.rows[kept], right[0], right[1])
        yield Step(opinions.round, changes, number=index + opinions.round_from)


def _opinions_by_round(
    answers: Answers, answered: ArmAnswers, signals: Sequence[Any]
) -> list[Sequence[Value | None]]:
    """The opinion after each round of each debate: the majority of a discussion, a judge's verdict.

    ``signals``: those that the protocol's ``Opinions.rounds`` names.
    """
    by_debate = [signal if isinstance(signal, list) else [] for signal in signals]
    if answered.arm.run.protocol == "courtroom":
        return [*by_debate]
    # Thousands of rounds end in few ways: each way is counted only once.
    known: dict[str, Value | None] = {}

    def majority(voices: list[Value | None]) -> Value | None:
        key = repr(voices)
        if key not in known:
            known[key] = tally_ballots(voices, answers.schema).value
        return known[key]

    return [
        [majority(list(opinions.values())) for opinions in rounds if opinions]
        for rounds in by_debate
    ]


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """By item, shape (items,): whether it is known, and whether it is ambiguous.

    ``source``: the place of the arm that measures it; ``words``: how.
    """

    known: NDArray[np.bool_]
    ambiguous: NDArray[np.bool_]
    source: int
    words: str

    @property
    def normal(self) -> NDArray[np.bool_]:
        """Items known not to be."""
        return self.known & ~self.ambiguous


def shared_ambiguity(arms: Sequence[ArmAnswers], items: int) -> Ambiguity | None:
    """By the samples of one model, the same for all arms; None without five samples of any."""
    for place, answered in enumerate(arms):
        settings = answered.arm.run.protocol_settings
        samples = settings.get("samples", 0)
        if answered.arm.run.protocol == "self_consistency" and samples >= FEWEST_SAMPLES:
            return _ambiguity_from_votes(answered, place, items, f"its {samples} samples")
    return None


def own_ambiguity(answered: ArmAnswers, place: int, items: int) -> Ambiguity | None:
    """By the arm's own votes; None where it has none."""
    if "d_rate" not in answered.signals:
        return None
    when = " before the discussion" if "first_d_rate" in answered.signals else ""
    return _ambiguity_from_votes(answered, place, items, f"its own votes{when}")


def _ambiguity_from_votes(answered: ArmAnswers, place: int, items: int, words: str) -> Ambiguity:
    """By the votes of debates, in a discussion those before it: ambiguous are items of which the
    mean D_rate of all passes is at most ``MOST``."""
    last = answered.signals["d_rate"]
    first = answered.signals.get("first_d_rate", last)
    rates = np.array(
        [rate if before is None else before for before, rate in zip(first, last, strict=True)],
        dtype=np.float64,  # None becomes NaN
    )
    kept = ~np.isnan(rates)
    total = np.bincount(answered.rows[kept], rates[kept], minlength=items)
    passes = np.bincount(answered.rows[kept], minlength=items)
    known = passes > 0
    # Tenths and fifths do not add up exactly.
    return Ambiguity(known, known & (total <= MOST * passes + 1e-9), place, words)


@dataclass(frozen=True, slots=True)
class VoteAgreement:
    """``who`` votes; ``parts``: their agreement by group of items: all, ambiguous, normal."""

    who: str
    parts: Mapping[str, VoterAgreement]

    def to_json(self) -> dict[str, Any]:
        return {"who": self.who} | {
            words.replace(" ", "_"): part.to_json() for words, part in self.parts.items()
        }


def vote_agreement_of(
    sample: Resample, answers: Answers, answered: ArmAnswers, by: Ambiguity | None
) -> VoteAgreement | None:
    """The vote agreement of one arm; None for a protocol without votes."""
    opinions = protocol(answered.arm.run.protocol).opinions
    who = opinions.voters if opinions else ""
    if not who or not any(answered.signals["votes"]):
        return None
    same_options = not answers.schema.task.item_options

    def agreement(votes: Ints, items: NDArray[np.bool_] | None = None) -> VoterAgreement:
        kept = slice(None) if items is None else items[answered.rows]
        return voter_agreement(sample, answered.rows[kept], votes[kept], same_options=same_options)

    ballots = [signal if isinstance(signal, list) else [] for signal in answered.signals["votes"]]
    votes = _count_votes(answers, ballots)
    parts = {ALL_ITEMS: agreement(votes)}
    if "rounds" in answered.signals:
        # The first of a discussion's rounds is before anybody heard the others.
        alone = [
            [(value, 1) for value in rounds[0].values()]
            if isinstance(rounds, list) and rounds
            else []
            for rounds in answered.signals["rounds"]
        ]
        parts[BEFORE] = agreement(_count_votes(answers, alone))
    if by is not None:
        parts[AMBIGUOUS] = agreement(votes, by.ambiguous)
        parts[NORMAL] = agreement(votes, by.normal)
    return VoteAgreement(who, parts)


def _count_votes(answers: Answers, ballots: Sequence[Sequence[tuple[Any, int]]]) -> Ints:
    """Votes by category, shape (debates, categories); abstentions are no answers."""
    coded = [[(answers.codes.of(value), n) for value, n in votes] for votes in ballots]
    table = np.zeros((len(coded), max(1, len(answers.codes))), dtype=np.int64)
    for line, votes in enumerate(coded):
        for code, n in votes:
            if code != NOTHING:
                table[line, code] += n
    return table[:, table.any(axis=0)]
