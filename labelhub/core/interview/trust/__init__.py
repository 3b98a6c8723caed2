"""Whether an author's answers may count: weak signs of fraud and carelessness, weighed together.

No sign decides alone, however strong (:mod:`.judging`); each is told in words with its numbers
(:mod:`.signals`). What follows from a low trust is the caller's affair: labels are kept with
weight 0 and rewards withheld, nobody is shut out.
"""

from labelhub.core.interview.trust.evidence import TrustEvidence
from labelhub.core.interview.trust.judging import LOW, Trust, TrustSignal, judge_trust
from labelhub.core.interview.trust.texts import elicits, near_duplicates

__all__ = [
    "LOW",
    "Trust",
    "TrustEvidence",
    "TrustSignal",
    "elicits",
    "judge_trust",
    "near_duplicates",
]
