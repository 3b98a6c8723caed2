"""All signs together: a sum of log-odds in which no single one reaches the threshold.

An author about whom nothing is known begins at +2.5 (a trust of 0.92). A strong sign takes at most
2.0, a weak one less than 0.5: none alone brings trust below 0.5, nor does a strong one with one
weak beside it; any two strong ones in full do.
Of signs with the same root (a message sent five times is repeated, and looks sent to be asked) the
strongest counts in full and the others half: one habit must not be counted twice over.
Answers that make sense (:func:`.signals.sense`) speak for an author, and take back up to 1.5.

To be trusted is not yet to be paid: that needs enough answers, and that they agree with what is
known otherwise more than random clicks would.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

from labelhub.core.interview.trust import signals
from labelhub.core.interview.trust.chance import binomial_tail
from labelhub.core.interview.trust.evidence import TrustEvidence

#: Trust below this is low.
LOW = 0.5
START, VOUCHED = 2.5, 0.3
#: What answers that make sense give back.
SENSE = 1.5
#: Answers before anything is paid, and how unlikely their agreement must be by chance alone.
LEAST_TO_PAY, BY_CHANCE = 12, 0.01
#: Where nothing can be compared (a site that asks for words), so many answers without a sign do.
WITHOUT_SIGN = 40
#: What the second and further signs of one root count for.
KIN = 0.5


@dataclass(frozen=True, slots=True)
class TrustSignal:
    """One sign that was found: its strength in (0, 1] and what it rests on, with the numbers."""

    name: str
    strength: float
    detail: str


@dataclass(frozen=True, slots=True)
class Trust:
    """How far an author's answers may count: 0 to 1, ``low`` below 0.5, and why (gravest first).
    ``proven``: there is enough to judge by, and it speaks for them: they may be paid."""

    score: float
    low: bool
    signals: tuple[TrustSignal, ...]
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Sign:
    """How a sign is found, what it takes at most, and which root it shares with others."""

    find: Callable[[TrustEvidence], signals.Found]
    most: float
    root: str


STRONG, WEAK, FAINT = 2.0, 0.45, 0.3

SIGNS: dict[str, Sign] = {
    "early": Sign(signals.early, STRONG, "haste"),
    "instant": Sign(signals.instant, STRONG, "haste"),
    "steady": Sign(signals.steady, STRONG, "rhythm"),
    "guessing": Sign(signals.guessing, STRONG, "meaning"),
    "same_position": Sign(signals.same_position, STRONG, "choices"),
    "inconsistent": Sign(signals.inconsistent, STRONG, "choices"),
    "abstaining": Sign(signals.abstaining, WEAK, "choices"),
    "many_answers": Sign(signals.many_answers, WEAK, "pace"),
    "flood": Sign(signals.flood, STRONG, "pace"),
    "repeating": Sign(signals.repeating, STRONG, "messages"),
    "machine_like": Sign(signals.machine_like, STRONG, "messages"),
    "eliciting": Sign(signals.eliciting, STRONG, "messages"),
    "travel": Sign(signals.travel, STRONG, "place"),
    "crowded_network": Sign(signals.crowded_network, FAINT, "place"),
}


def judge_trust(evidence: TrustEvidence) -> Trust:
    """What ``evidence`` says together; the same evidence always says the same."""
    found = [
        TrustSignal(name, round(strength, 4), detail)
        for name, (strength, detail) in _all_found(evidence).items()
        if round(strength, 4) > 0
    ]
    found.sort(key=lambda each: (-each.strength * SIGNS[each.name].most, each.name))
    against = sum(_by_root(found).values())
    against -= min(against, SENSE * signals.sense(evidence))
    odds = START + VOUCHED * evidence.verified - against
    score = round(1 / (1 + exp(-odds)), 4)
    return Trust(score, score < LOW, tuple(found), score >= LOW and _proven(evidence, found))


def _proven(evidence: TrustEvidence, found: Sequence[TrustSignal]) -> bool:
    """Agreement with what is expected proves it; with oneself only where nothing can be expected;
    and where nothing at all can be compared, many answers without a sign."""
    if evidence.answers < LEAST_TO_PAY:
        return False
    by_chance = 1 / evidence.options
    expected = binomial_tail(evidence.expected_agreed, evidence.expected_total, by_chance)
    if expected < BY_CHANCE or signals.telling(evidence):
        return expected < BY_CHANCE
    again = binomial_tail(evidence.reask_agreed, evidence.reask_total, by_chance)
    nothing = not (evidence.expected_total or evidence.reask_total or found)
    return again < BY_CHANCE or (nothing and evidence.answers >= WITHOUT_SIGN)


def _all_found(evidence: TrustEvidence) -> dict[str, signals.Found]:
    return {name: sign.find(evidence) for name, sign in SIGNS.items()}


def _by_root(found: Sequence[TrustSignal]) -> dict[str, float]:
    """What the signs of each root take together; ``found`` begins with the gravest."""
    taken: dict[str, float] = {}
    for each in found:
        sign = SIGNS[each.name]
        counted = KIN if sign.root in taken else 1.0
        taken[sign.root] = taken.get(sign.root, 0.0) + counted * each.strength * sign.most
    return taken
