"""How far the voters of an arm agree: in all, on ambiguous and on normal items, by round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext_noop
from numpy.typing import NDArray

from apps.agreement.experiments.answers import Answers, ArmAnswers, first_opinions
from labelhub.core.agreement.arms import NOTHING
from labelhub.core.agreement.figures import Resample
from labelhub.core.agreement.opinions import VoterAgreement, voter_agreement
from labelhub.core.agreement.ratings import Ints
from labelhub.core.debate import protocol

MOST = 0.5
FEWEST_SAMPLES = 5
NO_MEASURE = gettext_noop(
    "no set-up measures ambiguity: add self-consistency with 5 samples or more"
)
ALL_ITEMS = gettext_noop("all items")
BEFORE = gettext_noop("before the discussion")
AMBIGUOUS, NORMAL = gettext_noop("ambiguous items"), gettext_noop("normal items")


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
    count = _VoteCounts(sample, answers, answered.rows)
    ballots = [signal if isinstance(signal, list) else [] for signal in answered.signals["votes"]]
    votes = count.of(ballots)
    everything = np.ones(len(answers.items), dtype=bool)
    parts = {ALL_ITEMS: count.agreement(votes, everything)}
    if "rounds" in answered.signals:
        opinions_alone = [first_opinions(signal) for signal in answered.signals["rounds"]]
        alone = count.of([[(value, 1) for value in voices] for voices in opinions_alone])
        parts[BEFORE] = count.agreement(alone, everything)
    if by is not None:
        parts[AMBIGUOUS] = count.agreement(votes, by.ambiguous)
        parts[NORMAL] = count.agreement(votes, by.normal)
    return VoteAgreement(who, parts)


@dataclass(frozen=True, slots=True)
class _VoteCounts:
    sample: Resample
    answers: Answers
    rows: Ints

    def of(self, ballots: Sequence[Sequence[tuple[Any, int]]]) -> Ints:
        """Votes by category, shape (debates, categories); abstentions are no answers."""
        codes = self.answers.codes
        coded = [[(codes.of(value), n) for value, n in votes] for votes in ballots]
        table = np.zeros((len(coded), max(1, len(codes))), dtype=np.int64)
        for line, votes in enumerate(coded):
            for code, n in votes:
                if code != NOTHING:
                    table[line, code] += n
        return table[:, table.any(axis=0)]

    def agreement(self, votes: Ints, items: NDArray[np.bool_]) -> VoterAgreement:
        kept = items[self.rows]
        fixed = not self.answers.schema.task.item_options
        return voter_agreement(self.sample, self.rows[kept], votes[kept], same_options=fixed)
