"""All signs together: a sum of log-odds in which no single one reaches the threshold.

An author about whom nothing is known begins at +2.5 (a trust of 0.92). A strong sign takes at most
2.0, a weak one less than 0.5: none alone brings trust below 0.5, nor does a strong one with one
weak beside it; any two strong ones in full do.
Of signs with the same root (a message sent five times is repeated, and looks sent to be asked) the
strongest counts in full and the others half: one habit must not be counted twice over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

from labelhub.core.interview.trust import signals
from labelhub.core.interview.trust.evidence import TrustEvidence

#: Trust below this is low.
LOW = 0.5
START, VOUCHED = 2.5, 0.3
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
    """How far an author's answers may count: 0 to 1, ``low`` below 0.5, and why (gravest first)."""

    score: float
    low: bool
    signals: tuple[TrustSignal, ...]


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
    odds = START + VOUCHED * evidence.verified - sum(_by_root(found).values())
    score = round(1 / (1 + exp(-odds)), 4)
    return Trust(score, score < LOW, tuple(found))


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
