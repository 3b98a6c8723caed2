"""Whether the columns FP and FN are swapped: each row votes, the table decides.

Accuracy and F1 do not tell one from the other; precision and recall do, unless FP equals FN.
"""

from dataclasses import dataclass

from labelhub.core.agreement.audit.confusion import Evidence, as_shifted, repairs, wrong_claims

PRINTED, SWAPPED, UNDECIDABLE = "as_printed", "swapped", "undecidable"


@dataclass(frozen=True, slots=True)
class Vote:
    """What a row says, and how many of its cells are wrong even so."""

    side: str
    cost: int


def vote(evidence: Evidence, *, search: bool) -> Vote:
    """The side on which fewer cells are wrong; a whole row of metrics moved aside counts as one.

    ``search``: whether to look for a repair too, so that a typing error does not decide.
    """
    sides = (evidence, evidence.swapped())
    printed, swapped = map(_cost, sides)
    if search and min(printed, swapped) > 1:
        printed, swapped = (min(_cost(side), repairs(side)[0].cost) for side in sides)
    if printed == swapped:
        return Vote(UNDECIDABLE, printed)
    return Vote(PRINTED, printed) if printed < swapped else Vote(SWAPPED, swapped)


def decide(votes: list[Vote]) -> bool:
    """Whether the table is swapped: more rows for it than against it, and one that then follows."""
    sides = [each.side for each in votes]
    sound = any(each.side == SWAPPED and each.cost <= 1 for each in votes)
    return sound and sides.count(SWAPPED) > sides.count(PRINTED)


def _cost(evidence: Evidence) -> int:
    wrong = len(wrong_claims(evidence.claims, evidence.counts))
    if wrong > 1 and any(as_shifted(evidence)):
        return 1
    return wrong
